"""Sign-flip tests of values and labels, and what common signs give beside them.

Hypothesis for value j: over documents, the answer under j minus the answer under the reference is symmetric
about zero. Statistic: the cluster t, computed anew for every draw of signs (studentised), two-sided. For a
label: the joint Wald statistic of its values, by the same flips. Documents whose score is zero have no sign
to flip; where at most 17 documents move, all patterns are gone through, otherwise signs are drawn.

Shuffling all values within documents would test all values at once and reject for an unbiased value beside a
biased one; shuffling repeats freely would treat them as independent. Flips of null-imposed scores do neither.
The scheme is the wild bootstrap of MacKinnon, Nielsen and Webb ("Fast and reliable jackknife and bootstrap
methods for cluster-robust inference", 2023) on restricted scores with Rademacher signs, which for complete
pairs is Fisher's exact test of symmetry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from analyze.counterfactual.frame import Floats, Ints
from analyze.inference.bernoulli import THRESHOLDS
from analyze.inference.multiplicity import step_down_max
from analyze.inference.scores import LabelScores, ValueScores
from analyze.inference.signs import Signs

ENUMERATED = 17
"""Up to this many moving documents, all patterns of signs are gone through."""

_TIES = 1e-5
"""Statistics this close, relatively or in their own unit (they are of order one), count as equal."""
_Reals = NDArray[np.floating[Any]]
_NO_SPREAD = {4: 1e-6, 8: 1e-12}
"""By bytes of a number: a variance below this share of sum s^2 is rounding. All documents move alike, and t
is infinite, in the answers as in the draws: otherwise one would count what the other cannot reach."""


@dataclass(frozen=True, slots=True)
class Flipped:
    """A flip p and where it comes from."""

    p: float
    patterns: int
    """Patterns gone through or drawn."""
    enumerated: bool


@dataclass(slots=True)
class FlipResults:
    """What the flips of one model give. Values and labels in the order in which they were handed in."""

    values: list[Flipped]
    labels: list[Flipped]
    wald: list[float]
    """Each label's joint Wald statistic with clustered variance, in the labels' order."""
    draws: int
    value_counts: dict[float, NDArray[np.int64]] = field(default_factory=dict)
    """By threshold: in each draw, how many values have cluster p below it."""
    label_counts: dict[float, NDArray[np.int64]] = field(default_factory=dict)
    """By threshold: in each draw, how many labels have a value with cluster p below it."""
    steps: list[float] = field(default_factory=list)
    """Each value's step-down max-t p within its label, by the same draws; of an only value its own p."""
    label_z: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    """(labels, draws): each label's studentised statistic under the flips, on one scale, for the max-t."""
    observed_z: Floats = field(default_factory=lambda: np.zeros(0))
    """The same of the answers as they are."""


def squared_t(
    numerator: _Reals, cross: _Reals, s2: _Reals | float, a: _Reals | float, a2: _Reals | float
) -> _Reals:
    """The squared cluster t (without its constant factor) of flipped scores.

    With signs e: `numerator` is sum e*s, `cross` is sum e*a*s, `s2` sum s^2, `a` sum a, `a2` sum a^2.
    """
    effect = numerator / a
    variance = s2 - 2 * effect * cross + effect * effect * a2
    spread = variance > _NO_SPREAD[np.asarray(variance).dtype.itemsize] * s2
    with np.errstate(divide="ignore", invalid="ignore"):
        squared: _Reals = np.where(
            spread, numerator * numerator / variance, np.where(numerator == 0, 0, np.inf)
        )
    return squared.astype(variance.dtype, copy=False)


def observed_squared_t(value: ValueScores) -> float:
    """The same of the scores as they are: the cluster t squared, times the small-sample factor."""
    s, a = value.s, value.a
    if not s.any():
        return 0.0
    t2 = squared_t(s.sum(), (a * s).sum(), (s * s).sum(), a.sum(), (a * a).sum())
    return float(t2)


