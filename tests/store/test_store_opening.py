"""Opening a study: what is refused, in which words, and that nothing is changed by refusing."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import store
from store import migrate
from store.opening import InUse, explain

OPEN_AND_WAIT = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1])
print("ready", flush=True)
time.sleep(60)
"""


def make(path: Path) -> Path:
    store.open_study(path).close()
    return path


def test_a_missing_study_is_made_or_missed(tmp_path: Path) -> None:
    with pytest.raises(store.BadInput, match="there is no study at") as caught:
        store.open_study(tmp_path / "s.duckdb", create=False)
    assert "evenhand build" in str(caught.value)
    with pytest.raises(store.BadInput, match="there is no study at"):
        store.open_study(tmp_path / "s.duckdb", read_only=True)
    assert not list(tmp_path.iterdir())
    make(tmp_path / "s.duckdb")
    store.open_study(tmp_path / "s.duckdb", create=False).close()


def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    text, empty, lite = tmp_path / "a.txt", tmp_path / "empty", tmp_path / "lite.db"
    text.write_text("hello " * 1000)
    empty.touch()
    with sqlite3.connect(lite) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    for path, words in (
        (text, "not a DuckDB file"),
        (empty, "is empty"),
        (lite, "SQLite"),
        (tmp_path, "is a folder"),
    ):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(store.BadInput, match=words) as caught:
            store.open_study(path)
        assert caught.value.exit_code == 2
        assert caught.value.hint
        assert not path.is_file() or path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE orders (a INTEGER); CREATE TABLE study (key VARCHAR, value VARCHAR)")
        connection.execute("INSERT INTO study VALUES ('application', 'another')")
    before = path.read_bytes()
    with pytest.raises(store.BadInput, match=r"another program \(it has orders, study\)"):
        store.open_study(path)
    with pytest.raises(store.BadInput, match="another program"):
        store.open_study(path, read_only=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE migrations (name VARCHAR)")
    with pytest.raises(store.BadInput, match="another program"):
        store.open_study(path)
    path.write_bytes(before)
    assert [file.name for file in tmp_path.iterdir()] == ["other.duckdb"]


def test_an_empty_duckdb_file_becomes_a_study(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "s.duckdb")).close()
    with store.open_study(tmp_path / "s.duckdb") as study:
        assert study.connection.execute("SELECT count(*) FROM queries").fetchall() == [(0,)]


def test_a_damaged_file_is_told_as_such(tmp_path: Path) -> None:
    path = make(tmp_path / "s.duckdb")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(store.BadInput, match="cannot be opened"):
        store.open_study(path)
    path.write_bytes(whole[:4096] + bytes(8192) + whole[12288:])
    with pytest.raises(store.BadInput, match="cannot be opened"):
        store.open_study(path)


def test_folders_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(store.BadInput, match="there is no folder") as caught:
        store.open_study(tmp_path / "no" / "s.duckdb")
    assert "mkdir -p" in str(caught.value)
    with pytest.raises(store.BadInput):
        store.open_study("/proc/s.duckdb")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_rights_that_are_missing_are_named(tmp_path: Path) -> None:
    path = make(tmp_path / "s.duckdb")
    path.chmod(0o400)
    with pytest.raises(store.BadInput, match="may not be written"):
        store.open_study(path)
    store.open_study(path, read_only=True).close()
    tmp_path.chmod(0o500)
    with pytest.raises(store.BadInput, match="may not be written"):
        store.open_study(tmp_path / "new.duckdb")
    tmp_path.chmod(0o700)


def test_the_process_that_holds_the_file_is_named(tmp_path: Path) -> None:
    path = make(tmp_path / "s.duckdb")
    process = subprocess.Popen([sys.executable, "-c", OPEN_AND_WAIT, path], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        for read_only in (False, True):
            with pytest.raises(InUse, match=f"process {process.pid}") as caught:
                store.open_study(path, read_only=read_only)
            assert caught.value.pid == process.pid
            assert f"kill -INT {process.pid}" in str(caught.value)
            assert caught.value.exit_code == 2
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    store.open_study(path).close()


def test_a_study_can_be_opened_twice_in_a_process(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as one, store.open_study(tmp_path / "s.duckdb") as two:
        store.add_collection(one, "c", kind="own", description="")
        assert two.connection.execute("SELECT count(*) FROM collections").fetchall() == [(1,)]
        with pytest.raises(store.BadInput, match="other settings"):
            store.open_study(tmp_path / "s.duckdb", memory_limit="100MB")
    with store.open_study(":memory:") as one, store.open_study(":memory:") as two:
        assert one.study_id != two.study_id


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("IO Error: Trying to read a database file with version number 999", "newer DuckDB"),
        ("Serialization Error: ... newer version of DuckDB", "newer DuckDB"),
        ("IO Error: Cannot open file: Permission denied", "may not be written"),
        ("IO Error: Cannot open file: Read-only file system", "may not be written"),
        ("IO Error: Could not write: No space left on device", "full"),
        ("Catalog Error: Cannot open encrypted database", "encrypted"),
        ("IO Error: Could not set lock on file: Resource temporarily unavailable", "another process"),
        ("", "cannot be opened"),
    ],
)
def test_errors_of_duckdb_become_sentences(text: str, words: str) -> None:
    error = explain(Path("/x/s.duckdb"), duckdb.IOException(text))
    assert words in error.message
    assert error.hint


