"""Permutation within cases: does a response go with the value that was asked, whatever kind it is?

If the varied fact does not matter, the answers of a case could as well have been given to its values in any
other order. So they are put into other orders, case by case, and each time it is computed how strongly the
response (whether the answer is missing, of which kind it is) goes with the value. That is exact for any
number of values and any distribution: nothing is assumed but the hypothesis. With two answers a case it is
the flip of signs; where moreover all moves are of one size, the sign test (McNemar's) in closed form.

With D the values' dummies (or the dose) and R the response, both centred within the case, the statistic of
`permute` is trace(A^+ T B^+ T') of T = sum D'R, A = sum D'D, B = sum R'R: only T changes with the order.
`permute_mean`, for an amount, studentises: with s_i = D_i'R_i its statistic is T' (sum s_i s_i')^-1 T, made
anew for every order. So it stays right for many cases where one value's answers only scatter more than
another's, which is no effect on their mean. To flip the signs of s_i instead would not do where a case has
more than two answers: noise that is skewed has no symmetric s_i, and at the levels that many labels call for
such flips reject up to ten times too often.

Orders are gone through where few cases vary, otherwise drawn until a hundred reach the statistic (Besag and
Clifford, "Sequential Monte Carlo p-values", Biometrika 1991) or the draws are at their end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import scipy
from numpy.typing import NDArray

from analyze.counterfactual.frame import Bools, Floats, Ints
from analyze.inference.flips import ENUMERATED, all_patterns

Singles = NDArray[np.float32]

HITS = 100
"""Draws that reach the statistic, after which no more are needed."""
_BLOCK = 2_000_000
_TIES = 1e-9
_STUDENTISED_TIES = 1e-4
"""Sums in single precision: statistics that close count as equal, and so against a small p."""
_RIDGE = 1e-6
_ROUNDING = 1e-9
_LOOKED_UP = 6
"""Up to so many cells a case, all its orders (720) are held ready."""


@dataclass(frozen=True, slots=True)
class Permuted:
    """A p of permutations within cases."""

    p: float
    exact: bool
    """In closed form, or over all orders."""
    moving: int
    """Cases whose response varies; the others have nothing to permute."""
    least_p: float
    """The smallest p that any order of these answers could give; 1 where nothing varies."""


NOTHING_VARIES = Permuted(1.0, True, 0, 1.0)


def permute(design: Floats, response: Floats, asked: Bools, draws: int, seed: tuple[int, ...]) -> Permuted:
    """The p of `response` not depending on `design` within cases.

    Args:
        design: (cases, cells, columns) what was asked in each cell of a case.
        response: (cases, cells, columns) what came back.
        asked: (cases, cells) whether the cell is there.
        draws: at most so many. seed: of the draws.
    """
    d, r, there = _moving(design, response, asked)
    if not len(d):
        return NOTHING_VARIES
    d, r = _whitened(d), _whitened(r)
    total = np.einsum("nkp,nkq->pq", d, r)
    observed = float((total**2).sum())
    orders = _log2_orders(r, there)
    most = int(there.sum(axis=1).max())
    floor = 1.0 / (1 + draws)
    if most == 2:
        scores = np.einsum("nkp,nkq->npq", d, r).reshape(len(d), -1)
        least = 2.0 ** (1 - len(d))
        sizes = np.abs(scores)
        if scores.shape[1] == 1 and np.ptp(sizes) <= _ROUNDING * sizes.max():
            ups = int(np.count_nonzero(scores > 0))
            return Permuted(float(scipy.stats.binomtest(ups, len(d)).pvalue), True, len(d), least)
        if len(d) <= ENUMERATED:
            reached = (all_patterns(scores) ** 2).sum(axis=1) >= observed * (1 - _TIES)
            return Permuted(float(reached.mean()), True, len(d), least)
        drawn = _flips(scores, draws, seed)
    else:
        least = min(1.0, 2.0 ** (math.log2(most) - orders))
        drawn = _orders(d, r, there, draws, seed)
    return Permuted(_sequential(drawn, observed * (1 - _TIES)), False, len(d), max(least, floor))


def permute_mean(
    design: Floats, response: Floats, asked: Bools, draws: int, seed: tuple[int, ...]
) -> Permuted:
    """The p of the mean of `response` (cases, cells) not depending on `design` within cases.

    As `permute`, studentised; with two answers a case it is the flip of signs of the cluster t.
    """
    d, r, there = _moving(design, response[:, :, None], asked)
    if not len(d):
        return NOTHING_VARIES
    d = _whitened(d)
    r = r[:, :, 0] / np.sqrt((r**2).sum())
    observed = float(_studentised(_with_ones(np.einsum("nkp,nk->np", d, r))[None])[0])
    least = min(1.0, 2.0 ** (math.log2(int(there.sum(axis=1).max())) - _log2_orders(r[:, :, None], there)))
    drawn = _scores_of_orders(d, r, there, draws, seed)
    p = _sequential((_studentised(scores) for scores in drawn), observed * (1 - _STUDENTISED_TIES))
    return Permuted(p, False, len(d), max(least, 1.0 / (1 + draws)))


def _with_ones(scores: Floats) -> Singles:
    """Scores with a column of ones before them, so that one product gives their sums and their moments."""
    return np.concatenate([np.ones((*scores.shape[:-1], 1)), scores], axis=-1).astype(np.float32)


def _studentised(scores: Singles) -> Floats:
    """Of (draws, cases, 1 + columns): T' (sum s s')^-1 T, the number of cases where all are alike."""
    moment = (np.swapaxes(scores, 1, 2) @ scores).astype(np.float64)
    total, moment = moment[:, 0, 1:], moment[:, 1:, 1:]
    # Where cases leave a direction without movement, so is T; a trifle on the diagonal keeps it invertible.
    size = np.trace(moment, axis1=1, axis2=2)[:, None, None] * _RIDGE
    solved = np.linalg.solve(moment + size * np.eye(moment.shape[1]), total[:, :, None])
    found: Floats = np.einsum("bp,bp->b", total, solved[:, :, 0])
    return found


def _scores_of_orders(
    d: Floats, r: Floats, there: Bools, draws: int, seed: tuple[int, ...]
) -> Iterator[Singles]:
    """Scores with ones under random orders; they are looked up where a case has few."""
    rng = np.random.default_rng(seed)
    n, k, p = d.shape
    size = max(1, min(4 * HITS, draws, _BLOCK // (n * max(k, p))))
    sizes = [min(size, draws - start) for start in range(0, draws, size)]
    if k > _LOOKED_UP:
        absent = np.where(there, 0.0, 2.0 + np.arange(k))
        case: Ints = np.arange(n)[None, :]
        for count in sizes:
            key = rng.random((count, n, k)) + absent
            yield _with_ones(np.einsum("nkp,bnk->bnp", d, r[case[:, :, None], np.argsort(key, axis=2)]))
        return
    cells = there.sum(axis=1)
    orders = {m: np.array(list(permutations(range(m)))) for m in np.unique(cells).tolist()}
    every = [np.einsum("kp,ok->op", d[i, :m], r[i, :m][orders[m]]) for i, m in enumerate(cells.tolist())]
    many = np.array([len(one) for one in every])
    start, looked_up = np.cumsum(many) - many, _with_ones(np.concatenate(every))
    for count in sizes:
        yield looked_up[start + (rng.random((count, n)) * many).astype(np.int64)]


def _moving(design: Floats, response: Floats, asked: Bools) -> tuple[Floats, Floats, Bools]:
    """The cases that have something to permute, centred, the cells that are there first."""
    order = np.argsort(~asked, axis=1, kind="stable")
    there = np.take_along_axis(asked, order, axis=1)
    d, r = (
        _centred(np.take_along_axis(a, order[:, :, None], axis=1), there)
        for a in (design.astype(np.float64), response.astype(np.float64))
    )
    keep = there.sum(axis=1) >= 2
    for a in (d, r):
        sizes = np.abs(a).max(axis=(1, 2), initial=0.0)
        keep &= sizes > _ROUNDING * max(1.0, float(sizes.max(initial=0.0)))
    width = int(there[keep].sum(axis=1).max(initial=0))
    return d[keep][:, :width], r[keep][:, :width], there[keep][:, :width]


def _centred(a: Floats, there: Bools) -> Floats:
    weight = there[:, :, None]
    known = np.where(weight, a, 0.0)
    mean = known.sum(axis=1, keepdims=True) / np.maximum(weight.sum(axis=1, keepdims=True), 1)
    return np.where(weight, known - mean, 0.0)


def _whitened(a: Floats) -> Floats:
    """With unit second moment over cases and cells; directions without movement are left out."""
    moment = np.einsum("nkp,nkq->pq", a, a)
    eigenvalues, vectors = np.linalg.eigh(moment)
    keep = eigenvalues > 1e-10 * eigenvalues[-1]
    white: Floats = a @ (vectors[:, keep] / np.sqrt(eigenvalues[keep]))
    return white


def _log2_orders(response: Floats, there: Bools) -> float:
    """The number of distinct orders of the cases' responses, as a power of two."""
    found = 0.0
    for cells, known in zip(response, there, strict=True):
        _, times = np.unique(np.round(cells[known], 9), axis=0, return_counts=True)
        found += (math.lgamma(known.sum() + 1) - sum(math.lgamma(t + 1) for t in times)) / math.log(2)
    return found


