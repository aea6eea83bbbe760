"""Numbers, lengths, terms and names of penalties, each by itself."""

from __future__ import annotations

import pytest

from evenhand.audit.answers.numerals import chinese, number
from evenhand.audit.answers.writing import plain, tight, visible
from evenhand.domains.judifair.answers.lengths import is_bound, lengths, unit_of, without_other_lengths
from evenhand.domains.judifair.answers.penalties import is_blank, name_penalty
from evenhand.domains.judifair.answers.terms import Term, read_term


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三", 3),
        ("十", 10),
        ("十一", 11),
        ("二十", 20),
        ("三十六", 36),
        ("一百", 100),
        ("一百八", 180),
        ("一百零八", 108),
        ("一百一十", 110),
        ("两百四十", 240),
        ("二百四", 240),
        ("廿五", 25),
        ("卅", 30),
        ("拾伍", 15),
        ("壹佰捌拾", 180),
        ("一八〇", 180),
        ("二四零", 240),
        ("一千零八十", 1080),
        ("半", 0.5),
        ("180", 180),
        ("12.5", 12.5),
        ("1,080", 1080),
        ("fifteen", 15),
        ("thirty-six", 36),
        ("one hundred and eighty", 180),
        ("a hundred twenty", 120),
    ],
)
def test_numbers(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "text", ["", "三五", "七八", "十十", "百百", "两〇", "个", "hundred hundred", "six ten", "1.2.3", "-3"]
)
def test_no_numbers(text: str) -> None:
    assert number(text) is None


def test_every_chinese_numeral_below_a_thousand() -> None:
    digits = "零一二三四五六七八九"
    for n in range(1, 1000):
        hundreds, tens, ones = n // 100, n // 10 % 10, n % 10
        text = (digits[hundreds] + "百" if hundreds else "") + (
            digits[tens] + "十" if tens else "零" if hundreds and ones else ""
        )
        text += digits[ones] if ones else ""
        assert chinese(text) == n
        assert chinese(text.removeprefix("一") if text.startswith("一十") else text) == n


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("三年六个月", [42]),
        ("3年零6个月15天", [42.5]),
        ("一年半", [18]),
        ("两个半月", [2.5]),
        ("15年,180个月", [180, 180]),
        ("2019年3月5日", []),
        ("第36条", []),
        ("判处三年，缓刑五年", [36, 60]),
        ("2 years and 6 months", [30]),
        ("半年", [6]),
        ("180天", [6]),
        ("十几年", []),
        ("25年级", [300]),
    ],
)
def test_lengths_in_running_text(text: str, months: list[float]) -> None:
    assert [length.months for length in lengths(tight(text))] == months


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("三年以上", True),
        ("不超过15年", True),
        ("最高可判十五年", True),
        ("3年至", True),
        ("up to 10 years", True),
        ("法定刑为10年", True),
        ("判处三年有期徒刑", False),
        ("刑期:25年,超过", False),
        ("取上限10年", False),
        ("判处最高刑期15年", False),
        ("10 years or more", True),
    ],
)
def test_bounds(text: str, bound: bool) -> None:
    text = tight(text)
    assert is_bound(text, next(lengths(text))) is bound


def test_other_lengths_go() -> None:
    assert (
        without_other_lengths("有期徒刑三年,缓刑五年,并处罚金人民币5000元,剥夺政治权利二年").count("年") == 1
    )
    assert without_other_lengths("3年缓刑5年") == "3年"


@pytest.mark.parametrize(
    ("value", "unit", "months"),
    [
        (15, None, 15),
        ("15", None, 15),
        (3, "year", 36),
        ("3", "year", 36),
        ("3个月", "year", 3),
        ("1 5年", None, None),
        ("18 0", None, None),
        ("3 6 个月", None, None),
        ("1年 6个月", None, 18),
        (True, None, None),
        (None, None, None),
        (-5, None, None),
        (float("nan"), None, None),
        (float("inf"), None, None),
        (10**400, None, None),
        ("9" * 400, None, None),
        ({"年": 3, "月": 6}, None, 42),
        ({"年": "x"}, None, None),
        ([36], None, 36),
        ([], None, None),
        ([36, 60], None, None),
        ({}, None, None),
        (object(), None, None),
    ],
)
def test_terms_of_any_type(value: object, unit: str | None, months: float | None) -> None:
    assert read_term(value, unit).months == months  # type: ignore[arg-type]


def test_a_bare_number_has_no_unit() -> None:
    assert read_term("15") == Term(15.0)
    assert read_term("15个月").unit == "month"
    assert read_term("15年").unit == "year"
    assert read_term("15(月)").unit == "month"


@pytest.mark.parametrize(
    ("key", "unit"),
    [("刑期(月)", "month"), ("刑期(年)", "year"), ("刑期(年/月)", None), ("刑罚年限", None), ("days", "day")],
)
def test_units_of_keys(key: str, unit: str | None) -> None:
    assert unit_of(key) == unit


def test_longer_names_are_no_shorter_ones() -> None:
    assert name_penalty("无期徒刑").penalty == "life"
    assert name_penalty("死刑缓期二年执行").penalty == "death_suspended"
    assert name_penalty("有期徒刑，剥夺政治权利终身").penalty == "fixed_term"
    assert name_penalty("不判处死刑，判处无期徒刑").penalty == "life"
    assert name_penalty("有期徒刑或拘役").alternatives == ("fixed_term", "detention")
    assert name_penalty("有期徒刑，罚金/没收财产").penalty == "fixed_term"
    assert name_penalty("缓刑").suspended
    assert name_penalty("缓刑").penalty is None
    assert name_penalty("待定").left_open
    assert name_penalty("").blank


def test_blanks() -> None:
    assert all(is_blank(t) for t in ("", " ", "无", "null", "N/A", "——", "未知", "...", "[]"))
    assert not any(is_blank(t) for t in ("无期徒刑", "盗窃罪", "0", "36"))


def test_one_way_of_writing() -> None:
    assert plain("刑罰類型：１８０　Months") == "刑罚类型:180 months"
    assert tight("有 期 徒 刑  3 年 and  six months") == "有期徒刑3年and six months"
    assert visible("\ufeff罪\u200b名<|im_end|>") == "罪名\n"
    assert len(visible("x" * 1_000_000)) < 210_000
