"""A study analysed before results had arms and outcomes keeps its results, and they are named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest
from earlier_study import insert, made

import analyze
import store
from analyze.findings import read_findings
from evenhand.cli.options import open_study

KEY = ("collection", "model_key", "coding")


def columns(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> list[str]:
    """The tables that have all of these columns."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() SEMI JOIN "
        "(SELECT table_name FROM duckdb_columns() WHERE column_name IN (SELECT unnest(?)) "
        "GROUP BY table_name HAVING count(*) = ?) USING (table_name) ORDER BY table_name",
        [list(names), len(names)],
    ).fetchall()
    return [name for (name,) in rows]


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    path = tmp_path / "study.duckdb"
    with made(path) as connection:
        for table in columns(connection, ("collection", "coding")):
            if table not in ("label_metrics", "findings"):
                insert(connection, table, collection="cases", coding="corrected")
        for table in columns(connection, ("collection", "before", "after")):
            insert(connection, table, collection="cases")
        insert(connection, "label_metrics", collection="cases", coding="corrected", label="judge_age")
        insert(connection, "findings", collection="cases", coding="corrected", outcome="declined", effect=2.5)
    return path


def test_results_from_before_are_of_the_base_arm_and_of_the_sentence(earlier: Path) -> None:
    with open_study(earlier) as study:
        tables = columns(study.connection, ("arm", "outcome", "collection"))
        of_results = [name for name in tables if name != "queries"]
        held = {
            table: study.connection.execute(f"SELECT arm, outcome FROM {table}").fetchall()
            for table in of_results
        }
        of_then = {table: rows for table, rows in held.items() if rows}  # later tables are empty
        assert len(of_then) == 24
        assert all(rows == [("base", "sentence")] for rows in of_then.values())
        (finding,) = read_findings(study, outcome="sentence")
        assert (finding.measure, finding.effect, finding.cell.arm) == ("declined", 2.5, "base")


def test_a_result_that_does_not_name_its_outcome_is_refused(earlier: Path) -> None:
    with open_study(earlier) as study, pytest.raises(Exception, match="NOT NULL"):
        study.connection.execute(
            "INSERT INTO analyses (collection, model, model_key, coding, analysed_at, settled, fingerprint) "
            "VALUES ('c', 'm', 'k', 'corrected', now(), 1, '')"
        )


def test_results_of_another_kind_keep_the_neutral_name_where_no_domain_names_them(
    earlier: Path, tmp_path: Path
) -> None:
    with store.open_study(earlier, migrations=[analyze.MIGRATIONS]) as study:
        found = study.connection.execute("SELECT arm, outcome FROM label_metrics").fetchall()
    assert found == [("base", "outcome")]