def _reach(observed: float) -> float:
    """What a flipped statistic must reach to count: neither rounding nor single precision may break a tie."""
    return observed * (1 - _TIES) - _TIES


def enumerate_value(value: ValueScores) -> Flipped:
    """The flip p of a value over all patterns of signs of the documents that move."""
    s, a = value.s[value.moving], value.a[value.moving]
    sums = all_patterns(np.column_stack([s, a * s]))
    t2 = squared_t(sums[:, 0], sums[:, 1], (value.s**2).sum(), value.a.sum(), (value.a**2).sum())
    at_least = np.count_nonzero(t2 >= _reach(observed_squared_t(value)))
    return Flipped(at_least / len(t2), 2 * len(t2), True)


def enumerate_label(whitened: Floats) -> Flipped:
    """The flip p of a label's joint statistic; `whitened` (documents, rank) holds its whitened scores."""
    moving = whitened[np.abs(whitened).max(axis=1) > 0]
    w = (all_patterns(moving) ** 2).sum(axis=1)
    observed = (whitened.sum(axis=0) ** 2).sum()
    return Flipped(float(np.count_nonzero(w >= _reach(observed)) / len(w)), 2 * len(w), True)


def all_patterns(scores: Floats) -> Floats:
    """Sums of the rows of `scores` under every pattern of signs that keeps the first row's.

    The other half are the same sums with opposite sign, which no two-sided statistic tells apart.
    """
    sums = scores[:1]
    for row in scores[1:]:
        sums = np.concatenate([sums + row, sums - row])
    return sums


def whiten(scores: Floats, scale: float | None = None) -> Floats:
    """Scores with unit second moment sum: the joint statistic is the squared length of their sum.

    Directions without movement are left out; where nothing moves beyond rounding of `scale` (by default the
    largest score), one column of zeros is left.
    """
    largest = float(np.abs(scores).max())
    if largest <= 1e-9 * (largest if scale is None else scale):
        return np.zeros((len(scores), 1))
    moment = scores.T @ scores
    eigenvalues, vectors = np.linalg.eigh(moment)
    keep = eigenvalues > 1e-10 * eigenvalues[-1]
    white: Floats = scores @ (vectors[:, keep] / np.sqrt(eigenvalues[keep]))
    return np.where(np.abs(scores).max(axis=1, keepdims=True) > 1e-9 * largest, white, 0.0)


def studentised(joint: _Reals, documents: Ints | _Reals) -> _Reals:
    """From joint statistics with the hypothesis imposed on their variance to those with it estimated.

    `joint` is T' (sum s s')^-1 T, at most the number of documents n. Taking the mean of the scores out of the
    variance gives, by Sherman and Morrison, T' (sum s s' - T T' / n)^-1 T: the squared cluster t where a
    label has one value, Hotelling's where it has several, infinite where all documents move alike. (With
    documents of unequal weights it is not exactly Wald's, but the same of answers and draws.)
    """
    left = 1 - joint / documents
    with np.errstate(divide="ignore"):
        found: _Reals = np.where(left > _NO_SPREAD[joint.dtype.itemsize], joint / left, np.inf)
    return found.astype(joint.dtype, copy=False)


def normal_score(squared: _Reals, ranks: Ints, documents: Ints) -> NDArray[np.float32]:
    """Studentised statistics of labels of different ranks and sizes on one scale, larger meaning rarer.

    Hotelling's statistic follows F times a constant; F is taken to a normal score by Paulson's cube root.
    """
    rest = np.maximum(documents - ranks, 1)
    root = np.cbrt(squared * (rest / (documents * ranks)).astype(squared.dtype))
    numerator, denominator = (2 / (9 * n) for n in (ranks.astype(squared.dtype), rest.astype(squared.dtype)))
    with np.errstate(invalid="ignore"):
        score = ((1 - denominator) * root - (1 - numerator)) / np.sqrt(denominator * root**2 + numerator)
    return np.where(np.isfinite(root), score, np.inf).astype(np.float32)


