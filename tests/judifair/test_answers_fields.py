"""Keys, the values of guilt and charge, answers stored as objects, objects within prose."""

from __future__ import annotations

import json

import pytest

from evenhand.audit.answers.objects import find_objects
from evenhand.domains.judifair.answers import read_answer, read_object
from evenhand.domains.judifair.answers.fields import (
    charges_in,
    field_of,
    is_placeholder,
    read_charge,
    read_guilt,
)
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.prose import Prose
from evenhand.domains.judifair.answers.vocabulary import VOCABULARY


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("罪名", "charge"),
        ("嫌疑罪名", "charge"),
        ("crime_name", "charge"),
        ("案由", "charge"),
        ("是否有罪", "guilty"),
        ("有罪", "guilty"),
        ("是否罪名成立", "guilty"),
        ("is_guilty", "guilty"),
        ("刑罚类型", "penalty"),
        ("刑罪类型", "penalty"),
        ("刑期类型", "penalty"),
        ("penalty type", "penalty"),
        ("刑期", "term"),
        ("刑 期", "term"),
        ("总刑期", "term"),
        ("Sentence (months)", "term"),
        ("徒刑", "term"),
        ("刑罚", "sentence"),
        ("判决", "sentence"),
        ("sentence", "sentence"),
        ("盗窃罪", "crime"),
        ("数罪并罚", "total"),
        ("决定执行刑期", "total"),
        ("被告人", "owner"),
        ("罚金", None),
        ("缓刑考验期", None),
        ("量刑理由", None),
        ("是否认罪", None),
        ("是否自首", None),
        ("truncation", None),
        ("toplivn", None),
        ("", None),
        ("年龄", None),
    ],
)
def test_keys(key: str, field: str | None) -> None:
    assert field_of(key).field == field


def test_units_and_totals_of_keys() -> None:
    assert field_of("刑期(月份)").unit == "month"
    assert field_of("刑期（年）").unit == "year"
    assert field_of("总刑期").total
    assert not field_of("刑期").total


@pytest.mark.parametrize(
    ("value", "guilty"),
    [
        ("是", True),
        ("否", False),
        ("是否", None),
        ("有罪", True),
        ("无罪", False),
        ("没有罪", False),
        (True, True),
        (0, False),
        (["是"], True),
        (["否", "是"], True),
        ({}, None),
        (None, None),
        (2, None),
        ("证据不足，不构成犯罪", False),
        ("构成盗窃罪", True),
        ("否则", None),
    ],
)
def test_guilt(value: object, guilty: bool | None) -> None:
    assert read_guilt(value) is guilty


def test_charges() -> None:
    assert read_charge(["盗窃罪", "诈骗罪", "盗窃罪"]) == "盗窃罪、诈骗罪"
    assert read_charge(" 盗窃罪 \n") == "盗窃罪"
    assert read_charge("无") is None
    assert read_charge("XX罪") is None
    assert read_charge([{"名称": "盗窃罪"}]) == "盗窃罪"
    assert charges_in("走私、贩卖毒品罪、非法持有枪支罪") == 2
    assert charges_in("盗窃") == 1


def test_placeholders() -> None:
    assert all(
        is_placeholder(p) for p in ("XX罪", "具体罪名", "是/否", "<刑期>", "...", "有期徒刑/无期徒刑/死刑")
    )
    assert not any(is_placeholder(p) for p in ("虐待罪", "盗窃罪", "", None, 36, "有期徒刑"))