def _flips(scores: Floats, draws: int, seed: tuple[int, ...]) -> Iterator[Floats]:
    """Statistics under random signs of cases."""
    rng = np.random.default_rng(seed)
    size = max(1, min(4 * HITS, draws, _BLOCK // len(scores)))
    for start in range(0, draws, size):
        signs = rng.integers(0, 2, (min(size, draws - start), len(scores))) * 2.0 - 1.0
        yield ((signs @ scores) ** 2).sum(axis=1)


def _orders(d: Floats, r: Floats, there: Bools, draws: int, seed: tuple[int, ...]) -> Iterator[Floats]:
    """Statistics under random orders of the cells within cases."""
    rng = np.random.default_rng(seed)
    n, k, q = r.shape
    size = max(1, min(4 * HITS, draws, _BLOCK // (n * k * q)))
    absent = np.where(there, 0.0, 2.0 + np.arange(k))
    case: Ints = np.arange(n)[None, :, None]
    for start in range(0, draws, size):
        key = rng.random((min(size, draws - start), n, k)) + absent
        moved = r[case, np.argsort(key, axis=2)]
        total = np.einsum("nkp,bnkq->bpq", d, moved, optimize=True)
        yield (total**2).sum(axis=(1, 2))


def _sequential(drawn: Iterator[Floats], reach: float) -> float:
    """The p of draws that come one after another."""
    hits = done = 0
    for block in drawn:
        reached = np.flatnonzero(block >= reach)
        if hits + len(reached) >= HITS:
            return HITS / (done + int(reached[HITS - hits - 1]) + 1)
        hits, done = hits + len(reached), done + len(block)
    return (1 + hits) / (1 + done)
