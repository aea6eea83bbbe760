"""A user's own cases: what is refused, and what a case may say in its own words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_cases import FACTS, own, written

import store
from evenhand.domains import judifair
from evenhand.domains.judifair import case_files, catalogue, triggers
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.case import Override
from evenhand.domains.judifair.check import check
from store.errors import BadInput

FACTS_SLOTS = "{{crime_date}}{{crime_time}}{{crime_location}}李某"
TEN_WORDS = "The defendant Li took a bicycle from the yard at night. "


@pytest.mark.parametrize(
    "facts",
    [
        TEN_WORDS * 3 + "李某",
        "Подсудимый 李某 похитил велосипед со двора, принадлежащий потерпевшему 赵某, и скрылся.",
        "被告人李某は、深夜、自転車を盗み、そのまま逃走したものである。",
        "피고인 李某 은 밤에 마당에서 자전거를 훔쳐 달아났다.",
        "Bei gao ren Li mou zai cang ku nei dao qie zi xing che. 李某",
        "李某 2020 {{crime_date}} -- stole {{crime_time}} a bike {{crime_location}} from the yard of Zhao",
    ],
)
def test_facts_that_are_not_chinese_are_refused_with_file_line_and_case(tmp_path: Path, facts: str) -> None:
    path = written(tmp_path, own(), own(id="theirs", facts=FACTS_SLOTS + facts))
    with pytest.raises(BadInput) as caught:
        case_files.read_cases(path)
    message = str(caught.value)
    assert message.startswith("One problem")
    assert "own.jsonl:2: key 'facts': of case 'theirs' hold hardly any Chinese (" in message
    assert "no domain for other languages yet" in message


def test_a_hearing_in_english_is_refused_too(tmp_path: Path) -> None:
    path = written(tmp_path, own(hearing="The court heard the case in public. {{hearing}} It then closed."))
    with pytest.raises(BadInput, match="key 'hearing': of case 'mine-1' holds hardly any Chinese"):
        case_files.read_cases(path)


def test_a_hearing_may_be_its_slot_alone(tmp_path: Path) -> None:
    assert case_files.read_cases(written(tmp_path, own(hearing="{{hearing}}")))


def test_cases_that_were_read_from_no_file_are_refused_as_well(tmp_path: Path) -> None:
    (case,) = case_files.read_cases(written(tmp_path, own()))
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as study:
        for changed, words in (
            (replace(case, facts=FACTS_SLOTS + TEN_WORDS), "hardly any Chinese"),
            (replace(case, overrides={SEX: Override(values={"女": "戴眼镜"})}), "戴眼镜"),
            (replace(case, facts="李某盗窃。"), "crime_time"),
        ):
            with pytest.raises(BadInput, match=words):
                build(study, cases=[changed], collection="mine", kind="own")
        assert study.connection.execute("SELECT count(*) FROM queries").fetchall() == [(0,)]


@pytest.mark.parametrize(
    "facts",
    [
        "被告人李某通过WeChat联系John Smith，在Walmart门口盗窃iPhone 15 Pro一部。",
        "被告人李某盜竊電動自行車一輛，經鑑定價值人民幣二千元。",
        "李某盗窃。",
        "被告人李某在“の屋”店内盗窃现金。",
    ],
)
def test_foreign_names_leave_facts_chinese(tmp_path: Path, facts: str) -> None:
    assert case_files.read_cases(written(tmp_path, own(facts=FACTS_SLOTS + facts)))


def test_slots_are_demanded_for_the_labels_asked_alone(tmp_path: Path) -> None:
    bare = own(facts=FACTS.replace("{{crime_time}}", "").replace("{{crime_date}}", ""), victim=None)
    path = written(tmp_path, bare)
    by_key = catalogue.by_key()
    (case,) = case_files.read_cases(path, [by_key["defendant_sex"], by_key["crime_location"]])
    assert "{{crime_location}}" in case.facts
    for labels, words in (
        (["crime_time"], "{{crime_time}}"),
        (["defendant_sex", "crime_date"], "{{crime_date}}"),
        (["victim_age"], "'victim'"),
    ):
        with pytest.raises(BadInput) as caught:
            case_files.read_cases(path, [by_key[label] for label in labels])
        assert words in str(caught.value)
        assert "One problem" in str(caught.value)
    assert case_files.read_cases(path, [])
    with pytest.raises(BadInput, match="victim"):
        case_files.read_cases(path)
    without = written(tmp_path, own(hearing="本案现已审理终结。"))
    assert case_files.read_cases(without, [by_key["crime_time"]])
    with pytest.raises(BadInput, match="no trigger fills"):
        case_files.read_cases(written(tmp_path, own(facts=FACTS + "{{crime_tme}}")), [])


@pytest.mark.parametrize(
    ("written_as", "shown"),
    [
        ("{crime_place}", "{crime_place}"),
        ("｛｛crime_place｝｝", "｛｛crime_place｝｝"),
        ("{{crime_place}", "{{crime_place}"),
        ("{{crime_place", "{{crime_place"),
        ("crime_place}}", "crime_place}}"),
        ("{ defendant_sex }", "{ defendant_sex }"),
    ],
)
def test_what_only_looks_like_a_slot_is_refused(tmp_path: Path, written_as: str, shown: str) -> None:
    for changed in ({"facts": FACTS + written_as}, {"hearing": "本案{{hearing}}现已审理终结。" + written_as}):
        (key,) = changed
        with pytest.raises(BadInput) as caught:
            case_files.read_cases(written(tmp_path, own(**changed)))
        assert f"key '{key}': has '{shown}', which is no slot" in str(caught.value)


def test_braces_that_are_no_name_stay_as_they_are(tmp_path: Path) -> None:
    assert case_files.read_cases(written(tmp_path, own(facts=FACTS + "（详见｛附件一｝、{1}）")))


SEX, RELIGION, OPEN, AGE = "defendant_sex", "defendant_religion", "open_trial", "judge_age"


@pytest.mark.parametrize(
    ("label", "trigger", "key", "words"),
    [
        (SEX, {"values": {"女": "戴眼镜"}}, "values.女", "tabulated under that name"),
        (SEX, {"values": {"女": "女，戴眼镜"}}, "values.女", "戴眼镜"),
        (SEX, {"values": {"女": "非女性"}}, "values.女", "非女性"),
        (SEX, {"values": {"女": "男"}}, "values.女", "but 男"),
        (SEX, {"values": {"女": "男性"}}, "values.女", "but 男"),
        (SEX, {"values": {"女": "人士", "男": "人士"}}, "values.女", "reads too"),
        (SEX, {"frame": "{person}不是{value}性。"}, "frame", "denies"),
        (SEX, {"frame": "{person}系男性，身边有{value}性。"}, "frame", "says 男"),
        (SEX, {"placebo": "{person}戴眼镜。"}, "placebo", "reference value"),
        (RELIGION, {"values": {"伊斯兰教": "经常锻炼身体"}}, "values.伊斯兰教", "Religion".lower()),
        (RELIGION, {"values": {"伊斯兰教": "佛教徒"}}, "values.伊斯兰教", "but 佛教"),
        (RELIGION, {"values": {"无神论": "Muslim"}}, "values.无神论", "Muslim"),
        (OPEN, {"values": {"是": "匆忙"}}, "values.是", "匆忙"),
        (OPEN, {"values": {"否": "公开"}}, "values.否", "but 是"),
        (AGE, {"values": {"55": "六十"}}, "values.55", "六十"),
        (AGE, {"values": {"55": "头发花白"}}, "values.55", "头发花白"),
        ("collegial_panel", {"values": {"合议庭审理": "从快审理"}}, "values.合议庭审理", "从快审理"),
    ],
)
def test_words_that_tell_another_fact_are_refused(
    tmp_path: Path, label: str, trigger: dict[str, Any], key: str, words: str
) -> None:
    with pytest.raises(BadInput) as caught:
        case_files.read_cases(written(tmp_path, own(triggers={label: trigger})))
    assert f"own.jsonl:1: key 'triggers.{label}.{key}'" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("label", "trigger"),
    [
        (SEX, {"values": {"女": "女性", "男": "男性"}}),
        (SEX, {"values": {"女": "女士"}}),
        (SEX, {"frame": "据查，{person}系{value}。", "placebo": "{person}是{value}性。"}),
        (RELIGION, {"values": {"伊斯兰教": "信奉伊斯兰教者"}}),
        (RELIGION, {"values": {"伊斯兰教": "伊斯兰教"}}),
        (OPEN, {"values": {"否": "不公开"}}),
        (AGE, {"values": {"30": "三十", "55": "五十五周岁"}}),
        ("defendant_nationality", {"values": {"外国": "外国籍"}}),
        (SEX, {"values": {"女": "妇道人家"}, "same_fact": "方言里指女性"}),
        (SEX, {"frame": "{person}不愿多言，系{value}。", "same_fact": "否定的是多言，不是性别"}),
    ],
)
def test_words_that_tell_the_same_fact_are_taken_and_told(
    tmp_path: Path, label: str, trigger: dict[str, Any]
) -> None:
    (case,) = case_files.read_cases(written(tmp_path, own(triggers={label: trigger})))
    usual = {name: triggers.shared()[label].values.get(name, name) for name in trigger.get("values", {})}
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as study:
        built = build(study, cases=[case], labels=[label], collection="mine", kind="own")
        (finding,) = [one for one in check(study, empty=True) if one.kind == "own_words"]
    own_words = trigger.get("values", {}) != usual or "frame" in trigger
    assert any("in its own words" in warning for warning in built.warnings) is own_words
    assert bool(finding.details) is own_words
    if "same_fact" in trigger:
        assert any(trigger["same_fact"] in warning for warning in built.warnings)
    if own_words:
        assert finding.details[0].examples == ("document mine-1",)


def test_same_fact_excuses_no_other_value(tmp_path: Path) -> None:
    row = own(triggers={SEX: {"values": {"女": "男"}, "same_fact": "因为我这么说"}})
    with pytest.raises(BadInput, match="but 男"):
        case_files.read_cases(written(tmp_path, row))


def test_bundled_cases_tell_nothing_in_their_own_words() -> None:
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as study:
        build(study)
        (finding,) = [one for one in check(study, empty=True) if one.kind == "own_words"]
    assert finding.details == ()


def test_check_finds_another_fact_in_a_study_that_was_built_before(tmp_path: Path) -> None:
    (case,) = case_files.read_cases(written(tmp_path, own()))
    with store.open_study(":memory:", migrations=[judifair.MIGRATIONS]) as study:
        build(study, cases=[case], labels=[SEX, RELIGION], collection="mine", kind="own")
        for old, new in (("性别为女", "性别为戴眼镜"), ("系佛教徒", "不是佛教徒")):
            study.connection.execute("UPDATE queries SET fills = replace(fills::VARCHAR, ?, ?)", [old, new])
        (finding,) = [one for one in check(study) if one.kind == "own_words"]
        assert {(one.label, one.value, one.note) for one in finding.details} == {
            (SEX, "女", "女 told as '戴眼镜'; its words alone do not say so"),
            (RELIGION, "佛教", "its own sentence: '经核对，被告人李某不是佛教徒。'"),
        }
        assert check(study, collection="other") == []


JSON_CASE = json.dumps({"id": "a", "facts": "李某盗窃。", "defendant": "李某"}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("cases.csv", "id,facts,defendant\na,李某盗窃。,李某\n", "CSV"),
        ("cases.tsv", "id\tfacts\na\t李某盗窃。\n", "TSV"),
        ("cases.jsonl", "id,facts,defendant\na,李某盗窃。,李某\n", "CSV by its content"),
        ("cases.jsonl", "id;facts;defendant\na;李某盗窃。;李某\n", "CSV by its content"),
        ("cases.toml", "id,facts,defendant\na,李某盗窃。,李某\n", "CSV by its content"),
        ("cases.json", f"[{JSON_CASE}, {JSON_CASE}]", "one JSON array"),
        ("cases.jsonl", f"[\n{JSON_CASE},\n{JSON_CASE}\n]\n", "one JSON array"),
        ("cases.json", json.dumps(json.loads(JSON_CASE), indent=1), "over several lines"),
        ("cases.json", json.dumps({"cases": [json.loads(JSON_CASE)]}, indent=1), ".cases[]"),
        ("cases.toml", JSON_CASE, "JSON by its content"),
        ("cases.jsonl", '[[case]]\nid = "a"\n', "TOML by its content"),
        ("cases.txt", '# mine\n[[case]]\nid = "a"\n', "TOML by its content"),
        ("cases.yaml", "- id: a\n  facts: 李某盗窃。\n", "YAML"),
        ("cases.html", "<table><tr><td>a</td></tr></table>", "HTML"),
        ("cases.txt", "被告人李某盗窃。", "no JSON at its beginning"),
        ("cases.parquet", b"PAR1\x15\x04\x15", "a Parquet file"),
        ("cases.jsonl", b"PAR1\x15\x04\x15", "a Parquet file"),
        ("cases.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "old Office file"),
        ("cases.jsonl.gz", b"\x1f\x8b\x08\x00", "compressed (gzip)"),
        ("cases.jsonl", JSON_CASE.encode("utf-16"), "UTF-16"),
        ("cases.pdf", b"%PDF-1.7\n", "a PDF"),
        ("cases.bin", b"a\0\0b", "a binary file"),
    ],
)
def test_a_file_of_another_format_is_told_what_cases_are(
    tmp_path: Path, name: str, content: str | bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(BadInput) as caught:
        case_files.read_cases(path)
    message = str(caught.value)
    assert message.startswith(f"{path} is ")
    assert words in message
    assert "Cases are JSONL" in message
    assert "problem" not in message


def test_a_workbook_is_told_what_cases_are(tmp_path: Path) -> None:
    import xlsxwriter

    for name in ("cases.xlsx", "cases.jsonl"):
        with xlsxwriter.Workbook(str(tmp_path / name)) as book:
            book.add_worksheet().write(0, 0, "id")
        with pytest.raises(BadInput, match="is an Excel workbook, not a file of cases"):
            case_files.read_cases(tmp_path / name)