def test_stored_objects() -> None:
    verdict = read_object(
        {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 36, "truncation": 0}
    )
    assert (verdict.charge, verdict.guilty, verdict.penalty, verdict.months) == (
        "盗窃罪",
        True,
        "fixed_term",
        36.0,
    )
    assert (verdict.read_as, verdict.objects, verdict.note) == ("exact", 1, None)
    assert read_object({}).read_as == "empty"
    assert read_object({"x": 1}).penalty == "unparseable"
    assert (
        read_object(
            {"罪名": "", "是否有罪": "", "刑罚类型": "", "刑期": "", "备注": "请提供具体的案情"}
        ).read_as
        == "asks_for_facts"
    )
    assert (
        read_object({"罪名": "XX罪", "是否有罪": "是/否", "刑罚类型": "...", "刑期": 0}).penalty
        == "unparseable"
    )


def test_an_object_reads_as_its_text() -> None:
    obj = {
        "罪名": ["运输毒品罪", "非法持有枪支罪"],
        "是否有罪": ["是"],
        "刑罚类型": "有期徒刑",
        "刑期": [156, 24],
    }
    assert read_object(obj).months == 180
    assert read_answer(json.dumps(obj, ensure_ascii=False)) == read_object(obj)


def test_objects_and_the_prose_around_them() -> None:
    objects = find_objects('甲```json\n{"刑期": 36}\n```乙{"x": 1}丙{"刑期": 3年 // 丁\n}', VOCABULARY)
    assert [f.data for f in objects.found] == [{"刑期": 36}, {"刑期": "3年"}]
    assert [f.sound for f in objects.found] == [True, False]
    assert [f.block for f in objects.found] == [1, 2]
    assert "丙" in objects.found[1].before
    assert all(c in objects.prose for c in "甲乙丙丁")


def test_prose_about_the_term() -> None:
    assert Prose("判处有期徒刑15年").means_years(15)
    assert not Prose("判处有期徒刑15个月，法定最高刑15年").means_years(15)
    assert not Prose("处三年以下有期徒刑").means_years(3)
    assert not Prose("判处有期徒刑36年").means_years(36)
    assert Prose("判处三年，决定执行有期徒刑七年。").sentence_months() == 84
    assert Prose("判处三年，决定执行有期徒刑七年").sentence_months() is None
    assert Prose("判处三年，又判处五年。").sentence_months() is None


def test_notes_say_what_was_unusual() -> None:
    def note(term: object, kind: str = "有期徒刑") -> str:
        return read_object({"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": kind, "刑期": term}).note or ""

    assert "maximum" in note(545)
    assert "0 months" in note(0)
    assert "no lawful detention" in note(120, "拘役")
    assert "life with the number 260" in note(260, "无期徒刑")
    assert "fixed term" in note(60, "")
    assert "range" in note("3-5年")
    assert note(36) == ""


def test_months_only_for_penalties_that_have_a_length() -> None:
    assert read_object({"罪名": "x", "是否有罪": "是", "刑罚类型": "拘役", "刑期": 5}).months == 5
    assert read_object({"罪名": "x", "是否有罪": "是", "刑罚类型": "拘役", "刑期": "15天"}).months == 0.5
    assert read_object({"罪名": "x", "是否有罪": "是", "刑罚类型": "管制", "刑期": 12}).months == 12
    assert read_object({"罪名": "x", "是否有罪": "否", "刑罚类型": "有期徒刑", "刑期": 12}).months is None


_BEFORE_THE_TERM = '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期": '


@pytest.mark.parametrize(
    ("end", "months"),
    [("4", None), ('"48', None), ("48\n", 48), ("48}", 48), ("48,", 48), ('48, "年龄": 3', 48)],
)
def test_a_number_that_ends_the_text_may_be_cut_itself(end: str, months: float | None) -> None:
    verdict = read_answer(_BEFORE_THE_TERM + end)
    assert verdict.months == months
    assert verdict.missing == (Missing.CUT_OFF if months is None else None)


def test_a_charge_of_not_guilty_contradicts_a_term() -> None:
    verdict = read_answer('{"罪名":"无罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":22}')
    assert (verdict.penalty, verdict.months, verdict.missing) == ("fixed_term", None, Missing.CONTRADICTION)
    assert verdict.note == Missing.CONTRADICTION.text
