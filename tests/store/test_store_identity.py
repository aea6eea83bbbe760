"""Identities: stable, unambiguous, ordered where they must be."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import identity
from store.prompt import fill, render, slots

TEXTS = st.text(max_size=8)


def test_identities_never_change() -> None:
    """A change here orphans the answers of every existing study: never adapt these values to the code."""
    assert (
        str(identity.query_id("cases", "d1", "defendant_sex", "女", None))
        == "9a9c6a94-94da-e65d-0aea-134f09db268e"
    )
    assert (
        str(identity.query_id("cases", "d1", "defendant_sex", "女", "00ff"))
        == "c1b1f969-0e88-cab1-d5a8-b27f861c3f05"
    )
    assert identity.prompt_hash(None, "请判决") == "1028b2578c429aba63749ce305610913"
    assert identity.template_hash("s", "u", {"b": 1, "a": [1]}) == "de91235be5b5d6e8f2c9bd8782127d4c"
    assert (
        identity.model_key({"model": "gpt", "temperature": 0.0, "seed": 1})
        == "f38251b6f458d62dba08b461c71921be"
    )
    assert str(identity.import_prediction_id("abc", 7)) == "be382622-4509-bab4-9b6a-727c61f338b5"


@given(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), st.tuples(TEXTS, TEXTS, TEXTS, TEXTS))
def test_different_questions_have_different_ids(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    same = identity.query_id(*a, None) == identity.query_id(*b, None)
    assert same == (a == b)
    assert identity.query_id(*a, None) != identity.query_id(*a, "")


def test_a_model_key_is_of_what_is_set_in_any_order() -> None:
    key = identity.model_key({"model": "m", "temperature": 0.5})
    assert key == identity.model_key({"temperature": 0.5, "model": "m", "seed": None})
    assert key != identity.model_key({"temperature": 0.5, "model": "m", "seed": 0})
    assert identity.model_key({"extra": {"b": 1, "a": 2}}) == identity.model_key({"extra": {"a": 2, "b": 1}})
    with pytest.raises(ValueError, match="JSON"):
        identity.model_key({"temperature": float("nan")})


def test_new_ids_rise_and_never_meet() -> None:
    ids = [identity.new_prediction_id() for _ in range(5_000)]
    assert ids == sorted(set(ids))
    assert {i.version for i in ids} == {7}
    assert {i.variant for i in ids} == {uuid.RFC_4122}
    before, block = identity.new_prediction_id(), identity.new_prediction_ids(5_000)
    after = identity.new_prediction_id()
    ids = [before, *(uuid.UUID(bytes=block[at : at + 16]) for at in range(0, len(block), 16)), after]
    assert len(ids) == 5_002
    assert ids == sorted(set(ids))
    assert {i.version for i in ids} == {7}
    assert {i.variant for i in ids} == {uuid.RFC_4122}
    milliseconds = [i.int >> 80 for i in ids]
    assert milliseconds[-1] - milliseconds[0] <= 1_000
    assert len({i.int & ((1 << 62) - 1) for i in ids}) == 5_002  # the rest is chance
    with ThreadPoolExecutor(4) as pool:
        many = list(pool.map(lambda _: identity.new_prediction_id(), range(2_000)))
    assert len(set(many)) == 2_000


def test_a_clock_that_steps_back_does_not_disorder_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity.new_prediction_id()
    monkeypatch.setattr(identity.time, "time_ns", lambda: 0)
    assert identity.new_prediction_id() > before


def test_a_text_is_filled_once() -> None:
    assert slots("{{a}} {{b}} {{a}}") == ["a", "b"]
    assert fill("{{who}}于{{when}}", {"who": "{{when}}", "when": "夜"}) == "{{when}}于夜"
    assert fill("{{a}}x{{ b }}{c}", {}) == "x{c}"
    assert render("{{x}}<{{document}}>", "d{{x}}", {"x": "1"}) == "1<d1>"
    assert render("no document", "d", {}) == "no document"


@given(st.text(), st.dictionaries(TEXTS, TEXTS))
def test_filling_never_fails(text: str, fills: dict[str, str]) -> None:
    assert isinstance(fill(text, fills), str)
    assert fill("{{a}}", {"a": text}) == text
