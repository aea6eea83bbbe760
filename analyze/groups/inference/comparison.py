"""Two models on the same rows: differences of mean, worst and disparity, paired.

Differences of disparities are mostly noise: on CAIL's gender groups the standard deviation of the difference
of two equal models' GD is 1 point, larger than the differences that papers rank methods by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from analyze.groups.counts import Panel, group_sums, panel
from analyze.groups.data import Floats, GroupData, Ints, Predictions, Variant
from analyze.groups.disparity import TIE, average, summarize
from analyze.groups.inference.bootstrap import NO_INTERVAL, Interval, bootstrap, deviation
from analyze.groups.rules import RULES, Rule, macro_f1_by_rule


class Measure(StrEnum):
    """What of two models is compared."""

    MEAN = "mean"
    WORST = "worst"
    GD = "gd"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first model's number less the second's, each the mean over its seeds."""

    measure: Measure
    first: float
    second: float
    difference: float
    interval: Interval
    """95%, of the test set's noise, the trained models taken as given."""
    p: float | None
    """Of the swap test; None where there is nothing to swap."""
    draws: int


def compare(
    data: GroupData,
    first: Sequence[Predictions],
    second: Sequence[Predictions],
    groups: Ints,
    number: int,
    variant: Variant,
    *,
    permutations: int,
    bootstraps: int,
    generator: np.random.Generator,
) -> dict[Rule, tuple[Difference, ...]]:
    """Compare two models on the rows whose group is not negative.

    Interval: difference +- 1.96 bootstrap standard errors, both models on the same resampled rows. The bias
    of a resampled disparity is the same kind for both and mostly cancels in the standard error, while
    percentiles would keep it.

    Test: if two models are alike, it is chance which of them gave which answer. For each row (or case) all of
    one model's answers change places with the other's, or not, by a coin. That is a test of models alike in
    all respects, seen through one number; it is exact for these, and a rejection alone does not say that
    this number is what differs: its interval does. Models with unequal numbers of seeds are tested with the
    first so many seeds as both have; the difference and its interval use all.

    Args:
        data: truth and cases.
        first: one model's predictions, one for each seed.
        second: the other's.
        groups: each row's group, -1 for rows that take no part.
        number: how many groups there are.
        variant: what becomes of rows without an answer.
        permutations: draws of the swap test.
        bootstraps: draws of the interval.
        generator: of both.
    """
    rows = panel(data, [*first, *second], groups >= 0, variant)
    inside = groups[rows.rows]
    seeds = len(first)
    observed = macro_f1_by_rule(group_sums(rows.counts, rows.pattern, inside, number).swapaxes(0, 1), RULES)
    counts = bootstrap(data, rows, rows.counts, inside, number).draw(bootstraps, generator).swapaxes(1, 2)
    drawn = macro_f1_by_rule(counts, RULES)
    del counts
    common = min(seeds, len(second))
    pairs = [*range(common), *range(seeds, seeds + common)]
    swapped = _swaps(data, rows, pairs, inside, number, permutations, generator)
    found = {}
    for place, rule in enumerate(RULES):
        real = _numbers(observed[place], seeds)
        used = _numbers(observed[place][pairs], common)
        boots = _numbers(drawn[place], seeds)
        null = None if swapped is None else _numbers(swapped[place], common)
        found[rule] = tuple(
            Difference(
                measure,
                float(one),
                float(other),
                float(one - other),
                _normal(float(one - other), boots[measure][0] - boots[measure][1]),
                None if null is None else _p(used[measure], null[measure]),
                permutations,
            )
            for measure, (one, other) in real.items()
        )
    return found


def _numbers(scores: Floats, seeds: int) -> dict[Measure, tuple[Floats, Floats]]:
    """Each measure of both models, from scores (..., seeds of both, groups)."""
    summary = summarize(scores)

    def halves(values: Floats) -> tuple[Floats, Floats]:
        return average(values[..., :seeds]), average(values[..., seeds:])

    return {
        Measure.MEAN: halves(summary.mean),
        Measure.WORST: halves(summary.worst),
        Measure.GD: halves(summary.gd),
    }


def _p(observed: tuple[Floats, Floats], null: tuple[Floats, Floats]) -> float:
    size = abs(float(observed[0] - observed[1]))
    drawn = np.abs(null[0] - null[1])
    return (1 + int(np.count_nonzero(drawn >= size - TIE))) / (1 + len(drawn))


def _normal(difference: float, draws: Floats) -> Interval:
    error = deviation(draws)
    if error is None or np.isnan(difference):
        return NO_INTERVAL
    half = float(scipy.stats.norm.isf(0.025)) * error
    return Interval(difference - half, difference + half)


def _swaps(
    data: GroupData,
    rows: Panel,
    pairs: Sequence[int],
    groups: Ints,
    number: int,
    draws: int,
    generator: np.random.Generator,
) -> Floats | None:
    """Scores (rules, draws, seeds of both, groups) after swaps; None where the two never differ."""
    half = len(pairs) // 2
    counts = rows.counts[:, pairs]
    gain = (counts[:, half:] - counts[:, :half]).reshape(len(counts), -1)
    base = group_sums(counts, rows.pattern, groups, number)
    units = _swap_units(data, rows, gain, groups, number)
    if units is None:
        return None
    shape = (number, half, *counts.shape[2:])
    scores = np.empty((len(RULES), draws, len(pairs), number))
    step = max(1, (1 << 22) // max([gain.shape[1] * number, *(len(times) for _, times, _ in units)]))
    for start in range(0, draws, step):
        part = slice(start, min(draws, start + step))
        size = part.stop - part.start
        moved = np.zeros((size, number, gain.shape[1]))
        for own, times, features in units:
            heads = generator.binomial(times, 0.5, size=(size, len(times))).astype(np.float64)
            moved[:, own] += (heads @ features).reshape(size, len(own), -1)
        shift = moved.reshape(size, *shape)
        after = np.concatenate([base[None, :, :half] + shift, base[None, :, half:] - shift], axis=2)
        scores[:, part] = macro_f1_by_rule(after.swapaxes(1, 2), RULES)
    return scores


def _swap_units(
    data: GroupData, rows: Panel, gain: Floats, groups: Ints, number: int
) -> list[tuple[Ints, Ints, Floats]] | None:
    """(groups, how often, gains) of the rows or cases in which the two models differ."""
    if data.cluster is None:
        found = []
        for group in range(number):
            pattern, times = np.unique(rows.pattern[groups == group], return_counts=True)
            differs = gain[pattern].any(axis=1)
            if differs.any():
                found.append((np.array([group]), times[differs].astype(np.int64), gain[pattern[differs]]))
        return found or None
    cases = np.unique(data.cluster[rows.rows], return_inverse=True)[1]
    sums = np.zeros((int(cases.max(initial=-1)) + 1, number, gain.shape[1]))
    np.add.at(sums, (cases, groups), gain[rows.pattern])
    flat = sums.reshape(len(sums), -1)
    flat = flat[flat.any(axis=1)]
    if len(flat) == 0:
        return None
    return [(np.arange(number), np.ones(len(flat), dtype=np.int64), flat)]
