"""Imbalanced error: is the model further from the truth under some value?

The truth is constant within a document, so the signed error moves exactly as the answer does, and where a
model over-predicts nearly always so does the absolute error. It is no independent evidence. What it can
add is shown by side: documents are classed by whether the model's answer under the reference lies over or
under the truth, and the effects on the distance and on the answer stand side by side.
"""

from __future__ import annotations

import numpy as np
import scipy

from analyze.counterfactual import sample as samples
from analyze.counterfactual.estimate import value_names
from analyze.counterfactual.frame import REFERENCE, Bools, Floats, LabelRows
from analyze.counterfactual.sample import NO_VARIATION, ONE_DOCUMENT
from analyze.inference.rows import ImbalanceTest
from analyze.inference.scores import label_scores
from analyze.specification import Inference

OVER, UNDER, EVERY = "over", "under", "all"
NO_DOCUMENTS = "no documents"
NOT_INDEPENDENT = "where the model over-predicts, distance and answer move together: no independent evidence"


def imbalance_tests(rows: LabelRows, inference: Inference) -> list[ImbalanceTest]:
    """Rows for each treated value and side; none where the domain has no truth or the design no reference."""
    if inference.truth is None or rows.design.continuous:
        return []
    answer, truth = rows.columns[inference.outcome], rows.columns[inference.truth]
    chosen = rows.samples[inference.sample] & np.isfinite(truth)
    side = _sides(rows, answer, truth, chosen)
    found = []
    for name, which in ((EVERY, np.ones(len(rows), dtype=np.bool_)), (OVER, side > 0), (UNDER, side < 0)):
        found += _side(rows, name, answer, np.abs(truth - answer), chosen & which)
    return found


def _sides(rows: LabelRows, answer: Floats, truth: Floats, chosen: Bools) -> Floats:
    """By row: the mean reference answer of its document minus the truth; NaN without one."""
    usable = chosen & (rows.treat == REFERENCE) & np.isfinite(answer)
    size = int(rows.doc.max()) + 1
    count = np.bincount(rows.doc[usable], minlength=size)
    total = np.bincount(rows.doc[usable], weights=(answer - truth)[usable], minlength=size)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean[rows.doc]


def _side(rows: LabelRows, side: str, answer: Floats, error: Floats, chosen: Bools) -> list[ImbalanceTest]:
    by_error, by_level = label_scores(rows, error, chosen), label_scores(rows, answer, chosen)
    errors = {} if by_error is None else {v.column: v for v in by_error.values}
    levels = {} if by_level is None else {v.column: v for v in by_level.values}
    sample = samples.prepare(rows, error, chosen, rows.doc)
    found = []
    for j, name in enumerate(value_names(rows)):
        value, level = errors.get(j), levels.get(j)
        compared = j in sample.columns
        effect = se = p = None
        note = NOT_INDEPENDENT if side == OVER else None
        if not compared:
            note = NO_DOCUMENTS
        elif sample.documents == 1:
            note = ONE_DOCUMENT
        elif value is None:
            note = NO_VARIATION
        if value is not None:
            effect = value.effect if value.moving.any() else 0.0
            spread = float(np.sqrt(value.variance))
            if value.moving.any() and spread > 1e-10 * np.abs(value.s).max():
                se, p = spread, float(2 * scipy.stats.t.sf(abs(effect) / spread, value.documents - 1))
        found.append(
            ImbalanceTest(
                label=rows.design.label,
                value=name,
                side=side,
                error_effect=effect,
                error_se=se,
                error_p=p,
                level_effect=None if level is None else level.effect,
                n=sample.n if compared else 0,
                documents=sample.documents if compared else 0,
                note=note,
            )
        )
    return found
