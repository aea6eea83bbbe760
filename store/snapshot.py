"""A consistent copy of a study at any time, also while a run writes.

A file that a process writes cannot be copied byte by byte: what is copied late is newer than what was copied
first. So the rows are read in one transaction, by the process that has the study open, and written into a new
file by the one that asks for the copy.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from store import opening as doorway
from store import reach, values
from store.errors import BadInput, RunFailed
from store.sql import registered, statement
from store.study import default_memory_limit

BATCH_ROWS = 10_000
TRIES = 3
"""A run may end while it is being copied; its file is then free."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What a copy begins with: statements in their order, each with its step (tables before views)."""

    statements: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a table."""

    schema: str
    table: str
    batch: pa.RecordBatch


Part = Schema | Rows


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy that was made."""

    path: Path
    answers: int
    given_up: int
    taken_at: dt.datetime
    """UTC. The copy holds what was committed then."""
    live: bool
    """A running process gave it."""


def parts(cursor: duckdb.DuckDBPyConnection) -> Iterator[Part]:
    """All of a study as one transaction sees it: the schema first, then the rows of each table."""
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield Schema(tuple(cursor.execute(statement("schema_of_study")).fetchall()))
        for schema, table in cursor.execute(statement("tables_of_study")).fetchall():
            selected = f'SELECT * FROM "{schema}"."{table}"'
            found = cursor.sql(selected)
            names, kinds = found.columns, [str(kind) for kind in found.types]
            reader = cursor.sql(values.faithful(selected, kinds)).to_arrow_reader(BATCH_ROWS)
            for batch in reader:
                yield Rows(schema, table, pa.RecordBatch.from_arrays(batch.columns, names=names))
    finally:
        with contextlib.suppress(duckdb.Error):
            cursor.execute("ROLLBACK")


def snapshot(source: str | os.PathLike[str], out: str | os.PathLike[str]) -> Snapshot:
    """Copy the study at `source` into the new file `out`, which appears whole or not at all.

    Raises:
        BadInput: `out` exists or its folder cannot be written; `source` is no study, or a process holds it
        that
            does not answer.
        RunFailed: the copy could not be written.
    """
    path = Path(out).expanduser().resolve()
    for taken in (path, path.with_name(f"{path.name}.wal")):
        if os.path.lexists(taken):
            raise BadInput(f"{taken} exists", hint="A snapshot overwrites nothing: name another file.")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}", hint=f"Make it: mkdir -p {path.parent}")
    for tries_left in reversed(range(TRIES)):
        with _folder(path) as folder:
            unfinished = folder / "study.duckdb"
            try:
                taken_at, live = reach.wherever(
                    partial(_from_process, source, unfinished), partial(_from_file, source, unfinished)
                )
            except RunFailed:
                if not tries_left:
                    raise
                continue
            with duckdb.connect(str(unfinished), read_only=True, config=doorway.PROBE) as made:
                answers, given_up = made.execute(statement("count_answers")).fetchall()[0]
            _place(unfinished, path)
        return Snapshot(path, answers, given_up, taken_at, live)
    raise AssertionError("unreachable")


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """A folder beside the copy for its unfinished form and DuckDB's log of it; gone after the block."""
    try:
        made = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise BadInput(
            f"{path.parent} cannot be written: {error.strerror}", hint="Name another folder."
        ) from None
    with made as name:
        yield Path(name)


def _place(unfinished: Path, path: Path) -> None:
    """Give the whole copy its name, unless somebody took it meanwhile."""
    descriptor = os.open(unfinished, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise BadInput(f"{path} exists", hint="A snapshot overwrites nothing: name another file.") from None
    except OSError:  # a file system without links
        if path.exists():
            raise BadInput(f"{path} exists", hint="A snapshot overwrites nothing.") from None
        unfinished.replace(path)


def _from_process(source: str | os.PathLike[str], target: Path) -> tuple[dt.datetime, bool] | None:
    from store import live  # noqa: PLC0415  (which imports this module, to answer)

    with live.live_snapshot(source) as found:
        if found is None:
            return None
        return _write(found, target), True


def _from_file(source: str | os.PathLike[str], target: Path) -> tuple[dt.datetime, bool]:
    where = doorway.resolve(source)
    doorway.look_before_opening(where, create=False, read_only=True)
    config = doorway.config(memory_limit=default_memory_limit(), checkpoint_threshold="16MB")
    with doorway.connect(where, read_only=True, config=config) as connection:
        return _write(parts(connection), target), False


def _write(found: Iterator[Part], target: Path) -> dt.datetime:
    """Write all parts into a new database; gives the time at which the first came."""
    config = doorway.config(memory_limit=default_memory_limit(), checkpoint_threshold="64MB")
    taken_at = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    try:
        target.unlink(missing_ok=True)
        with duckdb.connect(str(target), config=config) as connection:
            late: list[str] = []
            for part in found:
                if isinstance(part, Schema):
                    taken_at = dt.datetime.now(dt.UTC).replace(tzinfo=None)
                    early = [sql for step, sql in part.statements if step <= 3]
                    late = [sql for step, sql in part.statements if step > 3]
                    _in_any_order(connection, early)
                else:
                    with registered(connection, copied_rows=pa.table(part.batch)):
                        connection.execute(
                            f'INSERT INTO "{part.schema}"."{part.table}" BY NAME FROM copied_rows'
                        )
            _in_any_order(connection, late)
            connection.execute("CHECKPOINT")
    except (duckdb.Error, OSError) as error:
        raise RunFailed(
            f"the copy could not be written: {str(error).strip().splitlines()[0]}",
            hint="Nothing was changed, and no copy is left behind.",
        ) from error
    return taken_at


def _in_any_order(connection: duckdb.DuckDBPyConnection, statements: list[str]) -> None:
    """Execute all; those that need another are tried again after it."""
    left, error = statements, None
    while left:
        failed: list[str] = []
        for sql in left:
            try:
                connection.execute(sql)
            except (duckdb.CatalogException, duckdb.BinderException) as reason:
                failed.append(sql)
                error = reason
        if len(failed) == len(left) and error is not None:
            raise error
        left = failed


Packer = Callable[[pa.Schema, pa.RecordBatch], bytes]


def frames(found: Iterator[Part], pack: Packer) -> Iterator[dict[str, Any] | bytes]:
    """The parts as what passes over a socket: a JSON object, or an Arrow stream of the table named before
    it.
    """
    named = None
    for part in found:
        if isinstance(part, Schema):
            yield {"schema": [list(row) for row in part.statements]}
            continue
        if (part.schema, part.table) != named:
            named = (part.schema, part.table)
            yield {"table": list(named)}
        yield pack(part.batch.schema, part.batch)
    yield {"end": True}
