"""Result rows on their way into the database: typed Arrow tables, one transaction that replaces the old."""

from __future__ import annotations

import datetime as dt
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import duckdb
import pyarrow as pa

from analyze.specification import UNNAMED_DOSE
from store.errors import RunFailed
from store.sql import registered

_OF_VALUES = ("estimates", "value_tests", "temperature_tests", "comparison_values")
"""Tables whose rows are of a label's effect."""

_ARROW = {
    str: pa.string(),
    float: pa.float64(),
    int: pa.int64(),
    bool: pa.bool_(),
    dt.datetime: pa.timestamp("us"),
}


def arrow(key_type: type, row_type: type, rows: Iterable[tuple[Any, Any]]) -> pa.Table:
    """Pairs of a key and a row, both dataclasses, as one typed Arrow table, the key's columns first."""
    pairs = list(rows)
    columns: dict[str, pa.Array] = {}
    for position, kind in enumerate((key_type, row_type)):
        hints = typing.get_type_hints(kind)
        for field in fields(kind):
            values = [getattr(pair[position], field.name) for pair in pairs]
            columns[field.name] = pa.array(values, _ARROW[_plain(hints[field.name])])
    return pa.table(columns)


def _plain(hint: Any) -> type:
    """float | None -> float."""
    if isinstance(hint, types.UnionType):
        (hint,) = (kind for kind in typing.get_args(hint) if kind is not type(None))
    return typing.cast(type, hint)


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All or nothing. Raises RunFailed where the database cannot be written; then nothing has changed."""
    try:
        connection.execute("BEGIN")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    except duckdb.Error as error:
        raise RunFailed(f"the results could not be written: {error}") from error


def rename_doses(
    connection: duckdb.DuckDBPyConnection, labels: Iterable[str], name: str, outcome: str
) -> None:
    """Give earlier results of continuous labels, from when their dose had no name, the name of today's."""
    for table in _OF_VALUES:
        connection.execute(
            f"UPDATE {table} SET value = ? WHERE value = ? AND outcome = ? AND label IN (SELECT unnest(?))",
            [name, UNNAMED_DOSE, outcome, sorted(labels)],
        )


def stored(
    connection: duckdb.DuckDBPyConnection,
    results: Mapping[str, pa.Table],
    tables: Iterable[str],
    keys: Sequence[Any],
    names: Sequence[str],
) -> dict[str, pa.Table]:
    """The rows of `keys` as the database has them, in tables with the columns of `results`."""
    listed = ", ".join(names)
    wanted = pa.table({name: pa.array([getattr(key, name) for key in keys], pa.string()) for name in names})
    with registered(connection, wanted_keys=wanted):
        found = {}
        for table in tables:
            columns = ", ".join(f'"{name}"' for name in results[table].column_names)
            rows = connection.sql(
                f"SELECT {columns} FROM {table} "
                f"WHERE ({listed}) IN (SELECT {listed} FROM wanted_keys) ORDER BY rowid"
            ).to_arrow_table()
            found[table] = rows.cast(results[table].schema)
        return found


def replace(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, pa.Table],
    keys: Sequence[Any],
    names: Sequence[str],
) -> None:
    """Put `tables` (name -> rows) in the place of what was there; to be called within a transaction.

    Old rows whose columns `names` equal those of one of `keys` go, and no others.
    """
    listed = ", ".join(names)
    where = f"WHERE ({listed}) IN (SELECT {listed} FROM replaced_keys)"
    replaced = pa.table({name: pa.array([getattr(key, name) for key in keys], pa.string()) for name in names})
    with registered(connection, replaced_keys=replaced):
        for name, table in tables.items():
            connection.execute(f"DELETE FROM {name} {where}")
            with registered(connection, new_rows=table):
                connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM new_rows")
