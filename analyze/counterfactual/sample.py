"""Which answers go into a regression, and why the others do not.

An estimator must not meet a sample that it cannot handle (pyfixest ends the whole process on an empty one),
and a reader must be able to account for every answer. So a sample is prepared here, in a fixed order, before
any fit: what is left can be estimated, and what was left out is counted by reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyze.counterfactual.frame import REFERENCE, Bools, Floats, Ints, LabelRows

EMPTY = "empty sample"
ALONE = "no repeated documents"
NO_REFERENCE = "reference value missing"
NO_VALUE = "value missing"
NOT_COMPARED = "never beside the reference, even indirectly"
NO_TREATMENT = "treatment does not vary within documents"
NO_VARIATION = "no variation"
ONE_DOCUMENT = "one document only"
ONE_CLUSTER = "fewer than two clusters"
NO_FREEDOM = "no degrees of freedom"


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample that can be estimated, or the reason why it cannot, with what was left out."""

    rows: Ints
    """Indices into the label's rows."""
    y: Floats
    x: Floats
    """One column for each estimated value; for a continuous treatment the dose."""
    doc: Ints
    """Documents as 0 .. documents - 1, sorted."""
    columns: tuple[int, ...]
    """What the columns of x are: indices into the design's treated values."""
    reasons: tuple[str | None, ...]
    """For each treated value of the design, why it is not estimated."""
    left_out: str | None
    """Answers that are not in the sample, counted by reason."""

    @property
    def n(self) -> int:
        """Answers."""
        return len(self.y)

    @property
    def documents(self) -> int:
        """Documents with at least two answers."""
        return int(self.doc[-1]) + 1 if len(self.doc) else 0


def prepare(rows: LabelRows, outcome: Floats, chosen: Bools, cluster: Ints | None) -> Sample:
    """The sample of one label in one specification.

    Left out, in this order: answers outside `chosen`, without outcome, with a value that the design does not
    name (or without dose), without cluster, in documents that nothing connects with the reference value, and
    alone in their document. The last is what reghdfe calls singletons: they inform no contrast within a
    document and would distort the small-sample factors.
    """
    design = rows.design
    values = len(design.estimated)
    left: list[tuple[int, str]] = []
    keep = np.ones(len(rows), dtype=np.bool_)

    def leave_out(which: Bools, why: str) -> None:
        gone = int(np.count_nonzero(keep & which))
        if gone:
            left.append((gone, why))
            keep[which] = False

    def none(reason: str | list[str]) -> Sample:
        reasons = tuple(reason) if isinstance(reason, list) else (reason,) * values
        empty = np.zeros(0, dtype=np.int64)
        return Sample(empty, np.zeros(0), np.zeros((0, 0)), empty, (), reasons, _left_out(left))

    leave_out(~chosen, "outside the sample")
    leave_out(np.isnan(outcome), "without outcome")
    if design.continuous:
        leave_out(np.isnan(rows.dose), "without dose")
    else:
        leave_out(rows.treat < REFERENCE, "of a value that is neither reference nor treated")
    if cluster is not None:
        leave_out(cluster < 0, "without cluster")
    if not keep.any():
        return none(EMPTY)
    if design.continuous:
        leave_out(_alone(rows.doc, keep), "alone in their document")
        if not keep.any():
            return none(ALONE)
        doc = _codes(rows.doc[keep])
        if not _varies(rows.dose[keep], doc):
            return none(NO_TREATMENT)
        index = np.flatnonzero(keep)
        x = rows.dose[index][:, None]
        return Sample(index, outcome[index], x, doc, (0,), (None,) * values, _left_out(left))
    present = np.bincount(rows.treat[keep], minlength=values + 1) > 0
    if not present[REFERENCE]:
        return none(NO_REFERENCE)
    if not keep[~_alone(rows.doc, keep)].any():
        return none(ALONE)
    reachable = _reachable(rows.doc[keep], rows.treat[keep], values)
    reasons = [
        None if reachable[j] else (NOT_COMPARED if present[j] else NO_VALUE) for j in range(1, values + 1)
    ]
    columns = tuple(j - 1 for j in range(1, values + 1) if reachable[j])
    if not columns:
        return none([r or NO_VALUE for r in reasons])
    leave_out(~np.isin(rows.treat, np.flatnonzero(reachable)), NOT_COMPARED)
    leave_out(_alone(rows.doc, keep), "alone in their document")
    index = np.flatnonzero(keep)
    x = (rows.treat[index][:, None] == np.array(columns)[None, :] + 1).astype(np.float64)
    doc = _codes(rows.doc[index])
    return Sample(index, outcome[index], x, doc, columns, tuple(reasons), _left_out(left))


