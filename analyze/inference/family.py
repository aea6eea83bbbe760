"""From the tests of values and labels to what they are worth together: families, and the test of the count.

Confirmatory is the label's p within a model, on the primary outcome; values are read only inside rejected
labels. Over several models all their labels are one family. The count test asks how many values have a small
cluster p, against the distribution that common signs give that count: it keeps the dependence between labels
that the Bernoulli test denies, and, like it, can reject only that nothing matters at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from analyze.counterfactual.frame import Floats
from analyze.counterfactual.sample import ONE_DOCUMENT
from analyze.inference.bernoulli import THRESHOLDS, bernoulli_p
from analyze.inference.flips import FlipResults
from analyze.inference.multiplicity import benjamini_hochberg, holm, step_down_max
from analyze.inference.rows import GlobalTest, LabelTest, ValueTest
from analyze.inference.values import Scored

LEVEL = 0.05
UNTESTED = "nothing changes, or nothing can be compared"
GLOBAL_ONLY = "rejects only that no value matters at all; it does not say which does"


def label_tests(scored: Sequence[Scored], results: FlipResults) -> list[LabelTest]:
    """One row for each label asked, with its p in the family of this model's labels."""
    tested = [i for i, one in enumerate(scored) if one.scores is not None]
    p = np.array([flipped.p for flipped in results.labels])
    adjusted = _adjusted(p, results.observed_z, list(results.label_z)) if tested else np.zeros((3, 0))
    found = []
    for i, one in enumerate(scored):
        design, scores = one.rows.design, one.scores
        row = LabelTest(
            label=design.label,
            group=design.group,
            demographic=design.demographic,
            role=design.role,
            values=0 if scores is None else len(scores.values),
            documents=0 if scores is None else scores.sample.documents,
            family=len(tested),
            note=None if scores is not None else ONE_DOCUMENT if one.documents == 1 else UNTESTED,
        )
        if scores is not None:
            at = tested.index(i)
            rank = scores.centred.shape[1]
            row = replace(
                row,
                wald=results.wald[at] if np.isfinite(results.wald[at]) else None,
                wald_p=float(scipy.stats.f.sf(results.wald[at] / rank, rank, scores.sample.documents - 1))
                if np.isfinite(results.wald[at])
                else None,
                flip_p=float(p[at]),
                patterns=results.labels[at].patterns,
                enumerated=results.labels[at].enumerated,
                holm_p=float(adjusted[0, at]),
                bh_p=float(adjusted[1, at]),
                max_t_p=float(adjusted[2, at]),
                rejected=bool(adjusted[0, at] < LEVEL),
            )
        found.append(row)
    return found


def over_models(
    labels: Sequence[Sequence[LabelTest]], results: Sequence[FlipResults]
) -> list[list[LabelTest]]:
    """The same rows with their p in the one family of all models' labels. All models share the signs."""
    tested = [[i for i, row in enumerate(rows) if row.flip_p is not None] for rows in labels]
    p = np.concatenate([[f.p for f in result.labels] for result in results])
    if len(p) == 0:
        return [list(rows) for rows in labels]
    observed = np.concatenate([result.observed_z for result in results])
    drawn = [z for result in results for z in result.label_z]
    adjusted = _adjusted(p, observed, drawn)
    ends = np.cumsum([0, *(len(at) for at in tested)])
    found = []
    for rows, at, (start, end) in zip(labels, tested, pairwise(ends), strict=True):
        new = list(rows)
        for j, i in zip(range(start, end), at, strict=True):
            new[i] = replace(
                new[i],
                models_family=len(p),
                models_holm_p=float(adjusted[0, j]),
                models_bh_p=float(adjusted[1, j]),
                models_max_t_p=float(adjusted[2, j]),
            )
        found.append(new)
    return found


def _adjusted(p: Floats, observed: Floats, drawn: Sequence[NDArray[np.float32]]) -> Floats:
    """Rows: Holm, Benjamini-Hochberg, Romano-Wolf."""
    return np.vstack([holm(p), benjamini_hochberg(p), step_down_max(observed, drawn, p)])


def global_tests(
    values: Sequence[ValueTest], scored: Sequence[Scored], results: FlipResults
) -> list[GlobalTest]:
    """The count tests of one model, and how strongly labels go together."""
    p = [(v.label, one) for v in values if (one := _counted_p(v)) is not None]
    found: list[GlobalTest] = []
    if not results.value_counts:
        return found
    for threshold in THRESHOLDS:
        significant = [label for label, one in p if one < threshold]
        found += _counts(
            threshold,
            len(significant),
            len(p),
            len(set(significant)),
            len({label for label, _ in p}),
            [results],
        )
    correlation, pairs = cross_label_correlation(scored)
    found.append(
        GlobalTest(
            "cross_label_correlation",
            None,
            correlation,
            None,
            None,
            None,
            pairs,
            None,
            "mean signed correlation of document scores over pairs of values of different labels",
        )
    )
    return found


def _counted_p(value: ValueTest) -> float | None:
    """The p that the count test counts: by the cluster t, which is infinite where all documents move alike.

    Then there is no error to divide by and no cluster p to show, but the draws may reach that t as well.
    """
    return 0.0 if value.cluster_p is None and value.flip_p is not None else value.cluster_p


def global_over_models(
    rows: Sequence[Sequence[GlobalTest]], results: Sequence[FlipResults]
) -> list[GlobalTest]:
    """The count tests of all models together: counts are added up, draw by draw."""
    known = [result for result in results if result.value_counts]
    found: list[GlobalTest] = []
    for threshold in THRESHOLDS:
        sums = {}
        for test in ("significant_values", "significant_labels"):
            of = [row for model in rows for row in model if (row.test, row.threshold) == (test, threshold)]
            sums[test] = (int(sum(row.observed or 0 for row in of)), sum(row.n for row in of))
        if known:
            found += _counts(threshold, *sums["significant_values"], *sums["significant_labels"], known)
    return found


def _counts(
    threshold: float, values: int, of_values: int, labels: int, of_labels: int, results: Sequence[FlipResults]
) -> list[GlobalTest]:
    found = []
    for test, observed, n, drawn in (
        ("significant_values", values, of_values, [r.value_counts[threshold] for r in results]),
        ("significant_labels", labels, of_labels, [r.label_counts[threshold] for r in results]),
    ):
        counts = np.sum(drawn, axis=0)
        found.append(
            GlobalTest(
                test,
                threshold,
                float(observed),
                float(counts.mean()),
                float((1 + np.count_nonzero(counts >= observed)) / (1 + len(counts))),
                bernoulli_p(observed, n, threshold) if test == "significant_values" else None,
                n,
                len(counts),
                GLOBAL_ONLY,
            )
        )
    return found


def cross_label_correlation(scored: Sequence[Scored]) -> tuple[float | None, int]:
    """Mean signed correlation of flipped effects over pairs of values of different labels, and the pairs."""
    columns = [
        (one.rows.design.label, value)
        for one in scored
        if one.scores is not None
        for value in one.scores.values
        if value.moving.any()
    ]
    if not columns:
        return None, 0
    matrix = np.zeros((1 + max(int(v.doc.max()) for _, v in columns), len(columns)))
    for j, (_, value) in enumerate(columns):
        matrix[value.doc, j] = value.s / np.sqrt((value.s**2).sum())
    label = np.unique([name for name, _ in columns], return_inverse=True)[1]
    other = np.triu(label[:, None] != label[None, :])
    pairs = int(np.count_nonzero(other))
    return (float((matrix.T @ matrix)[other].mean()), pairs) if pairs else (None, 0)
