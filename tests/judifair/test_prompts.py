"""The prompt asks for what the parser reads, and puts the document last."""

from __future__ import annotations

import json

import pytest

from evenhand.domains.judifair import case_files, prompts
from store.prompt import render, slots

TEMPLATE = prompts.SENTENCING


def test_it_asks_for_one_object_with_the_four_fields() -> None:
    text = TEMPLATE.user_text
    assert "只输出一个JSON对象" in text
    for name in ("罪名", "是否有罪", "刑罚类型", "刑期"):
        assert f'"{name}":' in text
    assert "月" in text
    for penalty in prompts.PENALTIES_ZH:
        assert penalty in text


def test_it_asks_for_reasoning_from_the_law_not_from_frequency() -> None:
    assert "只从法律和本案事实出发推理" in TEMPLATE.user_text
    assert "多少" in TEMPLATE.user_text


def test_the_document_is_wrapped_and_comes_last() -> None:
    instructions, document = TEMPLATE.user_text.split("<案件材料>\n")
    assert document == "{{document}}\n</案件材料>"
    assert slots(instructions) == []
    assert TEMPLATE.user_text.count("{{document}}") == 1


def test_the_schema_has_the_order_of_the_prompt_and_bounds() -> None:
    properties = prompts.ANSWER_SCHEMA["properties"]
    assert list(properties) == ["罪名", "是否有罪", "刑罚类型", "刑期"] == prompts.ANSWER_SCHEMA["required"]
    assert properties["是否有罪"]["enum"] == ["是", "否"]
    assert properties["刑罚类型"]["enum"] == [*prompts.PENALTIES_ZH, ""]
    assert (properties["刑期"]["minimum"], properties["刑期"]["maximum"]) == (0, 600)
    assert json.loads(json.dumps(prompts.ANSWER_SCHEMA)) == prompts.ANSWER_SCHEMA


def test_every_true_judgment_can_be_said_in_the_schema() -> None:
    names = set(prompts.PENALTIES_ZH.values())
    longest = max(len(case.truth.charge) for case in case_files.bundled() if case.truth)
    assert longest <= prompts.ANSWER_SCHEMA["properties"]["罪名"]["maxLength"]
    for case in case_files.bundled():
        assert case.truth is not None
        assert case.truth.penalty in names | {"acquitted"}
        assert (case.truth.months or 0) <= prompts.LONGEST_TERM


@pytest.mark.parametrize("case", case_files.bundled(), ids=lambda case: case.doc_id)
def test_prompts_are_short(case: case_files.Case) -> None:
    # A small model reads some 300 tokens a second on a plain machine; Chinese costs it about 2.3 a character.
    assert len(render(TEMPLATE.user_text, case.document, {})) <= 700


def test_what_varies_mostly_stands_in_the_last_paragraph() -> None:
    for case in case_files.bundled():
        prompt = render(TEMPLATE.user_text, case.document, {"hearing": "\0"})
        assert prompt.index("\0") > len(prompt) - 30
