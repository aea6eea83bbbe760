"""Read-only SQL: a vetted statement in a READ ONLY transaction, up to a row cap, interrupted at a timeout.

Results travel as Arrow, batch by batch, so that an export of any size needs the memory of one batch, and so
that a result is the same whether it was read from the file or over the socket of a running process
(`store.live`).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from store import domain_schemas, values
from store import opening as doorway
from store.errors import BadInput
from store.sql_guard import vet
from store.study import Study, default_memory_limit

ROW_LIMIT = 10_000
TIMEOUT_S = 60.0
BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Rows:
    """A result in memory. `truncated`: there were more rows. `live`: a running process gave it."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    live: bool = False

    def objects(self) -> list[dict[str, Any]]:
        """The rows as JSON objects, by `store.values.jsonable`."""
        return [dict(zip(self.columns, map(values.jsonable, row), strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement being read: its schema (column names are unique) and its batches, once through."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    live: bool = False

    def rows(self, limit: int) -> Rows:
        """The first `limit` rows as Python values.

        Raises:
            BadInput: as `reading`.
        """
        if limit < 1:
            raise BadInput(f"a row limit of {limit} shows nothing", hint="Give a limit of at least 1.")
        found: list[tuple[Any, ...]] = []
        for batch in self.batches:
            wanted = batch.slice(0, limit + 1 - len(found))
            found += values.rows(wanted)
            if len(found) > limit:
                break
        return Rows(tuple(self.schema.names), found[:limit], len(found) > limit, self.live)


def run_sql(
    source: Study | str | os.PathLike[str], sql: str, *, limit: int = ROW_LIMIT, timeout_s: float = TIMEOUT_S
) -> Rows:
    """Run one read-only statement on an open study or a file, and return its first `limit` rows.

    Raises:
        BadInput: as `reading`.
    """
    with reading(source, sql, timeout_s=timeout_s) as result:
        return result.rows(limit)


@contextlib.contextmanager
def reading(
    source: Study | str | os.PathLike[str],
    sql: str,
    *,
    timeout_s: float = TIMEOUT_S,
    interrupts: set[Callable[[], None]] | None = None,
) -> Iterator[Reading]:
    """Read the result of one read-only statement, batch by batch, within the block.

    `timeout_s` counts until the end of the block, so a reader that dawdles is stopped too. While the block
    lasts, `interrupts` holds a callable that stops the statement.

    Raises:
        BadInput: the statement is not allowed (`store.sql_guard`), wrong, or took too long; the file
            cannot be opened.
    """
    if isinstance(source, Study):
        connection = None
        cursor = source.cursor()
    else:
        connection = _open(source)
        cursor = connection.cursor()
        domain_schemas.search(cursor, domain_schemas.search_path(connection))
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        cursor.interrupt()

    timer = threading.Timer(timeout_s, expire)
    timer.daemon = True
    interrupts = set() if interrupts is None else interrupts
    interrupts.add(expire)
    try:
        with _errors(expired, timeout_s, cursor):
            statement = vet(cursor, sql)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            timer.start()
            asked = cursor.sql(statement)
            names = _unique(asked.columns)
            shown = values.faithful(statement, [str(kind) for kind in asked.types])
            reader = (asked if shown == statement else cursor.sql(shown)).to_arrow_reader(BATCH_ROWS)
            schema = pa.schema(
                [field.with_name(name) for field, name in zip(reader.schema, names, strict=True)]
            )
        yield Reading(schema, _batches(reader, schema, expired, timeout_s))
    finally:
        timer.cancel()
        interrupts.discard(expire)
        with contextlib.suppress(duckdb.Error):
            cursor.execute("ROLLBACK")
        cursor.close()
        if connection is not None:
            connection.close()


def _open(path: str | os.PathLike[str]) -> duckdb.DuckDBPyConnection:
    where = doorway.resolve(path)
    doorway.look_before_opening(where, create=False, read_only=True)
    config = doorway.config(memory_limit=default_memory_limit(), checkpoint_threshold="16MB")
    return doorway.connect(where, read_only=True, config={**config, "lock_configuration": "true"})


def _batches(
    reader: pa.RecordBatchReader, schema: pa.Schema, expired: threading.Event, timeout_s: float
) -> Iterator[pa.RecordBatch]:
    with _errors(expired, timeout_s):
        for batch in reader:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            if expired.is_set():
                raise _too_long(timeout_s)


@contextlib.contextmanager
def _errors(
    expired: threading.Event, timeout_s: float, asked: duckdb.DuckDBPyConnection | None = None
) -> Iterator[None]:
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if expired.is_set() or "INTERRUPT" in str(error):
            raise _too_long(timeout_s) from None
        hint = None
        if asked is not None and isinstance(error, duckdb.CatalogException):
            with contextlib.suppress(duckdb.Error):
                asked.execute("ROLLBACK")
                hint = domain_schemas.whose(asked, str(error))
        raise BadInput(f"the SQL failed: {str(error).strip()}", hint=hint) from None


def _too_long(timeout_s: float) -> BadInput:
    return BadInput(
        f"the SQL took longer than {timeout_s:g} s and was stopped",
        hint="Narrow it, or give it a longer timeout.",
    )


def _unique(names: list[str]) -> list[str]:
    """The names of a result, later ones of the same name numbered (a, a_2), as JSON and Parquet need."""
    unique: list[str] = []
    for name in names:
        candidate, number = name, 2
        while candidate in unique:
            candidate, number = f"{name}_{number}", number + 1
        unique.append(candidate)
    return unique
