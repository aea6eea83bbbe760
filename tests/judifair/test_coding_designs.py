"""What the two codings compare, and how the frame shows it: names, groups, exclusions, missing answers."""

from __future__ import annotations

import published_files as files
import pytest
from frames import fit, open_study

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding import code, designs
from evenhand.domains.judifair.importer import import_published
from store.errors import BadInput

DOCUMENTS = range(60)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    root = tmp_path_factory.mktemp("designs")
    folder = root / "t0" / "PHI4_t0"
    for label in ("defendant_sexual_orientation", "prosecutor_political_background", "prosecutor_sex"):
        files.write_label(folder, label, "phi4_t0", documents=DOCUMENTS)
    # The file that is named for one label and holds another's values.
    files.write_label(
        folder,
        "prosecutor_sex",
        "phi4_t0",
        documents=DOCUMENTS,
        seed=2,
        name="prosecurate_sexual_orientation",
    )
    files.write_documents(root / "documents.csv", DOCUMENTS)
    with open_study(root / "study.duckdb") as opened:
        import_published(opened, root)
        code(opened)
        yield opened


def test_counts_of_the_designs():
    values = list(designs.design_values())
    for coding in ("corrected", "published"):
        assert sum(v.is_treated for v in values if v.coding == coding) == 91
        assert sum(d.treatment == "log_age" for d in designs.designs() if d.coding == coding) == 5


def test_the_labels_whose_names_are_swapped_are_those_whose_printed_names_say_so():
    swapped = set()
    for label in catalogue.load():
        treated = {value.zh: value.en.lower()[:9] for value in label.treated}
        for keyword, name in zip(label.published_keywords, label.published_names, strict=False):
            others = [en for zh, en in treated.items() if zh != keyword]
            if keyword in treated and treated[keyword] not in name.lower():
                swapped |= {label.key for en in others if en in name.lower()}
    assert swapped == designs.PRINTED_UNDER_EACH_OTHERS_NAMES


@pytest.mark.parametrize("label", ["defendant_sexual_orientation", "prosecutor_sex"])
def test_swapped_names_swap_the_published_coefficients(study, label):
    # Under the published coding a value carries the coefficient that was printed under its name.
    key = catalogue.by_key()[label].published_key
    rows = study.connection.execute(
        "SELECT DISTINCT data_value, value FROM judifair.frame "
        "WHERE coding = 'published' AND label = ? AND NOT is_reference AND published_label = ?",
        [label, key],
    ).fetchall()
    first, second = (value.zh for value in catalogue.by_key()[label].treated)
    assert sorted(rows) == sorted([(first, second), (second, first)])


def test_a_keyword_that_matches_nothing_moves_its_value_into_the_reference_group(study):
    rows = study.connection.execute(
        "SELECT data_value, value, is_reference, count(*) FROM judifair.frame "
        "WHERE coding = 'published' AND label = 'prosecutor_political_background' "
        "GROUP BY ALL ORDER BY data_value"
    ).fetchall()
    assert rows == [("党员", "党员", False, 60), ("民主党派", "群众", True, 60), ("群众", "群众", True, 60)]
    corrected = study.connection.execute(
        "SELECT count(DISTINCT value) FROM judifair.frame "
        "WHERE coding = 'corrected' AND label = 'prosecutor_political_background' AND is_treated"
    ).fetchall()
    assert corrected == [(2,)]


def test_a_mislabelled_file_counts_by_its_name_when_published_and_by_its_values_when_corrected(study):
    rows = study.connection.execute(
        "SELECT coding, label, count(*), count(*) FILTER (is_treated) FROM judifair.frame "
        "WHERE published_label = 'prosecurate_sexual_orientation' GROUP BY ALL ORDER BY coding"
    ).fetchall()
    assert rows == [
        ("corrected", "prosecutor_sex", 180, 120),
        ("published", "prosecutor_sexual_orientation", 180, 0),
    ]
    repeats = study.connection.execute(
        "SELECT repeat, count(*) FROM judifair.frame WHERE coding = 'corrected' AND label = 'prosecutor_sex' "
        "GROUP BY repeat ORDER BY repeat"
    ).fetchall()
    assert repeats == [(0, 180), (1, 180)]


def test_true_terms_of_other_penalties_are_missing_when_corrected(study):
    rows = study.connection.execute(
        "SELECT coding, count(*) FILTER (true_months IS NULL), count(*) FILTER (true_months = 0) "
        "FROM judifair.frame WHERE true_penalty IS NULL GROUP BY coding ORDER BY coding"
    ).fetchall()
    (corrected, missing, zero), (published, none, zeros) = rows
    assert (corrected, published) == ("corrected", "published")
    assert missing > 0
    assert (zero, none) == (0, 0)
    assert zeros == missing


