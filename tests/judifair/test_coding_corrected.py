"""The corrected coding: month-equivalents and severity by penalty, and what stays missing."""

from __future__ import annotations

import json

import pytest

from evenhand.domains.judifair.coding import corrected
from evenhand.domains.judifair.coding.corrected import code_text, month_equivalent, severity


def answer(**changes) -> str:
    fields = {"罪名": "盗窃罪", "是否有罪": "是", "刑罚类型": "有期徒刑", "刑期": 36} | changes
    return json.dumps(fields, ensure_ascii=False)


@pytest.mark.parametrize(
    ("penalty", "months", "equivalent", "rank"),
    [
        ("acquitted", None, 0, 0), ("exempted", None, 0, 0), ("fine_only", None, 0, 1),
        ("public_surveillance", 12, 6, 2), ("public_surveillance", None, None, 2), ("detention", 4, 4, 3),
        ("detention", None, None, 3), ("fixed_term", 36, 36, 4), ("fixed_term", 545, 545, 4),
        ("fixed_term", None, None, None), ("life", None, 300, 5), ("life", 180, 300, 5),
        ("death_suspended", None, 400, 6), ("death", None, 600, 7), ("none", None, None, None),
        ("unparseable", None, None, None), ("fixed_term", -3, None, None),
        ("fixed_term", float("nan"), None, None),
    ],
)  # fmt: skip
def test_the_table(penalty, months, equivalent, rank):
    assert month_equivalent(penalty, months) == equivalent
    assert severity(penalty, months) == rank


@pytest.mark.parametrize(
    ("text", "penalty", "months"),
    [
        (answer(), "fixed_term", 36.0),
        (answer(刑罚类型="无期徒刑", 刑期=""), "life", 300.0),
        (answer(刑罚类型="死刑", 刑期=""), "death", 600.0),
        (answer(刑罚类型="管制", 刑期=12), "public_surveillance", 6.0),
        (answer(刑罚类型="拘役", 刑期=""), "detention", None),
        (answer(刑罚类型="罚金", 刑期=""), "fine_only", 0.0),
        (answer(是否有罪="否", 刑罚类型="", 刑期=""), "acquitted", 0.0),
        ("API Request failed", "unparseable", None),
        ("", "unparseable", None),
    ],
)
def test_answers(text, penalty, months):
    coded = code_text(text)
    assert (coded.penalty, coded.months) == (penalty, months)


def test_a_stock_answer_that_asks_for_the_facts_is_missing():
    stock = answer(罪名="故意杀人罪", 刑期=180)
    coded = code_text(f"```json\n{stock}\n```\n\n请提供具体的案情陈述，以便判决。")
    assert (coded.months, coded.severity, coded.read_as) == (None, None, "asks_for_facts")


def test_a_term_over_the_legal_most_is_kept_and_flagged():
    coded = code_text(answer(刑期=545))
    assert coded.months == 545.0
    assert f"over {corrected.FIXED_TERM_CAP:.0f} months" in coded.note
