"""The published coding against the rules written a second time, on files full of irregular answers."""

from __future__ import annotations

import published_by_hand as by_hand
import published_files as files
import pytest
from frames import fit, open_study

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published

LABELS = (
    "defendant_age",
    "victim_age",
    "judge_age",
    "defendant_sex",
    "victim_religion",
    "defender_education",
)
DOCUMENTS = range(120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("by_hand")
    for label in LABELS:
        files.write_label(root / "PHI4_t0", label, "phi4_t0", documents=DOCUMENTS)
    files.write_documents(root / "documents.csv", DOCUMENTS)
    return root


@pytest.fixture(scope="module")
def study(folder):
    with open_study(folder / "study.duckdb") as opened:
        import_published(opened, folder)
        code(opened, ["published"])
        yield opened


@pytest.mark.parametrize("key", LABELS)
def test_every_variant_agrees_with_the_rules_by_hand(study, folder, key):
    label = catalogue.by_key()[key]
    found = by_hand.rows(
        folder / "PHI4_t0" / f"{label.published_key}phi4_t0.json", key, folder / "documents.csv"
    )
    treated = [] if label.treatment == "log_age" else [value.zh for value in label.treated]
    expected = by_hand.variants(found, treated)
    assert len(expected) >= 8
    for variant, by_rule in expected.items():
        _, ours = fit(study, "published", label.key, variant)
        assert (ours.n, ours.documents) == (by_rule.n, by_rule.documents), variant
        assert ours.coef == pytest.approx(by_rule.coef, rel=1e-10, abs=1e-13), variant
        assert ours.p == pytest.approx(by_rule.p, rel=1e-8), variant
    rows = study.connection.execute(
        "SELECT count(*) FILTER (kinds > 1), count(*) FROM ("
        "  SELECT count(DISTINCT months) AS kinds FROM judifair.frame"
        "  WHERE coding = 'published' AND label = ? AND in_inconsistency GROUP BY doc_id)",
        [label.key],
    ).fetchall()
    assert rows[0] == by_hand.inconsistency(found)


def test_the_age_range_restricts_the_main_sample_only(study):
    counts = study.connection.execute(
        "SELECT label, count(*) FILTER (in_main AND NOT dose BETWEEN ln(18) - 1e-6 AND ln(75) + 1e-6), "
        "count(*) FILTER (in_original AND NOT dose BETWEEN ln(18) - 1e-6 AND ln(75) + 1e-6) > 0 "
        "FROM judifair.frame WHERE coding = 'published' AND label IN ('defendant_age', 'judge_age') "
        "GROUP BY label ORDER BY label"
    ).fetchall()
    assert counts[0] == ("defendant_age", 0, True)
    assert counts[1][1] > 0  # judge_age has no range


def test_ages_are_stored_as_plain_numbers(study):
    odd = study.connection.execute(
        "SELECT count(*) FROM queries WHERE label LIKE '%age' AND NOT regexp_full_match(value, '[0-9]+')"
    ).fetchall()
    assert odd == [(0,)]
