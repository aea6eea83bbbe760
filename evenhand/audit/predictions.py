"""Predictions of others: what a classifier answered, row by row, from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.audit.data_sets import true_value
from evenhand.audit.outcomes import Outcome, Value
from evenhand.audit.table_files import FileRow, read_rows
from store.errors import BadInput

ANSWERS = ("prediction", "predictions")
"""The columns that may hold an answer."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """The answer to one row. `value` is None where the answer names no class: it is invalid."""

    row: int
    """The place among the rows of the split, from 0."""
    value: Value | None
    given: Any
    """As it stands in the file."""
    line: int
    """Its place in the file, from 0."""


def read_predictions(path: Path, outcome: Outcome, ids: Mapping[str, int], n: int) -> Iterator[Predicted]:
    """The predictions of a file, each judged valid or invalid; rows without a line are not given.

    Args:
        path: one object a line with `row` or `id`, and `prediction` or `predictions`.
        outcome: what is predicted.
        ids: id of a case -> its place in the split.
        n: rows of the split.

    Raises:
        BadInput: a line is of no row, or of one that stands there before; or no line has an answer at all.
    """
    seen: dict[int, str] = {}
    answered = False
    for line in read_rows(path):
        row = _row(line, ids, n)
        if row in seen:
            raise BadInput(f"{line.source}: row {row} was predicted before, in {seen[row]}.")
        seen[row] = line.source
        columns = [name for name in ANSWERS if name in line.values]
        answered = answered or bool(columns)
        given = line.values[columns[0]] if columns else None
        if len(columns) > 1 and line.values[columns[1]] != given:
            raise BadInput(f"{line.source}: prediction and predictions differ.", hint="Keep one of them.")
        yield Predicted(row, _value(outcome, given, line), given, line.number)
    if not answered:
        raise BadInput(
            f"{path} has no column `prediction` or `predictions`.",
            hint="Each line needs `row` (the line of the test file, from 0) or `id`, and `prediction`.",
        )


def _row(line: FileRow, ids: Mapping[str, int], n: int) -> int:
    values = line.values
    if values.get("row") is not None:
        row = values["row"]
        if line.is_text and str(row).strip().isdecimal():
            row = int(row)
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < n:
            raise BadInput(
                f"{line.source}: row: {row!r} is no row of the test split: it must be a whole number from 0 "
                f"to {n - 1}.",
            )
        return row
    if values.get("id") is None:
        raise BadInput(f"{line.source}: there is neither `row` nor `id`.")
    place = ids.get(str(values["id"]))
    if place is None:
        raise BadInput(f"{line.source}: id: the test split has no case {values['id']!r}.")
    return place


def _value(outcome: Outcome, given: Any, line: FileRow) -> Value | None:
    try:
        return None if given is None else true_value(outcome, given, is_text=line.is_text)
    except ValueError:
        return None