def room(folder: Path, *statements: str) -> store.MigrationSet:
    folder.mkdir(exist_ok=True)
    for number, sql in enumerate(statements, 1):
        (folder / f"{number:04}_step{number}.sql").write_text(sql)
    return store.MigrationSet("room", folder)


def test_migrations_are_applied_once_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    first = room(tmp_path / "room", "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)")
    with store.open_study(path, migrations=[first]) as study:
        assert [m.room for m in migrate.missing(study.connection, [first])] == []
    second = room(
        tmp_path / "room", "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)"
    )
    with pytest.raises(store.BadInput, match="older version"):
        store.open_study(path, migrations=[second], read_only=True)
    for _ in range(2):
        with store.open_study(path, migrations=[second]) as study:
            assert study.connection.execute("SELECT x FROM a ORDER BY x").fetchall() == [(1,), (2,)]
            assert migrate.applied(study.connection)["room"] == {1: "step1", 2: "step2"}
    store.open_study(path).close()  # without the room: its tables stay
    store.open_study(path, migrations=[second], read_only=True).close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    broken = room(
        tmp_path / "room", "CREATE TABLE a (x INTEGER)", "CREATE TABLE b (x INTEGER); SELECT nonsense"
    )
    with pytest.raises(duckdb.Error, match="nonsense"):
        store.open_study(path, migrations=[broken])
    with store.open_study(path) as study:
        tables = {row[0] for row in study.connection.execute("SHOW TABLES").fetchall()}
        assert "a" in tables
        assert "b" not in tables
        assert migrate.applied(study.connection)["room"] == {1: "step1"}


def test_a_study_of_a_newer_evenhand_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = make(tmp_path / "s.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('store', 9999, 'future', now()::TIMESTAMP)")
    with pytest.raises(store.BadInput, match=r"version 9999 of the store tables.*\n.*upgrade"):
        store.open_study(path)
    with pytest.raises(store.BadInput, match="9999"):
        store.open_study(path, read_only=True)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT count(*) FROM migrations WHERE number > 9000").fetchall() == [(1,)]
        connection.execute("DELETE FROM migrations WHERE number > 9000")
        connection.execute("UPDATE migrations SET name = 'another' WHERE number = 1")
    with pytest.raises(store.BadInput, match="another line"):
        store.open_study(path)


def test_misnumbered_migrations_are_a_defect(tmp_path: Path) -> None:
    (tmp_path / "0002_second.sql").write_text("SELECT 1")
    with pytest.raises(ValueError, match="without a gap"):
        migrate.read(store.MigrationSet("room", tmp_path))
    (tmp_path / "first.sql").write_text("SELECT 1")
    with pytest.raises(ValueError, match="NNNN_name"):
        migrate.read(store.MigrationSet("room", tmp_path))


def test_the_connection_reaches_no_other_file(tmp_path: Path) -> None:
    with store.open_study(tmp_path / "s.duckdb") as study:
        for sql in (
            f"COPY queries TO '{tmp_path}/x.csv'",
            "SELECT * FROM read_text('/etc/passwd')",
            "INSTALL httpfs",
        ):
            with pytest.raises(duckdb.PermissionException):
                study.connection.execute(sql)


def test_a_study_called_like_its_domain_is_told_so(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_first.sql").write_text(
        "CREATE SCHEMA IF NOT EXISTS {schema}; CREATE TABLE {schema}.readings (i INTEGER);"
    )
    own = store.MigrationSet("domain parole", folder, "parole")
    with pytest.raises(store.BadInput, match="called like the domain parole") as told:
        store.open_study(tmp_path / "parole.duckdb", migrations=[own])
    assert "parole-study.duckdb" in (told.value.hint or "")
    with store.open_study(tmp_path / "study.duckdb", migrations=[own]) as study:
        study.connection.execute("INSERT INTO parole.readings VALUES (1)")
    (tmp_path / "study.duckdb").rename(tmp_path / "Parole.duckdb")
    with pytest.raises(store.BadInput, match="Rename the file"):
        store.open_study(tmp_path / "Parole.duckdb", migrations=[own])
    (tmp_path / "Parole.duckdb").rename(tmp_path / "again.duckdb")
    with store.open_study(tmp_path / "again.duckdb", migrations=[own]) as study:
        assert study.connection.execute("SELECT i FROM parole.readings").fetchall() == [(1,)]
