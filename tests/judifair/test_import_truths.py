"""Files saved again with corrected true judgments, and no new answer."""

from __future__ import annotations

import json

import published_files as files
import pytest
from frames import open_study

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published

DOCUMENTS = range(8)


@pytest.fixture
def study(tmp_path):
    with open_study(tmp_path / "study.duckdb") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path):
    """Two files that state the same truths."""
    for label in ("crime_time", "crime_date"):
        files.write_label(tmp_path / "PHI4_t0", label, "phi4_t0", documents=DOCUMENTS)
    return tmp_path / "PHI4_t0"


def rows(study, sql):
    return study.connection.execute(sql).fetchall()


def months(study, coding, doc=1):
    """By label, the true terms of a document that its rows go by."""
    return dict(
        rows(
            study,
            "SELECT label, string_agg(DISTINCT CAST(true_months AS INTEGER), '+') FROM judifair.frame "
            f"WHERE coding = '{coding}' AND doc_id = '{doc}' GROUP BY label",
        )
    )


def correct(folder, label, changes, doc=1):
    """Save a file again with other truths of a document, and in another layout of blanks."""
    path = folder / f"{catalogue.by_key()[label].published_key}phi4_t0.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    for record in records:
        if record["ID"] == doc:
            record["true_answer"] = (
                changes if isinstance(changes, str) else {**record["true_answer"], **changes}
            )
    path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")


def state(study):
    tables = [name for (name,) in rows(study, "SELECT table_name FROM duckdb_tables() ORDER BY 1")]
    return {table: sorted(map(str, rows(study, f"SELECT * FROM {table}"))) for table in tables}


def test_corrected_truths_are_taken_over_and_counted(study, folder):
    import_published(study, folder)
    code(study)
    assert months(study, "corrected") == {"crime_time": "12", "crime_date": "12"}
    correct(folder, "crime_time", {"刑期": 33})
    before = state(study)
    dry = import_published(study, folder, dry_run=True)
    assert (dry.added, dry.truths, dry.counts()) == (0, 1, {"present": 1, "truths": 1})
    assert state(study) == before
    report = import_published(study, folder)
    assert (report.added, report.truths, report.counts()) == (0, 1, {"present": 1, "truths": 1})
    told = [text for name, text in report.all_warnings() if name == "crime_timephi4_t0.json"]
    assert "other true judgments of 1 documents now: they are taken over" in told[0]
    assert told[1].startswith("4 answers of other files go by the old true judgments")
    # The right coding goes by the correction everywhere, the published one by what each file states.
    assert months(study, "corrected") == {"crime_time": "33", "crime_date": "33"}
    assert months(study, "published") == {"crime_time": "33", "crime_date": "12"}
    assert rows(study, "SELECT count(*) FROM predictions") == [(8 * (2 + 4),)]
    after = state(study)
    again = import_published(study, folder)
    assert (again.truths, again.counts()) == (0, {"present": 2})
    assert state(study) == after
    # The other file, corrected as well, leaves no exception.
    correct(folder, "crime_date", {"刑期": 33})
    report = import_published(study, folder)
    assert (report.truths, report.counts()) == (1, {"present": 1, "truths": 1})
    assert months(study, "published") == {"crime_time": "33", "crime_date": "33"}
    assert rows(study, "SELECT count(*) FROM judifair.truth_exceptions") == [(0,)]


def test_the_study_is_then_as_if_the_corrected_files_had_been_imported(study, folder, tmp_path):
    import_published(study, folder)
    for label in ("crime_time", "crime_date"):
        correct(folder, label, {"刑期": 33, "刑罚类型": "拘役"})
        correct(folder, label, {"刑期": 1, "刑罚类型": "有期徒刑"}, doc=6)  # had a blank penalty
        correct(folder, label, {"罪名": "分则 抢劫罪"}, doc=3)
        correct(folder, label, "Error occured", doc=4)
    report = import_published(study, folder)
    assert report.counts() == {"truths": 2}
    with open_study(tmp_path / "other.duckdb") as other:
        import_published(other, folder)
        for opened in (study, other):
            code(opened)
        for table in ("truths", "judifair.frame"):
            # The truth that no file states any more stays known to the right coding.
            where = "WHERE doc_id <> '4'"
            drop = "EXCLUDE (collection)" if table == "truths" else "EXCLUDE (prediction_id)"
            sql = f"SELECT * {drop} FROM {table} {where} ORDER BY ALL"
            assert rows(study, sql) == rows(other, sql)
        assert months(study, "published", 4) == {"crime_time": None, "crime_date": None}


