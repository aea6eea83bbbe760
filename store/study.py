"""A study: one DuckDB file, opened with its tables in place.

The connection neither reads nor writes any other file (`enable_external_access` is off), so that no SQL,
however it got here, can. Data come in as Arrow: `connection.register(name, table)`; a bare Python variable's
name in SQL (DuckDB's replacement scan) does not work.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from store import domain_schemas
from store import opening as doorway
from store.errors import BadInput
from store.migrate import MigrationSet, migrate, missing

APPLICATION = "evenhand"
DAMAGE = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
CHECKPOINT_THRESHOLD = "16MB"
"""The size of the write-ahead log at which it is folded into the file: reopening after a kill takes 0.04 s
(with 1 GB, 2 s). Never above 64 MB in a run."""

RUN_MEMORY_LIMIT = "128MB"
"""Enough for DuckDB in a run: with it, 2.8 million stored answers are planned over in about a second, and the
process peaks at 220 MB."""


class Study:
    """An open study. Use `open_study`; close it, or use it as a context manager.

    `connection` belongs to the thread that opened the study; every other thread takes a `cursor()` of its
    own.
    """

    def __init__(
        self, path: Path, connection: duckdb.DuckDBPyConnection, study_id: str, *, read_only: bool
    ) -> None:
        self.path = path
        self.connection = connection
        self.study_id = study_id
        self.read_only = read_only
        self.active_runs: set[uuid.UUID] = set()
        """The runs that this process started and has not ended."""
        self._lock = threading.Lock()
        self._search_path = ""
        self.resolve_names()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the same database, for another thread. The caller closes it."""
        with self._lock:
            cursor = self.connection.cursor()
        # A cursor does not inherit it.
        domain_schemas.search(cursor, self._search_path)
        return cursor

    def resolve_names(self) -> None:
        """Let names without a schema be those of the study's only domain; after a domain came or went."""
        self._search_path = domain_schemas.search_path(self.connection)
        domain_schemas.search(self.connection, self._search_path)

    def close(self) -> None:
        """Close the database; what was committed is folded into the file. Closing twice does nothing."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_study(
    path: str | os.PathLike[str],
    *,
    migrations: Sequence[MigrationSet] = (),
    create: bool = True,
    memory_limit: str | None = None,
    read_only: bool = False,
    checkpoint_threshold: str = CHECKPOINT_THRESHOLD,
) -> Study:
    """Open the study at `path` and bring its tables up to date; make it where there is none and `create` is
    set.

    Args:
        path: the file, or ":memory:" for a study that is gone when closed.
        migrations: the rooms' tables; the store's own are always included and come first.
        create: make the file where it is missing. Never with `read_only`.
        memory_limit: what DuckDB may hold in memory, as "1GB"; half of the machine's, at most 4 GB, by
            default.
        read_only: change nothing, not even old tables (which are then an error).
        checkpoint_threshold: larger than the default only for an import.

    Raises:
        BadInput: there is no such file (or folder), it cannot be written, it is no DuckDB file, belongs to
            another program, is newer than this code, is damaged, or another process holds it.
    """
    where = doorway.resolve(path)
    config = doorway.config(
        memory_limit=memory_limit or default_memory_limit(), checkpoint_threshold=checkpoint_threshold
    )
    doorway.look_before_opening(where, create=create and not read_only, read_only=read_only)
    connection = doorway.connect(where, read_only=read_only, config=config)
    try:
        domain_schemas.refuse_clash(connection, where)
        if read_only:
            behind = missing(connection, migrations)
            if behind:
                raise BadInput(
                    f"{where}: its {behind[0].room} tables are of an older version",
                    hint="Open it once with a command that writes, such as `evenhand build`.",
                )
        else:
            try:
                migrate(connection, migrations)
            except BadInput as error:
                raise BadInput(f"{where}: {error.message}", hint=error.hint) from None
        return Study(where, connection, _study_id(connection, read_only=read_only), read_only=read_only)
    except DAMAGE as error:
        connection.close()
        raise doorway.explain(where, error) from error
    except BaseException:
        connection.close()
        raise


def default_memory_limit() -> str:
    """Half of the machine's memory, at most 4 GB, as DuckDB writes it."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return "2GB"
    return f"{max(256, min(4096, total // 2**21))}MiB"


def _study_id(connection: duckdb.DuckDBPyConnection, *, read_only: bool) -> str:
    rows = connection.execute("SELECT value FROM study WHERE key = 'study_id'").fetchall()
    if rows:
        return str(rows[0][0])
    if read_only:
        raise BadInput("the study has no identity", hint="Open it once with a command that writes.")
    study_id = str(uuid.uuid4())
    connection.execute(
        "INSERT INTO study VALUES ('application', $application), ('study_id', $study_id)",
        {"application": APPLICATION, "study_id": study_id},
    )
    return study_id
