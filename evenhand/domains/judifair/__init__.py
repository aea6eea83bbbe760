"""JudiFair: Chinese criminal sentencing as a domain of Evenhand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from store.migrate import Former, MigrationSet

if TYPE_CHECKING:
    from evenhand.domains.judifair.audit import JudifairAudit

SCHEMA = "judifair"
"""The DuckDB schema of a study that holds what only this domain has."""

_FOLDER = Path(__file__).parent / "migrations"

MIGRATIONS = MigrationSet(
    "domain judifair",
    _FOLDER,
    former=Former(
        MigrationSet("judifair", _FOLDER / "former"),
        MigrationSet("domain judifair: take over", _FOLDER / "take_over"),
    ),
)
"""The tables and views of this domain, for `store.open_study(migrations=[...])`."""

RESULTS_MIGRATIONS = MigrationSet("judifair results", _FOLDER.with_name("results_migrations"))
"""What this domain's earlier results are of; to come after the migrations of the analyzer."""

NAMES = ("judifair",)
"""By what `--domain` knows it."""


def audit_of(name: str) -> JudifairAudit:
    """What the commands and services need of this domain."""
    from evenhand.domains.judifair.audit import JudifairAudit  # noqa: PLC0415  (it imports this package)

    del name
    return JudifairAudit()


__all__ = [
    "MIGRATIONS",
    "NAMES",
    "RESULTS_MIGRATIONS",
    "SCHEMA",
    "answered",
    "audit_of",
    "build",
    "case_files",
    "catalogue",
    "check",
    "coding",
    "importer",
    "prompts",
    "sample",
    "show",
    "unknown_labels",
]
