"""The row of every treated value: its effect, how it was tested, and what the data rule out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from analyze.counterfactual import sample as samples
from analyze.counterfactual.estimate import value_names
from analyze.counterfactual.frame import REFERENCE, Floats, LabelRows
from analyze.counterfactual.sample import NO_FREEDOM, NO_VARIATION, ONE_DOCUMENT, Sample
from analyze.inference import discordant as changers
from analyze.inference.effects import bound_on_share, per_cent, sign_test
from analyze.inference.equivalence import (
    LEVEL,
    bound_on_effect,
    conclusion,
    conclusion_of_few,
    detectable,
    equivalence_p,
    with_correction,
)
from analyze.inference.flips import Flipped
from analyze.inference.multiplicity import holm
from analyze.inference.rows import ValueTest
from analyze.inference.scores import LabelScores, ValueScores, label_scores
from analyze.specification import Inference

NO_CHANGE = "no change seen"
NO_PER_CENT = "no per cent: under a value every answer is zero, or one is negative"
DOCUMENT = "doc_id"


@dataclass(frozen=True, slots=True)
class Scored:
    """A label's rows and, where any answer changes, its scores."""

    rows: LabelRows
    scores: LabelScores | None
    documents: int
    """That can be compared at all."""


def score(rows: LabelRows, inference: Inference) -> Scored:
    """The scores of a label's primary outcome."""
    outcome, chosen = rows.columns[inference.outcome], rows.samples[inference.sample]
    scores = label_scores(rows, outcome, chosen)
    sample = samples.prepare(rows, outcome, chosen, rows.doc) if scores is None else scores.sample
    return Scored(rows, scores, sample.documents)


def value_tests(scored: Scored, flipped: Sequence[Flipped], inference: Inference) -> list[ValueTest]:
    """One row for each treated value of the label's design.

    `flipped` holds those that have scores, in order.
    """
    rows, scores = scored.rows, scored.scores
    outcome, chosen = rows.columns[inference.outcome], rows.samples[inference.sample]
    if scores is None:
        sample = samples.prepare(rows, outcome, chosen, rows.doc)
        return [_without_scores(rows, sample, j, name) for j, name in enumerate(value_names(rows))]
    ranks: dict[int, ValueScores] = {}
    if inference.rank is not None:
        by_rank = label_scores(rows, rows.columns[inference.rank], chosen)
        ranks = {} if by_rank is None else {v.column: v for v in by_rank.values}
    shares = per_cent(scores.sample.y, scores.sample.x, scores.sample.doc)
    moves = np.concatenate([v.difference for v in scores.values])
    moves = moves[np.isfinite(moves)]
    reference = _reference_mean(rows, scores.sample)
    found = []
    at = 0
    for j, name in enumerate(value_names(rows)):
        if j not in scores.sample.columns:
            found.append(_without_scores(rows, scores.sample, j, name))
            continue
        row = _tested(scored, scores.values[at], flipped[at], inference, reference)
        row = _judged(row, scores, scores.values[at], float(np.abs(moves).max(initial=0.0)))
        if j in ranks or (inference.rank is not None and not ranks):
            rank = ranks.get(j)
            ups, downs = (rank.ups, rank.downs) if rank else (0, 0)
            row = replace(row, rank_ups=ups, rank_downs=downs, rank_p=sign_test(ups, downs))
        if shares is not None:
            row = replace(
                row,
                per_cent=float(shares.effect[at]),
                per_cent_low=float(shares.low[at]),
                per_cent_high=float(shares.high[at]),
            )
        else:
            row = replace(row, note=_note(NO_PER_CENT, row.note))
        if not rows.design.continuous:
            differences = scores.values[at].difference
            smallest = detectable(differences[np.isfinite(differences)], moves)
            if smallest is not None:
                row = replace(row, detectable=smallest.effect, detectable_share=smallest.share)
        found.append(row)
        at += 1
    return found


def _tested(
    scored: Scored, value: ValueScores, flipped: Flipped, inference: Inference, reference: float
) -> ValueTest:
    row = ValueTest(
        label=value.label,
        value=value.value,
        n=value.n,
        documents=value.documents,
        changers=value.ups + value.downs,
        ups=value.ups,
        downs=value.downs,
        reference_mean=reference,
        margin=inference.margin * reference,
        note=scored.scores.sample.left_out if scored.scores else None,
    )
    if not value.moving.any():
        return replace(
            row,
            effect=0.0,
            share_bound=_bound(value.difference),
            conclusion=NO_CHANGE,
            note=_note(NO_VARIATION, row.note),
        )
    se, df = float(np.sqrt(value.variance)), float(value.documents - 1)
    few = changers.flag(value)
    leading = "flip" if few else "cluster"
    row = replace(
        row,
        effect=value.effect,
        flip_p=float(flipped.p),
        patterns=flipped.patterns,
        enumerated=flipped.enumerated,
        exact=flipped.enumerated and value.complete,
        least_p=changers.least_p(int(np.count_nonzero(value.moving))),
        effective_changers=value.effective,
        largest_share=value.largest_share,
        few_changers=few,
        few_clusters=_few_clusters(scored.rows, value),
    )
    if not se > 1e-10 * np.abs(value.s).max():
        return replace(row, leading="flip", leading_p=row.flip_p)
    cluster_p = float(2 * scipy.stats.t.sf(abs(value.effect) / se, df))
    leading_p = row.flip_p if few else cluster_p
    return replace(row, se=se, df=df, cluster_p=cluster_p, leading=leading, leading_p=leading_p)


