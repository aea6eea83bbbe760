"""The writer: nothing acknowledged is lost, nothing is stored twice, and what cannot be helped stops it at
once."""

from __future__ import annotations

import asyncio
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from store_samples import answer, build, failure, model

import store
from store import runs
from store import writer as writer_module
from store.sql import registered, transaction
from store.writer import Row, Writer, explain

HERE = Path(__file__).parent


@pytest.fixture
def study(tmp_path: Path) -> Iterator[store.Study]:
    with store.open_study(tmp_path / "s.duckdb") as opened:
        build(opened)
        yield opened


@pytest.fixture
def rows(study: store.Study) -> Iterator[store.PredictionRow]:
    """Endless rows, distinct by their id and their text, which counts."""

    def endless() -> Iterator[store.PredictionRow]:
        key, run_id = model(study), runs.start_run(study, "run", {})
        queries = list(store.pending(study, key))
        for number in range(10**9):
            yield answer(queries[number % len(queries)], run_id, key, text=str(number))

    return endless()


def stored(study: store.Study) -> list[int]:
    texts = study.connection.execute("SELECT text::INTEGER FROM predictions ORDER BY 1").fetchall()
    return [row[0] for row in texts]


async def fill(writer: Writer, rows: Iterator[Row], count: int = 10) -> None:
    for _ in range(count):
        await writer.put(next(rows))
    await writer.flush()


