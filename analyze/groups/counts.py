"""Rows as counts: everything that a score needs is a sum over rows, so that draws can work on sums.

A *panel* is the predictions of one or more seeds (or models) on some rows. Rows that are alike in truth and
in all predictions are one *pattern*: thousands of rows are a few hundred patterns, and a bootstrap or a
permutation draws how often each pattern falls into each group instead of moving rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyze.groups.data import Bools, Floats, GroupData, Ints, Predictions, Values, Variant


@dataclass(frozen=True, slots=True)
class Panel:
    """Some rows and their predictions."""

    rows: Ints
    """The places of the rows in the data."""
    pattern: Ints
    """Each row's pattern."""
    counts: Floats
    """(patterns, seeds, 3, classes): true positives, predicted, truly there, of one row of the pattern."""
    cells: Floats | None
    """(patterns, seeds, classes, classes + 1): true by predicted class, the last column for rows
    without an answer. None where a row may have several classes."""

    @property
    def seeds(self) -> int:
        """How many sets of predictions it holds."""
        return int(self.counts.shape[1])


def panel(data: GroupData, predictions: Sequence[Predictions], rows: Bools, variant: Variant) -> Panel:
    """The panel of the chosen rows.

    In the variant `answered` a row without an answer in a seed counts for nothing in that seed; leave out by
    `rows` those that are to be no rows at all.
    """
    places = np.flatnonzero(rows)
    answered = [one.answered[places] for one in predictions]
    values = [one.values[places] for one in predictions]
    columns = [row_codes(data.truth[places])]
    columns += [np.where(there, row_codes(value), -1) for there, value in zip(answered, values, strict=True)]
    first, pattern = _distinct(np.column_stack(columns))
    truth = data.classes.indicators(data.truth[places][first])
    counts = np.zeros((len(first), len(predictions), 3, truth.shape[1]))
    cells = None
    if not data.classes.several:
        cells = np.zeros((len(first), len(predictions), truth.shape[1], truth.shape[1] + 1))
    for seed, (there, value) in enumerate(zip(answered, values, strict=True)):
        known = there[first]
        predicted = data.classes.indicators(value[first]) & known[:, None]
        taken = known | (variant is Variant.ALL)
        counts[:, seed, 0] = truth & predicted
        counts[:, seed, 1] = predicted
        counts[:, seed, 2] = truth & taken[:, None]
        if cells is not None:
            column = np.column_stack([predicted, ~known])
            cells[:, seed] = truth[:, :, None] & column[:, None, :] & taken[:, None, None]
    return Panel(places, pattern, counts, cells)


def counts_of_cells(cells: Floats) -> Floats:
    """(..., 3, classes) from (..., classes, classes + 1)."""
    classes = cells.shape[-2]
    hits = np.diagonal(cells[..., :classes], axis1=-2, axis2=-1)
    return np.stack([hits, cells[..., :classes].sum(axis=-2), cells.sum(axis=-1)], axis=-2)


def group_sums(features: Floats, pattern: Ints, groups: Ints, number: int) -> Floats:
    """(groups, ...): the features summed over each group's rows; rows of group -1 are in none."""
    inside = groups >= 0
    patterns = len(features)
    times = np.bincount(groups[inside] * patterns + pattern[inside], minlength=number * patterns)
    flat = times.reshape(number, patterns) @ features.reshape(patterns, -1)
    return np.asarray(flat.reshape(number, *features.shape[1:]), dtype=np.float64)


def row_codes(values: Values) -> Ints:
    """One code for each row, the same for rows with the same class or the same set of classes."""
    if values.ndim == 1:
        return np.asarray(values, dtype=np.int64)
    if values.shape[1] < 63:
        return np.asarray(values, dtype=np.int64) @ (1 << np.arange(values.shape[1], dtype=np.int64))
    return np.unique(values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _distinct(table: Ints) -> tuple[Ints, Ints]:
    """The first row of each distinct one, and each row's number among the distinct ones."""
    code = np.zeros(len(table), dtype=np.int64)
    for column in table.T:
        _, inverse = np.unique(column, return_inverse=True)
        code = np.unique(code * (int(inverse.max(initial=0)) + 1) + inverse, return_inverse=True)[1].astype(
            np.int64
        )
    _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
    return first.astype(np.int64), pattern.astype(np.int64)
