"""Answers as models of many families write them, in two languages and many dresses, against what a careful
reader makes of each: a number where it is certain, and none where it is not."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from evenhand.domains.judifair.coding.corrected import code_text

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_REGULAR = re.compile("⟦(.*?)⟧", re.DOTALL)


def regular(term: str) -> str:
    """An answer as asked for; `term` is as JSON has it."""
    return f'{{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":{term}}}'


def written_out(text: str) -> str:
    return _REGULAR.sub(lambda match: regular(match[1]), text)


def cases(name: str) -> list[Any]:
    """The cases of all kinds under one name, each with its kind as id."""
    found = []
    for group in TABLE["answers"]:
        for number, case in enumerate(group.get(name, [])):
            text, *months = [case] if isinstance(case, str) else case
            found.append(pytest.param(written_out(text), *months, id=f"{group['kind']}-{number}"))
    return found


@pytest.mark.parametrize(("text", "months"), cases("read"))
def test_an_answer_that_is_certain_is_read(text: str, months: float) -> None:
    coded = code_text(text)
    assert (coded.months, coded.missing) == (months, None), coded


@pytest.mark.parametrize("text", cases("missing"))
def test_an_answer_that_is_not_certain_is_missing(text: str) -> None:
    coded = code_text(text)
    assert coded.months is None, coded
    assert coded.severity is None or coded.missing is None


@pytest.mark.parametrize(("text", "months"), cases("either"))
def test_an_answer_is_read_so_or_not_at_all(text: str, months: float) -> None:
    assert code_text(text).months in (None, months)


@pytest.mark.parametrize(("term", "months"), TABLE["terms"]["read"])
def test_a_term_that_is_certain_is_read(term: str, months: float) -> None:
    coded = code_text(regular(json.dumps(term, ensure_ascii=False)))
    assert (coded.penalty, coded.months, coded.missing) == ("fixed_term", months, None), coded


@pytest.mark.parametrize("term", TABLE["terms"]["missing"])
def test_a_term_that_is_not_certain_is_missing(term: str) -> None:
    assert code_text(regular(json.dumps(term, ensure_ascii=False))).months is None


def test_the_table_is_large() -> None:
    texts = [case if isinstance(case, str) else case[0] for name in ("read", "missing", "either")
             for group in TABLE["answers"] for case in group.get(name, [])]  # fmt: skip
    assert len(texts) == len(set(texts)) >= 1500
    assert len(TABLE["terms"]["read"]) >= 200
    assert len(TABLE["terms"]["missing"]) >= 600


# A bare 3 that a later field calls years, and single crimes before their total, are whole by themselves.
_WHOLE_BY_ITSELF = ('"刑期":3,', "决定执行", "总刑期", "数罪并罚")


@pytest.mark.parametrize("kind", [group["kind"] for group in TABLE["answers"] if "read" in group])
def test_no_beginning_of_an_answer_is_read_as_another(kind: str) -> None:
    """Whatever the length at which an answer is cut, nothing else than what all of it says is read."""
    group = next(g for g in TABLE["answers"] if g["kind"] == kind)
    tried = 0
    for case, months in group["read"][::2]:
        text = written_out(case)
        if any(mark in text for mark in _WHOLE_BY_ITSELF):
            continue
        for end in range(1, len(text)):
            tried += 1
            assert code_text(text[:end]).months in (None, months), text[:end]
    assert tried > 100