class Troubled:
    """A cursor whose commits fail as told: before they happen, or after."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, errors: list[tuple[str, Exception]]) -> None:
        self.cursor = cursor
        self.errors = errors

    def execute(self, sql: str, *arguments: Any) -> Any:
        if sql == "COMMIT" and self.errors:
            when, error = self.errors.pop(0)
            if when == "after":
                self.cursor.execute(sql)
            raise error
        return self.cursor.execute(sql, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cursor, name)


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def test_a_batch_goes_at_its_size_or_its_age(study: store.Study, rows: Iterator[Row]) -> None:
    committed: list[int] = []
    async with Writer(study, 10, 1.0, on_commit=lambda batch: committed.append(len(batch))) as writer:
        started = time.monotonic()
        for _ in range(25):
            await writer.put(next(rows))
        await until(lambda: len(committed) == 3)
        assert committed == [10, 10, 5]
        assert time.monotonic() - started >= 1.0
    assert (writer.committed, writer.backlog, writer.error) == (25, 0, None)
    assert writer.counters.last_commit_s > 0
    assert stored(study) == list(range(25))


async def test_a_flush_does_not_wait_for_the_age(study: store.Study, rows: Iterator[Row]) -> None:
    async with Writer(study, batch_seconds=3600) as writer:
        for number in range(3):
            await writer.put(next(rows))
            await asyncio.wait_for(writer.flush(), 30)
            assert writer.committed == number + 1
        await writer.flush()


async def test_failures_and_predictions_go_together(study: store.Study) -> None:
    key, run_id = model(study), runs.start_run(study, "run", {})
    queries = list(store.pending(study, key))
    async with Writer(study) as writer:
        await writer.put(answer(queries[0], run_id, key))
        await writer.put(failure(queries[1], run_id, key))
    assert writer.counters.commits == 1
    found = study.connection.execute("SELECT outcome FROM latest ORDER BY 1").fetchall()
    assert found == [("answered",), ("failed",)]


async def test_every_column_comes_back_as_it_went_in(study: store.Study, rows: Iterator[Row]) -> None:
    full = next(rows)._replace(
        reasoning="想",
        finish_reason="stop",
        prompt_tokens=1,
        cached_tokens=0,
        completion_tokens=3,
        cost_usd=0.25,
        latency_s=1.5,
        served_by="p/m",
        returned_model="m-1",
        fingerprint="fp",
        source_hash="h",
        source_row=9,
    )
    bare = next(rows)
    async with Writer(study) as writer:
        await writer.put(full)
        await writer.put(bare)
    names = ", ".join(store.PredictionRow._fields)
    found = study.connection.execute(f"SELECT {names} FROM predictions ORDER BY text::INTEGER").fetchall()
    assert [store.PredictionRow(*row) for row in found] == [full, bare]


async def test_a_row_without_an_id_gets_one_and_a_given_one_is_kept(
    study: store.Study, rows: Iterator[Row]
) -> None:
    given = [next(rows) for _ in range(6)]
    async with Writer(study) as writer:
        for place, row in enumerate(given):
            await writer.put(row._replace(prediction_id=None) if place % 2 else row)
    stored = [row[0] for row in study.connection.execute("SELECT prediction_id FROM predictions").fetchall()]
    assert stored[::2] == [row.prediction_id for row in given[::2]]
    assert stored[1::2] == sorted(set(stored[1::2]))
    assert max(row.prediction_id for row in given) < stored[1]
    assert {one.version for one in stored} == {7}


@pytest.mark.parametrize(
    "text", ["", "a\x00b", "\ud83d half a pair", "🙂", "x" * 3_000_000, "'; DROP TABLE predictions"]
)
async def test_no_text_of_a_model_stops_a_batch(study: store.Study, rows: Iterator[Row], text: str) -> None:
    odd = next(rows)._replace(text=text, prompt_tokens=2**40, completion_tokens=-(2**31))
    async with Writer(study) as writer:
        await writer.put(odd)
        await writer.put(next(rows))
    found = study.connection.execute(
        "SELECT text, prompt_tokens, completion_tokens FROM predictions"
    ).fetchall()
    assert found[0] == (text.replace("\ud83d", "\ufffd"), None, -(2**31))
    assert len(found) == 2


async def test_long_answers_go_in_several_batches_and_at_once(
    study: store.Study, rows: Iterator[store.PredictionRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.writer.MOST_CHARS", 1_000)
    batches: list[int] = []
    async with Writer(study, batch_seconds=1.0, on_commit=lambda batch: batches.append(len(batch))) as writer:
        for text in (5_000, 400, 400, 400, 10):
            await writer.put(next(rows)._replace(text="1" * text))
        await asyncio.sleep(1.8)
        assert batches == [1, 2, 2]


def test_the_reason_is_told_though_the_transaction_is_past_help(study: store.Study) -> None:
    new_rows = pa.table({"a": [1]})
    with (
        pytest.raises(duckdb.ConversionException),
        transaction(study.cursor()) as cursor,
        registered(cursor, new_rows=new_rows),
    ):
        cursor.execute("SELECT 'x'::INTEGER FROM new_rows")


async def test_a_full_queue_makes_the_loop_wait(
    study: store.Study, rows: Iterator[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = threading.Event()
    original = Writer._store

    def dawdle(self: Writer, batch: list[Row]) -> None:
        slow.wait(60)
        original(self, batch)

    monkeypatch.setattr(Writer, "_store", dawdle)
    async with Writer(study, batch_rows=10, queue_rows=50) as writer:
        highest = 0

        async def put_all() -> None:
            nonlocal highest
            for _ in range(300):
                await writer.put(next(rows))
                highest = max(highest, writer.backlog)

        putting = [asyncio.create_task(put_all()) for _ in range(3)]
        await asyncio.sleep(0.2)
        assert (writer.backlog, writer.committed) == (
            50,
            0,
        )  # and the loop itself goes on, as this line shows
        slow.set()
        await asyncio.gather(*putting)
    assert highest == 50
    assert len(stored(study)) == 900


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_failed_batch_is_tried_again_and_stored_once(
    study: store.Study, rows: Iterator[Row], monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(writer_module.time, "sleep", lambda _: None)
    async with Writer(study, batch_rows=10) as writer:
        errors: list[tuple[str, Exception]] = [
            (when, duckdb.TransactionException("conflict")),
            ("before", duckdb.OutOfMemoryException("another query takes it all")),
        ]
        writer._cursor = Troubled(writer._cursor, errors)  # type: ignore[assignment]
        await fill(writer, rows, 30)
        assert writer.counters.retries == 2
        assert writer.counters.error is None
    assert stored(study) == list(range(30))


async def test_what_never_works_is_given_up_aloud(
    study: store.Study, rows: Iterator[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module.time, "sleep", lambda _: None)
    writer = Writer(study, batch_rows=10)
    writer._cursor = Troubled(writer._cursor, [("before", duckdb.IOException("bad luck"))] * 99)  # type: ignore[assignment]
    with pytest.raises(store.RunFailed, match="bad luck"):
        await fill(writer, rows)
    assert writer.counters.retries == writer_module.TRIES - 1
    with pytest.raises(store.RunFailed, match="10 answers had come and could not be stored"):
        await writer.close()
    assert writer.backlog == 10
    assert stored(study) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (duckdb.IOException('Could not write file "x.wal": No space left on device'), "is full"),
        (duckdb.IOException("Could not write file: Disk quota exceeded"), "is full"),
        (duckdb.IOException("Cannot open file: Read-only file system"), "no longer be written"),
        (
            duckdb.InvalidInputException("Cannot execute ... attached in read-only mode!"),
            "no longer be written",
        ),
        (duckdb.FatalException("database has been invalidated because of a previous fatal error"), "failed"),
    ],
)
async def test_what_cannot_be_helped_stops_at_once(
    study: store.Study, rows: Iterator[Row], error: Exception, words: str
) -> None:
    writer = Writer(study, batch_rows=10)
    writer._cursor = Troubled(writer._cursor, [("before", error)])  # type: ignore[assignment]
    with pytest.raises(store.RunFailed, match=words) as caught:
        await fill(writer, rows)
    assert writer.counters.retries == 0
    assert "run the same command again" in str(caught.value)
    with pytest.raises(store.RunFailed, match=words):
        await writer.put(next(rows))


async def test_the_error_tells_all_that_had_come_and_is_not_stored(
    study: store.Study, rows: Iterator[store.PredictionRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    fails, original = threading.Event(), Writer._store

    def later(self: Writer, batch: list[Row]) -> None:
        if self.committed >= 20:
            fails.wait(60)
        original(self, batch)

    monkeypatch.setattr(Writer, "_store", later)
    key, run_id = model(study), runs.start_run(study, "run", {})
    given_up = failure(next(store.pending(study, key)), run_id, key)
    writer = Writer(study, batch_rows=10, queue_rows=50)
    await fill(writer, rows, 20)
    writer._cursor = Troubled(writer._cursor, [("before", duckdb.IOException("No space left on device"))])  # type: ignore[assignment]
    # More than the queue takes, so that some still wait to be put when the disk is full.
    coming: list[Row] = [next(rows)._replace(cost_usd=0.25) for _ in range(80)]
    putting = [asyncio.create_task(writer.put(row)) for row in coming]
    await asyncio.sleep(0.2)
    assert writer.backlog == 50
    fails.set()
    ended = await asyncio.gather(*putting, return_exceptions=True)
    assert sum(isinstance(one, store.RunFailed) for one in ended) == 30
    with pytest.raises(store.RunFailed):
        await writer.put(given_up)  # came after the end
    with pytest.raises(store.RunFailed) as caught:
        await writer.close()
    assert caught.value.message == (
        f"the disk of {study.path} is full; 80 answers ($20.00) and 1 query given up had come and could not "
        "be stored"
    )
    assert caught.value.hint is not None
    assert "Nothing that was committed is harmed." in caught.value.hint
    assert "asked again then, and paid again" in caught.value.hint
    assert writer.counters.error == caught.value.message
    assert len(stored(study)) == 20


async def test_an_error_with_nothing_lost_speaks_of_no_loss(study: store.Study, rows: Iterator[Row]) -> None:
    def listener(batch: object) -> None:
        raise store.RunFailed("the listener broke")

    writer = Writer(study, batch_rows=10, on_commit=listener)
    with pytest.raises(store.RunFailed) as caught:
        await fill(writer, rows)
    assert str(caught.value) == "the listener broke"
    with pytest.raises(store.RunFailed):
        await writer.close()


def test_what_may_pass_is_no_reason_to_stop() -> None:
    for passing in (
        duckdb.TransactionException("conflict"),
        duckdb.OutOfMemoryException("x"),
        OSError(5, "I/O"),
    ):
        assert explain(Path("s"), passing) is None


def lose(path: Path, how: str) -> None:
    if how == "folder gone":
        path.parent.rename(path.parent.with_name(path.parent.name + "-moved"))
    else:
        path.unlink()
    if how == "replaced":
        path.write_bytes(b"something else")


@pytest.mark.parametrize("how", ["deleted", "replaced", "folder gone"])
async def test_a_lost_file_stops_at_once(
    study: store.Study, rows: Iterator[Row], tmp_path: Path, how: str
) -> None:
    writer = Writer(study, batch_rows=10)
    await fill(writer, rows)
    lose(study.path, how)
    with pytest.raises(store.RunFailed, match="moved, deleted or replaced"):
        await fill(writer, rows)
    assert writer.committed == 10


async def test_a_waiting_put_hears_of_the_end(study: store.Study, rows: Iterator[Row]) -> None:
    writer = Writer(study, batch_rows=10, queue_rows=10)
    writer._cursor = Troubled(writer._cursor, [("before", duckdb.IOException("No space left on device"))])  # type: ignore[assignment]

    async def put_all() -> None:
        while True:
            await writer.put(next(rows))

    for ended in await asyncio.gather(*(put_all() for _ in range(20)), return_exceptions=True):
        assert isinstance(ended, store.RunFailed)


async def test_an_error_of_whoever_listens_is_not_swallowed(study: store.Study, rows: Iterator[Row]) -> None:
    def listener(batch: object) -> None:
        raise store.RunFailed("the listener broke")

    writer = Writer(study, batch_rows=10, on_commit=listener)
    for _ in range(10):
        await writer.put(next(rows))
    with pytest.raises(store.RunFailed, match="listener broke"):
        await writer.close()
    assert len(stored(study)) == 10


async def test_closing_stores_what_is_left_and_closes_the_door(
    study: store.Study, rows: Iterator[Row]
) -> None:
    writer = Writer(study, batch_seconds=60)
    await writer.put(next(rows))
    await writer.close()
    await writer.close()
    writer.close_now()
    assert stored(study) == [0]
    with pytest.raises(store.RunFailed, match="closed"):
        await writer.put(next(rows))
    async with Writer(study) as empty:
        await empty.flush()
    assert empty.counters.commits == 0


CHILD = """
import asyncio, os, resource, signal, sys, store
from store_samples import answer, build, model
from store import runs

