"""The names of requests in a batch, the address that a batch calls, and lines in pieces of any size."""

from __future__ import annotations

import json
import uuid

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_world import providers

from runner.batch.api import BatchApi
from runner.batch.requests import custom_id, endpoint, read_custom_id
from runner.batch.results import Ledger, missing, read_line
from runner.transport.outcome import Answer, Fault
from runner.transport.redact import Redactor


@given(st.uuids(), st.integers(0, 10**6))
def test_a_custom_id_says_which_query_and_repeat(query: uuid.UUID, repeat: int) -> None:
    name = custom_id(query, repeat)
    assert len(name) <= 64
    assert read_custom_id(name) == (query, repeat)


@pytest.mark.parametrize(
    "name",
    [None, 3, "", "-", "x-1", "0" * 32, "0" * 32 + "-", "0" * 32 + "-01", "0" * 31 + "-1", "A" * 32 + "-1"],
)
def test_any_other_name_is_no_query_of_ours(name: object) -> None:
    assert read_custom_id(name) is None


@pytest.mark.parametrize(
    ("base_url", "called"),
    [
        ("https://api.openai.com/v1", "/v1/chat/completions"),
        ("https://h/openai/v1/", "/v1/chat/completions"),
        ("https://h/api/paas/v4", "/v4/chat/completions"),
        ("https://h/vision", "/v1/chat/completions"),
    ],
)
def test_a_batch_calls_the_version_of_the_base_url(base_url: str, called: str) -> None:
    assert endpoint(providers(a={"base_url": base_url}).resolve("judge").routes[0]) == called


@given(st.binary(max_size=60))
def test_no_line_breaks_the_reading(line: bytes) -> None:
    assert read_line(line, Redactor([])) is None


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-5, 600) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["response", "error", "status_code", "body", "code", "message", "choices"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
))  # fmt: skip
def test_whatever_a_line_says_of_a_query_is_an_answer_or_a_fault(said: object) -> None:
    name = custom_id(uuid.UUID(int=7), 1)
    data = said if isinstance(said, dict) else {"response": {"status_code": 200, "body": said}}
    found = read_line(orjson.dumps({**data, "custom_id": name}), Redactor([]))
    assert found is not None
    assert isinstance(found.result, Answer | Fault)


DONE = {"total": 9, "completed": 9, "failed": 0}


@pytest.mark.parametrize(
    ("status", "counts", "read", "expected"),
    [
        ("completed", DONE, [], "answers"),
        ("completed", DONE, ["error_file_id"], "answers"),
        ("completed", DONE, ["output_file_id"], None),
        ("completed", {**DONE, "completed": 4, "failed": 5}, ["output_file_id"], "errors"),
        ("completed", {"total": 9, "completed": 0, "failed": 9}, [], "errors"),
        ("completed", {"total": 9, "completed": 0, "failed": 9}, ["error_file_id"], None),
        ("completed", {"total": 9, "completed": 0, "failed": 0}, [], "answers"),
        ("completed", None, ["error_file_id"], "answers"),
        ("completed", None, ["output_file_id"], None),
        ("completed", {"completed": "9"}, [], "answers"),
        ("cancelled", {"total": 9, "completed": 3, "failed": 0}, [], "answers"),
        ("expired", {"total": 9, "completed": 0, "failed": 0}, [], None),
        ("expired", None, [], "answers"),
        ("failed", None, [], None),
    ],
)
def test_what_an_ended_batch_owes_follows_from_its_counts(status, counts, read, expected) -> None:
    keys = {(uuid.UUID(int=number), 0) for number in range(9)}
    ledger, left = Ledger(keys, set(), set(), Redactor([])), sorted(keys)
    for what in read:
        came = (counts or {}).get({"output_file_id": "completed", "error_file_id": "failed"}[what], 0)
        came = 0 if what == "error_file_id" and counts is None else 9 if counts is None else came
        contents = ledger.begin(what)
        for key in left[:came]:
            body = {"choices": [{"message": {"content": "x"}}]}
            ledger.take(orjson.dumps({"custom_id": custom_id(*key), "response": {"body": body}}), contents)
        left = left[came:]
    found = missing({"status": status, "request_counts": counts}, ledger, read, {})
    assert found is None if expected is None else expected in found


@pytest.mark.parametrize(
    ("code", "answered"), [(200, True), ("200", True), (200.0, True), (None, True), ("no", False),
                           ("500", False), (True, False), (float("inf"), False), ([200], False)],
)  # fmt: skip
def test_a_status_may_be_written_as_a_text(code: object, answered: bool) -> None:
    body = json.dumps({"choices": [{"message": {"content": "x"}}]})
    sent = {"custom_id": custom_id(uuid.UUID(int=7), 0), "response": {"status_code": code, "body": body}}
    found = read_line(b"\xef\xbb\xbf" + json.dumps(sent).encode(), Redactor([]))
    if found is None:  # what is no JSON at all
        assert code == float("inf")
    else:
        assert isinstance(found.result, Answer) == answered


class Pieces:
    """A response whose body comes in these pieces."""

    status = 200

    def __init__(self, pieces: list[bytes]) -> None:
        self.content = self
        self._pieces = pieces

    async def iter_any(self):
        for piece in self._pieces:
            yield piece


@given(st.lists(st.sampled_from([b"a", b"bc\n", b"\n", b"\nd", b"e\nf\ng", b""]), max_size=12))
async def test_lines_are_whole_however_they_arrive(pieces: list[bytes]) -> None:
    api, rest = object.__new__(BatchApi), bytearray()
    lines = [line async for line in api._split(Pieces(pieces), rest)]  # type: ignore[arg-type]
    whole = b"".join(pieces).split(b"\n")
    assert lines == [line for line in whole[:-1] if line]
    assert bytes(rest) == whole[-1]
