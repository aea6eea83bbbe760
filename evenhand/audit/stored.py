"""A domain's definition inside a study: kept as it is built, found again where its folder is not."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.audit import folder
from evenhand.audit import study as tables
from store.domain_schemas import domain_schema
from store.migrate import quoted

if TYPE_CHECKING:
    from evenhand.audit.domain import Domain
    from store import Study

_LEFT_OUT = {"cases.jsonl", "answers.jsonl"}
_UNPACKED: dict[tuple[str, str], tempfile.TemporaryDirectory[str]] = {}
"""Folders made of stored definitions; gone when the process ends."""


def keep(study: Study, domain: Domain) -> None:
    """Write the files of a domain's folder into the study, but for its cases and examples of answers."""
    if domain.folder is None:
        return
    from store.sql import transaction  # noqa: PLC0415  (keeps the import of this package light)

    tables.describe(study, domain)
    files = {
        path.name: path.read_text(encoding="utf-8-sig")
        for path in sorted(domain.folder.iterdir())
        if path.is_file() and path.suffix in {".toml", ".md"} and path.name not in _LEFT_OUT
    }
    into = f"{quoted(domain.schema)}.files"
    with transaction(study.connection) as connection:
        connection.execute(f"DELETE FROM {into}")
        for name, text in files.items():
            connection.execute(f"INSERT INTO {into} VALUES (?, ?)", [name, text])


def find(study: Study, name: str) -> Domain | None:
    """The domain of this name as the study has it; None where it has no definition of it.

    Raises:
        BadInput: the definition does not fit this version of Evenhand.
    """
    schema = domain_schema(name)
    there = study.connection.execute(
        "SELECT 1 FROM duckdb_tables() WHERE schema_name = ? AND table_name = 'files' "
        "AND database_name = current_database()",
        [schema],
    ).fetchall()
    if not there:
        return None
    rows = study.connection.execute(f"SELECT name, text FROM {quoted(schema)}.files").fetchall()
    if not rows:
        return None
    key = (study.study_id, name)
    if key not in _UNPACKED:
        _UNPACKED[key] = tempfile.TemporaryDirectory(prefix="evenhand-domain-")
    made = _UNPACKED[key]
    for file, text in rows:
        (Path(made.name) / Path(file).name).write_text(text, encoding="utf-8")
    return folder.load(Path(made.name))
