"""The names of requests in a batch, the address that a batch calls, and lines in pieces of any size."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import AsyncIterator, Callable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_world import providers

from runner.batch.records import TooLongRecord, records, unpacked
from runner.batch.requests import custom_id, endpoint, read_custom_id
from runner.batch.results import Ledger, missing, read_line
from runner.transport.compression import BadGzip
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


async def arriving(pieces: list[bytes]) -> AsyncIterator[bytes]:
    """A file that comes in these pieces."""
    for piece in pieces:
        yield piece


async def taken_apart(pieces: list[bytes]) -> list[bytes]:
    return [record async for record in records(unpacked(arriving(pieces)))]


@given(st.lists(st.sampled_from([b"a", b"bc\n", b"\n", b"\nd", b"e\nf\ng", b""]), max_size=12))
async def test_lines_are_whole_however_they_arrive(pieces: list[bytes]) -> None:
    whole = b"".join(pieces).split(b"\n")
    assert await taken_apart(pieces) == [line for line in whole if line]


RESULTS = [
    {"custom_id": f"q-{n}", "response": {"body": {"choices": [{"text": text}], "n": [[n], {}]}}}
    for n, text in enumerate(['brackets } ] { [ in "quotes"', "a \\ at the end\\", "案，情\n", "", '\\"}'])
]


def pretty(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, indent=2).encode()


def compact(data: object) -> bytes:
    return json.dumps(data).encode()


FORMS = {
    "lines": b"\n".join(map(compact, RESULTS)) + b"\n",
    "lines without an end": b"\r\n".join(map(compact, RESULTS)),
    "an array": compact(RESULTS),
    "an array with a mark before it": b"\xef\xbb\xbf" + compact(RESULTS) + b"\n",
    "an array over many lines": pretty(RESULTS),
    "an array, a result a line": b"[\n" + b",\n".join(map(compact, RESULTS)) + b"\n]\n",
    "arrays of one": b"\n".join(compact([one]) for one in RESULTS),
    "two arrays": compact(RESULTS[:2]) + b"\n" + pretty(RESULTS[2:]),
    "objects over many lines": b"\n".join(map(pretty, RESULTS)),
    "an array in an object": compact({"object": "list", "data": RESULTS}),
    "an array in an object over many lines": pretty({"results": RESULTS}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 2, 7, 100, 10**6])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
async def test_results_are_read_in_every_form(form: str, size: int, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(FORMS[form])
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert [json.loads(record) for record in await taken_apart(pieces)] == RESULTS


@given(st.sampled_from(sorted(FORMS)), st.integers(0, 10**4))
async def test_of_a_file_that_is_cut_each_whole_result_is_read(form: str, end: int) -> None:
    whole = FORMS[form]
    cut = whole[: end % len(whole)]
    found = await taken_apart([cut])
    known = [one for record in found if (one := as_json(record)) is not None]
    assert known == RESULTS[: len(known)]
    assert len(known) >= cut.count(b"custom_id") - 1
    if "array" in form and "arrays" not in form and cut.strip() and not cut.rstrip().endswith(b"]"):
        assert len(found) > len(known) or not known, "that its end is missing shows"


def as_json(record: bytes) -> object:
    try:
        found = json.loads(record)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "custom_id" in found else None


async def test_a_record_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.batch.records.LONGEST_RECORD", 1000)
    for start in (b"[{", b"{", b"<html>", b"[1, ", b" "):
        with pytest.raises(TooLongRecord):
            await taken_apart([start, b" " * 600, b"x" * 600])


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        (gzip.compress(FORMS["lines"])[:-20], "ends too early"),
        (gzip.compress(FORMS["lines"])[:-4], "ends too early"),
        (b"\x1f\x8b\x08 no gzip at all", "cannot be unpacked"),
        (gzip.compress(FORMS["lines"]) + b"and more", "cannot be unpacked"),
    ],
)
async def test_a_damaged_packed_file_is_no_file(packed: bytes, says: str) -> None:
    for size in (1, 10, 10**6):
        with pytest.raises(BadGzip, match=says):
            await taken_apart([packed[at : at + size] for at in range(0, len(packed), size)])


@pytest.mark.parametrize("several", [1, 3])
async def test_packed_members_in_a_row_and_padding_are_one_file(several: int) -> None:
    members = [gzip.compress(part) for part in FORMS["lines"].partition(b"\n")[:several]]
    expected = b"".join(FORMS["lines"].partition(b"\n")[:several])
    packed = b"".join(members) + bytes(512)
    for size in (1, 100, 10**6):
        pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
        assert b"".join([part async for part in unpacked(arriving(pieces))]) == expected
