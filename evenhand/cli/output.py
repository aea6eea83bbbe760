"""Standard output and standard error that never end a command with a traceback.

A character that the terminal's encoding lacks is written as an escape. An output that cannot be written (a
full disk, a closed descriptor, a pipe whose reader has gone) ends a command that only shows something. A
command that works, such as `run`, goes on: its work is stored, and only what it would have said is lost.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO

_CLOSED = "it is closed"


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """A text of others as it can be shown: what a terminal would obey, or nobody would see, as escapes.

    A model may answer with terminal escape sequences, or with marks that turn the direction of writing.
    """
    return _UNSEEN.sub(lambda found: _escaped(found.group()), text)


def _escaped(letter: str) -> str:
    return f"\\x{ord(letter):02x}" if ord(letter) < 256 else f"\\u{ord(letter):04x}"


class OutputLost(BaseException):
    """Standard output cannot be written. No `Exception`, so that nothing on the way takes it for its own."""


class _Guard(io.RawIOBase):
    """A raw stream whose failures are noted instead of raised; what is written after one is dropped."""

    def __init__(self, inner: io.RawIOBase | None) -> None:
        self._inner = inner
        self.failure: str | None = None
        """Why something could not be written."""
        self.reader_gone = False
        """It was a pipe, and nobody reads it any more."""
        self.strict = False
        """Whether the first failure ends the command."""
        self.was_closed = inner is None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        if self._inner is None:
            raise OSError(errno.EBADF, "closed")
        return self._inner.fileno()

    def isatty(self) -> bool:
        return self._inner is not None and self._inner.isatty()

    def write(self, data: Any) -> int:
        size = len(memoryview(data).cast("B"))
        if self.failure is None:
            try:
                if self._inner is not None:
                    return self._inner.write(data) or 0
                self.failure = _CLOSED
            except OSError as error:
                # Windows says EINVAL where others say EPIPE.
                self.reader_gone = isinstance(error, BrokenPipeError) or (
                    error.errno == errno.EINVAL and sys.platform == "win32"
                )
                self.failure = _CLOSED if error.errno == errno.EBADF else error.strerror or str(error)
            if self.strict:
                raise OutputLost(self.failure)
        return size


class _Text(io.TextIOWrapper):
    """A text stream whose encoding is kept: click writes UTF-8 past one that is ASCII, given the chance."""

    @property
    def buffer(self) -> Any:
        try:
            ascii_only = "é".encode(self.encoding, "ignore") == b""
        except LookupError:
            ascii_only = False
        return None if ascii_only else super().buffer


class Outputs:
    """Both outputs of a command while it runs."""

    def __init__(self, out: _Guard | None, err: _Guard | None) -> None:
        self._out, self._err = out, err

    def shows_only(self) -> None:
        """The command's work is what it prints: end it at the first failure."""
        if self._out is not None:
            self._out.strict = True

    def lost(self) -> str | None:
        """Why something of standard output is lost; None if nothing is, or only because its reader went.

        A command that works and was started with its output closed has nothing to say to anybody.
        """
        out = self._out
        if out is None or out.reader_gone or (out.was_closed and not out.strict):
            return None
        return out.failure


@contextmanager
def guarded() -> Iterator[Outputs]:
    """Put the guards in the place of `sys.stdout` and `sys.stderr` within the block."""
    before = sys.stdout, sys.stderr
    _fill_descriptors()
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (it lives as long as the process)
    out, sys.stdout = _guard(sys.stdout, 1)
    err, sys.stderr = _guard(sys.stderr, 2)
    try:
        yield Outputs(out, err)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, OutputLost):
                stream.flush()
        sys.stdout, sys.stderr = before


def _fill_descriptors() -> None:
    """Where 0, 1 or 2 is closed, the next file to be opened, a database even, would get its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)


def _guard(stream: TextIO | None, number: int) -> tuple[_Guard | None, TextIO]:
    if stream is None:
        guard = _Guard(None)
        return guard, _text(guard, "utf-8", line_buffering=number == 2)
    buffer = getattr(stream, "buffer", None)
    # With PYTHONUNBUFFERED there is no buffer between the text and the raw stream.
    inner = buffer if isinstance(buffer, io.RawIOBase) else getattr(buffer, "raw", None)
    if inner is None:  # not a stream of the system
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        return None, stream
    with suppress(OSError):
        stream.flush()
    guard = _Guard(inner)
    line_buffering = number == 2 or inner is buffer or bool(getattr(stream, "line_buffering", False))
    return guard, _text(guard, stream.encoding or "utf-8", line_buffering=line_buffering)


def _text(guard: _Guard, encoding: str, *, line_buffering: bool) -> TextIO:
    buffered: IO[bytes] = io.BufferedWriter(guard)
    return _Text(buffered, encoding=encoding, errors="backslashreplace", line_buffering=line_buffering)
