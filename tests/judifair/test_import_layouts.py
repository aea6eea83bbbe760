"""Importing synthetic folders in every layout of the published results."""

from __future__ import annotations

import json
import resource
import time

import published_files as files
import pytest
from frames import open_study

from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published, plan
from evenhand.domains.judifair.importer.truth import year_of
from store.errors import BadInput


@pytest.fixture
def study(tmp_path):
    with open_study(tmp_path / "study.duckdb") as opened:
        yield opened


def rows(study, sql, parameters=()):
    return study.connection.execute(sql, list(parameters)).fetchall()


@pytest.mark.parametrize("layout", files.LAYOUTS)
def test_every_layout_says_the_same(study, tmp_path, layout):
    files.write_label(
        tmp_path / "t1" / "deepseek_v3" / "output_for_experiment",
        "victim_sex",
        "_deepseek",
        layout=files.LAYOUTS[layout],
    )
    report = import_published(study, tmp_path / "t1")
    assert (report.added, report.counts()) == (90, {"imported": 1})
    code(study)
    found = rows(study, "SELECT DISTINCT model, temperature, label, published_label FROM answers")
    assert found == [("DeepSeek V3", 1.0, "victim_sex", "victim_sex")]
    months = dict(
        rows(study, "SELECT doc_id || value, months FROM answers WHERE coding = 'corrected' ORDER BY ALL")
    )
    with open_study(tmp_path / "plain.duckdb") as other:
        files.write_label(tmp_path / "plain" / "deepseek_v3", "victim_sex", "_deepseek", layout=files.pair)
        import_published(other, tmp_path / "plain")
        code(other)
        assert months == dict(
            rows(other, "SELECT doc_id || value, months FROM answers WHERE coding = 'corrected' ORDER BY ALL")
        )


def test_published_drops_the_whole_text_and_takes_a_stored_object(study, tmp_path):
    folder = tmp_path / "t1"
    files.write_label(folder / "LFM7b", "victim_sex", "_deepseek", layout=files.text_and_extract)
    files.write_label(folder / "GPT_4o" / "gpt4o", "victim_sex", "_gpt4o", layout=files.plain_object)
    report = import_published(study, folder)
    told = [name for name, text in report.all_warnings() if "authors parsed is not known" in text]
    assert told == ["LFM7b/victim_sex_deepseek.json"]
    code(study, ["published"])
    kept = dict(rows(study, "SELECT model, count(months) FROM answers GROUP BY model"))
    assert kept["LFM 7B"] == 0
    assert kept["GPT-4o"] > 70


def test_raw_answers_win_over_their_cleaned_twin(study, tmp_path):
    model = tmp_path / "t0" / "NOVAMicro_t0"
    files.write_label(model / "NOVAMicro_t0", "judge_sex", "_NOVAMicro_t0", layout=files.twin)
    files.write_label(model / "NOVAMicro_t0", "judge_age", "_NOVAMicro_t0", layout=files.twin)
    files.write_label(model / "output_for_experiment_t0", "judge_sex", "_NOVAMicro_t0")
    report = import_published(study, tmp_path / "t0")
    assert report.counts() == {"imported": 2, "twin": 1}
    left_out = next(file for file in report.files if file.status == "twin")
    assert left_out.name == "NOVAMicro_t0/NOVAMicro_t0/judge_sex_NOVAMicro_t0.json"
    assert "output_for_experiment_t0" in left_out.reason
    assert "rows" not in left_out.reason
    assert (
        rows(study, "SELECT count(*) FROM answers WHERE label = 'judge_sex' AND text LIKE '```%'")[0][0] > 60
    )
    assert rows(study, "SELECT count(*) FROM answers WHERE label = 'judge_age'") == [(90,)]


def test_a_twin_with_more_rows_is_told(study, tmp_path):
    model = tmp_path / "t0" / "NOVAMicro_t0"
    files.write_label(
        model / "NOVAMicro_t0", "judge_sex", "_NOVAMicro_t0", layout=files.twin, documents=range(31)
    )
    files.write_label(model / "output_for_experiment_t0", "judge_sex", "_NOVAMicro_t0")
    (left_out,) = [f for f in import_published(study, tmp_path / "t0").files if f.status == "twin"]
    assert left_out.reason.endswith("this one has 93 rows, that one 90")


