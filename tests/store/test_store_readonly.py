"""Read-only SQL: what may run, what may not, and what it comes back as. The attacks ran on DuckDB before they
were
written down here; each would succeed with one fence less."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import store
from store.readonly import reading, run_sql


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[store.Study]:
    with store.open_study(tmp_path_factory.mktemp("open") / "s.duckdb") as opened:
        store.add_collection(opened, "c", kind="own", description="")
        store.add_documents(opened, "c", [store.Document(f"d{i}", i, "text") for i in range(10)])
        opened.connection.execute("CREATE SEQUENCE numbers; CREATE MACRO ours(n) AS TABLE SELECT n + 1 AS m")
        yield opened


@pytest.fixture(scope="module")
def closed(study: store.Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the study that no process has open."""
    copy = tmp_path_factory.mktemp("closed") / "s.duckdb"
    study.connection.execute("CHECKPOINT")
    copy.write_bytes(study.path.read_bytes())
    return copy


ATTACKS = [
    "COMMIT",
    "COMMIT; INSERT INTO documents VALUES ('c', 'x', 1, NULL)",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE documents",
    "/* SELECT */ DELETE FROM documents",
    "-- SELECT 1\nDELETE FROM documents",
    "INSERT INTO documents VALUES ('c', 'x', 1, NULL)",
    "INSERT INTO documents VALUES ('c', 'x', 1, NULL) RETURNING doc_id",
    "WITH gone AS (DELETE FROM documents RETURNING doc_id) SELECT * FROM gone",
    "UPDATE documents SET text = 'x'",
    "CREATE TABLE t (a INTEGER)",
    "CREATE TEMP TABLE t (a INTEGER)",
    "CREATE OR REPLACE VIEW latest AS SELECT 1",
    "DROP TABLE documents",
    "ALTER TABLE documents ADD COLUMN x INTEGER",
    "COPY documents TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.parquet'",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/other.duckdb' AS other",
    "DETACH s",
    "USE main",
    "SET memory_limit = '1KB'",
    "RESET memory_limit",
    "SET enable_external_access = true",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_size",
    "PRAGMA enable_profiling",
    "CALL force_checkpoint()",
    "CALL pragma_version()",
    "CHECKPOINT",
    "FORCE CHECKPOINT",
    "VACUUM",
    "PREPARE p AS INSERT INTO documents VALUES ('c', 'x', 1, NULL)",
    "EXECUTE p",
    "BEGIN",
    "ROLLBACK",
    "EXPLAIN ANALYZE INSERT INTO documents VALUES ('c', 'x', 1, NULL)",
    "EXPLAIN INSERT INTO documents VALUES ('c', 'x', 1, NULL)",
    "EXPLAIN ANALYZE COMMIT",
    "EXPLAIN (ANALYZE) COMMIT",
    "EXPLAIN /* SELECT 1 */ ANALYZE -- SELECT 1\n COMMIT",
    "EXPLAIN ANALYZE /* /* */ SELECT 1 -- */\n COMMIT",
    "EXPLAIN ANALYZE -- \r COMMIT -- \n SELECT 1",
    "EXPLAIN -- \r ANALYZE SET threads = -- \n (SELECT 1)",
    "EXPLAIN (FORMAT ')SELECT 1 --') COMMIT",
    "EXPLAIN (FORMAT json) COMMIT",
    "EXPLAIN ANALYZE ANALYZE documents",
    "EXPLAIN ANALYZE SET threads = 1",
    "EXPLAIN ANALYZE CHECKPOINT",
    "EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1",
    "EXPLAIN ANALYZE COPY documents TO '{folder}/out.csv'",
    "EXPLAIN ANALYZE SELECT * FROM enable_logging()",
    "SELECT nextval('numbers')",
    "SELECT (SELECT max(nextval('numbers')) FROM documents)",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('{folder}/s.duckdb')",
    "SELECT * FROM read_parquet('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '{folder}/x.csv'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_config = {{'path': '{folder}/log'}})",
    'SELECT * FROM "enable_logging"()',
    "SELECT * FROM system.main.enable_logging()",
    "SELECT * FROM documents, (SELECT * FROM checkpoint())",
    "WITH a AS (FROM force_checkpoint()) SELECT * FROM a",
    "SELECT * FROM query('SELECT * FROM checkpoint()')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT write_log('x')",
    "SELECT sleep_ms(1)",
    "SELECT setseed(0.5)",
    "SELECT getenv('HOME')",
    "SELECT * FROM duckdb_secrets()",
    "",
    ";",
    "-- nothing",
    "SELEC 1",
    "SELECT 1 FROM nowhere",
]


def contents(study: store.Study) -> list[tuple[object, ...]]:
    return study.connection.execute(
        "SELECT 'row', collection, doc_id, position, text FROM documents UNION ALL "
        "SELECT type, name, '', NULL, sql FROM sqlite_master ORDER BY ALL"
    ).fetchall()


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_on_an_open_study_is_refused(study: store.Study, attack: str) -> None:
    before = contents(study)
    with pytest.raises(store.BadInput):
        run_sql(study, attack.format(folder=study.path.parent))
    assert contents(study) == before
    assert study.connection.execute("SELECT last_value FROM duckdb_sequences()").fetchall() == [(None,)]
    assert {path.suffix for path in study.path.parent.iterdir()} <= {".duckdb", ".wal"}
    assert run_sql(study, "SELECT count(*) AS n FROM documents").rows == [(10,)]


