"""The numpy estimator against pyfixest, and against dummy-variable least squares written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from analyze.counterfactual import within
from analyze.counterfactual.fixest import Fixest


def problem(seed: int, *, k: int, nested: bool = True) -> dict[str, NDArray]:
    """Unbalanced documents, outcomes far from zero, clusters of whole documents or across them."""
    rng = np.random.default_rng(seed)
    documents = 60
    doc = np.repeat(np.arange(documents), rng.integers(2, 6, documents))
    x = rng.normal(size=(len(doc), k))
    if k > 1:
        x[:, 0] = rng.integers(0, 2, len(doc))
    y = 200 + 50 * rng.normal(size=documents)[doc] + x @ np.arange(k) + rng.normal(size=len(doc))
    region = (np.arange(documents) % 9)[doc] if nested else rng.integers(0, 9, len(doc))
    return {"y": y, "x": x, "doc": doc.astype(np.int64), "region": region.astype(np.int64)}


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("nested", [True, False])
def test_agrees_with_pyfixest_to_1e10(k: int, nested: bool) -> None:
    given = problem(k, k=k, nested=nested)
    ours = within.fit(given["y"], given["x"], given["doc"])
    theirs = Fixest(given["y"], given["x"], given["doc"], {"doc": given["doc"], "region": given["region"]})
    np.testing.assert_allclose(ours.coef, theirs.coef, rtol=1e-10)
    for mine, other in (
        (ours.clustered(given["doc"]), theirs.clustered("doc")),
        (ours.clustered(given["region"]), theirs.clustered("region")),
        (ours.robust(), theirs.robust()),
    ):
        np.testing.assert_allclose(mine.se, other.se, rtol=1e-10)
        assert (mine.df, mine.clusters) == (other.df, other.clusters)


def test_agrees_with_dummies_written_out() -> None:
    """Least squares with a column for each document, and the sandwich by hand."""
    given = problem(9, k=2)
    y, x, doc = given["y"], given["x"], given["doc"]
    n, documents = len(y), doc.max() + 1
    full = np.column_stack([x, doc[:, None] == np.arange(documents)])
    beta = np.linalg.lstsq(full, y, rcond=None)[0]
    e = y - full @ beta
    bread = np.linalg.inv(full.T @ full)

    def sandwich(groups: NDArray, factor: float) -> NDArray:
        meat = sum(np.outer(s, s) for g in np.unique(groups) for s in [full[groups == g].T @ e[groups == g]])
        return np.sqrt(np.diag(factor * bread @ meat @ bread))[:2]

    ours = within.fit(y, x, doc)
    np.testing.assert_allclose(ours.coef, beta[:2], rtol=1e-9)
    factor = documents / (documents - 1) * (n - 1) / (n - 2 - 1)
    np.testing.assert_allclose(ours.clustered(doc).se, sandwich(doc, factor), rtol=1e-9)
    np.testing.assert_allclose(ours.robust().se, sandwich(np.arange(n), n / (n - documents - 2)), rtol=1e-9)
