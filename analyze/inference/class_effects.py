"""Effects on the share of each class, one by one: in percentage points, with McNemar's exact test.

Beside the confirmatory tests, which are of all classes together: these say which class an effect is about.
The test looks at pairs in which the class is there under one of the two alone, and asks whether they are
equally often on either side (McNemar, "Note on the sampling error of the difference between correlated
proportions", Psychometrika 1947; exact by the binomial distribution). Where a case was asked several times,
its shares are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy

from analyze.counterfactual.frame import REFERENCE, Floats, Frame, Ints, LabelRows
from analyze.findings.cells import added_error, difference
from analyze.inference.effects import sign_test
from analyze.inference.multiplicity import holm
from analyze.inference.rows import ClassEffect
from analyze.specification import ClassShare, Inference

_LEVEL = 0.05


def class_effects(frame: Frame, inference: Inference) -> list[ClassEffect]:
    """One row for each treated value of each categorical label, and class. None where no class is
    compared."""
    if not inference.shares:
        return []
    return [row for rows in frame if not rows.design.continuous for row in _of_label(rows, inference)]


def _of_label(rows: LabelRows, inference: Inference) -> list[ClassEffect]:
    found: list[ClassEffect] = []
    keep = rows.samples[inference.sample] & (rows.treat >= REFERENCE)
    levels = 1 + len(rows.design.treated)
    documents, at = np.unique(rows.doc[keep], return_inverse=True)
    level = rows.treat[keep]
    shares = [
        _mean(rows.columns[share.holds][keep], at, level, (len(documents), levels))
        for share in inference.shares
    ]
    for j, value in enumerate(rows.design.treated, 1):
        found += _of_value(rows.design.label, value, inference.shares, [(s[:, 0], s[:, j]) for s in shares])
    return found


def _of_value(
    label: str, value: str, shares: Sequence[ClassShare], pairs: Sequence[tuple[Floats, Floats]]
) -> list[ClassEffect]:
    rows: list[ClassEffect] = []
    changed: list[float] = []
    for share, (base, to) in zip(shares, pairs, strict=True):
        moves = difference(to, base)
        known = np.isfinite(moves)
        moves, n = moves[known], int(known.sum())
        if not n:
            return []
        ups, downs = int((moves > 0).sum()), int((moves < 0).sum())
        half = float(scipy.stats.norm.isf(_LEVEL / 2)) * added_error(moves)
        centre = float(moves.sum()) / (n + 2)
        changed.append(float(np.abs(moves).mean()))
        rows.append(
            ClassEffect(
                label=label,
                value=value,
                class_name=share.name,
                n_compared=n,
                share_from=100 * float(base[known].mean()),
                share_to=100 * float(to[known].mean()),
                effect=100 * float(moves.mean()),
                ci_low=100 * max(-1.0, centre - half),
                ci_high=100 * min(1.0, centre + half),
                ups=ups,
                downs=downs,
                mcnemar_p=sign_test(ups, downs),
                holm_p=None,
                hamming=0.0,
            )
        )
    hamming = 100 * float(np.mean(changed))
    at = [i for i, row in enumerate(rows) if row.mcnemar_p is not None]
    adjusted = dict(zip(at, holm(np.array([rows[i].mcnemar_p for i in at])), strict=True)) if at else {}
    return [
        replace(row, holm_p=float(adjusted[i]) if i in adjusted else None, hamming=hamming)
        for i, row in enumerate(rows)
    ]


def _mean(of: Floats, at: Ints, level: Ints, shape: tuple[int, int]) -> Floats:
    """(cases, levels): the mean over repeats, NaN where no answer was read."""
    known = np.isfinite(of)
    count, total = np.zeros(shape), np.zeros(shape)
    places = (at[known], level[known])
    np.add.at(count, places, 1.0)
    np.add.at(total, places, of[known])
    return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)