def _judged(row: ValueTest, scores: LabelScores, value: ValueScores, largest: float) -> ValueTest:
    """The row with its conclusion on equivalence; `largest` is the label's largest move.

    The margin is in the outcome's unit, so of a dose the effect over the range of doses is held against it.
    Where the cluster p is flagged so is the interval, and what it would say of equivalence is left out.
    """
    if row.leading_p is None or row.effect is None or not row.margin:
        return row
    if row.few_changers is not None:
        bound = bound_on_effect(value.difference, largest)
        return replace(row, conclusion=conclusion_of_few(row.leading_p, bound, row.margin))
    x = scores.sample.x
    over = float(x.max() - x.min()) if scores.rows.design.continuous else 1.0
    if row.se is None or row.df is None:  # all documents move alike
        equal = float(abs(row.effect) * over >= row.margin)
    else:
        equal = equivalence_p(row.effect * over, row.se * over, row.df, row.margin)
    return replace(row, equivalence_p=equal, conclusion=conclusion(row.leading_p, equal))


def _without_scores(rows: LabelRows, sample: Sample, j: int, name: str) -> ValueTest:
    """A value that cannot be estimated, or under which nothing changes."""
    row = ValueTest(
        label=rows.design.label, value=name, n=sample.n, documents=sample.documents, note=sample.left_out
    )
    reason = sample.reasons[j]
    if reason is not None:
        return replace(row, note=_note(reason, row.note))
    if sample.documents == 1:
        return replace(row, note=_note(ONE_DOCUMENT, row.note))
    if sample.documents < 2 or sample.n - len(sample.columns) - 1 <= 0:
        return replace(row, note=_note(NO_FREEDOM, row.note))
    compared = np.zeros(sample.documents) if rows.design.continuous else _both(rows, sample, j)
    return replace(
        row,
        effect=0.0,
        reference_mean=_reference_mean(rows, sample),
        share_bound=_bound(compared),
        conclusion=NO_CHANGE,
        note=_note(NO_VARIATION, row.note),
    )


def _bound(difference: Floats) -> float | None:
    return bound_on_share(int(np.count_nonzero(np.isfinite(difference))))


def _both(rows: LabelRows, sample: Sample, j: int) -> Floats:
    """Zero for documents that have the value and the reference, NaN for the others."""
    treat = rows.treat[sample.rows]
    has = np.zeros((sample.documents, 2), dtype=np.bool_)
    has[sample.doc[treat == REFERENCE], 0] = True
    has[sample.doc[treat == j + 1], 1] = True
    return np.where(has.all(axis=1), 0.0, np.nan)


def _reference_mean(rows: LabelRows, sample: Sample) -> float:
    """The mean outcome under the reference; of a continuous treatment, over all answers."""
    if rows.design.continuous:
        return float(sample.y.mean())
    return float(sample.y[rows.treat[sample.rows] == REFERENCE].mean())


def _few_clusters(rows: LabelRows, value: ValueScores) -> str | None:
    """Flags of all columns that the specifications cluster by, documents apart."""
    first = np.searchsorted(rows.doc, value.doc)
    told = []
    for name, codes in rows.clusters.items():
        if name == DOCUMENT:
            continue
        few = changers.cluster_flag(value, codes[first], name)
        if few:
            told.append(f"by {name}: {few}")
    return "; ".join(told) or None


def within_rejected(tests: Sequence[ValueTest], rejected: bool) -> list[ValueTest]:
    """Holm's p over a label's values by their flip p, where the label itself is rejected.

    A difference that is not found so is said to be one taken alone.
    """
    if not rejected:
        return [replace(test, conclusion=with_correction(test.conclusion, False)) for test in tests]
    at = [i for i, test in enumerate(tests) if test.flip_p is not None]
    adjusted = holm(np.array([tests[i].flip_p for i in at], dtype=np.float64))
    found = list(tests)
    for i, p in zip(at, adjusted, strict=True):
        holds = bool(p < LEVEL)
        found[i] = replace(found[i], holm_p=float(p), conclusion=with_correction(found[i].conclusion, holds))
    return found


def _note(first: str, rest: str | None) -> str:
    return f"{first}; {rest}" if rest else first
