"""Taking over corrected truths: a file whose answers the study has may state other true judgments now.

Answers are known by what they say, so such a file adds none. Its truths replace those that it stated before.
Under the published coding each row goes by the truth that its file states: the rows of other files, which
were not saved again, keep the old one as an exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from evenhand.domains.judifair.importer.load import CHUNK_ROWS, remember, row_table
from evenhand.domains.judifair.importer.plan import Present
from evenhand.domains.judifair.importer.report import RESTATED, FileReport
from evenhand.domains.judifair.importer.scan import Scan
from store.sql import chunks, transaction

if TYPE_CHECKING:
    import duckdb

    from store import Study


@dataclass(frozen=True, slots=True)
class Restated:
    """Documents that a file states another truth of, and rows of other files that keep the old one."""

    documents: int
    kept_by_others: int


def restate(study: Study, file: FileReport, scan: Scan, known: Present, *, dry_run: bool) -> Restated:
    """Take over the truths of a file whose answers the study has, all or none; its report gets the count.

    A dry run only counts.
    """
    connection = study.connection
    parameters = {"collection": known.collection}
    _gather(connection, file, scan)
    connection.execute(
        _sql("restated_documents"), {**parameters, "states_new": known.truths_hash is not None}
    )
    documents = len(connection.execute(_sql("restated_rows"), parameters).fetchall())
    others = {**parameters, "source_hash": file.source_hash}
    kept = connection.execute(f"SELECT count(*) FROM ({_sql('rows_of_others')})", others).fetchall()[0][0]
    if not dry_run:
        with transaction(connection):
            connection.execute(f"INSERT INTO judifair.truth_exceptions {_sql('rows_of_others')}", others)
            connection.execute(_sql("restate_truths"), parameters)
            connection.execute(
                "DELETE FROM judifair.truth_exceptions "
                "WHERE prediction_id IN (SELECT prediction_id FROM import_rows)"
            )
            connection.execute(_sql("add_truths"), parameters)
            connection.execute(_sql("add_truth_exceptions"), parameters)
            remember(connection, file)
    for name in ("restated_documents", "import_rows"):
        connection.execute(f"DROP TABLE {name}")
    file.truths = documents
    if documents:
        file.status = RESTATED
    return Restated(documents, kept)


def _gather(connection: duckdb.DuckDBPyConnection, file: FileReport, scan: Scan) -> None:
    """The rows of the file that the study has, as the temporary table `import_rows`."""
    connection.execute("DROP TABLE IF EXISTS temp.import_rows")
    rows = (row_table(chunk, file.source_hash) for chunk in chunks(scan.records(), CHUNK_ROWS))
    connection.register("read_rows", pa.concat_tables(table.drop_columns(["text"]) for table in rows))
    try:
        connection.execute(
            "CREATE TEMP TABLE import_rows AS "
            "SELECT * FROM read_rows SEMI JOIN predictions USING (prediction_id)"
        )
    finally:
        connection.unregister("read_rows")


@cache
def _sql(name: str) -> str:
    return (Path(__file__).parent / f"{name}.sql").read_text(encoding="utf-8")