# Of each kind one: the fences are the same, and every try opens the file anew.
FILE_ATTACKS = [
    attack
    for attack in ATTACKS
    if attack.startswith(
        ("COMMIT;", "INSERT", "COPY documents", "ATTACH", "SET enable", "EXPLAIN (ANALYZE)", "CALL f")
    )
    or any(
        word in attack
        for word in ("ANALYZE INSERT", "ANALYZE COPY", "nextval('numbers')", "read_blob", "log'")
    )
]


@pytest.mark.parametrize("attack", FILE_ATTACKS)
def test_an_attack_on_a_file_is_refused(closed: Path, attack: str) -> None:
    before = closed.read_bytes()
    with pytest.raises(store.BadInput):
        run_sql(closed, attack.format(folder=closed.parent))
    assert closed.read_bytes() == before
    assert [path.name for path in closed.parent.iterdir()] == ["s.duckdb"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM documents;",
        "SELECT 1; -- done",
        "SELECT 1 ;; ",
        "  /* a */ select doc_id from documents -- end",
        "FROM documents",
        "VALUES (1), (2)",
        "(SELECT 1)",
        "TABLE documents",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
        "PIVOT documents ON doc_id IN ('d1', 'd2') USING count(*)",
        "DESCRIBE documents",
        "SUMMARIZE documents",
        "SHOW TABLES",
        "EXPLAIN SELECT * FROM documents",
        "EXPLAIN ANALYZE SELECT * FROM documents",
        "EXPLAIN (FORMAT json) SELECT * FROM documents",
        "EXPLAIN (SELECT 1)",
        "SELECT * FROM range(3)",
        "SELECT unnest([1, 2, 3])",
        "SELECT * FROM duckdb_tables()",
        "SELECT * FROM pragma_table_info('documents')",
        "SELECT * FROM ours(1)",
        "SELECT random(), uuid()",
        "SELECT 'COMMIT; DROP TABLE documents'",
    ],
)
def test_what_only_reads_is_allowed(study: store.Study, closed: Path, sql: str) -> None:
    assert run_sql(study, sql).rows
    assert run_sql(closed, sql).rows


def test_a_cap_says_that_it_cut(study: store.Study) -> None:
    assert run_sql(study, "SELECT doc_id FROM documents", limit=10).truncated is False
    cut = run_sql(study, "SELECT doc_id FROM documents ORDER BY 1", limit=9)
    assert cut.truncated
    assert len(cut.rows) == 9
    big = run_sql(study, "SELECT range FROM range(1_000_000)", limit=25_000)
    assert (len(big.rows), big.rows[-1], big.truncated) == (25_000, (24_999,), True)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(1_000_000_000) a, range(1_000_000_000) b",
        "SELECT a.range FROM range(1_000_000_000) a WHERE a.range < 0",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
        "EXPLAIN ANALYZE SELECT count(*) FROM range(1_000_000_000) a, range(1_000_000_000) b",
    ],
)
def test_a_statement_that_takes_too_long_is_stopped(study: store.Study, sql: str) -> None:
    started = time.monotonic()
    with pytest.raises(store.BadInput, match=r"took longer than 0.3 s"):
        run_sql(study, sql, timeout_s=0.3)
    assert time.monotonic() - started < 20
    assert run_sql(study, "SELECT 1").rows == [(1,)]


def test_a_reader_that_dawdles_is_stopped(study: store.Study) -> None:
    with reading(study, "SELECT range FROM range(1_000_000)", timeout_s=0.3) as result:
        assert next(result.batches).num_rows
        time.sleep(0.5)
        with pytest.raises(store.BadInput, match="took longer"):
            list(result.batches)


def test_values_come_back_as_python_has_them_and_as_json_can_hold_them(study: store.Study) -> None:
    rows = run_sql(
        study,
        "SELECT sum(position) AS n, 1 AS a, 2 AS a, 1.5::DECIMAL(4, 2) AS d, 'nan'::DOUBLE AS f, "
        "TIMESTAMP '2024-01-02 03:04:05' AS t, DATE '2024-01-02' AS day, uuid() AS id, [1, 2] AS l, "
        "{'k': 'v'} AS s, 'x'::BLOB AS b, NULL AS nothing, now() AS zoned, MAP {'p': 1} AS m FROM documents",
    )
    assert rows.columns[:3] == ("n", "a", "a_2")
    assert rows.rows[0][:3] == (45, 1, 2)
    assert rows.rows[0][5] == dt.datetime(2024, 1, 2, 3, 4, 5)
    (one,) = json.loads(json.dumps(rows.objects(), allow_nan=False))
    assert one["n"] == 45
    assert one["d"] == 1.5
    assert one["f"] is None
    assert one["t"] == "2024-01-02T03:04:05"
    assert one["day"] == "2024-01-02"
    assert len(one["id"]) == 36
    assert (one["l"], one["s"], one["b"]) == ([1, 2], {"k": "v"}, "78")


def test_an_error_of_the_users_sql_is_told_as_theirs(study: store.Study) -> None:
    with pytest.raises(store.BadInput, match="nosuch"):
        run_sql(study, "SELECT nosuch FROM documents")
    with pytest.raises(store.BadInput, match=r"(?i)conversion"):
        run_sql(study, "SELECT doc_id::INTEGER FROM documents")
