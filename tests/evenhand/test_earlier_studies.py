"""A study from before domains had schemas is brought up to date as it is opened, with all that it holds."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import duckdb
import pytest
from earlier_study import insert, made

import store
from evenhand.cli.options import open_study
from evenhand.domains import judifair
from store.errors import BadInput
from store.merge import merge
from store.readonly import run_sql

MOVED = {
    "labels": "labels",
    "label_values": "label_values",
    "truths": "truths",
    "truth_exceptions": "truth_exceptions",
    "verdicts": "verdicts",
    "coding_versions": "coding_versions",
    "judifair_designs": "designs",
    "judifair_design_values": "design_values",
    "judifair_value_names": "value_names",
    "imported_files": "imported_files",
}
KEPT = (
    "collections",
    "documents",
    "templates",
    "queries",
    "models",
    "runs",
    "predictions",
    "failures",
    "attempts",
)
QUERY, IMPORTED, OWN = (str(uuid.UUID(int=i)) for i in (11, 12, 13))


def rows(connection: duckdb.DuckDBPyConnection, table: str) -> list[dict[str, Any]]:
    """The rows of a table, by column."""
    found = connection.execute(f"SELECT * FROM {table} ORDER BY ALL")
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """One row and more in every table; two of them imported, one without the hash of a file."""
    path = tmp_path / "study.duckdb"
    with made(path) as connection:
        for table in (*MOVED, *KEPT[:-3], "failures", "attempts"):
            if table not in ("queries", "models", "verdicts", "judifair_designs"):
                insert(
                    connection,
                    table,
                    **({"collection": "cases"} if table in ("collections", "documents") else {}),
                )
        insert(connection, "models", model_key="k")
        insert(connection, "queries", query_id=QUERY, collection="cases", doc_id="x", label="sex", value="f")
        for coding in ("published", "corrected"):
            insert(connection, "judifair_designs", coding=coding, label="sex", published="sexx")
        for at, (prediction, source) in enumerate(((IMPORTED, "file"), (OWN, None))):
            insert(
                connection, "predictions", prediction_id=prediction, query_id=QUERY, model_key="k", repeat=at,
                published_label="sexx", source_hash=source, outcome="answered", text="{}",
            )  # fmt: skip
            insert(
                connection,
                "verdicts",
                prediction_id=prediction,
                coding="published",
                months=at,
                missing="range",
            )
    return path


def test_every_row_is_where_it_belongs(earlier: Path) -> None:
    with duckdb.connect(str(earlier)) as connection:
        before = {table: rows(connection, table) for table in (*MOVED, *KEPT)}
        answers = rows(connection, "answers")
    assert all(before.values())
    with open_study(earlier) as study:
        for old, new in MOVED.items():
            assert rows(study.connection, f"judifair.{new}") == before[old], old
        for table in KEPT:
            now = rows(study.connection, table)
            then = [
                {key: value for key, value in row.items() if key != "published_label"}
                for row in before[table]
            ]
            for row in then:
                if row.get("prediction_id") == uuid.UUID(OWN):
                    row["source_hash"] = OWN
                if table == "collections":
                    row["domain"] = "judifair"
            assert [{key: row[key] for key in then[0]} for row in now] == then, table
        # What people asked before is answered as before, and the label of the file is not lost.
        for row in rows(study.connection, "answers"):
            assert {key: row[key] for key in answers[0]} in answers
        assert len(rows(study.connection, "answers")) == len(answers) == 2
        assert {row["published_label"] for row in rows(study.connection, "answers")} == {"sexx"}
        left = study.connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND "
            "(table_name IN ('labels', 'published_labels') OR table_name LIKE 'judifair%')"
        ).fetchall()
        assert left == []
    with open_study(earlier) as study:
        assert len(rows(study.connection, "judifair.verdicts")) == 2, "opening again changes nothing"


def test_opened_to_read_it_says_what_to_do(earlier: Path) -> None:
    with pytest.raises(BadInput, match="older version") as raised:
        open_study(earlier, read_only=True)
    assert "command that writes" in (raised.value.hint or "")


def test_an_interrupted_move_is_completed(earlier: Path) -> None:
    # The store's own migrations alone, as another program might apply them.
    with store.open_study(earlier) as study:
        assert "published_label" not in rows(study.connection, "predictions")[0]
    with open_study(earlier) as study:
        assert {row["published_label"] for row in rows(study.connection, "answers")} == {"sexx"}


def test_a_study_half_way_is_not_merged(earlier: Path, tmp_path: Path) -> None:
    with store.open_study(earlier):
        pass
    with open_study(tmp_path / "new.duckdb", create=True) as study:
        with pytest.raises(BadInput, match="older version"):
            merge(study, earlier, migrations=[judifair.MIGRATIONS])
        assert rows(study.connection, "predictions") == []


def test_names_without_a_schema_are_those_of_the_only_domain(earlier: Path) -> None:
    with open_study(earlier):
        pass
    assert run_sql(earlier, "SELECT count(*) FROM answers").rows == [(2,)]
    with open_study(earlier) as study:
        assert study.cursor().execute("SELECT count(*) FROM verdicts").fetchall() == [(2,)]
        study.connection.execute("CREATE SCHEMA parole; CREATE VIEW parole.answers AS SELECT 1 AS one")
        store.add_collection(study, "hearings", kind="own", description="", domain="parole")
        with pytest.raises(BadInput, match="does not exist") as raised:
            run_sql(study, "SELECT count(*) FROM answers")
        assert "several domains" in (raised.value.hint or "")
        assert "judifair.answers or parole.answers" in (raised.value.hint or "")
        assert run_sql(study, "SELECT count(*) FROM judifair.answers").rows == [(2,)]
        with pytest.raises(BadInput, match="belongs to the domain judifair"):
            store.add_collection(study, "cases", kind="own", description="", domain="parole")