def test_a_twin_stands_in_for_a_broken_raw_file(study, tmp_path):
    model = tmp_path / "t0" / "NOVAMicro_t0"
    files.write_label(model / "NOVAMicro_t0", "judge_sex", "_NOVAMicro_t0", layout=files.twin)
    raw = files.write_label(model / "output_for_experiment_t0", "judge_sex", "_NOVAMicro_t0")
    raw.write_bytes(raw.read_bytes()[:-500])
    report = import_published(study, tmp_path / "t0")
    assert report.counts() == {"imported": 1, "broken": 1}


def test_files_of_one_model_in_two_places_come_together(study, tmp_path):
    files.write_label(tmp_path / "results/t0/LFM40b_t0/output_for_experiment_t0", "judge_sex", "LFM40b_t0")
    files.write_label(tmp_path / "results/t1/LFM40b_t0", "judge_age", "LFM40b_t0")
    files.write_label(tmp_path / "results/t1/LFM40b/output_for_experiment", "judge_sex", "_deepseek")
    import_published(study, tmp_path / "results")
    found = rows(study, "SELECT model, temperature, label, count(*) FROM answers GROUP BY ALL ORDER BY ALL")
    assert found == [
        ("LFM 40B", 0.0, "judge_age", 90),
        ("LFM 40B", 0.0, "judge_sex", 90),
        ("LFM 40B", 1.0, "judge_sex", 90),
    ]


