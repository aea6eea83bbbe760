"""What an analysis may take away: nothing that it cannot compute anew.

New results replace the stored ones of the same cells. Where the stored ones tell of a label or value whose
answers still count and the new ones do not (another installation's label, a value taken out of a catalogue),
nothing is replaced. Only what no answer counts for any more goes, and the analysis says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from analyze.counterfactual.frame import CELL_KEY, Cell
from store.errors import BadInput
from store.identity import BASE_ARM
from store.sql import registered

_HERE = Path(__file__).parent
_GONE = (_HERE / "gone.sql").read_text(encoding="utf-8")
_LOSSES = (_HERE / "losses.sql").read_text(encoding="utf-8")
_SHOWN = 5


def gone(connection: duckdb.DuckDBPyConnection, codings: Sequence[str], outcome: str) -> list[Cell]:
    """What was analysed once and has no answer any more that counts. To be called in a study only."""
    asked = {"codings": list(codings), "outcome": outcome}
    return [Cell(*row) for row in connection.execute(_GONE, asked).fetchall()]


def refuse(
    connection: duckdb.DuckDBPyConnection, cells: Sequence[Cell], results: Mapping[str, pa.Table]
) -> None:
    """Raise BadInput where `results`, in the place of the stored ones of `cells`, would lose a label or
    value.
    """
    replaced = pa.table(
        {name: pa.array([getattr(cell, name) for cell in cells], pa.string()) for name in CELL_KEY}
    )
    views = {
        "replaced_cells": replaced,
        "new_label_metrics": results["label_metrics"],
        "new_estimates": results["estimates"],
    }
    with registered(connection, **views):
        rows = connection.execute(_LOSSES).fetchall()
    if not rows:
        return
    whole = {(*key, label) for *key, label, value, _ in rows if value is None}
    lost = [row for row in rows if row[4] is None or row[:4] not in whole]
    told = "; ".join(
        f"{label if value is None else f'{label} = {value}'} ({model}, {coding}"
        f"{'' if arm == BASE_ARM else f', arm {arm}'}: {answers:,} answers)"
        for model, coding, arm, label, value, answers in lost[:_SHOWN]
    )
    more = f"; and {len(lost) - _SHOWN:,} more" if len(lost) > _SHOWN else ""
    raise BadInput(
        f"this analysis would remove results that it cannot compute anew: {told}{more}. Nothing was changed",
        hint="These labels or values are unknown here: analyze with the installation that knows them, or "
        "retire their queries (evenhand build --retire-missing) if their results are to go.",
    )