def test_a_charge_from_the_documents_file_stays(study, folder):
    files.write_documents(folder / "documents.csv", DOCUMENTS)
    import_published(study, folder)
    correct(folder, "crime_time", {"罪名": "分则 抢劫罪"})
    assert import_published(study, folder).truths == 0
    assert rows(study, "SELECT charge FROM judifair.truths WHERE doc_id = '1'") == [("分则 诈骗罪",)]
    correct(folder, "crime_time", {"罪名": "分则 抢劫罪", "刑期": 33})
    assert import_published(study, folder).truths == 1
    assert rows(study, "SELECT charge, months FROM judifair.truths WHERE doc_id = '1'") == [
        ("分则 诈骗罪", 33.0)
    ]


def test_a_truth_that_was_missing_is_filled_in(study, folder):
    for label in ("crime_time", "crime_date"):
        correct(folder, label, "Error occured")
    import_published(study, folder)
    code(study)
    assert months(study, "corrected") == {"crime_time": None, "crime_date": None}
    correct(folder, "crime_time", "x")  # still none
    assert import_published(study, folder).truths == 0
    path = folder / "crime_timephi4_t0.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    for record in records:
        if record["ID"] == 1:
            record["true_answer"] = {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 12}
    path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    assert import_published(study, folder).truths == 1
    assert months(study, "corrected") == {"crime_time": "12", "crime_date": "12"}
    assert months(study, "published") == {"crime_time": "12", "crime_date": None}


def test_a_study_that_does_not_know_what_a_file_stated_compares_terms_and_penalties(study, folder):
    import_published(study, folder)
    # As a study of an earlier version, and one into which another was merged.
    study.connection.execute("DELETE FROM judifair.imported_files")
    before = state(study)
    assert import_published(study, folder).truths == 0
    after = state(study)
    assert len(after.pop("imported_files")) == 2
    assert after == {name: kept for name, kept in before.items() if name != "imported_files"}
    study.connection.execute("DELETE FROM judifair.imported_files")
    correct(folder, "crime_time", {"刑期": 33})
    assert import_published(study, folder).truths == 1


def test_two_files_with_the_same_answers_and_other_truths_change_nothing(study, folder, tmp_path):
    import_published(study, folder)
    (folder / "old").mkdir()
    (folder / "old" / "crime_timephi4_t0.json").write_bytes((folder / "crime_timephi4_t0.json").read_bytes())
    correct(folder, "crime_time", {"刑期": 33})
    report = import_published(study, folder)
    assert report.truths == 0
    told = [name for name, text in report.all_warnings() if "states other true judgments" in text]
    assert told == ["crime_timephi4_t0.json", "old/crime_timephi4_t0.json"]
    # Into a fresh study the one that is taken is named.
    with open_study(tmp_path / "fresh.duckdb") as fresh:
        report = import_published(fresh, folder)
        assert report.counts() == {"imported": 2, "copy": 1}
        assert any("whose true judgments are taken" in text for _, text in report.all_warnings())


def test_a_dry_run_says_how_many_answers_would_be_added(study, folder):
    dry = import_published(study, folder, dry_run=True)
    assert (dry.added, [file.added for file in dry.files]) == (48, [32, 16])
    assert rows(study, "SELECT count(*) FROM predictions") == [(0,)]
    assert import_published(study, folder).added == 48
    assert import_published(study, folder, dry_run=True).added == 0
