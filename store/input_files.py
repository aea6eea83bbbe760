"""The TOML and JSON files that people write: read as text, checked by a pydantic model, mistakes told by
place.

Each mistake names the file, the line where it can be found, and the key. Every room reads its files through
this module, so that a mistake is told in the same way everywhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from store.errors import BadInput

Model = TypeVar("Model", bound=BaseModel)

MOST_MISTAKES = 5
"""Mistakes that a message lists; the others are counted."""

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


def read_text(file: Path) -> str:
    """The text of a file, without a byte-order mark.

    Raises:
        BadInput: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(
            f"{file} cannot be read: {error.strerror}.", hint="Check the path and its permissions."
        ) from None
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{file} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8 and try again."
        ) from None


def read_toml(file: Path, model: type[Model], *, hint: str | None = None) -> Model:
    """A TOML file as a pydantic model.

    Raises:
        BadInput: the file cannot be read, is not TOML, or does not fit the model; each mistake is told with
        its
            line and key.
    """
    text = read_text(file)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{file} is not valid TOML: {error}.", hint=hint) from None
    try:
        return model.model_validate(tables)
    except ValidationError as error:
        raise explain(error, file, text, hint=hint) from None


def read_json_lines(
    file: Path, model: type[Model], *, hint: str | None = None
) -> Iterator[tuple[int, Model]]:
    """The rows of a JSONL file, one JSON object a line, with their line numbers (from 1). Blank lines are
    skipped.

    Raises:
        BadInput: the file cannot be read; a line is not a JSON object or does not fit the model.
    """
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{file}: line {number}: this is not valid JSON: {error}.", hint=hint) from None
        if not isinstance(row, dict):
            raise BadInput(f"{file}: line {number}: each line must be a JSON object.", hint=hint)
        try:
            yield number, model.model_validate(row)
        except ValidationError as error:
            raise BadInput("\n".join(_mistakes(error, file, None, number)), hint=hint) from None


def explain(error: ValidationError, file: Path, text: str, *, hint: str | None = None) -> BadInput:
    """What is wrong with a TOML file: one sentence for each mistake, the first five."""
    return BadInput("\n".join(_mistakes(error, file, text, None)), hint=hint)


def _mistakes(error: ValidationError, file: Path, text: str | None, line: int | None) -> list[str]:
    mistakes: list[Any] = error.errors(include_url=False, include_input=False, include_context=True)
    sentences = []
    for mistake in mistakes[:MOST_MISTAKES]:
        path = list(mistake["loc"])
        if mistake["type"] == "unknown_key":
            path.append(mistake["ctx"]["key"])
        path += mistake.get("ctx", {}).get("path", ())
        message = _MESSAGES.get(mistake["type"]) or mistake["msg"].removeprefix("Value error, ")
        at = line_of(text, path) if text is not None else line
        where = f"line {at}, " if at else ""
        sentences.append(f"{file}: {where}{dotted(path) or 'the file'}: {message}")
    if len(mistakes) > MOST_MISTAKES:
        sentences.append(f"... and {len(mistakes) - MOST_MISTAKES} more")
    return sentences


_MESSAGES = {"missing": "is missing", "extra_forbidden": "there is no such key"}
