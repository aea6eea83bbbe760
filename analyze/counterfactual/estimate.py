"""Estimates of a label in every specification: a row for each treated value, estimated or not.

Specifications whose sample and outcome come out the same share one fit: clustered, robust and by-charge
errors then cost a covariance matrix each, and a variant that changes nothing for a label costs nothing.
Nothing here raises on a sample that is too small or too regular; the row says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
import scipy

from analyze.counterfactual import sample as samples
from analyze.counterfactual import within
from analyze.counterfactual.fixest import Fixest
from analyze.counterfactual.frame import Floats, Ints, LabelRows
from analyze.counterfactual.sample import NO_FREEDOM, NO_VARIATION, ONE_CLUSTER, ONE_DOCUMENT, Sample
from analyze.counterfactual.within import Errors
from analyze.specification import Specification

Engine = Literal["numpy", "pyfixest"]
"""What fits. The two agree to 1e-10; numpy takes a tenth of the time."""

NO_SPREAD = "no spread: every document moves alike"
INDEPENDENT = "repeats counted as independent"
"""Of errors that are not clustered, where a prompt was asked several times: too small."""

_ROUNDING = 1e-10
"""A move, or an effect, below this share of the outcome's largest move is rounding."""
_ROUNDING_OF_SPREAD = 1e-7
"""The same of a standard error: the root of a variance, whose rounding of 1e-16 it takes to 1e-8. One
document in a million that moves makes one of 1e-6."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One row of the table `estimates`, without the cell's columns."""

    label: str
    value: str
    variant: str
    coef: float | None
    se: float | None
    t: float | None
    df: float | None
    p: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    documents: int
    clusters: int | None
    changers: int
    note: str | None


class _Fit(Protocol):
    """What both estimators give."""

    @property
    def coef(self) -> Floats: ...

    def robust(self) -> Errors: ...

    def clustered(self, name: str) -> Errors: ...


class _Numpy:
    """The numpy estimator with pyfixest's face: clusters by name."""

    def __init__(self, y: Floats, x: Floats, doc: Ints, clusters: dict[str, Ints]) -> None:
        self._fit = within.fit(y, x, doc)
        self._clusters = clusters
        self.coef = self._fit.coef

    def robust(self) -> Errors:
        return self._fit.robust()

    def clustered(self, name: str) -> Errors:
        return self._fit.clustered(self._clusters[name])


def value_names(rows: LabelRows) -> tuple[str, ...]:
    """What the estimates are called; a continuous treatment has one, named by its dose."""
    return rows.design.estimated


def estimate_label(
    rows: LabelRows, specifications: Sequence[Specification], engine: Engine = "numpy"
) -> list[Estimate]:
    """Every specification's estimates of one label, in the specifications' order."""
    fits: dict[tuple[bytes, bytes], _Fit] = {}
    found: list[Estimate] = []
    for spec in specifications:
        if spec.smallest_of:
            continue
        cluster = None if spec.cluster is None else rows.clusters[spec.cluster]
        outcome = rows.columns[spec.outcome]
        sample = samples.prepare(rows, outcome, rows.samples[spec.sample], cluster)
        reason = _too_few(sample, cluster)
        if reason is not None:
            found += _not_estimated(rows, spec, sample, reason)
            continue
        key = (sample.y.tobytes(), sample.rows.tobytes())
        if key not in fits:
            codes = {name: column[sample.rows] for name, column in rows.clusters.items()}
            usable = {name: c for name, c in codes.items() if c.min() >= 0}
            build = Fixest if engine == "pyfixest" else _Numpy
            fits[key] = build(sample.y, sample.x, sample.doc, usable)
        fit = fits[key]
        errors = fit.robust() if spec.cluster is None else fit.clustered(spec.cluster)
        found += _estimated(rows, spec, sample, fit.coef, errors)
    return _with_choices(specifications, found)


def _with_choices(specifications: Sequence[Specification], found: Sequence[Estimate]) -> list[Estimate]:
    """The estimates with those of specifications that choose among others, in the specifications' order."""
    if not any(spec.smallest_of for spec in specifications):
        return list(found)
    titles = {spec.name: spec.title or spec.name for spec in specifications}
    ordered: list[Estimate] = []
    for spec in specifications:
        if not spec.smallest_of:
            ordered += [e for e in found if e.variant == spec.name]
            continue
        among = [e for e in found if e.variant in spec.smallest_of]
        for value in dict.fromkeys(e.value for e in among):
            ordered.append(_chosen(spec, [e for e in among if e.value == value], titles))
    return ordered


