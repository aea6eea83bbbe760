"""JudiFair: Chinese criminal sentencing as a domain of Evenhand.

Light to import: what needs the store or a database loads where it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store import MigrationSet

    MIGRATIONS: MigrationSet
    RESULTS_MIGRATIONS: MigrationSet

MIGRATIONS_FOLDER = Path(__file__).parent / "migrations"

__all__ = ["MIGRATIONS", "MIGRATIONS_FOLDER", "RESULTS_MIGRATIONS"]


def __getattr__(name: str) -> MigrationSet:
    """`MIGRATIONS`: the tables and views of this room, for `store.open_study(migrations=[...])`.

    `RESULTS_MIGRATIONS`, after those of the analyzer: what this domain's earlier results are of.
    """
    from store import MigrationSet  # noqa: PLC0415  (keeps the import of this package light)

    if name == "MIGRATIONS":
        return MigrationSet("judifair", MIGRATIONS_FOLDER)
    if name == "RESULTS_MIGRATIONS":
        return MigrationSet("judifair results", MIGRATIONS_FOLDER.with_name("results_migrations"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
