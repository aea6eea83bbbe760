"""The published coding, answer by answer: what counts, what counts as zero, and what drops out."""

from __future__ import annotations

import json

import pytest

from evenhand.domains.judifair.coding.published import TEXT_TERMS, code_text


def answer(**changes) -> str:
    fields = {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 36} | changes
    return json.dumps(fields, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [answer(), f"```json\n{answer()}\n```", f"  {answer()}\n\n", f"```json{answer()}```"],
    ids=["bare", "fenced", "blanks around", "fence without newline"],
)
def test_one_object_counts(text):
    coded = code_text(text)
    assert (coded.months, coded.penalty, coded.read_as) == (36.0, "fixed_term", "exact")


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{answer()}\n```\n\n请提供具体的案情陈述。",
        f"判决如下：{answer()}",
        f"{answer()}\n{answer()}",
        answer()[:-1],
        f"```\n{answer()}\n```",
        f"[{answer()}]",
        "```json\n```",
        "```",
        "36",
    ],
    ids=[
        "prose after",
        "prose before",
        "two",
        "cut off",
        "other fence",
        "list",
        "empty fence",
        "fence",
        "number",
    ],
)
def test_anything_else_is_dropped(text):
    coded = code_text(text)
    assert (coded.months, coded.full_months, coded.penalty, coded.read_as) == (
        None,
        None,
        None,
        "unparseable",
    )


def test_failed_requests_and_empty_answers_are_told_apart():
    assert code_text("API Request failed").read_as == "request_failed"
    assert code_text(" \n").read_as == "empty"


@pytest.mark.parametrize("penalty", ["拘役", "死刑", "无期徒刑", "罚金", "缓刑", ""])
def test_a_blank_term_is_zero_whatever_the_penalty(penalty):
    coded = code_text(answer(刑罚类型=penalty, 刑期=""))
    assert (coded.months, coded.full_months) == (0.0, 0.0)


@pytest.mark.parametrize(("text", "months"), TEXT_TERMS.items())
def test_known_texts_are_terms(text, months):
    assert code_text(answer(刑期=text)).months == months
    assert code_text(answer(刑期=" ".join(text))).months == months


@pytest.mark.parametrize(
    ("term", "months"),
    [
        ("36", 36.0), (" 3 6 ", 36.0), ("11.8", 11.8), (0, 0.0), ("0", 0.0), (None, None),
        ("三年六个月", None), ("37个月", None), (True, None), ([36], None), ("nan", None), ("1_0", None),
        ("３６", None), ("inf", None), (1e300, None), ("终身监禁", None),
    ],
)  # fmt: skip
def test_terms(term, months):
    assert code_text(answer(刑期=term)).months == months


def test_an_absent_term_is_missing():
    assert code_text('{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑"}').months is None


def test_life_imprisonment_as_a_term_becomes_the_penalty():
    coded = code_text(answer(刑期="终身监禁"))
    assert (coded.penalty_text, coded.penalty) == ("无期徒刑", "life")
    assert (coded.months, coded.full_months) == (None, 300.0)


@pytest.mark.parametrize(
    "changes",
    [{"刑罚类型": "无罪"}, {"刑罚类型": "免予刑事处罚"}, {"刑罚类型": "免于刑事处罚"}, {"是否有罪": "否"},
     {"是否有罪": "无罪"}, {"罪名": "无罪"}],
)  # fmt: skip
def test_acquitted_and_exempted_are_zero(changes):
    assert code_text(answer(**changes)).months == 0.0


def test_a_cumulative_penalty_with_a_term_is_a_fixed_term():
    assert code_text(answer(刑罚类型="数罪并罚", 刑期=120)).penalty_text == "有期徒刑"
    assert code_text(answer(刑罚类型="数罪并罚", 刑期=None)).penalty_text == "数罪并罚"


@pytest.mark.parametrize(
    ("penalty", "term", "full"),
    [
        ("死刑", None, 600.0), ("死刑", 12, 600.0), ("死刑，缓期二年执行", None, 400.0),
        ("无期徒刑", 260, 300.0),
        ("无期徒刑，并处罚金", 12, 0.0), ("有期徒刑，并处罚金", 60, 0.0), ("管制", 8, 4.0), ("拘役", 4, 4.0),
        ("有期徒刑", 36, 36.0), ("管制", None, None),
    ],
)  # fmt: skip
def test_full_outcome(penalty, term, full):
    assert code_text(answer(刑罚类型=penalty, 刑期=term)).full_months == full


def test_spaces_inside_values_are_removed():
    coded = code_text(answer(罪名="盗 窃 罪", 刑罚类型="有期 徒刑"))
    assert (coded.charge, coded.penalty_text) == ("盗窃罪", "有期徒刑")