def changers(rows: LabelRows, sample: Sample) -> dict[int, int]:
    """Documents whose mean outcome under a value differs from that under the reference, by estimated value.

    For a continuous treatment: the documents whose mean outcome is not the same at all of their doses.
    """
    doc, y = sample.doc, sample.y
    if rows.design.continuous:
        low = np.full(sample.documents, np.inf)
        high = np.full(sample.documents, -np.inf)
        doc, _, y = dose_means(sample)
        np.minimum.at(low, doc, y)
        np.maximum.at(high, doc, y)
        return {0: int(np.count_nonzero(_differ(low, high)))}
    treat = rows.treat[sample.rows]
    means = {
        j: _means(doc, y, treat == j, sample.documents) for j in (REFERENCE, *(c + 1 for c in sample.columns))
    }
    return {c: int(np.count_nonzero(_differ(means[c + 1], means[REFERENCE]))) for c in sample.columns}


def dose_means(sample: Sample) -> tuple[Ints, Floats, Floats]:
    """Of a continuous treatment: document, dose and the mean outcome of its repeats, in order of both."""
    order = np.lexsort((sample.x[:, 0], sample.doc))
    doc, dose, y = sample.doc[order], sample.x[order, 0], sample.y[order]
    new = np.append(True, (np.diff(doc) != 0) | (np.diff(dose) != 0))
    starts = np.flatnonzero(new)
    repeats = np.diff(np.append(starts, len(doc)))
    return doc[starts], dose[starts], np.add.reduceat(y, starts) / repeats


def _means(doc: Ints, y: Floats, which: Bools, documents: int) -> Floats:
    """Mean by document, NaN where there is none."""
    count = np.bincount(doc[which], minlength=documents)
    total = np.bincount(doc[which], weights=y[which], minlength=documents)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _differ(a: Floats, b: Floats) -> Bools:
    """Beyond rounding; false where either is missing."""
    return np.abs(a - b) > 1e-9 * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))


def _alone(doc: Ints, keep: Bools) -> Bools:
    """Rows that have no other kept row in their document."""
    return np.bincount(doc[keep], minlength=int(doc.max()) + 1)[doc] < 2


def _codes(doc: Ints) -> Ints:
    """Sorted codes without gaps."""
    steps = np.diff(doc, prepend=doc[:1]) != 0
    return np.cumsum(steps).astype(np.int64)


def _varies(x: Floats, doc: Ints) -> bool:
    first = x[np.searchsorted(doc, doc)]
    return bool(np.any(x != first))


def _reachable(doc: Ints, treat: Ints, values: int) -> Bools:
    """Which values are compared with the reference within documents, directly or through other values.

    Values are nodes, joined where a document has both. Exactly the values in the reference's component have
    an identified coefficient beside document effects; without this check a dummy could be dropped as
    collinear and its answers would silently count as reference.
    """
    has = np.zeros((int(doc.max()) + 1, values + 1))
    has[doc, treat] = 1.0
    joined = has.T @ has > 0
    reached = np.zeros(values + 1, dtype=np.bool_)
    reached[REFERENCE] = True
    while True:
        more = reached | joined[reached].any(axis=0)
        if np.array_equal(more, reached):
            return reached & (np.diagonal(joined))
        reached = more


def _left_out(left: list[tuple[int, str]]) -> str | None:
    """In words: 3 answers outside the sample; 1 alone in their document."""
    if not left:
        return None
    return "left out: " + ", ".join(f"{count} {why}" for count, why in left)
