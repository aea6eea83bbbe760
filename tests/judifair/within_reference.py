"""An independent within-estimator with reghdfe's small-sample rules, in plain numpy.

It shares no code with the analyzer. Documents with one row are dropped. Clustered errors have the factor
G/(G-1) * (N-1)/(N-K-1), as reghdfe has it where the fixed effect is nested in the cluster, and t has G-1
degrees of freedom; robust ones N/(N-G-K), and t N-G-K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Fit:
    coef: np.ndarray
    se: np.ndarray
    p: np.ndarray
    n: int
    documents: int


def within(y, x, document, cluster=None) -> Fit:
    """Regress y on the columns of x with document fixed effects; `cluster` None means robust errors."""
    y, x = np.asarray(y, float), np.asarray(x, float)
    x = x[:, None] if x.ndim == 1 else x
    _, code, count = np.unique(np.asarray(document, str), return_inverse=True, return_counts=True)
    kept = count[code] > 1
    y, x = y[kept], x[kept]
    _, code, count = np.unique(code[kept], return_inverse=True, return_counts=True)
    n, documents, k = len(y), len(count), x.shape[1]

    def centred(column):
        return column - (np.bincount(code, column) / count)[code]

    yd, xd = centred(y), np.column_stack([centred(column) for column in x.T])
    bread = np.linalg.inv(xd.T @ xd)
    coef = bread @ (xd.T @ yd)
    scores = xd * (yd - xd @ coef)[:, None]
    if cluster is None:
        meat, freedom = scores.T @ scores * n / (n - documents - k), n - documents - k
    else:
        _, group = np.unique(np.asarray(cluster, str)[kept], return_inverse=True)
        g = group.max() + 1
        sums = np.column_stack([np.bincount(group, column, minlength=g) for column in scores.T])
        meat, freedom = sums.T @ sums * g / (g - 1) * (n - 1) / (n - k - 1), g - 1
    se = np.sqrt(np.diag(bread @ meat @ bread))
    return Fit(coef, se, 2 * stats.t.sf(np.abs(coef / se), freedom), n, documents)
