"""Reading a JSON array one record at a time, so that memory does not grow with the file.

The file is decoded and parsed chunk by chunk; what cannot be read is reported with line and column, and
with the number of whole records before it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

CHUNK_BYTES = 1 << 18
MAX_RECORD_CHARS = 8_000_000
"""A longer record is taken for a broken file, so that a missing quote cannot fill the memory."""

_BLANKS = re.compile(r"[ \t\r\n]*").match


class BrokenFile(ValueError):
    """A file that is no whole JSON array: where it breaks and why. `records` of it could be read before."""

    def __init__(self, path: Path, line: int, column: int, records: int, why: str) -> None:
        super().__init__(f"{path}: line {line}, column {column} (after {records} whole records): {why}")
        self.path, self.line, self.column, self.records, self.why = path, line, column, records, why


class NotAnArray(ValueError):
    """A JSON file that is not a list of records, and so holds no predictions."""


def records(path: Path) -> Generator[Any, None, None]:
    """The elements of the array in `path`, in order.

    Raises:
        NotAnArray: the file begins with something else.
        BrokenFile: it is cut off, no valid JSON, or no valid UTF-8.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        yield from _Reader(path, file).elements()


class _Reader:
    """A window of decoded text over the file; `line` and `column` are where the window begins, from 0."""

    def __init__(self, path: Path, file: Any) -> None:
        self.path, self.file = path, file
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.window, self.at, self.ended = "", 0, False
        self.line, self.column, self.read = 0, 0, 0
        self.decode = json.JSONDecoder().raw_decode

    def elements(self) -> Iterator[Any]:
        if self.peek() != "[":
            raise NotAnArray(f"{self.path} is no list of records")
        self.at += 1
        if self.peek() == "]":
            self.at += 1
        else:
            while True:
                yield self.element()
                self.read += 1
                mark = self.peek()
                if mark not in (",", "]"):
                    self.fail(
                        self.at, "the file ends in the middle of the list" if not mark else "',' expected"
                    )
                self.at += 1
                if mark == "]":
                    break
        if self.peek():
            self.fail(self.at, "something follows the end of the list")

    def element(self) -> Any:
        """The next element; reads on as long as it may only be incomplete."""
        if not self.peek():
            self.fail(self.at, "the file ends in the middle of the list")
        more = CHUNK_BYTES
        while True:
            try:
                value, self.at = self.decode(self.window, self.at)
            except json.JSONDecodeError as error:
                if self.ended:
                    why = error.msg if error.pos < len(self.window.rstrip()) else "the file ends in a record"
                    self.fail(error.pos, why)
                if len(self.window) - self.at > MAX_RECORD_CHARS:
                    self.fail(error.pos, error.msg)
                self.fill(more)
                more *= 2
            except RecursionError:
                self.fail(self.at, "nested too deeply")
            else:
                return value

    def peek(self) -> str:
        """The next character that is not blank, without taking it; "" at the end."""
        while True:
            self.at = _BLANKS(self.window, self.at).end()  # type: ignore[union-attr]  # matches always
            if self.at < len(self.window):
                return self.window[self.at]
            if self.ended:
                return ""
            self.fill(CHUNK_BYTES)

    def fill(self, size: int) -> None:
        """Drop what was taken and read on."""
        passed = self.window[: self.at]
        self.line, self.column = self.place(self.at)
        data = self.file.read(size)
        self.ended = not data
        kept = self.window[len(passed) :]
        try:
            self.window = kept + self.decoder.decode(data, final=self.ended)
        except UnicodeDecodeError as error:
            self.window, self.at = kept, 0
            self.fail(len(kept), f"no valid UTF-8 within the {len(data)} bytes that follow ({error.reason})")
        self.at = 0

    def place(self, index: int) -> tuple[int, int]:
        """Line and column, from 0, of a character of the window."""
        newlines = self.window.count("\n", 0, index)
        if not newlines:
            return self.line, self.column + index
        return self.line + newlines, index - self.window.rfind("\n", 0, index) - 1

    def fail(self, index: int, why: str) -> None:
        line, column = self.place(index)
        raise BrokenFile(self.path, line + 1, column + 1, self.read, why)
