"""A plain numpy estimator of y on x with document fixed effects: what reghdfe computes, in closed form.

With one set of fixed effects the within transformation is exact in one pass, so nothing iterates. The tests
hold it against pyfixest to 1e-10; the resampling runs on it because a fit takes a fraction of a millisecond.

Small-sample factors (those of reghdfe, and of pyfixest's `ssc(k_adj=True, k_fixef="nonnested", G_adj=True,
G_df="min")`): clustered errors use G/(G-1) * (N-1)/(N-K-1) with t on G-1 degrees of freedom where documents
are nested in clusters; robust errors use N/(N-D-K) with t on N-D-K, D the number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyze.counterfactual.frame import Floats, Ints


@dataclass(frozen=True, slots=True)
class Errors:
    """Standard errors, the degrees of freedom of t, and the number of clusters (None: not clustered)."""

    se: Floats
    df: float
    clusters: int | None


@dataclass(frozen=True, slots=True)
class Within:
    """A fitted regression."""

    coef: Floats
    x: Floats
    """Regressors, demeaned by document."""
    y: Floats
    """Outcome, demeaned by document."""
    residuals: Floats
    bread: Floats
    """Inverse of x'x."""
    doc: Ints
    documents: int

    def robust(self) -> Errors:
        """Heteroskedasticity-robust (HC1, absorbed effects counted)."""
        n, k = self.x.shape
        df = n - self.documents - k
        scores = self.x * self.residuals[:, None]
        return self._errors(scores, n / df, df, None)

    def clustered(self, cluster: Ints) -> Errors:
        """Clustered by `cluster`, non-negative codes; documents may or may not be nested in clusters."""
        n, k = self.x.shape
        used = np.bincount(cluster) > 0
        codes = (np.cumsum(used) - 1)[cluster]
        groups = int(used.sum())
        scores = np.zeros((groups, k))
        for j in range(k):
            scores[:, j] = np.bincount(codes, weights=self.x[:, j] * self.residuals, minlength=groups)
        first = codes[np.searchsorted(self.doc, self.doc)]
        nested = bool(np.all(codes == first))
        absorbed = 1 if nested else self.documents
        factor = groups / (groups - 1) * (n - 1) / (n - k - absorbed)
        return self._errors(scores, factor, groups - 1, groups)

    def _errors(self, scores: Floats, factor: float, df: float, clusters: int | None) -> Errors:
        half = scores @ self.bread
        return Errors(np.sqrt(factor * np.einsum("ij,ij->j", half, half)), float(df), clusters)


def demean(columns: Floats, doc: Ints, documents: int) -> Floats:
    """Subtract document means from each column of an (n, m) array; `doc` holds sorted codes without gaps."""
    starts = np.searchsorted(doc, np.arange(documents))
    counts = np.diff(np.append(starts, len(doc)))
    means = np.add.reduceat(columns, starts, axis=0) / counts[:, None]
    centred: Floats = columns - means[doc]
    # A second pass takes out what rounding left in the first, for outcomes far from zero.
    centred -= (np.add.reduceat(centred, starts, axis=0) / counts[:, None])[doc]
    return centred


def fit(y: Floats, x: Floats, doc: Ints) -> Within:
    """Least squares of `y` (n) on `x` (n, k) with an effect for each document.

    `doc` holds sorted codes 0 .. documents - 1, each at least twice; x must have full rank within documents
    (`analyze.counterfactual.sample.prepare` sees to both).
    """
    documents = int(doc[-1]) + 1
    centred = demean(np.column_stack([y, x]), doc, documents)
    yd, xd = centred[:, 0], centred[:, 1:]
    # Normal equations: demeaned dummies are far from collinear, and a second step takes out the rounding.
    bread = np.linalg.inv(xd.T @ xd).astype(np.float64, copy=False)
    coef = bread @ (xd.T @ yd)
    coef += bread @ (xd.T @ (yd - xd @ coef))
    return Within(coef, xd, yd, yd - xd @ coef, bread, doc, documents)
