"""The map of files that a user may give: what it says of a file goes before what the importer infers."""

from __future__ import annotations

import csv
import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.importer import labels, models
from evenhand.domains.judifair.importer.report import MAP_COLUMNS
from store.errors import BadInput

_YES, _NO = ("", "yes", "true", "1"), ("no", "false", "0")


@dataclass(frozen=True, slots=True)
class Override:
    """What the map says of one file; None (and `take` None) where it says nothing."""

    line: int
    file: str
    model: str | None
    temperature: float | None
    label: str | None
    published_label: str | None
    take: bool | None


class Mapping:
    """The lines of a map, found by the file's path or the end of it."""

    def __init__(self, path: Path | None, overrides: Sequence[Override]) -> None:
        self.path = path
        self._overrides = overrides
        self._used: set[int] = set()

    def of(self, name: str) -> Override | None:
        """The line about a file; the one that gives most of its path, if there are several."""
        fitting = [o for o in self._overrides if name == o.file or name.endswith("/" + o.file)]
        if not fitting:
            return None
        best = max(fitting, key=lambda o: len(o.file))
        self._used.update(o.line for o in fitting)
        return best

    def unused(self) -> list[str]:
        """Warnings about lines that fit no file."""
        return [
            f"{self.path}: line {o.line}: there is no file {o.file}"
            for o in self._overrides
            if o.line not in self._used
        ]


def read_map(path: Path | None) -> Mapping:
    """Read a map: a CSV with the column `file` and any of model, temperature, label, published_label, import.

    Raises `BadInput` with the line for an unknown column, label or temperature.
    """
    if path is None:
        return Mapping(None, ())
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file)
            names = [name.strip() for name in lines.fieldnames or ()]
            if "file" not in names:
                raise BadInput(
                    f"{path} has no column 'file'.", hint=f"It needs a header: {','.join(MAP_COLUMNS)}"
                )
            for name in names:
                if name not in MAP_COLUMNS:
                    near = difflib.get_close_matches(name, MAP_COLUMNS, n=1)
                    hint = (
                        f"Did you mean {near[0]}?" if near else f"The columns are {', '.join(MAP_COLUMNS)}."
                    )
                    raise BadInput(f"{path}: unknown column {name!r}.", hint=hint)
            lines.fieldnames = names
            return Mapping(path, [_override(path, lines.line_num, row) for row in lines])
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path} is no CSV in UTF-8: {error}") from error


def _override(path: Path, line: int, row: dict[str, str | None]) -> Override:
    def text(column: str) -> str | None:
        return (row.get(column) or "").strip() or None

    where = f"{path}: line {line}"
    file = text("file")
    if file is None:
        raise BadInput(f"{where} names no file.")
    model = text("model")
    take = (text("import") or "").lower()
    if take not in (*_YES, *_NO):
        raise BadInput(f"{where}: import is {take!r}; it must be yes or no.")
    published = text("published_label")
    return Override(
        line=line,
        file=file.replace("\\", "/"),
        model=None if model is None else models.canonical(model) or model,
        temperature=_temperature(where, text("temperature")),
        label=_label(where, text("label"), published=False),
        published_label=_label(where, published, published=True),
        take=None if take == "" else take in _YES,
    )


def _temperature(where: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise BadInput(f"{where}: temperature is {text!r}; it must be a number from 0.")
    return value


def _label(where: str, text: str | None, *, published: bool) -> str | None:
    if text is None or text in labels.BEYOND_THE_CATALOGUE:
        return text
    try:
        label = catalogue.resolve([text])[0]
    except BadInput as error:
        raise BadInput(f"{where}: {error.message}", hint=error.hint) from error
    return label.published_key if published else label.key
