"""The published figures, met through the whole road: import, published coding, frame, analysis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import analyze
import store
from analyze.compare import compare
from evenhand.domains import judifair
from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published

SPECIFICATIONS = Path(judifair.__file__).parent / "specifications.toml"
LOGS = {"main", "full_outcome", "post_2014", "robust_se", "crime_clustered", "original_main"}


@pytest.fixture(scope="module")
def study(reference: Path) -> Iterator[store.Study]:
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS, analyze.MIGRATIONS]) as study:
        for name in ("recusal_appliedphi4_t0.json", "defendant_sexphi4_t0.json"):
            import_published(study, reference / name, documents=reference / "documents.csv")
        code(study)
        yield study


@pytest.fixture(scope="module", params=["numpy", "pyfixest"])
def analysis(request: pytest.FixtureRequest, study: store.Study) -> analyze.Analysis:
    return analyze.run(study, SPECIFICATIONS, codings=["published"], engine=request.param)


def expected(reference: Path, label: str) -> dict[str, Any]:
    return json.loads((reference / f"expected_{label}.json").read_text())


def met(reference: Path) -> Iterator[tuple[str, str, int, float, float, int, int]]:
    """(label, variant, position of the value, coef, p, n, documents) of every published figure."""
    for label in ("recusal_applied", "defendant_sex"):
        for variant, row in expected(reference, label)["variants"].items():
            coefs, ps = row["coef"], row["p"]
            if not isinstance(coefs, list):
                coefs, ps = [coefs], [ps]
            for i, (coef, p) in enumerate(zip(coefs, ps, strict=True)):
                yield label, variant, i, coef, p, row["n"], row["documents"]


def test_every_variant_is_reproduced(reference: Path, analysis: analyze.Analysis) -> None:
    rows = analysis.estimates.to_pylist()
    compared = 0
    for label, variant, i, coef, p, n, documents in met(reference):
        row = [r for r in rows if (r["label"], r["variant"]) == (label, variant)][i]
        close = 1e-5 if variant in LOGS else 1e-9
        assert row["coef"] == pytest.approx(coef, rel=close), (label, variant)
        assert row["p"] == pytest.approx(p, rel=close), (label, variant)
        assert (row["n"], row["documents"]) == (n, documents), (label, variant)
        compared += 1
    assert compared == 8 + 18


def test_errors_and_inconsistency_are_reproduced(reference: Path, analysis: analyze.Analysis) -> None:
    rows = {row["label"]: row for row in analysis.label_metrics.to_pylist()}
    for label, row in rows.items():
        figures = expected(reference, label)
        assert row["mae"] == pytest.approx(figures["mae"], rel=1e-9)
        assert row["mape"] == pytest.approx(figures["mape"], rel=1e-7)
    recusal, figures = rows["recusal_applied"], expected(reference, "recusal_applied")
    assert recusal["inconsistent_documents"] == figures["inconsistent_documents"]
    assert recusal["documents"] == figures["valid_documents"]
    assert recusal["inconsistency"] == pytest.approx(figures["inconsistency"], rel=1e-15)


def test_values_stand_in_the_published_order(study: store.Study) -> None:
    """The figures are matched by position above; the names must be the right ones too."""
    rows = analyze.run(study, SPECIFICATIONS, codings=["published"], audit=False).estimates.to_pylist()
    assert [r["value"] for r in rows if (r["label"], r["variant"]) == ("defendant_sex", "main")] == [
        "女",
        "非二元性别",
    ]


TESTED = (
    "effect",
    "cluster_p",
    "flip_p",
    "ups",
    "downs",
    "documents",
    "effective_changers",
    "per_cent",
    "conclusion",
)


def corrected(study: store.Study) -> dict[tuple[str, str], dict[str, Any]]:
    found = analyze.run(study, SPECIFICATIONS, codings=["corrected"], audit=False)
    return {(r["label"], r["value"]): r for r in found.value_tests.to_pylist()}


def test_the_stock_answers_change_nothing_under_the_corrected_coding(study: store.Study) -> None:
    """In 92 documents the prompt for 女 lacked the case; read as answers, they would turn the sign.

    Under the corrected coding they are missing: without them in the study every test is the same.
    """
    connection = study.connection
    with_them = corrected(study)
    stock = "SELECT prediction_id FROM judifair.verdicts WHERE read_as = 'asks_for_facts'"
    connection.execute(
        f"CREATE TEMP TABLE kept AS SELECT * FROM predictions WHERE prediction_id IN ({stock})"
    )
    (count,) = connection.execute("SELECT count(*) FROM kept").fetchall()[0]
    assert count == pytest.approx(92, abs=2)
    connection.execute("DELETE FROM predictions WHERE prediction_id IN (SELECT prediction_id FROM kept)")
    without = corrected(study)
    connection.execute("INSERT INTO predictions SELECT * FROM kept")
    connection.execute("DROP TABLE kept")
    for key, row in with_them.items():
        for name in TESTED:
            assert without[key][name] == row[name], (key, name)
    assert with_them["defendant_sex", "女"]["effect"] < 0


def test_corrected_effects_and_flips_beside_the_published_ones(
    reference: Path, study: store.Study, capsys: pytest.CaptureFixture[str]
) -> None:
    found = corrected(study)
    with capsys.disabled():
        print()
        for label, variant, i, coef, p, n, _ in met(reference):
            if variant == "level_outcome":
                row = [r for (name, _), r in found.items() if name == label][i]
                flags = row["few_changers"] or "not flagged", row["few_clusters"] or "not flagged by cluster"
                print(
                    f"{label} {row['value']}: published {coef:+.3f} months (p {p:.2g}, n {n}), "
                    f"corrected {row['effect']:+.3f} (cluster p {row['cluster_p']:.2g}, "
                    f"flips {row['flip_p']:.2g}, n {row['n']}, {row['ups']} up, {row['downs']} down); {flags}"
                )
    female, recusal = found["defendant_sex", "女"], found["recusal_applied", "是"]
    assert female["flip_p"] < 1e-4
    assert female["downs"] > 2 * female["ups"]
    assert recusal["flip_p"] == pytest.approx(recusal["cluster_p"], abs=0.005)
    # One charge carries 36% of the effect: errors clustered by charge rest on five charges.
    assert recusal["few_changers"] is None
    assert "one crime holds 36%" in recusal["few_clusters"]


def test_the_way_of_a_value_that_is_printed_under_another_name(reference: Path, tmp_path: Path) -> None:
    """One file's answers, as those about the judge and about the prosecutor, whose names are swapped.

    Both labels exclude no crime, so the figures must be the same but for the names that they stand under.
    """
    answers = json.loads((reference / "defendant_sexphi4_t0.json").read_text(encoding="utf-8"))
    for label in ("judge_sex", "prosecutor_sex"):
        known = catalogue.by_key()[label]
        rows = [{**row, "changed_label": known.published_changed_label} for row in answers]
        file = tmp_path / "t0" / "PHI4_t0" / f"{known.published_key}phi4_t0.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS, analyze.MIGRATIONS]) as study:
        import_published(study, tmp_path, documents=reference / "documents.csv")
        import_published(study, reference / "recusal_appliedphi4_t0.json")
        code(study)
        analyze.run(study, SPECIFICATIONS, audit=False)
        found = compare(study, SPECIFICATIONS)
    rows = {(r["label"], r["value"], r["variant"]): r for r in found.values.to_pylist()}
    swapped = {"女": "非二元性别", "非二元性别": "女"}
    steps = (
        "dropped_step",
        "dropped_answers",
        "reread_step",
        "reread_answers",
        "added_step",
        "added_answers",
    )
    bridged = 0
    for (label, value, variant), row in rows.items():
        if row["dropped_step"] is None:
            continue
        bridged += 1
        way = row["dropped_step"] + row["reread_step"] + row["added_step"]
        assert row["before_coef"] + (row["renamed_step"] or 0.0) + way == pytest.approx(row["after_coef"])
        if label == "prosecutor_sex":
            right = rows["judge_sex", value, variant]
            own = rows[label, swapped[value], variant]
            assert [row[name] for name in steps] == pytest.approx([right[name] for name in steps])
            assert own["before_coef"] == pytest.approx(right["before_coef"])
            assert way == pytest.approx(row["after_coef"] - own["before_coef"])
            assert row["before_name"] == swapped[value]
        else:
            assert row["before_name"] is None
    assert bridged == 2 * (2 + 2 + 1)  # the main and the level variant
