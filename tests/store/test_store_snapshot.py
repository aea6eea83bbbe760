"""A copy of a study is whole and consistent, whoever writes meanwhile, and overwrites nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from store_samples import build

import store
from store import live, snapshot
from store.errors import BadInput, RunFailed
from store.opening import InUse

# Each commit adds as many predictions as failures, so that a torn copy would show.
WRITER = """
import sys, store
from store import live
study = store.open_study(sys.argv[1])
connection = study.cursor()
with live.Server(study):
    print("ready", flush=True)
    for number in range(100000):
        connection.execute("BEGIN")
        connection.execute(
            "INSERT INTO predictions BY NAME SELECT uuid() AS prediction_id, uuid() AS query_id, 'm' AS "
            "model_key, uuid() AS run_id, ? AS repeat, 'answered' AS outcome, repeat('长', 200) AS text, "
            "now() AS created_at FROM range(50)", [number])
        connection.execute(
            "INSERT INTO failures BY NAME SELECT uuid() AS failure_id, uuid() AS query_id, 'm' AS model_key, "
            "uuid() AS run_id, ? AS repeat, 'failed' AS outcome, 'x' AS reason, now() AS created_at "
            "FROM range(50)", [number])
        connection.execute("COMMIT")
"""
SILENT = """
import sys, time, store
study = store.open_study(sys.argv[1])
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with store.open_study(tmp_path / "s.duckdb") as study:
        build(study)
        study.connection.execute("CREATE SCHEMA domain")
        study.connection.execute(
            "CREATE TABLE domain.readings (n INTEGER PRIMARY KEY, d INTERVAL, u UHUGEINT)"
        )
        study.connection.execute(
            "INSERT INTO domain.readings SELECT n, INTERVAL (n) DAY, 340282366920938463463374607431768211455 "
            "FROM range(30000) AS r(n)"
        )
        study.connection.execute("CREATE MACRO twice(n) AS 2 * n")
        study.connection.execute("CREATE MACRO few(n) AS TABLE SELECT * FROM domain.readings LIMIT n")
        study.connection.execute('CREATE VIEW domain."a view" AS SELECT twice(n) AS m FROM domain.readings')
        study.connection.execute('CREATE VIEW later AS SELECT max(m) AS most FROM domain."a view"')
        study.connection.execute("CREATE INDEX of_days ON domain.readings (n)")
    return tmp_path / "s.duckdb"


@contextmanager
def process(program: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    started = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        yield started
    finally:
        started.kill()
        started.wait()


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        return {
            f"{schema}.{table}": connection.execute(f'SELECT * FROM "{schema}"."{table}"').fetchall()
            for schema, table in tables
        }


def definitions(path: Path) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return [
            row
            for statement in (
                "SELECT schema_name, table_name, sql FROM duckdb_tables() WHERE NOT internal ORDER BY ALL",
                "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
                "SELECT function_name, macro_definition FROM duckdb_functions() WHERE NOT internal ORDER BY "
                "ALL",
                "SELECT index_name, sql FROM duckdb_indexes() ORDER BY ALL",
            )
            for row in connection.execute(statement).fetchall()
        ]


def test_a_copy_has_all_that_the_study_has_in_its_order(path: Path, tmp_path: Path) -> None:
    made = snapshot.snapshot(path, tmp_path / "copy.duckdb")
    assert (made.answers, made.live) == (0, False)
    assert contents(made.path) == contents(path)
    assert definitions(made.path) == definitions(path)
    with store.open_study(made.path) as study:
        assert study.connection.execute("SELECT most FROM later").fetchall() == [(59_998,)]
        assert len(study.connection.execute("FROM few(3)").fetchall()) == 3
    assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.duckdb", "s.duckdb"]


def test_copies_while_a_process_writes_are_never_torn(path: Path, tmp_path: Path) -> None:
    found = []
    with process(WRITER, path):
        for number in range(4):
            made = snapshot.snapshot(path, tmp_path / f"{number}.duckdb")
            assert made.live
            found.append(made)
    for made in found:
        with duckdb.connect(str(made.path), read_only=True) as connection:
            ((answers, failures, left),) = connection.execute(
                "SELECT (SELECT count(*) FROM predictions), (SELECT count(*) FROM failures), "
                "(SELECT count(*) FROM (SELECT repeat FROM predictions GROUP BY repeat HAVING count(*) <> "
                "50))"
            ).fetchall()
        assert (answers, failures, left) == (made.answers, made.given_up, 0)
        assert answers == failures
    assert found[0].answers < found[-1].answers, "each copy has what was committed when it began"


def test_a_process_that_ends_on_the_way_leaves_its_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = live.live_snapshot
    asked = []

    @contextmanager
    def ending(source: Path) -> Iterator[Any]:
        asked.append(source)
        with real(source) as found:
            assert found is not None

            def parts() -> Iterator[snapshot.Part]:
                yield next(found)
                raise RunFailed("the running process ended the conversation")

            yield parts() if len(asked) < 3 else found

    monkeypatch.setattr(live, "live_snapshot", ending)
    with store.open_study(path) as study, live.Server(study):
        made = snapshot.snapshot(path, tmp_path / "copy.duckdb")
    assert len(asked) == 3
    assert made.live
    assert contents(made.path).keys() == contents(path).keys()


def test_a_process_that_never_gives_a_whole_copy_is_told(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(cursor: Any) -> Iterator[snapshot.Part]:
        yield next(snapshot_parts(cursor))
        raise duckdb.IOException("disk")

    snapshot_parts = snapshot.parts
    monkeypatch.setattr(snapshot, "parts", broken)
    with (
        store.open_study(path) as study,
        live.Server(study),
        pytest.raises((RunFailed, BadInput), match="disk"),
    ):
        snapshot.snapshot(path, tmp_path / "copy.duckdb")
    assert [one.name for one in tmp_path.iterdir()] == ["s.duckdb"]


@pytest.mark.parametrize("taken", ["copy.duckdb", "copy.duckdb.wal", "s.duckdb"])
def test_nothing_is_overwritten(path: Path, tmp_path: Path, taken: str) -> None:
    if taken != "s.duckdb":
        (tmp_path / taken).write_text("mine")
    before = (tmp_path / taken).read_bytes()
    with pytest.raises(BadInput, match=f"{taken} exists"):
        snapshot.snapshot(path, tmp_path / taken.removesuffix(".wal"))
    assert (tmp_path / taken).read_bytes() == before


def test_a_file_that_comes_meanwhile_is_not_overwritten(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = snapshot._place

    def late(unfinished: Path, out: Path) -> None:
        out.write_text("mine")
        real(unfinished, out)

    monkeypatch.setattr(snapshot, "_place", late)
    with pytest.raises(BadInput, match="exists"):
        snapshot.snapshot(path, tmp_path / "copy.duckdb")
    assert (tmp_path / "copy.duckdb").read_text() == "mine"


def test_what_cannot_be_copied_is_told(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy.duckdb"
    (tmp_path / "text.duckdb").write_text("a text, and no database at all, however long it may be")
    for source, words in (
        (tmp_path / "none.duckdb", "no study"),
        (tmp_path / "text.duckdb", "not a DuckDB file"),
    ):
        with pytest.raises(BadInput, match=words):
            snapshot.snapshot(source, out)
    with pytest.raises(BadInput, match="no folder"):
        snapshot.snapshot(path, tmp_path / "none" / "copy.duckdb")
    with process(SILENT, path), pytest.raises(InUse):
        snapshot.snapshot(path, out)
    assert not out.exists()
