"""SQL and status over the socket of the process that has the study open."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import store
from store import live, reach, sockets
from store.identity import new_prediction_id
from store.opening import InUse
from store.rows import now

HOLDER = """
import sys, time, store
from store import live
study = store.open_study(sys.argv[1])
store.add_collection(study, "c", kind="own", description="")
server = live.Server(study, lambda: {"done": 3}).start() if sys.argv[2] == "serve" else None
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # Not tmp_path: under parallel tests that is longer than a socket's name may be.
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[store.Study]:
    with store.open_study(tmp_path / "s.duckdb") as opened:
        store.add_collection(opened, "c", kind="own", description="")
        yield opened


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def hold(path: Path, how: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), how],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_another_process_is_asked_and_then_its_file(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    process = hold(path, "serve")
    try:
        rows = reach.run_sql(
            path, "SELECT collection, now()::TIMESTAMP < now()::TIMESTAMP AS no FROM collections"
        )
        assert (rows.columns, rows.rows, rows.live) == (("collection", "no"), [("c", False)], True)
        assert live.status(path) == {"pid": process.pid, "done": 3}
        with pytest.raises(store.BadInput, match="only SELECT"):
            reach.run_sql(path, "DROP TABLE collections")
        with pytest.raises(InUse, match=str(process.pid)):
            store.open_study(path)
    finally:
        process.kill()
        process.wait()
    # The socket is still there, and nobody answers: the file is read (its log too), and a new server takes
    # over.
    assert any(candidate.exists() for candidate in sockets.candidates(path))
    assert live.status(path) is None
    assert live.run_sql(path, "SELECT 1") is None
    rows = reach.run_sql(path, "SELECT collection FROM collections")
    assert (rows.rows, rows.live) == ([("c",)], False)
    with store.open_study(path) as study, live.Server(study):
        assert live.status(path) == {"pid": os.getpid()}


def test_a_process_that_holds_the_file_and_does_not_answer_is_named(tmp_path: Path) -> None:
    process = hold(tmp_path / "s.duckdb", "silent")
    try:
        with pytest.raises(InUse, match=str(process.pid)) as caught:
            reach.run_sql(tmp_path / "s.duckdb", "SELECT 1")
        assert caught.value.pid == process.pid
        assert "kill -INT" in str(caught.value)
    finally:
        process.kill()
        process.wait()


def test_only_the_user_can_reach_the_socket(study: store.Study, runtime: Path) -> None:
    server = live.Server(study)
    with server:
        assert server.path is not None
        assert server.path.parent == runtime / "evenhand"
        assert stat.S_IMODE(server.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(server.path.parent.stat().st_mode) == 0o700
        assert "s.duckdb" not in server.path.name
    assert not server.path.exists()
    server.stop()


def test_a_runtime_folder_with_too_long_a_name_is_passed_over(
    study: store.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("long" * 30)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    with live.Server(study) as server:
        assert server.path is not None
        assert len(os.fsencode(server.path)) <= 107
        assert reach.live.run_sql(study.path, "SELECT 1") is not None


def test_the_folder_of_another_is_not_used(study: store.Study, runtime: Path) -> None:
    elsewhere = runtime / "elsewhere"  # not beside it: that folder is shared by all tests of this machine
    elsewhere.mkdir()
    (runtime / "evenhand").symlink_to(elsewhere)
    with live.Server(study) as server:
        assert server.path is None or server.path.parent != runtime / "evenhand"
    assert not list(elsewhere.iterdir())


def test_a_large_result_streams_and_a_cap_ends_it(study: store.Study) -> None:
    with live.Server(study):
        with reach.reading(study.path, "SELECT range AS n, repeat('x', 100) FROM range(200_000)") as result:
            assert result.live
            assert sum(batch.num_rows for batch in result.batches) == 200_000
        cut = live.run_sql(study.path, "SELECT range FROM range(1_000_000_000)", limit=5)
        assert cut is not None
        assert (len(cut.rows), cut.truncated) == (5, True)
        empty = live.run_sql(study.path, "SELECT doc_id FROM documents")
        assert empty is not None
        assert (empty.columns, empty.rows) == (("doc_id",), [])


def test_a_live_statement_is_stopped_at_its_timeout_and_when_the_server_stops(study: store.Study) -> None:
    endless = "SELECT count(*) FROM range(1_000_000_000) a, range(1_000_000_000) b"
    server = live.Server(study).start()
    with pytest.raises(store.BadInput, match=r"took longer than 0.3 s"):
        live.run_sql(study.path, endless, timeout_s=0.3)
    errors: list[Exception] = []

    def ask() -> None:
        try:
            live.run_sql(study.path, endless, timeout_s=60)
        except store.EvenhandError as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: bool(server._interrupts))
    started = time.monotonic()
    server.stop()
    asking.join(20)
    assert time.monotonic() - started < 20  # of the minute that the statement had
    assert len(errors) == 1


def test_noise_on_the_socket_and_a_status_that_fails_do_no_harm(study: store.Study) -> None:
    def broken() -> dict[str, object]:
        raise KeyError("lane")

    with live.Server(study, broken) as server:
        for noise in (
            b"",
            b"GET / HTTP/1.1\r\n\r\n",
            b"J\x00\x00\x00\x02{",
            b"J\xff\xff\xff\xff",
            os.urandom(99),
        ):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(server.path))
                connection.sendall(noise)
        with pytest.raises(store.BadInput, match="lane"):
            live.status(study.path)
        connection = sockets.call(study.path, 5)
        assert connection is not None
        with connection, pytest.raises(store.BadInput, match="does not know"):
            next(live._frames(connection, {"do": "harm"}))
        assert live.run_sql(study.path, "SELECT 1") is not None


def test_more_askers_than_places_are_told_to_come_back(study: store.Study) -> None:
    with live.Server(study) as server:
        idle = [socket.socket(socket.AF_UNIX) for _ in range(live.CLIENTS)]
        for connection in idle:
            connection.connect(str(server.path))
        until(lambda: len(server._threads) == live.CLIENTS)
        with pytest.raises((store.BadInput, store.RunFailed)):
            live.run_sql(study.path, "SELECT 1")
        for connection in idle:
            connection.close()
        until(lambda: not server._threads)
        assert live.run_sql(study.path, "SELECT 1") is not None


async def test_answers_are_read_while_they_are_written(study: store.Study) -> None:
    """A heavy reader neither stops nor breaks the writer, and sees whole batches only."""
    row = store.PredictionRow(
        new_prediction_id(), new_prediction_id(), "m", new_prediction_id(), 0, "answered", "x" * 300, now()
    )
    seen: list[int] = []

    def read() -> None:
        while not seen or seen[-1] < 20_000:
            rows = live.run_sql(study.path, "SELECT count(*), count(DISTINCT text || rowid) FROM predictions")
            assert rows is not None
            seen.append(rows.rows[0][0])

    with live.Server(study):
        async with store.Writer(study, batch_rows=500) as writer:
            reader = asyncio.create_task(asyncio.to_thread(read))
            for _ in range(20_000):
                await writer.put(row)
            await writer.flush()
            await asyncio.wait_for(reader, 60)
    assert all(count % 500 == 0 for count in seen)
    assert seen == sorted(seen)
    assert writer.counters.retries == 0
