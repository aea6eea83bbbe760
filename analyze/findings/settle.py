"""The findings of all models of a collection as one family, in the database.

A family is of one arm, and of all outcomes: they are fields of one answer, tested with each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace

import duckdb
import numpy as np

from analyze.between_models.rows import Body
from analyze.counterfactual.frame import CELL_KEY, Cell, Floats
from analyze.findings import codes
from analyze.findings.collect import Moves
from analyze.findings.decide import decide
from analyze.findings.read import stored_findings
from analyze.findings.rows import Finding, FindingRow
from analyze.findings.shared import SharedEffect, shared_effects
from analyze.inference import confirmatory
from analyze.inference.confirmatory import LEVEL, OUTCOME, WEIGHTS
from analyze.inference.equivalence import confirmable
from analyze.stored import tables


def settle(
    connection: duckdb.DuckDBPyConnection, bodies: Iterable[Body], moves: Mapping[Cell, Sequence[Moves]]
) -> list[tuple[Body, SharedEffect]]:
    """Decide the findings of `bodies` and of their other outcomes, those of earlier analyses among them.

    `moves` are those of the models analysed now. To be called in the transaction that has put their rows
    into the database. Gives the effects of models on the cases that all of them have, for the bodies all of
    whose models were analysed now: of the others, the cases are not at hand.
    """
    wanted = [*bodies]
    shared: list[tuple[Body, SharedEffect]] = []
    for collection, coding, arm in dict.fromkeys((b.collection, b.coding, b.arm) for b in wanted):
        stored = stored_findings(connection, collection=collection, coding=coding, arm=arm)
        rows = decide([(one.cell, _row(one)) for one in stored])
        family = max((row.family or 0 for _, row in rows), default=0)
        cells = [*dict.fromkeys(cell for cell, _ in rows)]
        for cell in cells:
            if cell in moves:
                rows = _detectable(rows, cell, moves[cell], family)
        tables.replace(connection, {"findings": tables.arrow(Cell, FindingRow, rows)}, cells, CELL_KEY)
        for body in dict.fromkeys(Body.of(cell) for cell in cells):
            own = [cell for cell in cells if body.has(cell)]
            if body in wanted and all(cell in moves for cell in own):
                shared += [(body, row) for row in shared_effects({cell: moves[cell] for cell in own})]
    return shared


def _row(one: Finding) -> FindingRow:
    return FindingRow(**{field.name: getattr(one, field.name) for field in fields(FindingRow)})


def _detectable(
    rows: Sequence[tuple[Cell, FindingRow]], cell: Cell, moves: Sequence[Moves], family: int
) -> list[tuple[Cell, FindingRow]]:
    """The rows with the smallest effect of each value of `cell` that its confirmatory test would find."""
    every = [_moving(one) for one in moves]
    whole = np.concatenate(every) if every else np.zeros(0)
    of_label = {one.label: (one, own) for one, own in zip(moves, every, strict=True)}
    others: dict[str, float] = {}
    for of, row in rows:
        if of == cell and row.scope == codes.TEST and row.test != OUTCOME and row.weight is not None:
            others[row.label] = others.get(row.label, 0.0) + WEIGHTS[row.test]
    tested = {row.label for of, row in rows if of == cell and row.scope == codes.LABEL and row.family}
    found = []
    for of, row in rows:
        one = of_label.get(row.label)
        if of != cell or row.scope != codes.VALUE or row.test != OUTCOME or one is None:
            found.append((of, row))
            continue
        label, jumps = one
        weight = WEIGHTS[OUTCOME] / (WEIGHTS[OUTCOME] + others.get(row.label, 0.0))
        level = LEVEL * weight / (family if row.label in tested else family + 1)
        found.append((of, _found_four_times_in_five(row, label, jumps if len(jumps) else whole, level)))
    return found


def _found_four_times_in_five(row: FindingRow, label: Moves, jumps: Floats, level: float) -> FindingRow:
    one = label.contrasts.get(row.value or "")
    if one is None or len(one.differences) < confirmatory.minimum_cases():
        return row
    smallest = confirmable(
        one.differences, jumps, level=level, values=len(label.contrasts), seed=row.position
    )
    row = replace(row, detectable_level=level)
    if smallest is None:
        return row
    return replace(row, detectable=smallest.effect, detectable_share=smallest.share)


def _moving(one: Moves) -> Floats:
    every: Floats = np.concatenate([*(of.differences for of in one.contrasts.values()), np.zeros(0)])
    moving: Floats = every[every != 0]
    return moving
