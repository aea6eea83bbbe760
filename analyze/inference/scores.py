"""Document scores: all that the sign-flip tests need of a label's answers.

A regression with document effects is a sum over documents. For value j, with the label's other dummies
partialled out (Frisch, Waugh and Lovell), let x be what is left of its dummy and u the residual of the
outcome with the hypothesis (effect of j is zero) imposed. Document i contributes its score s_i, the sum of
x*u over its answers, and its weight a_i, the sum of x*x. Then

    effect = sum s / sum a,        cluster variance ~ sum (s_i - a_i * effect)^2 / (sum a)^2,

so that flipping the sign of a document's residuals flips s_i and changes nothing else. Repeats of a prompt
are answers of the same document and move as one. In complete documents s_i is half the difference between
the answer under j and that under the reference (the mean of its repeats), whatever the other values do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyze.counterfactual import sample as samples
from analyze.counterfactual import within
from analyze.counterfactual.estimate import value_names
from analyze.counterfactual.frame import REFERENCE, Bools, Floats, Ints, LabelRows
from analyze.counterfactual.sample import Sample

_ROUNDING = 1e-9
"""A score below this share of the largest is rounding."""


@dataclass(frozen=True, slots=True)
class ValueScores:
    """One value's scores, by document."""

    label: str
    value: str
    column: int
    """Which treated value of the design; 0 for a continuous treatment."""
    doc: Ints
    """The frame's document codes, one for each document of the sample."""
    s: Floats
    a: Floats
    difference: Floats
    """Mean outcome under the value minus that under the reference, of a continuous treatment at the largest
    dose minus that at the smallest; NaN where a document lacks either."""
    small_sample: float
    """Factor of the clustered variance: G/(G-1) * (N-1)/(N-K-1)."""
    complete: bool
    """Every document has the value and the reference, once each: the flips' null is exact."""
    n: int

    @property
    def documents(self) -> int:
        """Documents in the sample."""
        return len(self.doc)

    @property
    def effect(self) -> float:
        """In the outcome's unit."""
        return float(self.s.sum() / self.a.sum())

    @property
    def variance(self) -> float:
        """The clustered variance of the effect, small-sample factor included."""
        centred = self.s - self.a * self.effect
        return float(self.small_sample * (centred @ centred) / self.a.sum() ** 2)

    @property
    def slopes(self) -> Floats:
        """Each document's own effect for a unit of the regressor; NaN where that does not vary in it."""
        varies = self.a > 0
        return np.where(varies, self.s / np.where(varies, self.a, 1.0), np.nan)

    @property
    def moving(self) -> Bools:
        """Documents whose score is not zero: only their signs matter."""
        return np.not_equal(self.s, 0.0)

    @property
    def ups(self) -> int:
        """Documents whose outcome is higher under the value."""
        return int(np.count_nonzero(self.difference > 0))

    @property
    def downs(self) -> int:
        """Documents whose outcome is lower under the value."""
        return int(np.count_nonzero(self.difference < 0))

    @property
    def effective(self) -> float:
        """Effective number of documents behind the effect: (sum s^2)^2 / sum s^4."""
        square = self.s**2
        return float(square.sum() ** 2 / (square**2).sum()) if square.any() else 0.0

    @property
    def largest_share(self) -> float:
        """The largest share of sum s^2 that one document holds."""
        square = self.s**2
        return float(square.max() / square.sum()) if square.any() else 0.0


@dataclass(frozen=True, slots=True)
class LabelScores:
    """All values' scores of a label."""

    rows: LabelRows
    sample: Sample
    doc: Ints
    u: Floats
    """(documents, values): scores with all effects of the label at zero."""
    centred: Floats
    """(documents, values): scores at the estimates, whose sums are zero."""
    values: tuple[ValueScores, ...]


