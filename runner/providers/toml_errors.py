"""Sentences about a broken `providers.toml`: which file, which line or key, and what would mend it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from store.errors import BadInput

_ONE = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_HEADER = re.compile(rf"\s*\[+\s*({_ONE}(?:\s*\.\s*{_ONE})*)\s*\]+\s*(#.*)?$")
_KEY = re.compile(rf"\s*({_ONE}(?:\s*\.\s*{_ONE})*)\s*=")
_PIECE = re.compile(_ONE)
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def dotted(path: Sequence[str | int]) -> str:
    """The path of a key as TOML writes it."""
    pieces: list[str] = []
    for piece in path:
        if isinstance(piece, int):
            pieces[-1] += f"[{piece}]"
        else:
            shown = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in piece)
            pieces.append(shown if _BARE.match(shown) else f'"{shown}"')
    return ".".join(pieces)


def _pieces(text: str) -> tuple[str, ...]:
    return tuple(piece.strip("\"'") for piece in _PIECE.findall(text))


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line (from 1) of the deepest part of `path` that can be found; an inline table has one line."""
    wanted = tuple(piece for piece in path if isinstance(piece, str))
    best, depth = None, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = here = _pieces(header[1])
        elif key := _KEY.match(line):
            here = table + _pieces(key[1])
        else:
            continue
        if len(here) > depth and wanted[: len(here)] == here:
            best, depth = number, len(here)
    return best


def explain(error: ValidationError, file: Path, text: str) -> BadInput:
    """One sentence for each mistake, the first five."""
    mistakes = error.errors(include_url=False, include_input=False, include_context=True)
    sentences = []
    for mistake in mistakes[:5]:
        path = list(mistake["loc"])
        if mistake["type"] == "unknown_key":
            path.append(mistake["ctx"]["key"])
        path += mistake.get("ctx", {}).get("path", ())
        message = "is missing" if mistake["type"] == "missing" else mistake["msg"]
        line = line_of(text, path)
        where = f"line {line}, " if line else ""
        sentences.append(f"{file}: {where}{dotted(path) or 'the file'}: {message}")
    if len(mistakes) > 5:
        sentences.append(f"... and {len(mistakes) - 5} more")
    return BadInput("\n".join(sentences), hint="Mend the file; `evenhand providers` checks it.")