def _chosen(spec: Specification, among: Sequence[Estimate], titles: Mapping[str, str]) -> Estimate:
    """The estimate with the smallest p, corrected for the choice: p and interval hold for all of them
    together."""
    tested = [e for e in among if e.p is not None and e.se is not None and e.df is not None]
    count = len(spec.smallest_of)
    if not tested:
        first = max(among, key=lambda e: abs(e.coef or 0.0))
        return replace(first, variant=spec.name)
    best = min(tested, key=lambda e: (e.p or 0.0, -abs(e.t or 0.0)))
    assert best.p is not None
    assert best.se is not None
    assert best.df is not None
    assert best.coef is not None
    half = float(scipy.stats.t.isf(0.025 / count, best.df)) * best.se
    said = f"of “{titles[best.variant]}”, chosen among {count}: p and interval are corrected for the choice"
    return replace(
        best,
        variant=spec.name,
        p=min(1.0, count * best.p),
        ci_low=best.coef - half,
        ci_high=best.coef + half,
        note=f"{said}; {best.note}" if best.note else said,
    )


def deviation(ours: Sequence[Estimate], theirs: Sequence[Estimate]) -> float | None:
    """The largest difference between two engines' estimates of the same values, as a share of the estimate.

    Coefficients are compared relative to themselves or their standard error, whichever is larger. None where
    nothing was estimated; infinite where one has an estimate that the other lacks.
    """
    largest = None
    for a, b in zip(ours, theirs, strict=True):
        if (a.coef is None, a.se is None) != (b.coef is None, b.se is None):
            return float("inf")
        if a.coef is None or b.coef is None or a.se is None or b.se is None:
            continue
        apart = max(abs(a.coef - b.coef) / max(abs(b.coef), b.se), abs(a.se / b.se - 1))
        largest = apart if largest is None else max(largest, apart)
    return largest


def _too_few(sample: Sample, cluster: Ints | None) -> str | None:
    """Why a prepared sample still cannot be fitted."""
    if not sample.columns:
        return ""
    if sample.documents == 1:
        return ONE_DOCUMENT
    constant = within.demean(sample.y[:, None], sample.doc, sample.documents)
    if np.abs(constant).max() <= _ROUNDING * max(1.0, float(np.abs(sample.y).max())):
        return NO_VARIATION
    k = len(sample.columns)
    if cluster is None:
        return NO_FREEDOM if sample.n - sample.documents - k <= 0 else None
    if np.all(cluster[sample.rows] == cluster[sample.rows[0]]):
        return ONE_CLUSTER
    return NO_FREEDOM if sample.n - k - 1 <= 0 else None


def _not_estimated(rows: LabelRows, spec: Specification, sample: Sample, reason: str) -> list[Estimate]:
    """Rows without a p. Where nothing changes the effect is known to be zero, and still nothing to test."""
    zero = reason == NO_VARIATION
    found = []
    for j, name in enumerate(value_names(rows)):
        why = sample.reasons[j] or reason
        found.append(
            Estimate(
                label=rows.design.label,
                value=name,
                variant=spec.name,
                coef=0.0 if zero and sample.reasons[j] is None else None,
                se=None,
                t=None,
                df=None,
                p=None,
                ci_low=None,
                ci_high=None,
                n=sample.n,
                documents=sample.documents,
                clusters=None,
                changers=0,
                note=_note(why, sample),
            )
        )
    return found


def _estimated(
    rows: LabelRows, spec: Specification, sample: Sample, coef: Floats, errors: Errors
) -> list[Estimate]:
    moves = samples.changers(rows, sample)
    repeated = INDEPENDENT if spec.cluster is None and _repeated(rows, sample) else None
    largest = float(np.abs(within.demean(sample.y[:, None], sample.doc, sample.documents)).max())
    t_95 = float(scipy.stats.t.ppf(0.975, errors.df))
    found = []
    for j, name in enumerate(value_names(rows)):
        reason = sample.reasons[j]
        b = se = t = p = low = high = None
        if reason is None:
            at = sample.columns.index(j)
            b, spread = float(coef[at]), float(errors.se[at])
            if not spread > _ROUNDING_OF_SPREAD * largest:
                same = moves[j] == 0 and abs(b) <= _ROUNDING * largest
                b, reason = (0.0, NO_VARIATION) if same else (b, NO_SPREAD)
            else:
                se, t = spread, b / spread
                p = float(2 * scipy.stats.t.sf(abs(t), errors.df))
                low, high = b - t_95 * se, b + t_95 * se
        found.append(
            Estimate(
                label=rows.design.label,
                value=name,
                variant=spec.name,
                coef=b,
                se=se,
                t=t,
                df=errors.df if se is not None else None,
                p=p,
                ci_low=low,
                ci_high=high,
                n=sample.n,
                documents=sample.documents,
                clusters=errors.clusters,
                changers=moves.get(j, 0),
                note=_note(reason, sample, repeated if reason is None else None),
            )
        )
    return found


def _repeated(rows: LabelRows, sample: Sample) -> bool:
    """Whether any document was answered several times under one value, or dose."""
    under = sample.x[:, 0] if rows.design.continuous else rows.treat[sample.rows]
    return len(np.unique(np.column_stack([sample.doc, under]), axis=0)) < sample.n


def _note(reason: str | None, sample: Sample, beside: str | None = None) -> str | None:
    parts = [part for part in (reason, beside, sample.left_out) if part]
    return "; ".join(parts) or None
