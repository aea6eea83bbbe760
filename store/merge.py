"""Taking another study's file into this one: the shards of a run, or a colleague's answers.

Idempotent, as everything has an identity: merging the same file again, or an older copy of this very study,
adds nothing. The other file is only read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from store import opening as doorway
from store import runs
from store.errors import BadInput
from store.migrate import MigrationSet, applied, missing
from store.rows import now
from store.sql import affected, registered, statement, transaction
from store.study import Study, default_memory_limit

BATCH_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class SharedTable:
    """A table of another room that a merge takes along: rows whose key is not here yet are added."""

    name: str
    """With its schema, where that is not the store's."""
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """How many rows a merge added to each table, and what a person should know."""

    added: dict[str, int]
    retired: int
    """Queries that came in retired, as this study asks another prompt for the same label: their answers are
    kept and do not count."""
    differing: dict[str, int]
    """Rows of the shared tables that both have, and not alike: this study's stay."""

    @property
    def total(self) -> int:
        """All rows added."""
        return sum(self.added.values())


def merge(
    study: Study,
    other: str | os.PathLike[str],
    tables: Sequence[SharedTable] = (),
    migrations: Sequence[MigrationSet] = (),
) -> Merged:
    """Add what the study at `other` has and this one has not, in one transaction.

    `migrations` are those of the rooms whose tables are taken along: they must be up to date in `other`.

    Where both have a thing, this study's stays, but for a run: one that is set aside in either is set aside.
    A query comes in retired if this study asks another template (or prompt) for the same label.

    Raises:
        BadInput: `other` cannot be opened or is of another version, is this very file, or has a document with
            the same id and another text, or a collection of the same name and another kind.
    """
    with _opened(study, other, migrations) as source, transaction(study.connection) as target:
        _refuse_conflicts(source, target, other)
        added: dict[str, int] = {}
        for table in ("collections", "documents", "templates", "models"):
            added[table] = _insert(
                source, target, table, f"INSERT INTO {table} BY NAME FROM incoming ON CONFLICT DO NOTHING"
            )
        added["queries"], retired = _merge_queries(source, target)
        before = _count(target, "runs")
        _insert(source, target, "runs", statement("merge_runs"))
        added["runs"] = _count(target, "runs") - before
        ids = {"predictions": "prediction_id", "failures": "failure_id", "other_costs": "cost_id"}
        for table, key in ids.items():
            added[table] = _insert(source, target, table, _missing(table, (key,)))
        _insert(source, target, "attempts", statement("merge_attempts"))
        added["batches"] = _merge_batches(source, target, other)
        differing: dict[str, int] = {}
        for shared in tables:
            if _has(source, shared.name) and _has(target, shared.name):
                differing[shared.name] = _differing(source, target, shared)
                added[shared.name] = _insert(source, target, shared.name, _missing(shared.name, shared.key))
    merged = Merged(added, retired, {name: count for name, count in differing.items() if count})
    if merged.total:
        note = {"source": os.fspath(other), "added": added, "retired": retired}
        runs.finish_run(study, runs.start_run(study, "merge", note), "finished")
    return merged


@contextlib.contextmanager
def _opened(
    study: Study, other: str | os.PathLike[str], migrations: Sequence[MigrationSet]
) -> Iterator[duckdb.DuckDBPyConnection]:
    path = doorway.resolve(other)
    if path == study.path:
        raise BadInput(f"{path} is the study itself", hint="Name the other file.")
    doorway.look_before_opening(path, create=False, read_only=True)
    settings = doorway.config(memory_limit=default_memory_limit(), checkpoint_threshold="16MB")
    connection = doorway.connect(path, read_only=True, config=settings)
    with connection:
        have = applied(connection)
        rooms = [
            one for one in migrations if one.room in have or (one.former and one.former.layout.room in have)
        ]
        if missing(connection, rooms):
            raise BadInput(
                f"{path} has tables of an older version",
                hint=f"Open it once with a command that writes, such as `evenhand build --db {path}`.",
            )
        yield connection