def flip(labels: Sequence[LabelScores], signs: Signs, numbers: Ints | None = None) -> FlipResults:
    """All flip tests of one model, with one sign for each document and draw.

    `numbers` gives each of the frame's document codes its number among the signs, which models of the same
    collection must share; by default the codes are the numbers.
    """
    values = [value for label in labels for value in label.values]
    whites = [whiten(label.u) for label in labels]
    wald = [_centred_wald(label) for label in labels]
    results = FlipResults([], [], wald, signs.draws)
    results.observed_z = _observed_z(labels, whites)
    if not values:
        return results
    plan = _Plan(labels, values, whites, signs, numbers)
    totals = _draw(plan, results)
    for i, value in enumerate(values):
        if np.count_nonzero(value.moving) <= ENUMERATED:
            results.values.append(enumerate_value(value) if value.moving.any() else Flipped(1.0, 1, True))
        else:
            results.values.append(Flipped((1 + totals.values[i]) / (1 + signs.draws), signs.draws, False))
    at = 0
    for i, label in enumerate(labels):
        if len(label.values) == 1:
            results.labels.append(results.values[at])
        elif np.count_nonzero(np.abs(whites[i]).max(axis=1) > 0) <= ENUMERATED:
            results.labels.append(enumerate_label(whites[i]))
        else:
            results.labels.append(Flipped((1 + totals.labels[i]) / (1 + signs.draws), signs.draws, False))
        results.steps += _stepped(label, results.values[at : at + len(label.values)], totals.drawn.get(i))
        at += len(label.values)
    return results


def _stepped(
    label: LabelScores, flipped: Sequence[Flipped], drawn: NDArray[np.float32] | None
) -> list[float]:
    """The step-down p of a label's values; `drawn` holds the statistics of several."""
    own = np.array([one.p for one in flipped])
    if drawn is None:
        return [float(p) for p in own]
    documents = np.full(len(own), label.sample.documents)
    observed = normal_score(
        np.array([observed_squared_t(value) for value in label.values]), np.ones_like(documents), documents
    )
    return [float(p) for p in step_down_max(observed.astype(np.float64), list(drawn), own)]


def _observed_z(labels: Sequence[LabelScores], whites: Sequence[Floats]) -> Floats:
    """Each label's studentised statistic on the common scale of the max-t, the same as the draws'."""
    if not labels:
        return np.zeros(0)
    documents = np.array([label.sample.documents for label in labels])
    squared = studentised(np.array([(w.sum(axis=0) ** 2).sum() for w in whites]), documents)
    for i, label in enumerate(labels):
        if len(label.values) == 1:
            squared[i] = observed_squared_t(label.values[0])
    return normal_score(squared, np.array([w.shape[1] for w in whites]), documents).astype(np.float64)


def _centred_wald(label: LabelScores) -> float:
    """The label's joint Wald statistic with clustered variance."""
    if np.abs(label.centred).max() <= 1e-9 * np.abs(label.u).max():
        return float("inf")  # every document moves alike
    total = label.u.sum(axis=0)
    moment = label.centred.T @ label.centred
    factor = label.values[0].small_sample
    return float(total @ np.linalg.pinv(moment, rcond=1e-10, hermitian=True) @ total / factor)


@dataclass(slots=True)
class _Totals:
    values: Ints
    labels: Ints
    drawn: dict[int, NDArray[np.float32]]
    """Of labels with several values, by number: (values, draws) of their statistics on one scale."""


