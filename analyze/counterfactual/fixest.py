"""The same regression by pyfixest, which fills the tables of estimates.

pyfixest is maintained and tested against R's fixest; the numpy estimator beside it is ours. Importing it
takes seconds, so it is imported on the first fit. Samples must come from
`analyze.counterfactual.sample.prepare`: pyfixest ends the process on an empty sample and raises
where a treatment does not vary.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from analyze.counterfactual.frame import Floats, Ints
from analyze.counterfactual.within import Errors


class Fixest:
    """A fitted regression of `y` (n) on `x` (n, k) with an effect for each document."""

    def __init__(self, y: Floats, x: Floats, doc: Ints, clusters: Mapping[str, Ints]) -> None:
        import pandas as pd  # noqa: PLC0415
        import pyfixest  # noqa: PLC0415

        self._documents = int(doc[-1]) + 1
        self._n, self._k = x.shape
        names = [f"x{j}" for j in range(self._k)]
        self._cluster_columns = {name: f"c{i}" for i, name in enumerate(clusters)}
        data = {"y": y, "doc": doc, **{name: x[:, j] for j, name in enumerate(names)}}
        data |= {self._cluster_columns[name]: codes for name, codes in clusters.items()}
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", DeprecationWarning)  # its own, of pandas
            self._fit: Any = pyfixest.feols(
                f"y ~ {' + '.join(names)} | doc",
                data=pd.DataFrame(data),
                vcov={"CRV1": "doc"},
                ssc=pyfixest.ssc(k_adj=True, k_fixef="nonnested", G_adj=True, G_df="min"),
                fixef_rm="singleton",
                copy_data=False,
            )
        self.coef: Floats = np.asarray(self._fit._beta_hat, dtype=np.float64).ravel()
        if len(self.coef) != self._k:
            raise AssertionError("pyfixest dropped a regressor that the sample's check had let pass")

    def robust(self) -> Errors:
        """Heteroskedasticity-robust (HC1, absorbed effects counted)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            self._fit.vcov("hetero")
        return Errors(self._se(), float(self._n - self._documents - self._k), None)

    def clustered(self, name: str) -> Errors:
        """Clustered by one of the columns given at the fit."""
        with np.errstate(divide="ignore", invalid="ignore"):
            self._fit.vcov({"CRV1": self._cluster_columns[name]})
        groups = int(min(self._fit._G))
        return Errors(self._se(), float(groups - 1), groups)

    def _se(self) -> Floats:
        variances = np.diagonal(np.asarray(self._fit._vcov, dtype=np.float64))
        return np.sqrt(np.maximum(variances, 0.0))  # rounding can take a variance of zero below it
