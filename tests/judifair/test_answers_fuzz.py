"""Whatever comes in, the parser neither raises nor hangs, and it reads back any verdict it rendered."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.domains.judifair.answers import read_answer, read_object
from evenhand.domains.judifair.answers.verdict import WITH_MONTHS, Penalty, Verdict
from evenhand.domains.judifair.coding.corrected import code_text

BOUNDED = settings(max_examples=150, deadline=5000, suppress_health_check=[HealthCheck.too_slow])

NAMES: dict[Penalty, list[str]] = {
    "fixed_term": ["有期徒刑", "有期徒刑，并处罚金", "fixed-term imprisonment", "有期徒刑、剥夺政治权利"],
    "detention": ["拘役", "拘役，并处罚金", "detention"],
    "public_surveillance": ["管制", "public surveillance"],
    "life": ["无期徒刑", "無期徒刑", "life imprisonment", "无期徒刑，剥夺政治权利终身"],
    "death": ["死刑", "死刑立即执行", "death penalty"],
    "death_suspended": ["死缓", "死刑缓期二年执行", "死刑，緩期二年執行"],
    "fine_only": ["罚金", "单处罚金", "罰金"],
    "exempted": ["免予刑事处罚", "免于刑事处罚", "免予刑事處罰"],
}
CHARGES = [
    "盗窃罪",
    "故意伤害罪",
    "走私、贩卖、运输、制造毒品罪",
    "以危险方法危害公共安全罪",
    "受贿罪、行贿罪",
    "虐待罪",
]
_CHINESE_DIGITS = "零一二三四五六七八九"


@dataclass(frozen=True)
class Style:
    """How a verdict is written down."""

    keys: tuple[str, str, str, str]
    term: str  # number, string, months, chinese_months, years_and_months, chinese_years
    syntax: str
    around: str
    name: int


def chinese(n: int) -> str:
    """A whole number below 1000 in Chinese numerals."""
    hundreds, rest = divmod(n, 100)
    tens, ones = divmod(rest, 10)
    text = f"{_CHINESE_DIGITS[hundreds]}百" if hundreds else ""
    if tens:
        text += ("" if tens == 1 and not hundreds else _CHINESE_DIGITS[tens]) + "十"
    elif hundreds and ones:
        text += "零"
    return text + (_CHINESE_DIGITS[ones] if ones else "") or "零"


def _term(months: int, way: str) -> int | str:
    years, rest = divmod(months, 12)
    match way:
        case "string":
            return str(months)
        case "months":
            return f"{months}个月"
        case "chinese_months":
            return f"{chinese(months)}个月"
        case "years_and_months" if years:
            return f"{years}年{rest}个月" if rest else f"{years}年"
        case "chinese_years" if years:
            return f"{chinese(years)}年零{chinese(rest)}个月" if rest else f"{chinese(years)}年"
        case _:
            return months


def render_answer(verdict: Verdict, style: Style) -> str:
    """The text of an answer that says `verdict` in the given style."""
    acquitted = verdict.penalty == "acquitted"
    names = NAMES.get(verdict.penalty, [""])
    values: list[object] = [
        verdict.charge,
        "否" if acquitted else "是",
        "" if acquitted else names[style.name % len(names)],
        _term(int(verdict.months), style.term) if verdict.months is not None else "",
    ]
    fields = dict(zip(style.keys, values, strict=True))
    text = json.dumps(fields, ensure_ascii=False, indent=2 if style.syntax == "indented" else None)
    match style.syntax:
        case "escaped":
            text = text.replace('"', '\\"')
        case "literal_breaks":
            text = text.replace(", ", ",\\n").replace("{", "{\\n")
        case "typographic":
            text = text.replace('"', "“").replace(":", "：").replace("”,", "”，")
        case "python":
            text = repr(fields)
        case "trailing_comma":
            text = text[:-1] + ",}"
        case "unclosed":
            text = text[:-1]
        case "no_quotes":
            text = text.replace('"', "")
        case "lines":
            text = "\n".join(f"- **{k}**：{v}" for k, v in fields.items()) + "\n"
    return style.around.format(text)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    penalty: Penalty = draw(st.sampled_from([*NAMES, "acquitted"]))
    limit = {"detention": 12, "public_surveillance": 36}.get(penalty, 300)
    months = float(draw(st.integers(1, limit))) if penalty in WITH_MONTHS else None
    charge = draw(st.sampled_from(CHARGES))
    return Verdict(charge, penalty != "acquitted", penalty, months, "exact", None, 1)


STYLES = st.builds(
    Style,
    keys=st.sampled_from(
        [
            ("罪名", "是否有罪", "刑罚类型", "刑期"),
            ("罪名", "是否有罪", "刑罰類型", "刑期"),
            ("罪名", "是否构成犯罪", "刑罪类型", "刑期(月)"),
            ("crime", "guilty", "penalty_type", "term"),
        ]
    ),
    term=st.sampled_from(
        ["number", "string", "months", "chinese_months", "years_and_months", "chinese_years"]
    ),
    syntax=st.sampled_from(
        [
            "bare",
            "indented",
            "escaped",
            "literal_breaks",
            "typographic",
            "python",
            "trailing_comma",
            "unclosed",
            "no_quotes",
            "lines",
        ]
    ),
    around=st.sampled_from(
        [
            "{}",
            "```json\n{}\n```",
            "<think>可能判处三年以上十年以下有期徒刑，也可能无期。</think>\n{}",
            "根据您提供的案情，判决如下：\n\n{}",
            "```json\n{}\n```\n\n注意：以上仅供参考，法定刑为三年以上十年以下有期徒刑。",
        ]
    ),
    name=st.integers(0, 3),
)


@settings(BOUNDED, max_examples=300)
@given(verdicts(), STYLES)
def test_reads_back_what_was_rendered(verdict: Verdict, style: Style) -> None:
    if style.syntax == "unclosed" and "```\n\n" in style.around:
        style = Style(style.keys, style.term, "bare", style.around, style.name)
    text = render_answer(verdict, style)
    read = read_answer(text)
    if verdict.months is not None and text[-1].isdigit():
        verdict = replace(verdict, months=None)  # nothing closes the number
    assert (read.penalty, read.months, read.guilty) == (verdict.penalty, verdict.months, verdict.guilty), text
    assert read.charge == verdict.charge, text


@settings(BOUNDED, max_examples=60)
@given(verdicts(), STYLES)
def test_no_beginning_of_an_answer_reads_as_another_number(verdict: Verdict, style: Style) -> None:
    text = render_answer(verdict, style)
    whole = code_text(text)
    for end in range(len(text)):
        begun = code_text(text[:end])
        assert begun.months in (None, whole.months), text[:end]


FRAGMENTS = [
    "{",
    "}",
    '"',
    '\\"',
    "刑期",
    "罪名",
    ":",
    "，",
    "有期徒刑",
    "三年",
    "请提供",
    "案情",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "[",
    "]",
    "年",
    "个月",
    "十",
    "3",
    "-",
    "至",
    "或",
    "(",
    ")",
    "以上",
    "判处",
    "决定执行",
    "\n",
    " ",
    "被告人",
    "某甲",
    "//",
    "/*",
    "*/",
    "缓刑",
    "罚金",
    "元",
    "是否",
    "the ",
    "case ",
    "please provide ",
    "months ",
    "two hundred ",
    "\\n",
    "\\",
    "|",
    "=",
    "<",
    ">",
    "示例",
    "没有",
    "&quot;",
    "\\u7f6a",
    "\ud800",
    "\x00",
    "１２",
    "٣",
    "²",
]


@BOUNDED
@given(st.one_of(st.text(max_size=400), st.lists(st.sampled_from(FRAGMENTS), max_size=120).map("".join)))
def test_never_raises_on_text(text: str) -> None:
    verdict = read_answer(text)
    _is_well_formed(verdict)


@BOUNDED
@given(verdicts(), STYLES, st.data())
def test_never_raises_on_damaged_answers(verdict: Verdict, style: Style, data: st.DataObject) -> None:
    text = render_answer(verdict, style)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 6))
        text = text[:at] + data.draw(st.sampled_from(FRAGMENTS)) + text[at + gone :]
    _is_well_formed(read_answer(text))


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.sampled_from([*FRAGMENTS, *CHARGES, "三年", "无期徒刑"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["罪名", "刑期", "刑罚", "被告人", "盗窃罪", "x", "总刑期", "是否有罪"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@BOUNDED
@given(
    st.dictionaries(
        st.sampled_from(["罪名", "是否有罪", "刑罚类型", "刑期", "缓刑", "x"]), JSON_VALUES, max_size=6
    )
)
def test_never_raises_on_objects(obj: dict[str, object]) -> None:
    _is_well_formed(read_object(obj))


def _is_well_formed(verdict: Verdict) -> None:
    assert verdict.months is None or (verdict.penalty in WITH_MONTHS and 0 <= verdict.months < float("inf"))
    assert verdict.charge is None or verdict.charge
    assert verdict.objects >= 0
    if verdict.read_as in ("refused", "asks_for_facts", "request_failed", "empty"):
        assert verdict.penalty == "unparseable"
    if verdict.penalty == "acquitted":
        assert verdict.guilty is False


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "}",
        "[",
        '"',
        '{"a":',
        '{"刑期":',
        "```",
        "<think>",
        "是否",
        "三年至",
        "10",
        ")",
        "\\",
        '\\"',
        "请提供",
        "没有",
        "仅",
        "以上",
        "判处有期徒刑3年。",
        '{"刑期":3}',
        "the case ",
        "no the the the ",
        "被告人某甲",
        "&quot;",
        "\n",
        "刑期\n|",
        "一百",
        "1,000",
        "// ",
        "{{",
    ],
)
def test_huge_answers_end_soon(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    _is_well_formed(read_answer(text))
    assert time.process_time() - start < 10