class _Plan:
    """One matrix whose product with the signs holds everything: a column for each sum that is needed."""

    def __init__(
        self,
        labels: Sequence[LabelScores],
        values: Sequence[ValueScores],
        whites: Sequence[Floats],
        signs: Signs,
        numbers: Ints | None,
    ) -> None:
        self.labels, self.values, self.signs = labels, values, signs
        columns = [
            *((v.doc, v.s) for v in values),
            *((v.doc, v.a * v.s) for v in values),
            *(
                (label.doc, w[:, j])
                for label, w in zip(labels, whites, strict=True)
                for j in range(w.shape[1])
            ),
        ]
        used = np.zeros(1 + max(int(doc.max()) for doc, _ in columns), dtype=np.bool_)
        for doc, column in columns:
            used[doc[column != 0]] = True
        codes = np.flatnonzero(used)
        place = np.cumsum(used) - 1
        self.used = codes if numbers is None else numbers[codes]
        self.matrix = np.zeros((len(codes), len(columns)), dtype=np.float32)
        for j, (doc, column) in enumerate(columns):
            moves = column != 0
            self.matrix[place[doc[moves]], j] = column[moves]
        self.white_starts = np.cumsum([0, *(w.shape[1] for w in whites)])
        self.s2 = np.array([(v.s**2).sum() for v in values], dtype=np.float32)
        self.a = np.array([v.a.sum() for v in values], dtype=np.float32)
        self.a2 = np.array([(v.a**2).sum() for v in values], dtype=np.float32)
        self.observed_t2 = np.array([_reach(observed_squared_t(v)) for v in values])
        self.observed_w = np.array([_reach((w.sum(axis=0) ** 2).sum()) for w in whites])
        self.value_starts = np.cumsum([0, *(len(label.values) for label in labels)])[:-1]
        self.ranks = np.diff(self.white_starts)
        self.documents = np.array([label.sample.documents for label in labels])
        self.single = np.array([len(label.values) == 1 for label in labels])
        self.critical = {
            threshold: np.array(
                [scipy.stats.t.isf(threshold / 2, v.documents - 1) ** 2 * v.small_sample for v in values]
            )
            for threshold in THRESHOLDS
        }


def _draw(plan: _Plan, results: FlipResults) -> _Totals:
    v, labels = len(plan.values), len(plan.labels)
    draws = plan.signs.draws
    several = {
        i: slice(int(start), int(start) + len(label.values))
        for i, (label, start) in enumerate(zip(plan.labels, plan.value_starts, strict=True))
        if len(label.values) > 1
    }
    drawn = {i: np.empty((at.stop - at.start, draws), dtype=np.float32) for i, at in several.items()}
    totals = _Totals(np.zeros(v, dtype=np.int64), np.zeros(labels, dtype=np.int64), drawn)
    results.label_z = np.empty((labels, draws), dtype=np.float32)
    for threshold in THRESHOLDS:
        results.value_counts[threshold] = np.empty(draws, dtype=np.int64)
        results.label_counts[threshold] = np.empty(draws, dtype=np.int64)
    whites = slice(2 * v, 2 * v + int(plan.white_starts[-1]))
    start = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = plan.matrix.sum(axis=0)
        for bits in plan.signs.bits(plan.used):
            sums = 2 * (bits @ plan.matrix) - whole
            part = slice(start, start + len(bits))
            t2 = squared_t(sums[:, :v], sums[:, v : 2 * v], plan.s2, plan.a, plan.a2)
            totals.values += (t2 >= plan.observed_t2).sum(axis=0)
            w = np.add.reduceat(sums[:, whites] ** 2, plan.white_starts[:-1], axis=1)
            totals.labels += (w >= plan.observed_w).sum(axis=0)
            for threshold, critical in plan.critical.items():
                significant = t2 > critical
                results.value_counts[threshold][part] = significant.sum(axis=1)
                any_value = np.logical_or.reduceat(significant, plan.value_starts, axis=1)
                results.label_counts[threshold][part] = any_value.sum(axis=1)
            squared = studentised(w, plan.documents.astype(np.float32))
            squared[:, plan.single] = t2[:, plan.value_starts[plan.single]]
            results.label_z[:, part] = normal_score(squared, plan.ranks, plan.documents).T
            for i, at in several.items():
                documents = np.full(at.stop - at.start, plan.documents[i])
                drawn[i][:, part] = normal_score(t2[:, at], np.ones_like(documents), documents).T
            start = part.stop
    return totals