def label_scores(rows: LabelRows, outcome: Floats, chosen: Bools) -> LabelScores | None:
    """The scores of one label, or None where no value can be estimated or nothing changes but by repeats."""
    sample = samples.prepare(rows, outcome, chosen, rows.doc)
    if not sample.columns:
        return None
    documents, k = sample.documents, len(sample.columns)
    demeaned = within.demean(np.column_stack([sample.y, sample.x]), sample.doc, documents)
    y, x = demeaned[:, 0], demeaned[:, 1:]
    if np.abs(y).max() <= _ROUNDING * max(1.0, float(np.abs(sample.y).max())):
        return None
    starts = np.searchsorted(sample.doc, np.arange(documents))
    u = np.add.reduceat(x * y[:, None], starts, axis=0)
    if np.abs(u).max() <= _ROUNDING * np.abs(y).max():
        return None
    grams = np.add.reduceat(x[:, :, None] * x[:, None, :], starts, axis=0)
    gram = grams.sum(axis=0)
    coef = np.linalg.solve(gram, u.sum(axis=0))
    doc = rows.doc[sample.rows[starts]]
    if documents < 2 or sample.n - k - 1 <= 0:
        return None
    factor = documents / (documents - 1) * (sample.n - 1) / (sample.n - k - 1)
    once = _differences(rows, sample)
    names = value_names(rows)
    values = []
    for at, column in enumerate(sample.columns):
        s, a = _partialled(at, u, grams, gram)
        difference, complete = once[at]
        values.append(
            ValueScores(
                rows.design.label, names[column], column, doc, s, a, difference, factor, complete, sample.n
            )
        )
    centred = u - np.einsum("djk,k->dj", grams, coef)
    return LabelScores(rows, sample, doc, u, centred, tuple(values))


def _partialled(at: int, u: Floats, grams: Floats, gram: Floats) -> tuple[Floats, Floats]:
    """Scores and weights of one value, the label's other dummies partialled out, its effect set to zero."""
    others = [j for j in range(gram.shape[0]) if j != at]
    s, a = u[:, at], grams[:, at, at]
    if others:
        inverse = np.linalg.inv(gram[np.ix_(others, others)])
        loading = inverse @ gram[others, at]
        gamma = inverse @ u[:, others].sum(axis=0)
        beside = grams[:, others, at]
        among = grams[:, others][:, :, others]
        s = s - beside @ gamma - u[:, others] @ loading + np.einsum("j,djk,k->d", loading, among, gamma)
        a = a - 2 * beside @ loading + np.einsum("j,djk,k->d", loading, among, loading)
    s = np.where(np.abs(s) <= _ROUNDING * np.abs(u).max(), 0.0, s)
    return s, np.maximum(a, 0.0)


def _differences(rows: LabelRows, sample: Sample) -> Sequence[tuple[Floats, bool]]:
    """By estimated value: its documents' differences from the reference, and whether all are complete."""
    if rows.design.continuous:
        return [(_along_dose(sample), False)]
    treat = rows.treat[sample.rows]
    count = np.zeros((sample.documents, 2 + max(sample.columns)))
    total = np.zeros_like(count)
    np.add.at(count, (sample.doc, treat), 1.0)
    np.add.at(total, (sample.doc, treat), sample.y)
    mean = np.where(count > 0, total / np.maximum(count, 1.0), np.nan)
    found = []
    for column in sample.columns:
        difference = mean[:, column + 1] - mean[:, REFERENCE]
        rounding = _ROUNDING * np.fmax(1.0, np.abs(mean[:, REFERENCE]))
        difference = np.where(np.abs(difference) <= rounding, 0.0, difference)
        both = (count[:, column + 1] == 1) & (count[:, REFERENCE] == 1)
        found.append((difference, bool(both.all())))
    return found


def _along_dose(sample: Sample) -> Floats:
    """The mean outcome at a document's largest dose minus that at its smallest; NaN where it has one dose."""
    doc, dose, mean = samples.dose_means(sample)
    first = np.searchsorted(doc, np.arange(sample.documents))
    last = np.append(first[1:], len(doc)) - 1
    difference = mean[last] - mean[first]
    rounding = _ROUNDING * np.fmax(1.0, np.abs(mean[first]))
    difference = np.where(np.abs(difference) <= rounding, 0.0, difference)
    return np.where(dose[last] > dose[first], difference, np.nan)
