"""The published coding gives the numbers that the authors' Stata run printed, every variant of both files."""

from __future__ import annotations

import json
import time

import pytest
from frames import fit, open_study, variants

from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published

LABELS = ("recusal_applied", "defendant_sex")
LOG_OUTCOMES = ("main", "full_outcome", "post_2014", "robust_se", "crime_clustered", "original_main")


@pytest.fixture(scope="module")
def published(reference, tmp_path_factory):
    """A study with both published files, coded both ways."""
    with open_study(tmp_path_factory.mktemp("published") / "study.duckdb") as study:
        import_published(study, reference)
        code(study)
        yield study


@pytest.fixture(scope="module")
def expected(reference):
    return {
        label: json.loads((reference / f"expected_{label}.json").read_text(encoding="utf-8"))
        for label in LABELS
    }


def as_list(number):
    return number if isinstance(number, list) else [number]


@pytest.mark.parametrize(
    ("label", "variant"),
    [
        (label, variant)
        for label in LABELS
        for variant in (*LOG_OUTCOMES, "level_outcome", "sentence_inaccuracy", "special")
        if (label, variant) != ("recusal_applied", "special")
    ],
)
def test_every_variant_is_reproduced(published, expected, label, variant, record_property):
    printed = expected[label]["variants"][variant]
    _, found = fit(published, "published", label, variant)
    assert (found.n, found.documents) == (printed["n"], printed["documents"])
    tolerance = 1e-5 if variant in LOG_OUTCOMES else 1e-9
    off_coef = max(abs(a / b - 1) for a, b in zip(found.coef, as_list(printed["coef"]), strict=True))
    off_p = max(abs(a / b - 1) for a, b in zip(found.p, as_list(printed["p"]), strict=True))
    record_property("off", (float(off_coef), float(off_p)))
    assert off_coef < tolerance
    assert off_p < tolerance


def test_single_precision_is_repeated_to_the_bit(published, expected):
    # Far below the tolerance: with logarithms in double precision the coefficient is off by about 1e-8.
    _, found = fit(published, "published", "recusal_applied", "main")
    assert found.coef[0] == pytest.approx(expected["recusal_applied"]["variants"]["main"]["coef"], rel=1e-12)


def test_every_printed_variant_has_a_specification(expected):
    for label in LABELS:
        assert set(expected[label]["variants"]) <= set(variants("published"))
    assert set(variants("published")) <= set(variants("corrected"))


@pytest.mark.parametrize("label", LABELS)
def test_errors_and_inconsistency_are_reproduced(published, expected, label):
    mae, mape, documents, inconsistent = published.connection.execute(
        """
        WITH kinds AS (
            SELECT doc_id, count(DISTINCT months) AS kinds
            FROM judifair.frame
            WHERE coding = 'published' AND label = $label AND in_inconsistency
            GROUP BY doc_id
        )
        SELECT
            (SELECT favg(error) FROM judifair.frame WHERE coding = 'published' AND label = $label AND in_main
                AND true_months IS NOT NULL),
            (SELECT favg(error_percent) FROM judifair.frame WHERE coding = 'published' AND label = $label
                AND in_main AND true_months > 0),
            (SELECT count(*) FROM kinds), (SELECT count(*) FROM kinds WHERE kinds > 1)
        """,
        {"label": label},
    ).fetchall()[0]
    assert mae == pytest.approx(expected[label]["mae"], rel=1e-9)
    assert mape == pytest.approx(expected[label]["mape"], rel=1e-7)
    if "inconsistency" in expected[label]:
        assert documents == expected[label]["valid_documents"]
        assert inconsistent == expected[label]["inconsistent_documents"]


def test_true_terms_that_are_no_fixed_terms_change_the_published_error(published):
    # The departure that the report names: 56.1 becomes 48.1 months for recusal, 44.0 becomes 37.8 for sex.
    rows = published.connection.execute(
        """
        SELECT label, avg(error), avg(error) FILTER (true_months > 0)
        FROM judifair.frame
        WHERE coding = 'published' AND in_main AND true_months IS NOT NULL
        GROUP BY label ORDER BY label
        """
    ).fetchall()
    assert [(label, round(a, 1), round(b, 1)) for label, a, b in rows] == [
        ("defendant_sex", 44.0, 37.8),
        ("recusal_applied", 56.1, 48.1),
    ]


def test_an_answer_that_asks_for_the_facts_is_no_answer(published):
    # 92 stock answers stand where the case was missing; reading them would turn the sign of the effect.
    counted = published.connection.execute(
        "SELECT coding, count(*) FILTER (months IS NOT NULL) FROM answers "
        "WHERE label = 'defendant_sex' AND text LIKE '%请%案情陈述%' GROUP BY coding ORDER BY coding"
    ).fetchall()
    assert counted == [("corrected", 0), ("published", 0)]
    treated, found = fit(published, "corrected", "defendant_sex", "main")
    assert found.coef[treated.index("女")] < 0


def test_failed_requests_are_missing_and_counted(published):
    rows = published.connection.execute(
        "SELECT coding, missing_kind, count(*) FROM judifair.frame "
        "WHERE label = 'recusal_applied' AND missing_kind = 'request_failed' GROUP BY ALL ORDER BY coding"
    ).fetchall()
    assert rows == [("corrected", "request_failed", 158), ("published", "request_failed", 158)]


def test_a_file_of_a_megabyte_is_imported_in_well_under_a_second(reference, tmp_path):
    with open_study(tmp_path / "study.duckdb") as study:
        import_published(study, reference / "defendant_sexphi4_t0.json")  # loads the libraries
        started = time.process_time()
        report = import_published(study, reference / "recusal_appliedphi4_t0.json")
        assert report.added == 2200
        assert time.process_time() - started < 1.0


def test_importing_and_coding_again_changes_nothing(reference, tmp_path):
    tables = ["runs", "predictions", "queries", "documents", "truths", "truth_exceptions", "verdicts"]

    def counts(study):
        return [study.connection.execute(f"SELECT count(*) FROM {t}").fetchall()[0][0] for t in tables]

    with open_study(tmp_path / "study.duckdb") as study:
        import_published(study, reference)
        code(study, ["published"])
        before = counts(study)
        again = import_published(study, reference)
        assert again.added == 0
        assert again.counts()["present"] == 2
        assert dict(code(study, ["published"]).verdicts) == {"published": 0}
        assert counts(study) == before