async def main():
    study = store.open_study(sys.argv[1])
    build(study)
    key, run_id = model(study), runs.start_run(study, "run", {})
    start = study.connection.execute("SELECT count(*) FROM predictions").fetchall()[0][0]
    query = next(store.pending(study, "nobody"))
    padding = 100
    if sys.argv[2] != "kill":
        padding = 4_000
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    told = start

    def tell(batch):
        nonlocal told
        told += len(batch)
        os.write(1, b"%d\\n" % told)

    writer = store.Writer(study, batch_rows=50, batch_seconds=0.05, on_commit=tell)
    number = start
    try:
        while True:
            row = answer(query, run_id, key, text=str(number))
            await writer.put(row._replace(reasoning=os.urandom(padding).hex()))
            number += 1
            if padding == 100 and number % 10 == 0:
                await asyncio.sleep(0.0005)
    except store.RunFailed as error:
        os.write(2, error.message.encode())
        sys.exit(1)

asyncio.run(main())
"""


def test_kill_9_loses_no_acknowledged_row(tmp_path: Path) -> None:
    path, seed = tmp_path / "s.duckdb", random.Random(1)
    acknowledged = 0
    for trial in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, path, "kill"],
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        acknowledged = int(process.stdout.readline())  # it writes
        time.sleep(seed.random())
        process.send_signal(signal.SIGKILL)
        told = process.communicate()[0].split()
        acknowledged = max([acknowledged, *map(int, told)])
        with store.open_study(path) as study:
            numbers = stored(study)
            assert numbers == list(range(len(numbers))), f"trial {trial}: rows lost, or twice"
            assert acknowledged <= len(numbers) <= acknowledged + 50, f"trial {trial}"
            states = {run.state for run in runs.list_runs(study)}
            assert states <= {"running", "interrupted"}
    print(f"5 kills, {acknowledged} acknowledged rows, none lost")


@pytest.mark.parametrize("megabytes", [2, 25])
def test_a_full_disk_harms_nothing_that_was_committed(tmp_path: Path, megabytes: int) -> None:
    """The log cannot grow (2 MB), or the file cannot at a checkpoint (25 MB)."""
    path = tmp_path / "s.duckdb"
    done = subprocess.run(
        [sys.executable, "-c", CHILD, path, str(megabytes * 1_000_000)],
        cwd=HERE,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr.decode()
    assert b"is full" in done.stderr
    assert re.search(rb"; [\d,]+ answers had come and could not be stored", done.stderr)
    acknowledged = int(done.stdout.split()[-1])
    with store.open_study(path) as study:
        numbers = stored(study)
        assert numbers == list(range(len(numbers)))
        assert acknowledged <= len(numbers) <= acknowledged + 50
        assert acknowledged >= 50
