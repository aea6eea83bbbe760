"""Result rows on their way into the database: typed Arrow tables, one transaction that replaces the old."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import duckdb
import pyarrow as pa

from analyze.frame import Cell
from store.errors import RunFailed

_ARROW = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}

_OF_CELLS = """
WHERE (collection, model_key, coding) IN (SELECT collection, model_key, coding FROM replaced_cells)
"""


def arrow(row_type: type, rows: Iterable[tuple[Cell, Any]]) -> pa.Table:
    """Rows of a dataclass, each with its cell's columns in front, as a typed Arrow table."""
    pairs = list(rows)
    hints = typing.get_type_hints(row_type)
    columns: dict[str, pa.Array] = {
        name: pa.array([getattr(cell, name) for cell, _ in pairs], kind)
        for name, kind in (
            ("collection", pa.string()),
            ("model_key", pa.string()),
            ("model", pa.string()),
            ("temperature", pa.float64()),
            ("coding", pa.string()),
        )
    }
    for field in fields(row_type):
        kind = _ARROW[_plain(hints[field.name])]
        columns[field.name] = pa.array([getattr(row, field.name) for _, row in pairs], kind)
    return pa.table(columns)


def _plain(hint: Any) -> type:
    """float | None -> float."""
    if isinstance(hint, types.UnionType):
        (hint,) = (kind for kind in typing.get_args(hint) if kind is not type(None))
    return typing.cast(type, hint)


def replace(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, pa.Table],
    cells: Sequence[Cell],
    *,
    everything: bool,
) -> None:
    """Put `tables` (name -> rows) in the place of what was there, in one transaction.

    Old rows of `cells` go; with `everything`, so do those of cells that no longer exist. Raises RunFailed
    where the database does not have the tables or cannot be written; then nothing has changed.
    """
    keys = pa.table(
        {
            name: pa.array([getattr(cell, name) for cell in cells], pa.string())
            for name in ("collection", "model_key", "coding")
        }
    )
    try:
        connection.register("replaced_cells", keys)
        connection.execute("BEGIN")
        try:
            for name, table in tables.items():
                where = "" if everything else _OF_CELLS
                connection.execute(f"DELETE FROM {name} {where}")
                connection.register("new_rows", table)
                connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM new_rows")
                connection.unregister("new_rows")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        finally:
            connection.unregister("replaced_cells")
    except duckdb.Error as error:
        raise RunFailed(f"the results could not be written: {error}") from error
