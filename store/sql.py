"""The SQL of the store (one statement a file, in `store/statements/`) and the few ways it is put to work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import duckdb

T = TypeVar("T")

_FOLDER = Path(__file__).parent / "statements"


@cache
def statement(name: str) -> str:
    """The text of `statements/NAME.sql`."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@contextlib.contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Commit at the end of the block, roll back on any error."""
    connection.execute("BEGIN")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        # Where the database itself is lost there is nothing to roll back, and the first error is the one to
        # tell.
        with contextlib.suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def registered(connection: duckdb.DuckDBPyConnection, **tables: Any) -> Iterator[None]:
    """Arrow tables that SQL sees under their names, within the block."""
    for name, table in tables.items():
        connection.register(name, table)
    try:
        yield
    except BaseException:
        # In a transaction that has failed this fails as well, and must not hide why.
        for name in tables:
            with contextlib.suppress(duckdb.Error):
                connection.unregister(name)
        raise
    for name in tables:
        connection.unregister(name)


def affected(result: duckdb.DuckDBPyConnection) -> int:
    """The number of rows that an INSERT, UPDATE or DELETE touched."""
    rows = result.fetchall()
    return int(rows[0][0]) if rows else 0


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` of the items."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk
