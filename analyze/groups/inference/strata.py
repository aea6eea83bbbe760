"""Who may change places with whom when groups are permuted, and in which blocks.

Without strata, a row's group says nothing about its content: the null of equal scores. Within true labels, it
says nothing about the prediction once the true label is known: the null of equal behaviour, which differing
label shares do not break. Rows that share a case move together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from analyze.groups.counts import Panel, row_codes
from analyze.groups.data import Floats, GroupData, Ints

RARE = 5
"""Label sets, and sizes of cases, seen less often than this share one stratum."""
_CHUNK = 1 << 23
"""Numbers held at a time."""


class Null(StrEnum):
    """What is taken as true when groups are permuted."""

    PLAIN = "plain"
    """Groups do not differ in truth and predictions together."""
    WITHIN_LABEL = "within_label"
    """Groups do not differ in predictions of rows with the same true label (set)."""


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Units that each lie in one group and may change places: a random table with both margins fixed.

    Drawn by scipy's `random_table`, the multivariate hypergeometric distribution of patterns by groups, so
    that the time depends on the number of patterns rather than on that of rows.
    """

    times: Ints
    """How often each distinct unit occurs."""
    sizes: Ints
    """How many units each group has."""
    features: Floats
    """(units, features)."""

    @property
    def fixed(self) -> bool:
        """Only one group has units here: no permutation changes anything."""
        return int(np.count_nonzero(self.sizes)) < 2

    @property
    def width(self) -> int:
        """Numbers that one draw holds."""
        return len(self.features) * len(self.sizes)

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """(draws, groups, features): sums over the units that fell into each group."""
        if self.fixed:
            total = np.outer(self.sizes > 0, self.times @ self.features)
            return np.broadcast_to(total, (draws, *total.shape))
        if len(self.times) == 1:  # scipy's random_table leaves tables of one row empty
            total = np.outer(self.sizes, self.features[0])
            return np.broadcast_to(total, (draws, *total.shape))
        groups = np.flatnonzero(self.sizes)
        out = np.zeros((draws, len(self.sizes), self.features.shape[1]))
        drawn = scipy.stats.random_table.rvs(
            self.times, self.sizes[groups], size=draws, random_state=generator
        )
        # One product of two matrices in memory order is six times as fast as one for each draw.
        tables = np.array(drawn.transpose(0, 2, 1), dtype=np.float64, order="C")
        sums = tables.reshape(draws * len(groups), len(self.times)) @ self.features
        out[:, groups] = sums.reshape(draws, len(groups), -1)
        return out


@dataclass(frozen=True, slots=True)
class CaseBlock:
    """Cases of equal shape whose rows lie in several groups: the groups of one move to another, as a whole.

    Within a case the groups are shuffled too, among rows of the same stratum.
    """

    labels: Ints
    """(cases, rows of a case): the rows' groups."""
    spans: tuple[tuple[int, int], ...]
    """Which places within a case are of the same stratum: start and end."""
    content: Ints
    """(cases x rows,): which of the features each row has."""
    features: Floats
    """(distinct contents, features)."""
    groups: int

    @property
    def fixed(self) -> bool:
        """No permutation changes anything."""
        alone = len(self.labels) == 1 or bool((self.labels == self.labels[:1]).all())
        return alone and all(
            bool((self.labels[:, a:b] == self.labels[:, a : a + 1]).all()) for a, b in self.spans
        )

    @property
    def width(self) -> int:
        """Numbers that one draw holds."""
        return max(self.labels.size, len(self.features) * self.groups)

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """(draws, groups, features)."""
        places = np.tile(np.arange(len(self.labels)), (draws, 1))
        moved = self.labels[generator.permuted(places, axis=1)]
        for start, end in self.spans:
            if end - start > 1:
                moved[:, :, start:end] = generator.permuted(moved[:, :, start:end], axis=2)
        cell = np.arange(draws)[:, None] * self.groups + moved.reshape(draws, -1)
        number = len(self.features)
        times = np.bincount(
            (cell * number + self.content).reshape(-1), minlength=draws * self.groups * number
        )
        sums = times.reshape(draws * self.groups, number).astype(np.float64) @ self.features
        return np.asarray(sums.reshape(draws, self.groups, -1))


@dataclass(frozen=True, slots=True)
class Permutation:
    """All blocks of a test."""

    blocks: tuple[TableBlock | CaseBlock, ...]
    groups: int
    shape: tuple[int, ...]
    """Of the features of one group."""
    share_fixed: float
    """Share of the rows that no permutation moves: their stratum lies in one group only."""

    def draw(self, draws: int, generator: np.random.Generator) -> Floats:
        """(draws, groups, *shape): counts of each group under the null."""
        out = np.zeros((draws, self.groups, int(np.prod(self.shape))))
        for block in self.blocks:
            step = draws if block.fixed else max(1, _CHUNK // max(1, block.width))
            for start in range(0, draws, step):
                part = slice(start, min(draws, start + step))
                out[part] += block.draw(part.stop - part.start, generator)
        return out.reshape(draws, self.groups, *self.shape)


def permutation(data: GroupData, rows: Panel, groups: Ints, number: int, null: Null) -> Permutation:
    """The blocks in which the groups of a panel's rows are permuted.

    Args:
        data: for truth and cases.
        rows: the panel; all its rows take part.
        groups: each row's group, from 0.
        number: how many groups there are.
        null: what is taken as true.
    """
    strata = (
        row_strata(data, rows.rows) if null is Null.WITHIN_LABEL else np.zeros(len(rows.rows), dtype=np.int64)
    )
    features = rows.counts.reshape(len(rows.counts), -1)
    if data.cluster is None:
        blocks: tuple[TableBlock | CaseBlock, ...]
        blocks, fixed = _of_rows(features, rows.pattern, groups, number, strata)
    else:
        cases = np.unique(data.cluster[rows.rows], return_inverse=True)[1].astype(np.int64)
        blocks, fixed = _of_cases(
            features[rows.pattern],
            cases,
            groups,
            number,
            strata,
            pool=data.classes.several or null is Null.PLAIN,
        )
    share = fixed / len(rows.rows) if len(rows.rows) else 0.0
    return Permutation(blocks, number, tuple(rows.counts.shape[1:]), share)


def row_strata(data: GroupData, rows: Ints) -> Ints:
    """Each row's true class, or set of classes; sets of under `RARE` rows are one stratum."""
    codes = np.unique(row_codes(data.truth[rows]), return_inverse=True)[1].reshape(-1).astype(np.int64)
    if not data.classes.several:
        return codes
    rare = np.bincount(codes)[codes] < RARE
    return np.where(rare, codes.max(initial=0) + 1, codes)


def _of_rows(
    features: Floats, pattern: Ints, groups: Ints, number: int, strata: Ints
) -> tuple[tuple[TableBlock, ...], int]:
    blocks: list[TableBlock] = []
    fixed = 0
    for stratum in np.unique(strata):
        inside = strata == stratum
        distinct, times = np.unique(pattern[inside], return_counts=True)
        sizes = np.bincount(groups[inside], minlength=number).astype(np.int64)
        block = TableBlock(times.astype(np.int64), sizes, features[distinct])
        fixed += int(inside.sum()) if block.fixed else 0
        blocks.append(block)
    return tuple(blocks), fixed


def _of_cases(
    features: Floats, cases: Ints, groups: Ints, number: int, strata: Ints, pool: bool
) -> tuple[tuple[TableBlock | CaseBlock, ...], int]:
    """Blocks of whole cases that have the same number of rows of each stratum.

    Where every case lies in one group, cases of a rare shape are one block with those that have the same
    strata, and if these are rare too, and `pool` allows it, with all other such.
    """
    order = np.lexsort((strata, cases))
    starts = np.flatnonzero(np.diff(cases[order], prepend=-1))
    members = np.split(order, starts[1:])
    full = [tuple(strata[rows].tolist()) for rows in members]
    one_group = all((groups[rows] == groups[rows[0]]).all() for rows in members)
    if not one_group:
        return _spread(features, members, full, groups, number)
    keys = _pooled(full, [[tuple(sorted(set(key))) for key in full], *([[()] * len(full)] if pool else [])])
    by_key: dict[Hashable, list[int]] = {}
    for case, key in enumerate(keys):
        by_key.setdefault(key, []).append(case)
    sums = np.add.reduceat(features[order], starts, axis=0)
    blocks: list[TableBlock | CaseBlock] = []
    fixed = 0
    for chosen in by_key.values():
        sizes = np.bincount([int(groups[members[case][0]]) for case in chosen], minlength=number).astype(
            np.int64
        )
        distinct, times = np.unique(sums[chosen], axis=0, return_counts=True)
        block = TableBlock(times.astype(np.int64), sizes, distinct)
        fixed += sum(len(members[case]) for case in chosen) if block.fixed else 0
        blocks.append(block)
    return tuple(blocks), fixed


def _pooled(keys: Sequence[Hashable], coarser: Sequence[Sequence[Hashable]]) -> list[Hashable]:
    """Each case's key, those that are rare replaced by coarser ones, level by level."""
    found: list[Hashable] = [(0, key) for key in keys]
    for level, coarse in enumerate(coarser, start=1):
        seen = Counter(found)
        found = [(level, coarse[i]) if seen[key] < RARE else key for i, key in enumerate(found)]
    return found


def _spread(
    features: Floats, members: Sequence[Ints], keys: Sequence[tuple[int, ...]], groups: Ints, number: int
) -> tuple[tuple[CaseBlock, ...], int]:
    by_key: dict[tuple[int, ...], list[Ints]] = {}
    for rows, key in zip(members, keys, strict=True):
        by_key.setdefault(key, []).append(rows)
    blocks: list[CaseBlock] = []
    fixed = 0
    for key, cases in by_key.items():
        rows = np.stack(cases)
        edges = np.flatnonzero(np.diff(key, prepend=key[0] - 1))
        spans = tuple(zip(edges.tolist(), [*edges[1:].tolist(), len(key)], strict=True))
        distinct, content = np.unique(features[rows.reshape(-1)], axis=0, return_inverse=True)
        block = CaseBlock(groups[rows], spans, content.reshape(-1), distinct, number)
        fixed += rows.size if block.fixed else 0
        blocks.append(block)
    return tuple(blocks), fixed