def _refuse_conflicts(
    source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection, other: str | os.PathLike[str]
) -> None:
    for table, columns, conflict, what in (
        ("collections", "collection, kind", "kind", "a collection '{}' of another kind"),
        ("collections", "collection, domain", "domain", "a collection '{}' of another domain"),
        (
            "documents",
            "collection, doc_id, text",
            "text",
            "a document '{1}' of the collection '{0}' with another text",
        ),
    ):
        keys = ", ".join(columns.split(", ")[:-1])
        reader = source.sql(f"SELECT {columns} FROM {table}").to_arrow_reader(BATCH_ROWS)
        with registered(target, incoming=reader):
            found = target.execute(
                f"SELECT {keys} FROM incoming JOIN {table} USING ({keys}) "
                f"WHERE incoming.{conflict} IS DISTINCT FROM {table}.{conflict} LIMIT 1"
            ).fetchall()
        if found:
            raise BadInput(
                f"{os.fspath(other)} has {what.format(*found[0])}; nothing was merged",
                hint="Two bodies of documents need two names: build one of them under another collection.",
            )


def _merge_queries(source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """(queries added, those of them that came in retired because of what this study asks)."""
    _insert(source, target, "queries", "CREATE OR REPLACE TEMP TABLE incoming_queries AS FROM incoming")
    target.execute("DELETE FROM incoming_queries WHERE query_id::UUID IN (SELECT query_id FROM queries)")
    retired = affected(target.execute(statement("merge_retired_queries"), [now()]))
    added = affected(target.execute("INSERT INTO queries BY NAME FROM incoming_queries"))
    target.execute("DROP TABLE incoming_queries")
    return added, retired


def _merge_batches(
    source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection, other: str | os.PathLike[str]
) -> int:
    """Take along what is at providers, so that it is not asked again and can be fetched here; new batches.

    Either study may fetch it, or both: what a batch brings has the same ids in both.
    """
    _insert(source, target, "batches", statement("stage_batches"))
    twice = target.execute(
        "SELECT here.provider, here.batch_id, there.batch_id "
        "FROM batches AS here JOIN incoming_batches AS there USING (batch) "
        "WHERE here.ended_at IS NULL AND there.ended_at IS NULL AND here.batch_id <> there.batch_id LIMIT 1"
    ).fetchall()
    if twice:
        provider, here, there = twice[0]
        raise BadInput(
            f"one batch of requests went to {provider} twice, as {here} here and as {there} in "
            f"{os.fspath(other)}; nothing was merged",
            hint=f"Fetch that one first (`evenhand run MODEL --batch --db {os.fspath(other)}`), then merge.",
        )
    target.execute(statement("merge_known_batches"))
    added = affected(target.execute(statement("merge_batches")))
    _insert(source, target, "batch_items", statement("merge_batch_items"))
    target.execute("DROP TABLE incoming_batches")
    return added


def _insert(
    source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection, table: str, sql: str
) -> int:
    """Run `sql`, which sees the other study's table as `incoming`, batch by batch."""
    reader = source.sql(f"FROM {table}").to_arrow_reader(BATCH_ROWS)
    with registered(target, incoming=reader):
        return affected(target.execute(sql))


def _missing(table: str, key: tuple[str, ...]) -> str:
    new = f"incoming ANTI JOIN {table} ON {_same(table, key)}"
    return f"INSERT INTO {table} BY NAME SELECT incoming.* FROM {new}"


def _differing(
    source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection, shared: SharedTable
) -> int:
    table = shared.name
    columns = [name for name, *_ in source.execute(f"DESCRIBE {table}").fetchall()]
    unlike = " OR ".join(f"{table}.{c}::VARCHAR IS DISTINCT FROM incoming.{c}::VARCHAR" for c in columns)
    reader = source.sql(f"FROM {table}").to_arrow_reader(BATCH_ROWS)
    with registered(target, incoming=reader):
        (count,) = target.execute(
            f"SELECT count(*) FROM incoming JOIN {table} ON {_same(table, shared.key)} WHERE {unlike}"
        ).fetchall()[0]
    return int(count)


def _same(table: str, key: tuple[str, ...]) -> str:
    return " AND ".join(f"{table}.{column}::VARCHAR = incoming.{column}::VARCHAR" for column in key)


def _has(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    *schema, name = table.split(".")
    sql = "SELECT count(*) FROM duckdb_tables() WHERE schema_name = ? AND table_name = ?"
    return bool(connection.execute(sql, [schema[0] if schema else "main", name]).fetchall()[0][0])


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])
