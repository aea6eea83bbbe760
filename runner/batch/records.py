"""Takes a file of results apart into its records as it arrives, holding no more than the present one.

OpenAI's batch interface gives JSON Lines: one result a line, so that a line that is cut or damaged costs no
other. Some servers give one JSON array instead, alone or in an object, on one line or over many; or objects
one after the other, each over many lines. What the file is shows in how it begins.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

from runner.transport.compression import Unpacker, is_gzip

LONGEST_RECORD = 64 * 2**20
_KNOWN_AFTER = 3
"""Bytes that tell whether a file is gzip."""
_BEGINNING = 2**16
"""So much of a first line without an end tells what the file is."""
_BOM = b"\xef\xbb\xbf"
_BETWEEN = b" \t\r\n,[]"
"""What may stand between the records of an array."""
_STRUCTURE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_SIMPLE = rb'(?:"(?!custom_id")\w*"\s*:\s*(?:"[^"\\]*"|[\w.+-]+)\s*,\s*)*+'
_ENVELOPE = re.compile(rb"\{\s*" + _SIMPLE + rb'"(?:data|results?|responses?|outputs?|items)"\s*:\s*(?=\[)')
"""The beginning of an object that holds the array."""
_GOES_ON = (b"{", b"[", b",", b":")
"""So ends the first line of an object that is printed over many."""


class TooLongRecord(ValueError):
    """A record is longer than `LONGEST_RECORD`."""

    def __init__(self) -> None:
        super().__init__(f"a result in the file is longer than {LONGEST_RECORD >> 20} MB")


async def unpacked(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The bytes of a file; of one that is gzip, and was not declared to be, what is packed in it.

    Raises BadGzip.
    """
    first = b""
    async for chunk in chunks:
        first += chunk
        if len(first) >= _KNOWN_AFTER:
            break
    if not is_gzip(first):
        if first:
            yield first
        async for chunk in chunks:
            yield chunk
        return
    unpacker = Unpacker()
    for part in unpacker.parts(first):
        yield part
    async for chunk in chunks:
        for part in unpacker.parts(chunk):
            yield part
    unpacker.close()


async def records(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The records of a file, as text that should be JSON. Raises TooLongRecord.

    What is left at the end, cut off or not, is a record too; so that an array without its end does not pass
    for a whole one, its opening bracket is given as one more.
    """
    rest = bytearray()
    splitter: _Lines | _Values | None = None
    async for chunk in chunks:
        rest += chunk
        splitter = splitter or _splitter(rest)
        if splitter is not None:
            for record in splitter.take(rest):
                yield record
        if len(rest) > LONGEST_RECORD:
            raise TooLongRecord
    if splitter is None:
        splitter = _splitter(rest, is_all=True) or _Lines()
        for record in splitter.take(rest):
            yield record
    for record in splitter.last(rest):
        yield record


def _splitter(rest: bytearray, *, is_all: bool = False) -> _Lines | _Values | None:
    """How to take apart a file that begins so; None where that does not show yet.

    What stands around an array is taken out of `rest`.
    """
    if len(rest) < len(_BOM) and not is_all:
        return None
    text = bytes(rest).removeprefix(_BOM).lstrip()
    if text.startswith(b"["):
        return _Values()
    if not text.startswith(b"{"):
        return _Lines() if text else None
    line, ends, _ = text.partition(b"\n")
    is_enough = is_all or len(text) > _BEGINNING
    if not (ends or is_enough):
        return None
    if (around := _ENVELOPE.match(text)) is not None:
        rest[:] = text[around.end() :]
        return _Values(in_object=True)
    if not line.rstrip().endswith(_GOES_ON):
        return _Lines()
    return _Values() if is_enough or b'"custom_id"' in text else None


class _Lines:
    """JSON Lines."""

    def __init__(self) -> None:
        self._searched = 0

    def take(self, rest: bytearray) -> Iterator[bytes]:
        """The whole lines, which are taken out of `rest`."""
        start = 0
        while (end := rest.find(b"\n", max(start, self._searched))) >= 0:
            if line := bytes(rest[start:end]).strip():
                yield line
            start = end + 1
        del rest[:start]
        self._searched = len(rest)

    def last(self, rest: bytearray) -> Iterator[bytes]:
        """What no line feed follows."""
        if line := bytes(rest).strip():
            yield line


class _Values:
    """The objects of an array, or of several, or objects one after the other."""

    def __init__(self, *, in_object: bool = False) -> None:
        self._between_them = _BETWEEN + b"}" if in_object else _BETWEEN
        self._at = 0
        """So far is `rest` looked through."""
        self._begin = 0
        """Where the present object begins, or what stands before the next one."""
        self._depth = 0
        """Of the present object; 0 between two."""
        self._arrays = 0
        """That are open between two objects."""
        self._in_string = False

    def take(self, rest: bytearray) -> Iterator[bytes]:
        """The whole objects, which are taken out of `rest`, and what else stands between them."""
        while (found := (_IN_STRING if self._in_string else _STRUCTURE).search(rest, self._at)) is not None:
            mark, self._at = found.group(), found.end()
            if mark == b"\\":
                if self._at == len(rest):  # what it escapes has not come yet
                    self._at -= 1
                    break
                self._at += 1
            elif mark == b'"':
                self._in_string = not self._in_string
            elif self._depth == 0:
                if mark == b"{":
                    if stray := self._stray(bytes(rest[self._begin : found.start()])):
                        yield stray
                    self._begin, self._depth = found.start(), 1
                else:
                    self._arrays += {b"[": 1, b"]": -1}.get(mark, 0)
            else:
                self._depth += 1 if mark in b"{[" else -1
                if self._depth == 0:
                    yield bytes(rest[self._begin : self._at])
                    self._begin = self._at
        else:
            self._at = len(rest)
        found = None  # a match holds on to the buffer, which could not shrink
        if self._depth == 0 and not self._stray(bytes(rest[self._begin : self._at])):
            self._begin = self._at
        del rest[: self._begin]
        self._at -= self._begin
        self._begin = 0

    def last(self, rest: bytearray) -> Iterator[bytes]:
        """An object that is cut, or what stands after the last one; and the array that has no end."""
        if self._depth:
            yield bytes(rest)
        elif between := bytes(rest).strip():
            yield between
        elif self._arrays > 0:
            yield b"["

    def _stray(self, between: bytes) -> bytes:
        """What stands between two objects, unless it is but the brackets and commas of an array."""
        between = between.removeprefix(_BOM)
        return between.strip() if between.strip(self._between_them) else b""
