"""Irregular answers of our own invention against what a careful reader makes of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from evenhand.domains.judifair.answers import read_answer

CORPUS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["answer"]
_MISSING = {"(none)": None}


@pytest.mark.parametrize("case", CORPUS, ids=[f"{i}: {c['why']}" for i, c in enumerate(CORPUS)])
def test_reads_what_a_careful_reader_reads(case: dict[str, Any]) -> None:
    verdict = read_answer(case["text"])
    assert verdict.penalty == case["penalty"], verdict
    if verdict.penalty == "fixed_term":
        assert verdict.months == case.get("months"), verdict
    for name in ("read_as", "charge", "guilty", "objects"):
        if name in case:
            expected = _MISSING.get(case[name], case[name]) if isinstance(case[name], str) else case[name]
            assert getattr(verdict, name) == expected, (name, verdict)


def test_the_corpus_is_large_and_varied() -> None:
    assert len(CORPUS) >= 150
    assert len({c["text"] for c in CORPUS}) == len(CORPUS)
    assert {c["penalty"] for c in CORPUS} == {
        "fixed_term",
        "detention",
        "public_surveillance",
        "life",
        "death",
        "death_suspended",
        "fine_only",
        "exempted",
        "acquitted",
        "none",
        "unparseable",
    }
