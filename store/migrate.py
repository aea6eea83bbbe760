"""Numbered migrations: how the tables of a study come to be, room by room.

A room hands a folder of `NNNN_name.sql` files. Each is applied once, in order, in a transaction of its own,
and noted in the table `migrations`. A released migration is never edited; a change is a new file.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import BadInput

if TYPE_CHECKING:
    import duckdb  # rooms name their migrations where imports must stay light

_CLASHES = "Ambiguous reference to catalog or schema"
"""What DuckDB says where a schema is called like the file that it is in: it cannot tell the two apart."""
_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class MigrationSet:
    """The migrations of one room: its name, and the folder that holds its `NNNN_name.sql` files.

    Where one folder serves several rooms, `schema` replaces `{schema}` in its files: the name of a DuckDB
    schema. Where a room was laid out anew, `former` brings studies of the old layout into the new one.
    """

    room: str
    folder: Path
    schema: str | None = None
    former: Former | None = None


@dataclass(frozen=True, slots=True)
class Former:
    """The layout that a room had before; a study that has none of it never sees it."""

    layout: MigrationSet
    """Completed before anything else, so that every old study is alike."""
    take_over: MigrationSet
    """Applied last: moves the old tables' rows into the new ones."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of a set."""

    room: str
    number: int
    name: str
    path: Path
    schema: str | None = None

    def sql(self) -> str:
        """The statements."""
        text = self.path.read_text(encoding="utf-8")
        return text if self.schema is None else text.replace("{schema}", quoted(self.schema))


STORE = MigrationSet("store", Path(__file__).parent / "migrations")
"""The store's own tables; they always come first."""


def read(migrations: MigrationSet) -> list[Migration]:
    """The migrations of a room in order of number.

    Raises:
        ValueError: a file is misnamed, or the numbers are not 1, 2, 3 and so on (a defect of the room).
    """
    found = []
    for path in sorted(migrations.folder.glob("*.sql")):
        match = _FILE.fullmatch(path.name)
        if match is None:
            raise ValueError(f"{path}: a migration is named NNNN_name.sql")
        found.append(Migration(migrations.room, int(match.group(1)), match.group(2), path, migrations.schema))
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError(
            f"{migrations.folder}: the migrations must be numbered 0001, 0002, ... without a gap"
        )
    return found


def applied(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[int, str]]:
    """What a study has: room -> number -> name. Empty where there is no table `migrations` yet."""
    exists = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'main' AND table_name = 'migrations'"
    ).fetchall()
    rooms: dict[str, dict[int, str]] = {}
    if exists[0][0]:
        rows = connection.execute("SELECT room, number, name FROM migrations").fetchall()
        for room, number, name in rows:
            rooms.setdefault(room, {})[number] = name
    return rooms


def missing(connection: duckdb.DuckDBPyConnection, sets: Sequence[MigrationSet]) -> list[Migration]:
    """The migrations that a study still needs, the store's first.

    Raises:
        BadInput: the study has migrations that this version does not know.
    """
    have = applied(connection)
    needed: list[Migration] = []
    for migrations in _in_order(_with_store(sets), have):
        known = {migration.number: migration for migration in read(migrations)}
        for number, name in have.get(migrations.room, {}).items():
            if number not in known:
                raise BadInput(
                    f"the study has version {number} of the {migrations.room} tables; "
                    f"this version of Evenhand knows {len(known)}",
                    hint="It was written by a newer Evenhand: upgrade this one, or use another --db.",
                )
            if known[number].name != name:
                raise BadInput(
                    f"version {number} of the {migrations.room} tables is '{name}' in the study and "
                    f"'{known[number].name}' in this Evenhand",
                    hint="It was written by an Evenhand of another line: use that one, or another --db.",
                )
        done = have.get(migrations.room, {})
        needed += [migration for number, migration in sorted(known.items()) if number not in done]
    return needed


def migrate(connection: duckdb.DuckDBPyConnection, sets: Sequence[MigrationSet]) -> list[Migration]:
    """Apply what is missing, each migration in a transaction of its own; returns what was applied.

    Raises:
        BadInput: the study is newer than the code.
        duckdb.Error: a migration failed; it is rolled back, those before it stay.
    """
    needed = missing(connection, sets)
    for migration in needed:
        connection.execute("BEGIN")
        try:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations (room VARCHAR, number INTEGER, "
                "name VARCHAR, applied_at TIMESTAMP, PRIMARY KEY (room, number))"
            )
            connection.execute(migration.sql())
            connection.execute(
                "INSERT INTO migrations VALUES (?, ?, ?, now() AT TIME ZONE 'UTC')",
                [migration.room, migration.number, migration.name],
            )
            connection.execute("COMMIT")
        except BaseException as error:
            connection.execute("ROLLBACK")
            if _CLASHES in str(error):
                name = migration.schema or migration.room.removeprefix("domain ")
                raise BadInput(
                    f"the file is called like the domain {name}, whose tables it is to hold",
                    hint=f"Give the study another name, for instance {name}-study.duckdb.",
                ) from None
            raise
    return needed


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def _in_order(sets: Sequence[MigrationSet], have: Container[str]) -> list[MigrationSet]:
    """The sets with the former layouts that a study has: those come first, and their moves last."""
    former = [one.former for one in sets if one.former is not None and one.former.layout.room in have]
    return [*(one.layout for one in former), *sets, *(one.take_over for one in former)]


def _with_store(sets: Sequence[MigrationSet]) -> list[MigrationSet]:
    return [STORE, *(migrations for migrations in sets if migrations.room != STORE.room)]