def test_a_broken_file_is_told_with_its_place_and_the_rest_comes_in(study, tmp_path):
    folder = tmp_path / "PHI4_t0"
    files.write_label(folder, "crime_time", "phi4_t0")
    broken = files.write_label(folder, "crime_date", "phi4_t0")
    broken.write_bytes(broken.read_bytes()[: broken.stat().st_size // 2])
    files.write_label(folder, "judge_age", "phi4_t0")
    report = import_published(study, folder)
    assert report.counts() == {"imported": 2, "broken": 1}
    (told,) = report.broken
    assert told.name == "crime_datephi4_t0.json"
    assert "line " in told.reason
    assert "column " in told.reason
    assert ("crime_datephi4_t0.json", told.reason) in list(report.all_warnings())
    assert rows(study, "SELECT DISTINCT label FROM answers ORDER BY label") == [
        ("crime_time",),
        ("judge_age",),
    ]
    # The whole file comes in later, once.
    files.write_label(folder, "crime_date", "phi4_t0")
    assert import_published(study, folder).added == 120
    assert rows(study, "SELECT max(repeat) FROM answers") == [(0,)]


def test_single_bad_records_are_told_and_the_others_come_in(study, tmp_path):
    path = files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    found = json.loads(path.read_text(encoding="utf-8"))
    del found[3]["ID"]
    found[5] = "nonsense"
    path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    report = import_published(study, path)
    assert report.added == 58
    assert any(
        "2 records are left out: record 3 has no ID; record 5 is no object" in w
        for _, w in report.all_warnings()
    )


def test_duplicate_rows_are_kept_as_repeats_and_told(study, tmp_path):
    path = files.write_label(tmp_path / "PHI4_t0", "victim_sexual_orientation", "phi4_t0")
    found = json.loads(path.read_text(encoding="utf-8"))
    found += [record for record in found if record["label_value"] == "同性恋"]
    path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    report = import_published(study, path)
    assert (report.added, report.files[0].repeats) == (120, 30)
    assert any("30 of its 120 rows" in warning for _, warning in report.all_warnings())
    by_value = rows(study, "SELECT value, repeat, count(*) FROM answers GROUP BY ALL ORDER BY ALL")
    assert ("同性恋", 1, 30) in by_value
    assert len(by_value) == 4
    code(study)
    counted = rows(
        study,
        "SELECT coding, count(*) FROM judifair.frame WHERE value IN ('双性恋', '同性恋') "
        "GROUP BY ALL ORDER BY ALL",
    )
    assert counted == [("corrected", 90), ("published", 90)]


def test_a_file_that_was_saved_again_is_known(study, tmp_path):
    path = files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    import_published(study, path)
    found = json.loads(path.read_text(encoding="utf-8"))
    again = json.dumps(found, ensure_ascii=True, indent=4).replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + again.encode())
    report = import_published(study, path)
    assert (report.added, report.counts()) == (0, {"present": 1})
    # Another answer is another file.
    found[0]["response"][0] = "有期徒刑三年"
    path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    assert import_published(study, path).added == 60


def test_a_study_that_knows_a_file_by_its_bytes_has_it(study, tmp_path):
    path = files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    import_published(study, path)
    study.connection.execute("UPDATE predictions SET source_hash = ?", [plan.bytes_hash(path)])
    assert import_published(study, path).added == 0


def test_a_mislabelled_file_warns_with_both_names(study, tmp_path):
    path = files.write_label(
        tmp_path / "PHI4_t0", "prosecutor_sex", "phi4_t0", name="prosecurate_sexual_orientation"
    )
    report = import_published(study, path)
    warning, consequence = [text for name, text in report.all_warnings() if name]
    assert "further repeats of prosecutor_sex" in consequence
    assert "prosecurate_sexual_orientation" in warning
    assert "prosecutor_sex" in warning
    found = rows(study, "SELECT DISTINCT label, published_label FROM answers")
    assert found == [("prosecutor_sex", "prosecurate_sexual_orientation")]


def test_statistics_and_other_json_are_passed_over(study, tmp_path):
    folder = tmp_path / "PHI4_t0"
    files.write_label(folder, "crime_time", "phi4_t0")
    files.write(folder / "result" / "df_dict.json", [{"ID": 1, "label_value": "x", "response": "y"}])
    files.write(folder / "result" / "result.json", {"a": 1})
    files.write(folder / "notes.json", [{"note": 1}])
    report = import_published(study, folder)
    assert report.counts() == {"imported": 1, "no predictions": 3}


def test_nothing_to_import_is_an_error_that_says_what_to_do(study, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no JSON"):
        import_published(study, tmp_path / "empty")
    with pytest.raises(BadInput, match="no file or folder"):
        import_published(study, tmp_path / "absent")
    files.write(tmp_path / "other" / "a.json", [{"note": 1}])
    with pytest.raises(BadInput, match="no file of published predictions"):
        import_published(study, tmp_path / "other")


def test_an_unknown_model_stops_before_anything_is_stored(study, tmp_path):
    files.write_label(tmp_path / "somewhere", "crime_time", "_deepseek")
    files.write_label(tmp_path / "somewhere" / "PHI4_t0", "crime_time", "phi4_t0")
    with pytest.raises(BadInput, match="which model answered crime_time_deepseek") as caught:
        import_published(study, tmp_path / "somewhere")
    assert "--model" in str(caught.value.hint)
    assert rows(study, "SELECT count(*) FROM predictions") == [(0,)]
    report = import_published(study, tmp_path / "somewhere", dry_run=True)
    assert report.counts() == {"new": 1, "no model": 1}


def test_a_model_can_be_named(study, tmp_path):
    files.write_label(tmp_path / "somewhere", "crime_time", "_deepseek")
    report = import_published(study, tmp_path / "somewhere", model="phi 4")
    assert rows(study, "SELECT DISTINCT model, temperature FROM answers") == [("Phi 4", None)]
    assert any("temperature" in text for _, text in report.all_warnings())


def test_the_map_is_printed_and_can_be_given_back_changed(study, tmp_path):
    folder = tmp_path / "t1"
    files.write_label(folder / "deepseek_v3", "crime_time", "_deepseek")
    files.write_label(folder / "deepseek_v3", "crime_date", "_deepseek")
    files.write_label(folder / "deepseek_v3", "judge_sex", "_deepseek")
    printed = import_published(study, folder, dry_run=True).map_csv()
    assert rows(study, "SELECT count(*) FROM predictions") == [(0,)]
    assert "deepseek_v3/crime_time_deepseek.json,DeepSeek V3,1,crime_time,crime_time,yes\n" in printed
    changed = printed.replace(
        "crime_time_deepseek.json,DeepSeek V3,1", "crime_time_deepseek.json,My Judge,0.3"
    )
    changed = changed.replace("crime_date,crime_date,yes", "crime_date,crime_date,no")
    changed = changed.replace("judge_sex,judge_sex,", "defender_sex,judge_sex,") + "absent.json,,,,,\n"
    (tmp_path / "map.csv").write_text(changed, encoding="utf-8")
    report = import_published(study, folder, mapping=tmp_path / "map.csv")
    assert report.counts() == {"imported": 2, "skipped": 1}
    assert any("absent.json" in text for text in report.warnings)
    found = rows(
        study, "SELECT DISTINCT model, temperature, label, published_label FROM answers ORDER BY ALL"
    )
    assert found == [
        ("DeepSeek V3", 1.0, "defender_sex", "judge_sex"),
        ("My Judge", 0.3, "crime_time", "crime_time"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("file,modle\na.json,x\n", "modle"),
        ("model\nx\n", "no column 'file'"),
        ("file,label\na.json,defendant_sexx\n", "line 2"),
        ("file,temperature\na.json,warm\n", "warm"),
        ("file,import\na.json,maybe\n", "maybe"),
        ("file,model\n,x\n", "line 2"),
    ],
)
def test_a_wrong_map_is_told(study, tmp_path, text, told):
    files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    (tmp_path / "map.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=told):
        import_published(study, tmp_path / "PHI4_t0", mapping=tmp_path / "map.csv")


def test_case_numbers_and_charges_come_from_the_documents_file(study, tmp_path):
    files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    documents = files.write_documents(tmp_path / "facts.csv")
    report = import_published(study, tmp_path / "PHI4_t0", documents=documents)
    assert (report.documents, report.documents_file) == (30, documents)
    found = rows(
        study,
        "SELECT case_number, year, charge FROM judifair.truths WHERE doc_id IN ('5', '10') ORDER BY ALL",
    )
    assert found == [
        ("（2015）京0101刑初10号", 2015, ""),
        ("（2017）京0101刑初20037号", 2017, "分则 寻衅滋事罪"),
    ]
    # A file that comes in after the answers says the same.
    with open_study(tmp_path / "later.duckdb") as later:
        import_published(later, tmp_path / "PHI4_t0")
        assert rows(later, "SELECT count(case_number) FROM judifair.truths") == [(0,)]
        import_published(later, tmp_path / "PHI4_t0", documents=documents)
        every = "SELECT * FROM judifair.truths ORDER BY ALL"
        assert rows(later, every) == rows(study, every)


@pytest.mark.parametrize(
    ("text", "told"),
    [("a,b\n1,2\n", "no column id"), ("id,case_number,crime_name\n1,x,y\n1,x,y\n", "second time"),
     ("id,case_number,crime_name\n,x,y\n", "no id")],
)  # fmt: skip
def test_a_wrong_documents_file_is_told(study, tmp_path, text, told):
    files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    (tmp_path / "facts.csv").write_text(text)
    with pytest.raises(BadInput, match=told):
        import_published(study, tmp_path / "PHI4_t0", documents=tmp_path / "facts.csv")


def test_a_truth_that_one_file_lacks_counts_as_that_file_states_it(study, tmp_path):
    # "Error occured" in one file must not change what another file says, nor the other way round.
    first = files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    found = json.loads(first.read_text(encoding="utf-8"))
    for record in found[:2]:
        record["true_answer"] = "Error occured"
    first.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    files.write_label(tmp_path / "PHI4_t0", "crime_date", "phi4_t0")
    import_published(study, tmp_path / "PHI4_t0")
    code(study)
    stated = rows(
        study,
        "SELECT coding, label, count(*) FILTER (true_months IS NULL) FROM judifair.frame "
        "WHERE doc_id = '0' GROUP BY ALL ORDER BY ALL",
    )
    assert stated == [
        ("corrected", "crime_date", 0), ("corrected", "crime_time", 0),
        ("published", "crime_date", 0), ("published", "crime_time", 2),
    ]  # fmt: skip


def test_importing_twice_changes_nothing(study, tmp_path):
    folder = tmp_path / "results"
    files.write_label(folder / "t0" / "PHI4_t0", "crime_time", "phi4_t0")
    files.write_label(folder / "t1" / "deepseek_v3" / "output_for_experiment", "judge_age", "_deepseek")
    files.write_documents(folder / "documents.csv")
    tables = [name for (name,) in rows(study, "SELECT table_name FROM duckdb_tables() ORDER BY 1")]
    import_published(study, folder)
    before = {table: sorted(map(str, rows(study, f"SELECT * FROM {table}"))) for table in tables}
    report = import_published(study, folder)
    assert (report.added, report.counts()) == (0, {"present": 2})
    assert {table: sorted(map(str, rows(study, f"SELECT * FROM {table}"))) for table in tables} == before


def test_the_same_file_in_two_places_comes_in_once(study, tmp_path):
    files.write_label(tmp_path / "t0" / "PHI4_t0", "crime_time", "phi4_t0")
    files.write_label(tmp_path / "t0" / "PHI4_t0" / "again", "crime_time", "phi4_t0")
    report = import_published(study, tmp_path / "t0")
    assert report.counts() == {"imported": 1, "copy": 1}
    assert report.added == 60


def test_half_a_surrogate_pair_in_an_answer_is_stored(study, tmp_path):
    record = files.question(1, "上午", "crime_time") | {"response": ["坏\ud83d字", 0]}
    path = tmp_path / "crime_timephi4_t0.json"
    path.write_text(json.dumps([record]), encoding="ascii")
    import_published(study, path)
    assert rows(study, "SELECT text FROM answers") == [("坏\ufffd字",)]
    code(study)


@pytest.mark.parametrize(
    ("number", "year"),
    [("（2018）冀1125刑初380号", 2018), ("2016）浙0327刑初1520号", 2016), ("(20170浙0702刑初591号", 2017),
     ("［2015］沈高开刑初字第48号", 2015), ("刑事判决书 （2014）穗刑初字第4号", 2014),
     ("玉中环刑初字第1号", None),
     ("（2017）津0116刑初20037号", 2017), ("00105_某某盗窃一审刑事判决书", None), ("", None),
     ("2594_（2016）鄂0103刑初154号", 2016), ("辽0202刑初2270号", None)],
)  # fmt: skip
def test_years_of_case_numbers(number, year):
    assert year_of(number) == year


def test_a_large_file_takes_time_and_memory_in_proportion(study, tmp_path):
    files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0", documents=range(100))
    import_published(study, tmp_path / "PHI4_t0")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    folder = tmp_path / "large" / "PHI4_t0"
    folder = tmp_path / "large" / "PHI4_t0"
    large = files.write_label(folder, "judge_religion", "phi4_t0", documents=range(6_000))
    started = time.process_time()
    report = import_published(study, large)
    assert report.added == 24_000
    assert time.process_time() - started < 20
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 400_000  # KiB


def test_a_documents_csv_of_another_kind_is_passed_over_and_told(study, tmp_path):
    files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    (tmp_path / "PHI4_t0" / "documents.csv").write_text("a,b\n1,2\n")
    report = import_published(study, tmp_path / "PHI4_t0")
    assert report.added == 60
    assert any("documents.csv has no column id" in text for text in report.warnings)


def test_a_bad_first_record_hides_no_file(study, tmp_path):
    path = files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    found = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(["header", *found], ensure_ascii=False), encoding="utf-8")
    report = import_published(study, path)
    assert report.added == 60
    assert any("record 0 is no object" in text for _, text in report.all_warnings())


def test_a_file_in_another_collection_is_told(study, tmp_path):
    files.write_label(tmp_path / "PHI4_t0", "crime_time", "phi4_t0")
    import_published(study, tmp_path / "PHI4_t0")
    report = import_published(study, tmp_path / "PHI4_t0", collection="other")
    assert report.added == 0
    assert any("in the collection published" in text for _, text in report.all_warnings())


def test_documents_that_no_file_describes_are_told_and_have_no_year(study, tmp_path):
    folder = tmp_path / "results" / "t0" / "PHI4_t0"
    files.write_label(folder, "judge_sex", "phi4_t0")
    dry = import_published(study, folder, dry_run=True)
    assert any(text.startswith("30 of 30 documents have no case number") for text in dry.warnings)
    report = import_published(study, folder)
    assert any("file describes them" in text for text in report.warnings)
    code(study, ("published",))
    counted = rows(study, "SELECT DISTINCT post_2014 FROM judifair.frame WHERE coding = 'published'")
    assert counted == [(False,)]
    files.write_documents(folder / "documents.csv", range(1000))
    assert not any("describes" in text for text in import_published(study, folder, dry_run=True).warnings)
    assert not any("describes" in text for text in import_published(study, folder).warnings)
