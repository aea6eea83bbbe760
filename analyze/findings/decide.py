"""What the family of all labels makes of the findings: the correction, the state, the intervals.

Everything here follows from the rows themselves, so that it can be done again when one model of several is
analysed anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import replace
from typing import TypeVar

import scipy

from analyze.findings import codes
from analyze.findings.rows import FindingRow
from analyze.inference import confirmatory
from analyze.inference.confirmatory import LEVEL, Step

Key = TypeVar("Key", bound=Hashable)


def decide(rows: Sequence[tuple[Key, FindingRow]]) -> list[tuple[Key, FindingRow]]:
    """The same rows with p_adjusted, state, reason, interval and notes, as one family.

    `rows` are those of all models of a collection under one coding, each with its model.
    """
    family = [(key, row) for key, row in rows if row.scope == codes.LABEL and row.p_within is not None]
    of_label = dict(
        zip(
            ((key, row.label) for key, row in family),
            confirmatory.holm_steps([row.p_within or 0.0 for _, row in family]),
            strict=True,
        )
    )
    found = [(key, _judged(row, of_label.get((key, row.label)), len(family))) for key, row in rows]
    found = _named(found)
    effects = [row for _, row in found if row.scope == codes.VALUE and row.p_within is not None]
    confirmed = sum(row.state == codes.CONFIRMED for row in effects)
    level = confirmatory.coverage_level(confirmed, len(effects)) if effects else 1 - LEVEL
    return [(key, _noted(_interval(row, level))) for key, row in found]


def _judged(row: FindingRow, step: Step | None, family: int) -> FindingRow:
    if row.p is None:
        return row
    adjusted = None
    if step is not None and row.p_within is not None:
        adjusted = min(1.0, max(step.adjusted, step.multiplier * row.p_within))
    row = replace(row, family=family if adjusted is not None else None, p_adjusted=adjusted)
    state, reason = _state(row, family)
    return replace(row, state=state, reason_code=reason)


def _state(row: FindingRow, family: int) -> tuple[str, str | None]:
    if row.p_adjusted is not None and row.p_adjusted < LEVEL:
        return codes.CONFIRMED, None
    if row.n_compared == 0:
        return codes.UNTESTABLE, codes.NOTHING_COMPARED
    if row.n_compared == 1:
        return codes.UNTESTABLE, codes.ONE_CASE
    if row.n_compared < confirmatory.minimum_cases():
        return codes.UNTESTABLE, codes.TOO_FEW_CASES
    if row.p is not None and row.p < LEVEL:
        return codes.SUGGESTIVE, codes.AFTER_CORRECTION
    if row.n_compared < confirmatory.minimum_cases(family):
        return codes.UNTESTABLE, codes.OUT_OF_REACH
    if row.least_p is not None and row.least_p >= LEVEL:
        return codes.NOT_SHOWN, codes.TOO_FEW_CHANGES
    return codes.NOT_SHOWN, codes.NOT_SIGNIFICANT


def _named(rows: Sequence[tuple[Key, FindingRow]]) -> list[tuple[Key, FindingRow]]:
    """Confirmed labels and tests of which no value is confirmed are said to be so.

    A confirmed label goes by the first declared of its confirmed tests, not by that with the smallest p.
    """
    values = [(key, row) for key, row in rows if row.scope == codes.VALUE and row.state == codes.CONFIRMED]
    named = {(key, row.label) for key, row in values} | {(key, row.label, row.test) for key, row in values}
    first: dict[Hashable, FindingRow] = {}
    for key, row in rows:
        if row.scope == codes.TEST and row.state == codes.CONFIRMED:
            first.setdefault((key, row.label), row)
    return [
        (key, _with_reason(_carried_by(row, first.get((key, row.label))), key, named)) for key, row in rows
    ]


def _carried_by(row: FindingRow, test: FindingRow | None) -> FindingRow:
    if row.scope != codes.LABEL or row.state != codes.CONFIRMED or test is None:
        return row
    copied = ("test", "measure", "unit", "n_asked", "n_compared", "n_changed")
    return replace(row, **{name: getattr(test, name) for name in copied})


def _with_reason(row: FindingRow, key: Hashable, named: Set[Hashable]) -> FindingRow:
    known: Hashable = (key, row.label) if row.scope == codes.LABEL else (key, row.label, row.test)
    if row.scope == codes.VALUE or row.state != codes.CONFIRMED or known in named:
        return row
    return replace(row, reason_code=codes.VALUE_NOT_SHOWN)


def _interval(row: FindingRow, selected: float) -> FindingRow:
    """The row with its interval: 95%, of a confirmed effect wider, as it was chosen for being so large."""
    row = replace(row, ci_low=None, ci_high=None, ci_level=None, ci_kind=None)
    if row.scope != codes.VALUE or row.effect is None or row.se is None or not row.n_changed:
        return row
    confirmed = row.state == codes.CONFIRMED
    level = selected if confirmed else 1 - LEVEL
    tail = (1 - level) / 2
    paired = row.effect_kind == codes.PAIRED
    if row.unit == codes.SHARE or (row.measure == codes.YES_NO and paired):
        whole = 1.0 if row.unit == codes.SHARE else codes.PERCENT
        centre = row.effect * row.n_compared / (row.n_compared + 2)
        half = float(scipy.stats.norm.isf(tail)) * row.se
        low, high = max(-whole, centre - half), min(whole, centre + half)
    else:
        half = float(scipy.stats.t.isf(tail, max(row.n_compared - 1, 1))) * row.se
        low, high = row.effect - half, row.effect + half
    return replace(
        row, ci_low=low, ci_high=high, ci_level=level, ci_kind=codes.SELECTED if confirmed else codes.PLAIN
    )


def _noted(row: FindingRow) -> FindingRow:
    """Whether the effect rests on amounts that no answer named: without them the test would not reject.

    Of a confirmed effect the p without them is corrected as its own was.
    """
    kept = [code for code in row.notes if code != codes.RESTS_ON_CONVERSIONS]
    if row.n_converted and row.p is not None and row.p < LEVEL:
        without = row.p_unconverted
        if without is not None and row.state == codes.CONFIRMED and row.p_adjusted is not None:
            without *= row.p_adjusted / row.p
        turned = row.effect_unconverted is not None and row.effect_unconverted * (row.effect or 0.0) <= 0
        if without is None or without >= LEVEL or turned:
            kept.append(codes.RESTS_ON_CONVERSIONS)
    return replace(row, note="; ".join(kept) or None)
