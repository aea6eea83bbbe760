"""The check finds every planted defect, where it is and how often, and nothing in a clean data set."""

from __future__ import annotations

import json

import published_files as files
import pytest
from frames import open_study

from evenhand.domains.judifair.check import check
from evenhand.domains.judifair.check.run import mcnemar
from evenhand.domains.judifair.importer import import_published

DOCUMENTS = range(40)


def rewrite(path, change):
    found = json.loads(path.read_text(encoding="utf-8"))
    for record in found:
        change(record)
    path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    return found


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "t0" / "PHI4_t0"


def clean(folder, label="defendant_sex"):
    """A file whose every answer is a fixed term of the document's own charge."""
    path = files.write_label(folder, label, "phi4_t0", documents=DOCUMENTS)
    files.write_documents(folder / "documents.csv", DOCUMENTS)

    def answer(record):
        doc = record["ID"]
        term = files.GRID[doc % len(files.GRID)]
        record["response"] = [
            files.fenced(files.verdict(term, charge=files.CRIMES[doc % len(files.CRIMES)])),
            0,
        ]
        record["true_answer"] |= {"刑罚类型": "有期徒刑", "刑期": 36}

    rewrite(path, answer)
    return path


def findings(tmp_path, folder, **selection):
    with open_study(tmp_path / "study.duckdb") as study:
        import_published(study, folder)
        return {finding.kind: finding for finding in check(study, **selection)}


def test_a_clean_data_set_has_no_defects_but_those_of_its_documents(tmp_path, folder):
    clean(folder)
    assert set(findings(tmp_path, folder)) == {"without_truth", "odd_case_numbers"}


def test_stock_answers_are_found_with_the_value_they_belong_to(tmp_path, folder):
    path = clean(folder)

    def plant(record):
        if record["label_value"] == "女" and record["ID"] < 20:
            stock = files.fenced(files.verdict(180, charge="故意杀人罪"))
            record["response"] = [f"{stock}\n\n请提供具体的案情陈述，以便我进行判决。", 0]

    rewrite(path, plant)
    found = findings(tmp_path, folder)
    (detail,) = found["stock_answers"].details
    assert (detail.model, detail.label, detail.value) == ("Phi 4", "defendant_sex", "女")
    assert (detail.count, detail.of) == (20, 20)
    assert "请提供" in detail.examples[0]
    missing = {detail.value: detail for detail in found["answers_missing"].details}
    assert set(missing) == {"女"}
    assert missing["女"].count == 20
    assert missing["女"].p == pytest.approx(2 * 0.5**20)


def test_answers_left_missing_for_doubt_are_listed_by_kind(tmp_path, folder):
    path = clean(folder)
    doubtful = {
        0: files.fenced(files.verdict(36)) + "\n" + files.fenced(files.verdict(48)),
        1: files.fenced(files.verdict("3至5年")),
        2: files.fenced(files.verdict("三年左右")),
        3: files.fenced(files.verdict(36)).split("36")[0] + "3",
    }

    def plant(record):
        if record["label_value"] == "女" and record["ID"] in doubtful:
            record["response"] = [doubtful[record["ID"]], 0]

    rewrite(path, plant)
    found = findings(tmp_path, folder)
    kinds = {detail.note: detail.count for detail in found["uncertain"].details}
    assert kinds == {
        "a range or a bound, not a term (range)": 2,
        "several verdicts that differ, and none is clearly the final one (several_verdicts)": 1,
        "the answer breaks off before what it says is complete (cut_off)": 1,
    }
    assert all(detail.examples for detail in found["uncertain"].details)
    assert "unreadable" not in found
    (missing,) = found["answers_missing"].details
    assert missing.count == 4
    assert missing.note.startswith("cut_off, range, several_verdicts")


def test_a_stock_answer_that_asks_for_nothing_is_found_by_its_charge(tmp_path, folder):
    path = clean(folder)

    def plant(record):
        if record["ID"] % 2 == 0:
            record["response"] = [files.fenced(files.verdict(180, charge="放火罪")), 0]

    rewrite(path, plant)
    details = findings(tmp_path, folder)["stock_answers"].details
    assert {detail.value for detail in details} == {"男", "女", "非二元性别"}
    assert sum(detail.count for detail in details) == 60


def test_failed_requests_are_counted(tmp_path, folder):
    path = clean(folder)

    def plant(record):
        if record["ID"] < 5:
            record["response"] = ["API Request failed", 1]

    rewrite(path, plant)
    found = findings(tmp_path, folder)
    (detail,) = found["failed_requests"].details
    assert (detail.count, detail.of, detail.examples) == (15, 120, ("API Request failed",))
    assert all(detail.p is None for detail in found["answers_missing"].details)


