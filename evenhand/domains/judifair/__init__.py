"""JudiFair: Chinese criminal sentencing as a domain of Evenhand."""

from pathlib import Path

from store.migrate import Former, MigrationSet

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

__all__ = [
    "MIGRATIONS",
    "RESULTS_MIGRATIONS",
    "SCHEMA",
    "answered",
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
