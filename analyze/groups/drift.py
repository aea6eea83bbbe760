"""Label drift: how far the true classes of one split are from those of another, within each group.

The Jensen-Shannon *distance* (square root, natural logarithm, no smoothing) is what FairLex prints as
divergence. Both it and KL are positive without any drift, since two samples never agree exactly: the floor
from sampling says how large they are then.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from analyze.groups.counts import row_codes
from analyze.groups.data import Bools, Classes, Floats, Ints, Values


class Measure(StrEnum):
    """How drift is measured."""

    JS_DISTANCE = "js_distance"
    """Jensen-Shannon distance of the label shares, each class of a row counting once."""
    JS_DISTANCE_LOWEST = "js_distance_lowest"
    """The same with each row reduced to one class: none, or its class of lowest code."""
    JS_DISTANCE_LOWEST_CODE = "js_distance_lowest_code"
    """The same without rows whose lowest class is the last one, as the code of FairLex drops them."""
    KL = "kl"
    """Kullback-Leibler divergence of the first split from the second, 0.5 added to each class's count."""


def measures(classes: Classes) -> tuple[Measure, ...]:
    """The measures that say something for these classes: the reduced ones need several classes a row."""
    if classes.several and classes.none_name is not None:
        return tuple(Measure)
    return (Measure.JS_DISTANCE, Measure.KL)


def drift(first: Floats, second: Floats, measure: Measure) -> Floats:
    """Drift between label counts (..., classes); NaN where one of them is empty."""
    if measure is Measure.JS_DISTANCE_LOWEST_CODE:
        kept = np.arange(first.shape[-1]) != first.shape[-1] - 2
        first, second = first[..., kept], second[..., kept]
    there = (first.sum(axis=-1) > 0) & (second.sum(axis=-1) > 0)
    if measure is Measure.KL:
        p, q = _shares(first + 0.5), _shares(second + 0.5)
        value = scipy.special.rel_entr(p, q).sum(axis=-1)
    else:
        p, q = _shares(first), _shares(second)
        middle = (p + q) / 2
        divergence = (
            scipy.special.rel_entr(p, middle).sum(axis=-1) + scipy.special.rel_entr(q, middle).sum(axis=-1)
        ) / 2
        value = np.sqrt(np.maximum(divergence, 0.0))
    return np.asarray(np.where(there, value, np.nan))


def label_counts(truth: Values, classes: Classes, measure: Measure = Measure.JS_DISTANCE) -> Floats:
    """How often each class (`Classes.columns`) occurs among the rows, as the measure counts them."""
    return np.asarray(_contributions(truth, classes, measure).sum(axis=0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Drift:
    """The drift of a group between two splits, and what sampling alone would give."""

    value: float | None
    """None where one of the splits has no row of the group."""
    floor: float | None
    """The mean over random divisions of the two splits' rows into two of their sizes: no drift."""
    floor_95: float | None
    """Their 95th percentile."""
    p: float | None
    """The share of the divisions (and of the data themselves) with at least this drift."""


def drift_with_floor(
    first: Values, second: Values, classes: Classes, measure: Measure, draws: int, seed: int
) -> Drift:
    """The drift between the true classes of two splits' rows, with its floor. Rows are divided whole."""
    if len(first) == 0 or len(second) == 0:
        return Drift(None, None, None, None)
    both = np.concatenate([first, second])
    _, where, pattern = np.unique(row_codes(both), return_index=True, return_inverse=True)
    content = _contributions(both[where], classes, measure).astype(np.float64)
    rows = np.bincount(pattern, minlength=len(where))
    one = np.bincount(pattern[: len(first)], minlength=len(where))
    value = float(drift(one @ content, (rows - one) @ content, measure))
    generator = np.random.default_rng(seed)
    drawn = generator.multivariate_hypergeometric(rows, len(first), size=draws, method="marginals")
    null = drift(drawn @ content, (rows - drawn) @ content, measure)
    null = null[~np.isnan(null)]
    if np.isnan(value) or len(null) == 0:
        return Drift(None, None, None, None)
    p = (1 + int(np.count_nonzero(null >= value - 1e-12))) / (1 + len(null))
    return Drift(value, float(null.mean()), float(np.quantile(null, 0.95)), p)


def representation(codes: Ints, reported: Bools) -> tuple[Ints, Floats]:
    """Each group's rows, and their share of the rows of all reported groups (NaN for the others)."""
    rows = np.bincount(codes[codes >= 0], minlength=len(reported)).astype(np.int64)
    total = int(rows[reported].sum())
    shares = np.full(len(reported), np.nan)
    if total:
        shares[reported] = rows[reported] / total
    return rows, shares


def _contributions(truth: Values, classes: Classes, measure: Measure) -> Bools:
    indicators = classes.indicators(truth)
    if measure in (Measure.JS_DISTANCE_LOWEST, Measure.JS_DISTANCE_LOWEST_CODE):
        return np.asarray(indicators & (np.cumsum(indicators, axis=1) == 1))
    return indicators


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=np.zeros_like(counts, dtype=np.float64), where=total > 0))