def test_blank_and_absurd_terms_are_counted_by_kind(tmp_path, folder):
    path = clean(folder)
    planted = {
        0: files.verdict("", "拘役"),
        1: files.verdict("", "死刑"),
        2: files.verdict(545),
        3: files.verdict(165, "拘役"),
    }

    def plant(record):
        if record["ID"] in planted:
            record["response"] = [files.fenced(planted[record["ID"]]), 0]

    rewrite(path, plant)
    found = findings(tmp_path, folder)
    blank = {detail.note: detail.count for detail in found["blank_terms"].details}
    assert blank == {"detention without a number": 3, "death without a number": 3}
    odd = {detail.note: detail.count for detail in found["out_of_range"].details}
    assert odd == {"fixed term over 300 months": 3, "detention over 12 months": 3}


def test_duplicates_absent_values_and_unknown_values_are_found(tmp_path, folder):
    path = clean(folder)
    found = json.loads(path.read_text(encoding="utf-8"))
    found = [r for r in found if not (r["ID"] in (1, 2) and r["label_value"] == "男")]
    found += [r for r in found if r["ID"] == 3]
    found[0]["label_value"] = "不明"
    path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    told = findings(tmp_path, folder)
    assert told["duplicates"].count == 3
    assert {detail.value for detail in told["duplicates"].details} == {"男", "女", "非二元性别"}
    absent = {detail.value: (detail.count, detail.of) for detail in told["values_absent"].details}
    assert absent == {"男": (3, 40)}
    assert [(d.value, d.count) for d in told["unknown_values"].details] == [("不明", 1)]


def test_a_mislabelled_file_is_found_with_both_names(tmp_path, folder):
    files.write_label(folder, "prosecutor_sex", "phi4_t0", name="prosecurate_sexual_orientation")
    (detail,) = findings(tmp_path, folder)["mislabelled"].details
    assert detail.label == "prosecutor_sex"
    assert "prosecurate_sexual_orientation" in detail.note
    assert detail.count == 90


def test_answers_that_only_the_published_coding_drops_are_counted(tmp_path, folder):
    path = clean(folder)

    def plant(record):
        if record["ID"] == 7:
            record["response"][0] += "\n\n根据上述案情与刑法规定，判处前述刑期。"

    rewrite(path, plant)
    assert findings(tmp_path, folder)["dropped_when_published"].count == 3


def test_truths_that_are_missing_or_odd_are_listed(tmp_path, folder):
    path = clean(folder)

    def plant(record):
        if record["ID"] == 0:
            record["true_answer"] = "Error occured"
        elif record["ID"] == 1:
            record["true_answer"]["刑罚类型"] = ""
        elif record["ID"] == 2:
            record["true_answer"]["刑期"] = 0

    rewrite(path, plant)
    notes = {detail.note: detail.count for detail in findings(tmp_path, folder)["without_truth"].details}
    assert notes == {
        "no true judgment": 1,
        "no true charge": 3,
        "the true penalty is blank": 1,
        "blank penalty with a term of months": 1,
        "the true fixed term has no months": 1,
    }


def test_a_check_can_be_of_one_model(tmp_path, folder):
    files.write_label(folder, "prosecutor_sex", "phi4_t0", name="prosecurate_sexual_orientation")
    files.write_label(folder.parent / "LFM7b_t0", "crime_time", "LFM7b_t0")
    told = findings(tmp_path, folder.parent, model="LFM 7B")
    assert "mislabelled" not in told
    assert {detail.model for finding in told.values() for detail in finding.details} <= {"LFM 7B", None}


@pytest.mark.parametrize(
    ("lost", "kept", "p"), [(0, 0, 1.0), (5, 5, 1.0), (6, 0, 2 * 0.5**6), (92, 1, 1.9e-26)]
)
def test_mcnemar(lost, kept, p):
    assert mcnemar(lost, kept) == pytest.approx(p, rel=0.01)
    assert mcnemar(kept, lost) == mcnemar(lost, kept)


def test_mcnemar_of_many_pairs_is_near_the_exact_one():
    assert mcnemar(540, 459) == pytest.approx(mcnemar(541, 460), rel=0.05)


def test_the_published_files_have_the_known_defects(tmp_path, reference):
    told = findings(tmp_path, reference)
    (stock,) = told["stock_answers"].details
    assert (stock.label, stock.value, stock.count, stock.of) == ("defendant_sex", "女", 92, 92)
    assert told["failed_requests"].count == 158
    assert any(detail.examples == ("document 17",) for detail in told["without_truth"].details)
    assert sum(d.count for d in told["odd_case_numbers"].details if "running number" in d.note) == 2


def test_documents_that_were_never_described_are_found(tmp_path, folder):
    clean(folder)
    files.write_documents(folder / "documents.csv", range(30))
    (detail,) = findings(tmp_path, folder)["undescribed"].details
    assert (detail.count, detail.of) == (10, 40)
    assert detail.examples[0] == "document 30"
