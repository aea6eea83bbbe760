"""Mean, disparity and worst of group scores: the three numbers that stand for a set of groups.

The disparity (GD) is the population standard deviation of the groups' scores, each group counting once
(Chalkidis et al., FairLex, ACL 2022, eq. 13). Scores that are NaN take no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TIE = 1e-12
"""Scores nearer than this are equal: they are sums of the same fractions in another order."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Three numbers of each set of groups; NaN where no group has a score."""

    mean: Floats
    gd: Floats
    worst: Floats


def summarize(scores: Floats) -> Summary:
    """The three numbers over the last axis."""
    there = ~np.isnan(scores)
    if there.all() and scores.shape[-1]:
        mean = scores.mean(axis=-1)
        return Summary(mean, np.sqrt(np.square(scores - mean[..., None]).mean(axis=-1)), scores.min(axis=-1))
    mean = average(scores)
    gd = np.sqrt(average(np.square(scores - mean[..., None])))
    least = np.where(there, scores, np.inf).min(axis=-1, initial=np.inf)
    return Summary(mean, gd, np.where(np.isfinite(least), least, np.nan))


def lowest(scores: Floats) -> int | None:
    """The place of the lowest score, the first of those tied; None where no group has a score."""
    if np.isnan(scores).all():
        return None
    return int(np.flatnonzero(scores <= np.nanmin(scores) + TIE)[0])


def is_lowest(scores: Floats) -> Floats:
    """1 for the group (last axis) with the lowest score, shared evenly between groups that are tied."""
    filled = np.where(np.isnan(scores), np.inf, scores)
    tied = (filled <= filled.min(axis=-1, keepdims=True) + TIE) & np.isfinite(filled)
    return np.asarray(tied / np.maximum(tied.sum(axis=-1, keepdims=True), 1))


def average(values: Floats, axis: int = -1) -> Floats:
    """The mean of the values that are there; NaN where none is."""
    there = ~np.isnan(values)
    number = np.asarray(there.sum(axis=axis))
    total = np.asarray(np.where(there, values, 0.0).sum(axis=axis))
    return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))
