"""The families over models after a part of them was analysed anew.

Holm's and Benjamini and Hochberg's p need the labels' p alone, which the database has: they are made again
over all models. The max-t and the count test need the draws of all models at once, so they are taken back,
and the rows say what would bring them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from analyze.between_models.rows import Body
from analyze.counterfactual.frame import CELL_KEY, Cell
from analyze.inference.bernoulli import bernoulli_p
from analyze.inference.multiplicity import benjamini_hochberg, holm
from analyze.inference.rows import GlobalTest
from analyze.stored import tables
from store.sql import registered

_HERE = Path(__file__).parent
_LABELS = (_HERE / "family_labels.sql").read_text(encoding="utf-8")
_ADJUST = (_HERE / "family_adjust.sql").read_text(encoding="utf-8")
_SUMS = (_HERE / "family_sums.sql").read_text(encoding="utf-8")
PARTLY = "p by common signs needs all models analysed together; since then some were analysed by themselves"


def renew(
    connection: duckdb.DuckDBPyConnection, bodies: Iterable[Body], analysed: Iterable[Cell], together: str
) -> bool:
    """Bring the families of `bodies` up to date, where they have models beyond those analysed now.

    Gives whether there was anything to do.

    `together` stands for the model in the rows of all models. To be called in the transaction that has
    replaced the rows of the models analysed.
    """
    keys = {(Body.of(cell), cell.model_key) for cell in analysed}
    renewed = False
    for body in bodies:
        where = {**body.key(), "together": together}
        rows = connection.sql(_LABELS, params=where).fetchall()
        models = {key for key, _, _ in rows}
        if all((body, key) in keys for key in models):
            continue
        p = np.array([p for _, _, p in rows], dtype=np.float64)
        adjusted = pa.table(
            {
                "model_key": [key for key, _, _ in rows],
                "label": [label for _, label, _ in rows],
                "family": pa.array([len(p)] * len(p), pa.int64()),
                "holm_p": holm(p),
                "bh_p": benjamini_hochberg(p),
            }
        )
        with registered(connection, adjusted_rows=adjusted):
            connection.execute(_ADJUST, body.key())
        _count(connection, body, where, together)
        renewed = True
    return renewed


def _count(connection: duckdb.DuckDBPyConnection, body: Body, where: dict[str, str], together: str) -> None:
    """The rows of the count test of all models: what was counted, and no p but Bernoulli's."""
    cell = Cell(body.collection, together, None, together, body.coding, body.arm, body.outcome)
    found = [
        GlobalTest(
            test=test,
            threshold=threshold,
            observed=observed,
            expected=expected,
            p=None,
            bernoulli_p=bernoulli_p(int(observed), n, threshold) if test == "significant_values" else None,
            n=n,
            draws=None,
            note=PARTLY,
        )
        for test, threshold, observed, expected, n in connection.sql(_SUMS, params=where).fetchall()
    ]
    rows = {"global_tests": tables.arrow(Cell, GlobalTest, [(cell, row) for row in found])}
    tables.replace(connection, rows, [cell], CELL_KEY)
