"""Many tests at once: Holm, Benjamini and Hochberg, and the step-down maximum of Romano and Wolf."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analyze.counterfactual.frame import Floats


def holm(p: Floats) -> Floats:
    """Holm's adjusted p: the chance of any false rejection in the family stays below the level."""
    order = np.argsort(p, kind="stable")
    m = len(p)
    steps = np.maximum.accumulate(p[order] * (m - np.arange(m)))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's adjusted p: the expected false share of rejections stays below the level.

    Valid for independent or positively dependent tests.
    """
    order = np.argsort(p, kind="stable")[::-1]
    m = len(p)
    steps = np.minimum.accumulate(p[order] * m / (m - np.arange(m)))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def step_down_max(observed: Floats, drawn: Sequence[NDArray[np.float32]], p: Floats | None = None) -> Floats:
    """Romano and Wolf's step-down p from draws of all statistics under their joint null.

    `observed` and `drawn` (for each test, its draws) must be the same studentised statistic on a common
    scale, larger meaning further from the null, and every draw made with the same signs for all tests, the
    hypothesis imposed: whichever hypotheses hold, common flips leave the joint law of their tests as it is,
    so that the step-down is one of randomisation tests. (Draws of scores centred at the estimates hold only
    for many documents: they rejected 1.7% at 5% with 12 documents and 20 labels, these 4.2%.) Strong control
    of any false rejection, like Holm, with the dependence between tests put to use. An adjusted p is never
    below the test's own `p`, which keeps few-changer tests honest, and never below that of a test with a
    larger statistic.

    Source: Romano and Wolf, "Exact and approximate stepdown methods for multiple hypothesis testing", JASA
    2005.
    """
    order = np.argsort(observed, kind="stable")[::-1]
    adjusted = np.empty(len(observed))
    draws = len(drawn[0]) if len(drawn) else 0
    highest = np.full(draws, -np.inf, dtype=np.float32)
    raw = np.empty(len(observed))
    for j in order[::-1]:
        np.maximum(highest, drawn[j], out=highest)
        raw[j] = (1 + np.count_nonzero(highest >= observed[j] - 1e-4)) / (1 + draws)
    floor = 0.0
    for j in order:
        floor = max(floor, raw[j], 0.0 if p is None else float(p[j]))
        adjusted[j] = floor
    return adjusted
