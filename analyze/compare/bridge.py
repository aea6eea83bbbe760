"""The way from one coding's estimate to another's, in three steps that add up.

Between two codings of the same answers an effect moves because answers are left out, because answers are read
differently, and because answers are added. The regression is run once more on the answers that both codings
use, with the outcome of each; the differences between the four estimates are the steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
import numpy as np

from analyze import frame as frames
from analyze.estimate import estimate_label
from analyze.frame import Cell, LabelRows
from analyze.specification import Metric, Metrics, Specification, Specifications

_VIEW = "compared_answers"


@dataclass(frozen=True, slots=True)
class Middle:
    """A value's estimates on the answers that both codings use."""

    before: float | None
    """With the outcome of the coding that is compared."""
    after: float | None
    """With the outcome of the coding that it is held against."""
    n: int
    reread: int
    """Of the label's common answers, those whose outcome differs."""


def middles(
    connection: duckdb.DuckDBPyConnection,
    specs: Specifications,
    cell: Cell,
    before: str,
    variants: Sequence[str],
) -> Mapping[tuple[str, str, str], Middle]:
    """The estimates in the middle for each (label, value, variant); `cell` is that of the coding after.

    Answers are matched by the frame's `prediction_id`; one that the codings group under different labels or
    values is not common to them.
    """
    chosen = [s for s in specs.of_coding(cell.coding) if s.name in variants and before in s.codings]
    columns = ", ".join(
        f"CAST({s.outcome} AS DOUBLE) AS before_{i}, coalesce(CAST({s.sample} AS BOOLEAN), false) AS used_{i}"
        for i, s in enumerate(chosen)
    )
    named = ", ".join(f"b.before_{i}, b.used_{i}" for i in range(len(chosen)))
    if not chosen:
        return {}
    view = specs.frame.view
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW {_VIEW} AS "
        f"SELECT a.*, {named} FROM {view} AS a JOIN ("
        f"SELECT prediction_id, label, value, is_reference, is_treated, {columns} FROM {view} "
        f"WHERE coding = {_quoted(before)} AND model_key = {_quoted(cell.model_key)}) AS b "
        "USING (prediction_id, label, value, is_reference, is_treated)"
    )
    twice: list[Specification] = []
    for i, spec in enumerate(chosen):
        common = (
            f"used_{i} AND coalesce(({spec.sample}), false) "
            f"AND before_{i} IS NOT NULL AND ({spec.outcome}) IS NOT NULL"
        )
        for outcome in (f"before_{i}", spec.outcome):
            twice.append(replace(spec, outcome=outcome, sample=common, codings=(cell.coding,)))
    nothing = Metric("NULL", "false")
    derived = replace(
        specs,
        frame=replace(specs.frame, view=_VIEW),
        specifications=tuple(twice),
        metrics=Metrics(nothing, nothing, nothing),
        inference=None,
    )
    found: dict[tuple[str, str, str], Middle] = {}
    for rows in frames.read(connection, derived, cell):
        for i in range(len(chosen)):
            found |= _of_label(rows, twice[2 * i], twice[2 * i + 1])
    connection.execute(f"DROP VIEW {_VIEW}")
    return found


def _of_label(
    rows: LabelRows, before: Specification, after: Specification
) -> dict[tuple[str, str, str], Middle]:
    old, new = rows.columns[before.outcome], rows.columns[after.outcome]
    differ = np.abs(old - new) > 1e-6 * np.maximum(1.0, np.abs(new))  # beyond single precision
    reread = int(np.count_nonzero(rows.samples[after.sample] & differ))
    return {
        (b.label, b.value, after.name): Middle(b.coef, a.coef, a.n, reread)
        for b, a in zip(estimate_label(rows, [before]), estimate_label(rows, [after]), strict=True)
    }


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
