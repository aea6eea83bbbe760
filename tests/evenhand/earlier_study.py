"""A study as the version before wrote it: its own SQL, before domains had schemas and results had arms."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

import duckdb

import analyze
from evenhand.domains import judifair
from store.migrate import STORE, MigrationSet, read

assert judifair.MIGRATIONS.former is not None
LAYOUT: Sequence[tuple[MigrationSet, int]] = (
    (STORE, 4),
    (judifair.MIGRATIONS.former.layout, 7),
    (analyze.MIGRATIONS, 10),
)
"""The sets of migrations, each with the number of its last one then."""


def made(path: Path) -> duckdb.DuckDBPyConnection:
    """An empty study of that version, open."""
    connection = duckdb.connect(str(path))
    connection.execute(
        "CREATE TABLE migrations (room VARCHAR, number INTEGER, name VARCHAR, applied_at TIMESTAMP, "
        "PRIMARY KEY (room, number))"
    )
    for migrations, last in LAYOUT:
        for migration in read(migrations)[:last]:
            connection.execute(migration.sql())
            connection.execute(
                "INSERT INTO migrations VALUES (?, ?, ?, now())",
                [migration.room, migration.number, migration.name],
            )
    connection.execute(
        "INSERT INTO study VALUES ('application', 'evenhand'), ('study_id', ?)", [str(uuid.uuid4())]
    )
    return connection


def insert(connection: duckdb.DuckDBPyConnection, table: str, **given: object) -> None:
    """A row with these columns, and something of the right kind in every other that needs it."""
    kinds = connection.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? AND NOT is_nullable",
        [table],
    ).fetchall()
    blank = {"VARCHAR": "x", "TIMESTAMP": "2026-01-01", "BOOLEAN": "false", "VARCHAR[]": [], "JSON": "{}"}
    blank["UUID"] = str(uuid.UUID(int=1))
    row = {name: blank.get(kind, "1") for name, kind in kinds} | given
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*row.values()])