def test_the_year_is_read_from_the_case_number_when_corrected(study):
    # Document 5 is of 2017 and has the running number 20037, which the published pattern takes for a year.
    rows = study.connection.execute(
        "SELECT DISTINCT coding, year, post_2014 FROM judifair.frame WHERE doc_id = '5' ORDER BY coding"
    ).fetchall()
    assert rows == [("corrected", 2017, True), ("published", 2017, False)]


def test_corrected_keeps_every_readable_verdict(study):
    rows = study.connection.execute(
        "SELECT penalty, count(*) > 0, bool_and(in_main OR excluded) FROM judifair.frame "
        "WHERE coding = 'corrected' AND months IS NOT NULL GROUP BY penalty"
    ).fetchall()
    assert {"fixed_term", "life", "death", "public_surveillance", "acquitted"} <= {row[0] for row in rows}
    assert all(kept for _, _, kept in rows)


def test_severity_orders_fixed_terms_by_their_months(study):
    rows = study.connection.execute(
        "SELECT DISTINCT penalty, months, severity_rank FROM judifair.frame "
        "WHERE coding = 'corrected' AND severity_rank IS NOT NULL "
        "AND penalty IN ('fixed_term', 'life', 'detention')"
    ).fetchall()
    fixed = sorted((months, rank) for penalty, months, rank in rows if penalty == "fixed_term")
    assert fixed == sorted(fixed, key=lambda pair: pair[1])
    assert all(4 <= rank < 5 for _, rank in fixed)
    assert {rank for penalty, _, rank in rows if penalty == "life"} == {5.0}
    assert {rank for penalty, _, rank in rows if penalty == "detention"} == {3.0}


def test_sensitivities_move_life_and_death_only(study):
    rows = study.connection.execute(
        "SELECT DISTINCT penalty, months, months_360_480_600, months_all_300 FROM judifair.frame "
        "WHERE coding = 'corrected' AND penalty IN ('life', 'death_suspended', 'death') ORDER BY months"
    ).fetchall()
    assert rows == [
        ("life", 300.0, 360.0, 300.0),
        ("death_suspended", 400.0, 480.0, 300.0),
        ("death", 600.0, 600.0, 300.0),
    ]
    for variant in ("fixed_term_only", "equivalents_360_480_600", "equivalents_300"):
        assert fit(study, "corrected", "defendant_sexual_orientation", variant)[1].n > 100


def test_coding_goes_on_where_it_was_and_can_be_rebuilt(study):
    assert sum(code(study).verdicts.values()) == 0
    study.connection.execute(
        "DELETE FROM judifair.verdicts WHERE coding = 'published' AND prediction_id IN "
        "(SELECT prediction_id FROM predictions LIMIT 7)"
    )
    assert dict(code(study).verdicts) == {"corrected": 0, "published": 7}
    before = study.connection.execute("SELECT * FROM judifair.verdicts ORDER BY ALL").fetchall()
    assert code(study, ["published"], rebuild=True).verdicts["published"] == len(before) // 2
    assert study.connection.execute("SELECT * FROM judifair.verdicts ORDER BY ALL").fetchall() == before


def test_an_unknown_coding_is_refused(study):
    with pytest.raises(BadInput, match="improved"):
        code(study, ["improved"])


def test_the_answers_view_has_what_people_query(study):
    columns = [c[0] for c in study.connection.execute("SELECT * FROM answers LIMIT 0").description]
    wanted = (
        "collection doc_id label published_label value repeat model temperature coding outcome text "
        "charge guilty penalty months severity read_as note"
    )
    assert set(wanted.split()) <= set(columns)
    assert study.connection.execute("SELECT typeof(doc_id) FROM answers LIMIT 1").fetchall() == [("VARCHAR",)]


def test_a_query_given_up_is_a_missing_answer_under_every_coding(tmp_path):
    files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0", documents=range(3))
    with open_study(tmp_path / "study.duckdb") as study:
        import_published(study, tmp_path / "PHI4_t0")
        code(study)
        study.connection.execute(
            "INSERT INTO failures SELECT uuid(), query_id, model_key, run_id, 1, 'failed', 'gone', NULL, "
            "TIMESTAMP '2026-01-01' FROM predictions WHERE source_row = 0"
        )
        rows = study.connection.execute(
            "SELECT coding, reply, missing_kind, in_scope, in_main FROM judifair.frame WHERE repeat = 1 "
            "ORDER BY coding"
        ).fetchall()
    assert rows == [
        ("corrected", "failed", "request_failed", True, False),
        ("published", "failed", "request_failed", True, False),
    ]
