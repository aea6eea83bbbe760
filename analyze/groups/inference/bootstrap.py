"""The bootstrap of group scores: rows (or cases) of each group are drawn again with replacement.

Never within the true class: how many rows of a class a test set has is chance too. All models and seeds of a
panel see the same draws, so that their differences are paired. Only scores, gaps between two groups and
differences of models get intervals from it: the disparity of resampled groups is biased up, and its
percentile interval covers 0% if there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyze.groups.counts import Panel
from analyze.groups.data import Floats, GroupData, Ints

DRAWS = 2_000
_CHUNK = 1 << 23


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval; None where there are no draws to take it from."""

    low: float | None
    high: float | None


NO_INTERVAL = Interval(None, None)


@dataclass(frozen=True, slots=True)
class _Block:
    """Units that are resampled among themselves."""

    times: Ints
    groups: Ints
    """The groups that they have rows in."""
    features: Floats
    """(distinct units, groups x features)."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """All blocks: one a group, or, where cases have rows in several groups, one for each set of groups."""

    blocks: tuple[_Block, ...]
    groups: int
    shape: tuple[int, ...]

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """(draws, groups, *shape): the features summed over each group's resampled rows."""
        out = np.zeros((draws, self.groups, int(np.prod(self.shape))))
        for block in self.blocks:
            number = int(block.times.sum())
            step = max(1, _CHUNK // len(block.times))
            for start in range(0, draws, step):
                part = slice(start, min(draws, start + step))
                size = part.stop - part.start
                times = generator.multinomial(number, block.times / number, size=size).astype(np.float64)
                out[part, block.groups] += (times @ block.features).reshape(size, len(block.groups), -1)
        return out.reshape(draws, self.groups, *self.shape)


def bootstrap(data: GroupData, rows: Panel, features: Floats, groups: Ints, number: int) -> Bootstrap:
    """How to resample a panel's rows within their groups.

    Args:
        data: for the cases that rows share.
        rows: the panel.
        features: (patterns, ...), what is summed.
        groups: each row's group, -1 for rows that take no part.
        number: how many groups there are.
    """
    shape = tuple(features.shape[1:])
    flat = features.reshape(len(features), -1)
    inside = np.flatnonzero(groups >= 0)
    if data.cluster is None:
        blocks = []
        for group in np.unique(groups[inside]):
            distinct, times = np.unique(rows.pattern[groups == group], return_counts=True)
            blocks.append(_Block(times.astype(np.int64), np.array([group]), flat[distinct]))
        return Bootstrap(tuple(blocks), number, shape)
    cases = np.unique(data.cluster[rows.rows[inside]], return_inverse=True)[1]
    return Bootstrap(
        tuple(_case_blocks(flat[rows.pattern[inside]], cases, groups[inside], number)), number, shape
    )


def _case_blocks(features: Floats, cases: Ints, groups: Ints, number: int) -> list[_Block]:
    total = int(cases.max(initial=-1)) + 1
    touched = np.zeros((total, number), dtype=np.bool_)
    touched[cases, groups] = True
    kinds, kind = np.unique(touched, axis=0, return_inverse=True)
    blocks = []
    for place, pattern in enumerate(kinds):
        members = np.flatnonzero(kind.reshape(-1) == place)
        own = np.flatnonzero(pattern)
        position = np.full(total, -1)
        position[members] = np.arange(len(members))
        column = np.full(number, -1)
        column[own] = np.arange(len(own))
        chosen = np.flatnonzero(position[cases] >= 0)
        sums = np.zeros((len(members), len(own), features.shape[1]))
        np.add.at(sums, (position[cases[chosen]], column[groups[chosen]]), features[chosen])
        distinct, times = np.unique(sums.reshape(len(members), -1), axis=0, return_counts=True)
        blocks.append(_Block(times.astype(np.int64), own, distinct))
    return blocks


def percentile(draws: Floats) -> Interval:
    """The 2.5th and 97.5th percentile of the draws that have a value."""
    there = draws[~np.isnan(draws)]
    if len(there) == 0:
        return NO_INTERVAL
    low, high = np.quantile(there, [0.025, 0.975])
    return Interval(float(low), float(high))


def deviation(draws: Floats) -> float | None:
    """Their standard deviation: the standard error of what was drawn; None for fewer than two."""
    there = draws[~np.isnan(draws)]
    return float(there.std(ddof=1)) if len(there) > 1 else None
