"""Reading a JSON array record by record: any chunking gives the same, and a break is told with its place."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from evenhand.domains.judifair.importer import records as module
from evenhand.domains.judifair.importer.records import BrokenFile, NotAnArray, records

RECORDS = [
    {"ID": i, "response": ['罪名 "引号" \\ 😀' * (i % 5), 0], "n": [1.5, None, True, {"x": {}}]}
    for i in range(40)
]


@pytest.fixture(params=[1, 7, 64, 1 << 18], ids=lambda size: f"{size} bytes")
def chunked(request, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BYTES", request.param)


@pytest.mark.usefixtures("chunked")
@pytest.mark.parametrize("indent", [None, 2])
def test_what_json_reads_is_read(tmp_path, indent):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(RECORDS, ensure_ascii=False, indent=indent), encoding="utf-8")
    assert list(records(path)) == RECORDS
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n ")
    assert list(records(path)) == RECORDS


@pytest.mark.parametrize("text", ["[]", " [ ] \n"])
def test_an_empty_list_is_no_error(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    assert list(records(path)) == []


@pytest.mark.parametrize("text", ["", "{}", '{"a": [1]}', "hello", "12"])
def test_what_is_no_list_is_told_apart(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(NotAnArray):
        list(records(path))


@pytest.mark.usefixtures("chunked")
@pytest.mark.parametrize(
    ("text", "line", "whole"),
    [
        ('[\n{"a": 1},\n{"a": 2},\n{"a":', 4, 2),
        ('[\n{"a": 1},\n{"a": 2}', 3, 2),
        ('[\n{"a": 1},\n', 3, 1),
        ('[\n{"a": 1}\n{"a": 2}]', 3, 1),
        ('[\n{"a": 1},\n{"a": oops},\n{"a": 3}]', 3, 1),
        ('[\n{"a": 1}\n] []', 3, 1),
        ('[{"a": "b', 1, 0),
        ("[", 1, 0),
    ],
)
def test_a_break_is_told_with_line_and_number_of_records(tmp_path, text, line, whole):
    path = tmp_path / "a.json"
    path.write_text(text)
    read = []
    with pytest.raises(BrokenFile) as caught:
        read += list(records(path))
    assert (caught.value.line, caught.value.records) == (line, whole)
    assert str(path) in str(caught.value)


def test_every_cut_of_a_file_is_noticed(tmp_path):
    whole = json.dumps(RECORDS[:3], ensure_ascii=False, indent=1).encode()
    path = tmp_path / "a.json"
    for end in range(1, len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(BrokenFile):
            list(records(path))


def test_bytes_that_are_no_utf8_are_told(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"a": 1},\n{"a": "\xff\xfe"}]')
    with pytest.raises(BrokenFile, match="UTF-8"):
        list(records(path))


def test_a_missing_quote_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_RECORD_CHARS", 10_000)
    monkeypatch.setattr(module, "CHUNK_BYTES", 1_000)
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1},\n{"a: "' + '{"a": 1},' * 100_000 + "]")
    with pytest.raises(BrokenFile) as caught:
        list(records(path))
    assert (caught.value.line, caught.value.records) == (2, 1)


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "a.json"
    with path.open("w") as file:
        file.write("[")
        file.write(",\n".join(json.dumps({"ID": i, "response": "x" * 500}) for i in range(20_000)))
        file.write("]")
    tracemalloc.start()
    assert sum(1 for _ in records(path)) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000 < path.stat().st_size
