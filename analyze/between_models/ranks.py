"""Rank correlation with an exact or drawn permutation p and an interval."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
import scipy
from numpy.typing import NDArray

from analyze.counterfactual.frame import Floats

ENUMERATED = 8
"""Up to this many models all orders are gone through."""
DRAWS = 99_999


@dataclass(frozen=True, slots=True)
class Spearman:
    """A rank correlation over n models."""

    rho: float
    p: float
    low: float | None
    high: float | None
    """The 95% interval; None where the ranks agree perfectly, for the formula then claims certainty."""
    permutations: int
    exact: bool
    """Whether all orders were gone through."""

    @property
    def how(self) -> str:
        """How p was got, in words."""
        return f"all {self.permutations:,} orders" if self.exact else f"{self.permutations:,} random orders"


PERFECT = "no interval: the order is the same throughout, and few models can agree by accident"


def spearman(x: Floats, y: Floats, seed: int = 0) -> Spearman | None:
    """Spearman's rho with its two-sided permutation p; None with fewer than four models or without spread.

    The interval is Fisher's z with the variance of Bonett and Wright (2000): with few models it is wide,
    and is there to show that.
    """
    n = len(x)
    if n < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    a, b = _standard(scipy.stats.rankdata(x)), _standard(scipy.stats.rankdata(y))
    rho = float(np.clip(a @ b, -1, 1))
    if n <= ENUMERATED:
        orders = np.array(list(permutations(range(n))))
        drawn = a[orders] @ b
        p, count = float(np.mean(np.abs(drawn) >= abs(rho) - 1e-9)), factorial(n)
    else:
        drawn = np.random.default_rng(seed).permuted(np.broadcast_to(a, (DRAWS, n)), axis=1) @ b
        p = float((1 + np.count_nonzero(np.abs(drawn) >= abs(rho) - 1e-9)) / (1 + DRAWS))
        count = DRAWS
    low = high = None
    if abs(rho) < 1 - 1e-9:
        half = scipy.stats.norm.isf(0.025) * np.sqrt((1 + rho**2 / 2) / (n - 3))
        low, high = float(np.tanh(np.arctanh(rho) - half)), float(np.tanh(np.arctanh(rho) + half))
    return Spearman(rho, p, low, high, count, n <= ENUMERATED)


def between_share(x: Floats, levels: NDArray[np.str_], seed: int = 0) -> tuple[float, float, int] | None:
    """For a category: the share of rank variance between its levels, its permutation p, and the permutations.

    None with fewer than four models, one level, or without spread.
    """
    n = len(x)
    names = np.unique(levels)
    if n < 4 or len(names) < 2 or len(names) == n or np.ptp(x) == 0:
        return None
    ranks = _standard(scipy.stats.rankdata(x))
    member = (levels[:, None] == names[None, :]) / np.sqrt([np.count_nonzero(levels == k) for k in names])
    observed = float(((ranks @ member) ** 2).sum())
    drawn = np.random.default_rng(seed).permuted(np.broadcast_to(ranks, (DRAWS, n)), axis=1) @ member
    reached = np.count_nonzero((drawn**2).sum(axis=1) >= observed - 1e-9)
    return observed, float((1 + reached) / (1 + DRAWS)), DRAWS


def _standard(ranks: Floats) -> Floats:
    centred: Floats = ranks - ranks.mean()
    return centred / np.sqrt(centred @ centred)
