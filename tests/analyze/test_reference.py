"""The published figures, met through the whole road: import, published coding, frame, analysis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import analyze
import judifair
import store
from judifair.coding import code
from judifair.importer import import_published

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


def test_the_stock_answers_change_nothing_under_the_corrected_coding(study: store.Study) -> None:
    """In 92 documents the prompt for 女 lacked the case; read as answers, they would turn the sign."""
    rows = analyze.run(study, SPECIFICATIONS, codings=["corrected"]).estimates.to_pylist()
    (female,) = (r for r in rows if (r["label"], r["value"], r["variant"]) == ("defendant_sex", "女", "main"))
    assert female["coef"] < 0
    assert female["n"] < 3300 - 92
