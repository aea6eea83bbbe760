"""The TOML and JSON files that people write: read as text, checked by a pydantic model, mistakes told by
place.

Each mistake names the file, the line where it can be found, and the key. Every room reads its files through
this module, so that a mistake is told in the same way everywhere.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from store.errors import BadInput

Model = TypeVar("Model", bound=BaseModel)

MOST_MISTAKES = 5
"""Mistakes that a message lists; the others are counted."""

_ONE = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_HEADER = re.compile(rf"\s*(\[+)\s*({_ONE}(?:\s*\.\s*{_ONE})*)\s*\]+\s*(#.*)?$")
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
    wanted = tuple(path)
    best, depth = None, 0
    table: tuple[str | int, ...] = ()
    tables: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            names = _pieces(header[2])
            if header[1] == "[[":
                tables[names] = tables.get(names, -1) + 1
            here: list[str | int] = []
            for end, name in enumerate(names, start=1):
                here.append(name)
                if names[:end] in tables:
                    here.append(tables[names[:end]])
            table = found = tuple(here)
        elif key := _KEY.match(line):
            found = table + _pieces(key[1])
        else:
            continue
        if len(found) > depth and wanted[: len(found)] == found:
            best, depth = number, len(found)
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
        raise explain(error, file, text, model, hint=hint) from None


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
            raise BadInput("\n".join(_mistakes(error, file, None, number, model)), hint=hint) from None


def explain(
    error: ValidationError,
    file: Path,
    text: str,
    model: type[BaseModel] | None = None,
    *,
    hint: str | None = None,
) -> BadInput:
    """What is wrong with a TOML file: one sentence for each mistake, the first five. With the `model` that it
    does not fit, an unknown key is told with those that are known.
    """
    return BadInput("\n".join(_mistakes(error, file, text, None, model)), hint=hint)


def near(word: str, known: Sequence[str]) -> str:
    """What a word that is not known may have been meant for: the nearest known ones, else all of them."""
    found = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {found[0]!r}?" if found else f"known: {', '.join(known)}"


def _mistakes(
    error: ValidationError,
    file: Path,
    text: str | None,
    line: int | None,
    model: type[BaseModel] | None = None,
) -> list[str]:
    mistakes: list[Any] = error.errors(include_url=False, include_input=False, include_context=True)
    sentences = []
    for mistake in mistakes[:MOST_MISTAKES]:
        path = list(mistake["loc"])
        if mistake["type"] == "unknown_key":
            path.append(mistake["ctx"]["key"])
        path += mistake.get("ctx", {}).get("path", ())
        message = _MESSAGES.get(mistake["type"]) or _plain(mistake["msg"])
        if mistake["type"] in _UNKNOWN and (known := _known_keys(model, path[:-1])):
            message += f" ({near(str(path[-1]), known)})"
        at = line_of(text, path) if text is not None else line
        where = f"line {at}, " if at else ""
        sentences.append(f"{file}: {where}{dotted(path) or 'the file'}: {message}")
    if len(mistakes) > MOST_MISTAKES:
        sentences.append(f"... and {len(mistakes) - MOST_MISTAKES} more")
    return sentences


def _plain(message: str) -> str:
    """A message of pydantic in the words of the others; it never has the value, which may be a secret."""
    return message.removeprefix("Value error, ").replace("Input should be", "must be")


def _known_keys(model: type[BaseModel] | None, path: Sequence[str | int]) -> list[str]:
    """The keys that the table at this path may have; none where that cannot be told."""
    here: Any = model
    for piece in path:
        if isinstance(piece, int):
            here = next(iter(get_args(here)), None)
        elif fields := _fields(here):
            here = fields.get(piece)
        else:  # a mapping
            here = get_args(here)[-1] if get_args(here) else None
        optional = [one for one in get_args(here) if one is not type(None)]
        if type(None) in get_args(here):
            here = optional[0] if len(optional) == 1 else None
    return list(_fields(here))


def _fields(table: Any) -> dict[str, Any]:
    """The keys of a model or dataclass, and what each holds."""
    if isinstance(table, type) and issubclass(table, BaseModel):
        return {field.alias or name: field.annotation for name, field in table.model_fields.items()}
    if isinstance(table, type) and dataclasses.is_dataclass(table):
        hints = get_type_hints(table)
        return {field.name: hints[field.name] for field in dataclasses.fields(table)}
    return {}


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_MESSAGES = {
    "unexpected_keyword_argument": "there is no such key",
    "dataclass_type": "must be a table",
    "mapping_type": "must be a table",
    "missing": "is missing",
    "extra_forbidden": "there is no such key",
    "string_type": "must be a text",
    "string_too_short": "must be a text that is not empty",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
}
