"""Effects on other scales: the per cent of Poisson pseudo-likelihood, and the sign test on ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from analyze.counterfactual.frame import Floats, Ints

_STEPS = 50
_CONVERGED = 1e-10


@dataclass(frozen=True, slots=True)
class PerCent:
    """Effects as per cent of the outcome, one for each column of x."""

    effect: Floats
    low: Floats
    """95% interval."""
    high: Floats
    documents: int
    note: str | None = None


def per_cent(y: Floats, x: Floats, doc: Ints) -> PerCent | None:
    """100 * (exp(b) - 1) from Poisson pseudo-maximum likelihood of y on x with document effects.

    Document effects are profiled out (the conditional, multinomial likelihood); errors are clustered by
    document. Documents whose outcomes are all zero carry no information on ratios and drop out. With two
    values and complete documents the estimate is the ratio of the two means: no independent check of the
    level effect, but its size in words. None where y has negative values or a ratio does not exist (a
    value, or all it is compared with, always zero).

    Source: Santos Silva and Tenreyro, "The log of gravity", 2006; Wooldridge 1999 for the fixed effects.
    """
    if y.min() < 0:
        return None
    starts = np.searchsorted(doc, np.arange(int(doc[-1]) + 1))
    total = np.add.reduceat(y, starts)
    informative = total[doc] > 0
    y, x, doc = y[informative], x[informative], doc[informative]
    if len(y) == 0:
        return None
    codes = np.cumsum(np.diff(doc, prepend=doc[:1]) != 0)
    starts = np.searchsorted(codes, np.arange(codes[-1] + 1))
    total = np.add.reduceat(y, starts)
    documents, k = len(starts), x.shape[1]
    beta = np.zeros(k)
    for _ in range(_STEPS):
        index = x @ beta
        index -= np.maximum.reduceat(index, starts)[codes]
        weight = np.exp(index)
        share = weight / np.add.reduceat(weight, starts)[codes]
        mean = np.add.reduceat(share[:, None] * x, starts, axis=0)
        centred = x - mean[codes]
        expected = total[codes] * share
        scores = np.add.reduceat((y - expected)[:, None] * centred, starts, axis=0)
        hessian = (expected[:, None] * centred).T @ centred
        if np.linalg.cond(hessian) > 1e12:
            return None
        step = np.linalg.solve(hessian, scores.sum(axis=0))
        beta = beta + np.clip(step, -2, 2)
        if np.abs(beta).max() > 20:
            return None
        if np.abs(step).max() < _CONVERGED:
            break
    else:
        return None
    if documents < 2:
        return None
    half = scores @ np.linalg.inv(hessian)
    se = np.sqrt(documents / (documents - 1) * np.einsum("ij,ij->j", half, half))
    width = scipy.stats.t.isf(0.025, documents - 1) * se
    return PerCent(
        100 * np.expm1(beta), 100 * np.expm1(beta - width), 100 * np.expm1(beta + width), documents
    )


def sign_test(ups: int, downs: int) -> float | None:
    """Two-sided exact sign test: P of so uneven a split of the documents that move; None where none does."""
    return float(scipy.stats.binomtest(ups, ups + downs).pvalue) if ups + downs else None


def bound_on_share(documents: int) -> float | None:
    """The 95% upper bound 3/n on the share of documents changing where none of n did (the rule of three)."""
    return min(1.0, 3 / documents) if documents else None
