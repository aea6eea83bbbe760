"""The way from one coding's estimate to another's, in three steps that add up.

Between two codings of the same answers an effect moves because answers are left out, because answers are read
differently, and because answers are added. The regression is run once more on the answers that both codings
use, with the outcome of each; the differences between the four estimates are the steps.

Where a coding before gives the answers to one treated value the name of another, answer for answer, the
effects are told apart by what was asked, not by the name: `renamed` finds such names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np

from analyze.counterfactual import frame as frames
from analyze.counterfactual.estimate import estimate_label
from analyze.counterfactual.frame import Cell, LabelRows
from analyze.specification import Metric, Metrics, Specification, Specifications

_VIEW = "compared_answers"
_NAMES = "compared_names"
_RENAMED = (Path(__file__).parent / "renamed.sql").read_text(encoding="utf-8")
_JOINED = (Path(__file__).parent / "answers.sql").read_text(encoding="utf-8")


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


def renamed(
    connection: duckdb.DuckDBPyConnection, specs: Specifications, cell: Cell, before: str
) -> dict[tuple[str, str], str]:
    """The treated values that go by another one's name before, by (label, that name).

    Each with all of its answers, and no other answers under that name: a name that is mixed up in part is no
    other value's. `cell` is that of the coding after.
    """
    rows = connection.execute(
        _RENAMED.format(view=specs.frame.view),
        {
            "before": before,
            "after": cell.coding,
            "collection": cell.collection,
            "model_key": cell.model_key,
            "arm": cell.arm,
            "outcome": cell.outcome,
        },
    ).fetchall()
    return {(label, name): value for label, name, value in rows}


def middles(
    connection: duckdb.DuckDBPyConnection,
    specs: Specifications,
    cell: Cell,
    before: str,
    variants: Sequence[str],
    names: Mapping[tuple[str, str], str],
) -> Mapping[tuple[str, str, str], Middle]:
    """The estimates in the middle for each (label, value, variant); `cell` is that of the coding after.

    Answers are matched by the frame's `prediction_id`; one that the codings group under different labels or
    values is not common to them, unless all of its value's answers go by the other name (`names`, of
    `renamed`). Values are called as under the coding after.
    """
    chosen = [s for s in specs.of_coding(cell.coding) if s.name in variants and before in s.codings]
    columns = ", ".join(
        f"CAST({s.outcome} AS DOUBLE) AS before_{i}, coalesce(CAST({s.sample} AS BOOLEAN), false) AS used_{i}"
        for i, s in enumerate(chosen)
    )
    named = ", ".join(f"b.before_{i}, b.used_{i}" for i in range(len(chosen)))
    if not chosen:
        return {}
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_NAMES} (label VARCHAR, name VARCHAR, value VARCHAR)")
    if names:
        connection.executemany(
            f"INSERT INTO {_NAMES} VALUES (?, ?, ?)", [[*name, value] for name, value in names.items()]
        )
    connection.execute(
        _JOINED.format(
            answers=_VIEW,
            named=named,
            columns=columns,
            view=specs.frame.view,
            names=_NAMES,
            before=_quoted(before),
            collection=_quoted(cell.collection),
            model_key=_quoted(cell.model_key),
            arm=_quoted(cell.arm),
            outcome=_quoted(cell.outcome),
        )
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
    connection.execute(f"DROP TABLE {_NAMES}")
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
