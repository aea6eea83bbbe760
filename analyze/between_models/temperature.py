"""The same model at two temperatures, document by document.

Counts of significant labels at two temperatures say nothing about whether anything differs. Here the
effect of each value at one temperature is held against that at the other in the documents that have both,
and so is the share of pairs of values that differ; signs of documents are flipped, the same for all
values, and the largest studentised difference over all values gives one test of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyze.between_models.rows import TemperatureTest
from analyze.counterfactual.frame import Floats, Ints
from analyze.inference.signs import Signs

EFFECT, INCONSISTENCY = "effect", "inconsistency"
WHOLE = ""
"""Stands for label and value in the test over all of them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of a model, by document.

    The difference from the reference, or the share of pairs differing.
    """

    label: str
    value: str
    measure: str
    numbers: Ints
    """Documents, by their numbers among the signs; increasing."""
    amounts: Floats


def temperature_tests(
    model: str,
    lower: tuple[float, Sequence[Measured]],
    higher: tuple[float, Sequence[Measured]],
    signs: Signs,
) -> list[TemperatureTest]:
    """Rows for every measure that both have in at least two documents, and one for all of a kind together."""
    temperature, at_lower = lower
    other, at_higher = higher
    second = {(m.label, m.value, m.measure): m for m in at_higher}
    found: list[TemperatureTest] = []
    for kind in (EFFECT, INCONSISTENCY):
        pairs = []
        for first in at_lower:
            match = second.get((first.label, first.value, first.measure))
            if first.measure != kind or match is None:
                continue
            common, i, j = np.intersect1d(first.numbers, match.numbers, return_indices=True)
            if len(common) > 1:
                pairs.append((first, common, first.amounts[i], match.amounts[j]))
        if not pairs:
            continue
        p, whole = _flipped([(common, b - a) for _, common, a, b in pairs], signs)
        for (first, common, a, b), own in zip(pairs, p, strict=True):
            found.append(
                TemperatureTest(
                    model=model,
                    temperature=temperature,
                    other=other,
                    label=first.label,
                    value=first.value,
                    measure=kind,
                    at_lower=float(a.mean()),
                    at_higher=float(b.mean()),
                    difference=float((b - a).mean()),
                    p=own,
                    documents=len(common),
                    draws=signs.draws,
                )
            )
        found.append(
            TemperatureTest(
                model=model,
                temperature=temperature,
                other=other,
                label=WHOLE,
                value=WHOLE,
                measure=kind,
                at_lower=None,
                at_higher=None,
                difference=None,
                p=whole,
                documents=len(np.unique(np.concatenate([common for _, common, _, _ in pairs]))),
                draws=signs.draws,
                note=f"largest studentised difference over {len(pairs)}, by common signs",
            )
        )
    return found


def _flipped(columns: Sequence[tuple[Ints, Floats]], signs: Signs) -> tuple[list[float | None], float | None]:
    """Each column's p by sign flips of its documents, and that of the largest over all columns."""
    used = np.unique(np.concatenate([numbers for numbers, _ in columns]))
    matrix = np.zeros((len(used), len(columns)), dtype=np.float32)
    still = np.zeros(len(columns), dtype=np.bool_)
    for j, (numbers, amounts) in enumerate(columns):
        length = np.sqrt(amounts @ amounts)
        still[j] = length == 0
        matrix[np.searchsorted(used, numbers), j] = amounts / (length or 1.0)
    if still.all():
        return [None] * len(columns), None
    observed = np.abs(matrix.sum(axis=0, dtype=np.float64))
    reached = np.zeros(len(columns), dtype=np.int64)
    largest = 0
    for block in signs.blocks(used):
        drawn: NDArray[np.float32] = np.abs(block @ matrix)
        reached += (drawn >= observed - 1e-5).sum(axis=0)
        largest += int(np.count_nonzero(drawn.max(axis=1) >= observed.max() - 1e-5))
    total = 1 + signs.draws
    own = [None if still[j] else float((1 + reached[j]) / total) for j in range(len(columns))]
    return own, (1 + largest) / total
