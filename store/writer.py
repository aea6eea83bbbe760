"""The single writer: a thread that takes rows from a bounded queue and commits them in batches.

A commit costs one fdatasync, so rows go in together: at `batch_rows`, or `batch_seconds` after the first of
them. The event loop never waits for the disk, except by `put` when the queue is full (backpressure). A batch
that fails is tried again, never dropped; where trying cannot help (disk full, read-only, file gone) the
writer stops at once, and `put`, `flush` and `close` raise.
"""

from __future__ import annotations

import asyncio
import collections
import errno
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import duckdb

from store.errors import RunFailed
from store.opening import MEMORY
from store.rows import (
    CostRow,
    FailureRow,
    PredictionRow,
    costs_table,
    failures_table,
    predictions_table,
)
from store.sql import registered, transaction
from store.study import Study

Row = PredictionRow | FailureRow | CostRow

MOST_CHARS = 8_000_000
"""Of the texts of a commit, unless its first row alone has more: a run's share of memory holds it."""

TRIES = 6
"""How often a batch is tried before the writer gives up; with the waits between, about 6 s."""


@dataclass(slots=True)
class Counters:
    """What the monitor shows of the writer. Written by its thread, read by any."""

    put: int = 0
    committed: int = 0
    commits: int = 0
    retries: int = 0
    last_commit_s: float = 0.0
    """How long the last commit took, in seconds."""
    longest_commit_s: float = 0.0
    error: str | None = None
    lost_answers: int = 0
    """Answers that had come when the writer stopped, or came after that: none of them is stored."""
    lost_given_up: int = 0
    """As `lost_answers`, of queries that were given up."""
    lost_usd: float = 0.0
    """What the lost answers have cost, as far as that is known."""

    @property
    def backlog(self) -> int:
        """Rows taken and not yet committed."""
        return self.put - self.committed


class Writer:
    """Puts rows into an open study. Close it; as an async context manager it closes itself.

    Args:
        study: the study; the writer uses a cursor of its own.
        batch_rows: rows that fill a batch.
        batch_seconds: the longest that a row waits for its batch to fill.
        queue_rows: rows that may wait; `put` waits beyond that.
        on_commit: called in the writer's thread after each commit, with the rows that are now safe; a `flush`
            returns only when it has been called with all that it waited for.
    """

    def __init__(
        self,
        study: Study,
        batch_rows: int = 1_000,
        batch_seconds: float = 1.0,
        queue_rows: int = 5_000,
        on_commit: Callable[[Sequence[Row]], None] | None = None,
    ) -> None:
        self.counters = Counters()
        self._path = study.path
        self._cursor = study.cursor()
        self._file = _identity(study.path)
        self._batch_rows = batch_rows
        self._batch_seconds = batch_seconds
        self._queue_rows = queue_rows
        self._on_commit = on_commit
        self._queue: collections.deque[Row] = collections.deque()
        self._wake = threading.Condition()
        self._hurry = 0  # commit at once until so many rows are committed
        self._told = 0  # rows that are committed, and `on_commit` has returned
        self._closing = False
        self._more = False  # the last batch left rows behind, which have waited long enough
        self._error: RunFailed | None = None
        self._why: tuple[str, str | None] = ("", None)  # message and hint of the error, without what is lost
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._thread = threading.Thread(target=self._work, name="evenhand-writer", daemon=True)
        self._thread.start()

    @property
    def committed(self) -> int:
        """Rows that are safe on disk."""
        return self.counters.committed

    @property
    def backlog(self) -> int:
        """Rows taken and not yet committed."""
        return self.counters.backlog

    @property
    def last_commit_s(self) -> float:
        """How long the last commit took, in seconds."""
        return self.counters.last_commit_s

    @property
    def error(self) -> RunFailed | None:
        """Why the writer stopped, if it did."""
        return self._error

    async def put(self, row: Row) -> None:
        """Hand over a row; waits while the queue is full.

        Raises:
            RunFailed: the writer has stopped; the row is not stored.
        """
        if self.backlog >= self._queue_rows:
            await self._until(lambda: self.backlog < self._queue_rows)
        with self._wake:
            if self._error is not None:
                self._lose([row])
                raise self._error
            if self._closing:
                raise RunFailed("the writer is closed")
            self._queue.append(row)
            self.counters.put += 1
            # The thread sleeps until a batch is full or its time is up, so only the first and the last row
            # wake it.
            if len(self._queue) in (1, self._batch_rows):
                self._wake.notify()

    async def flush(self) -> None:
        """Wait until all rows put so far are committed.

        Raises:
            RunFailed: the writer has stopped before.
        """
        target = self.counters.put
        with self._wake:
            self._hurry = max(self._hurry, target)
            self._wake.notify()
        await self._until(lambda: self._told >= target)
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Commit what is left and end the thread. Closing twice does nothing more.

        Raises:
            RunFailed: something could not be stored.
        """
        await asyncio.to_thread(self.close_now)

    def close_now(self) -> None:
        """As `close`, for where no event loop runs any more."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()
        if self._error is not None:
            raise self._error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except RunFailed:
            if error is None:
                raise

    async def _until(self, reached: Callable[[], bool]) -> None:
        """Wait until it is so, or the writer has stopped."""
        while True:
            told = asyncio.Event()
            # Under the lock, so that whoever is noted before the thread tells is woken, and whoever comes
            # later sees what it told.
            with self._wake:
                if self._error is not None or reached():
                    return
                self._waiters.append((asyncio.get_running_loop(), told))
            await told.wait()

    # The thread
    # -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while batch := self._next_batch():
                self._store(batch)
                with self._wake:
                    for _ in batch:
                        self._queue.popleft()
                    self.counters.committed += len(batch)
                    self.counters.commits += 1
                if self._on_commit is not None:
                    self._on_commit(batch)
                self._told = self.counters.committed
                self._tell()
        except RunFailed as error:
            self._stop(error)
        except BaseException as error:
            self._stop(RunFailed(f"the writer of {self._path} broke: {error!r}"))
            raise
        finally:
            self._cursor.close()

    def _next_batch(self) -> list[Row]:
        """The rows of the next commit (they stay in the queue until it succeeds); none when all is done."""
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait()
            deadline = time.monotonic() + (0.0 if self._more else self._batch_seconds)
            self._more = False
            while (
                len(self._queue) < self._batch_rows
                and not self._closing
                and self._hurry <= self.counters.committed
                and (left := deadline - time.monotonic()) > 0
            ):
                self._wake.wait(left)
            batch: list[Row] = []
            chars = 0
            for row in itertools.islice(self._queue, self._batch_rows):
                if isinstance(row, PredictionRow):
                    chars += len(row.text) + len(row.reasoning or "")
                if batch and chars > MOST_CHARS:
                    self._more = True
                    break
                batch.append(row)
            return batch

    def _store(self, batch: Sequence[Row]) -> None:
        tables = {
            "predictions": predictions_table([row for row in batch if isinstance(row, PredictionRow)]),
            "failures": failures_table([row for row in batch if isinstance(row, FailureRow)]),
            "other_costs": costs_table([row for row in batch if isinstance(row, CostRow)]),
        }
        for attempt in range(1, TRIES + 1):
            started = time.monotonic()
            try:
                self._check_file()
                with transaction(self._cursor) as cursor:
                    for name, table in tables.items():
                        if table.num_rows:
                            # A commit that reported an error may still have happened: do not store it twice.
                            kept = (
                                "" if attempt == 1 else f" ANTI JOIN {name} USING ({table.column_names[0]})"
                            )
                            with registered(cursor, new_rows=table):
                                cursor.execute(f"INSERT INTO {name} BY NAME FROM new_rows{kept}")
            except (duckdb.Error, OSError) as error:
                self.counters.error = str(error).strip().splitlines()[0]
                fatal = explain(self._path, error)
                if fatal is not None:
                    raise fatal from error
                if attempt == TRIES:
                    raise RunFailed(
                        f"{self._path} cannot be written: {self.counters.error}",
                        hint="Nothing that was committed is harmed. Run the same command again.",
                    ) from error
                self.counters.retries += 1
                time.sleep(0.1 * 2**attempt)
            else:
                self.counters.error = None
                self.counters.last_commit_s = time.monotonic() - started
                self.counters.longest_commit_s = max(
                    self.counters.longest_commit_s, self.counters.last_commit_s
                )
                return

    def _check_file(self) -> None:
        if self._file is not None and _identity(self._path) != self._file:
            raise FileNotFoundError(
                errno.ENOENT, "the database file was moved, deleted or replaced", str(self._path)
            )

    def _stop(self, error: RunFailed) -> None:
        with self._wake:
            self._why = error.message, error.hint
            self._error = error
            self._lose(self._queue)
        self._tell()

    def _lose(self, rows: Iterable[Row]) -> None:
        """Say in the error that these are lost too: whoever shows it at the end of the run shows them all."""
        counters, error = self.counters, self._error
        assert error is not None
        for row in rows:
            if isinstance(row, PredictionRow):
                counters.lost_answers += 1
                counters.lost_usd += row.cost_usd or 0.0
            elif isinstance(row, FailureRow):
                counters.lost_given_up += 1
        error.message, error.hint = self._why
        if lost := _lost(counters):
            error.message += f"; {lost} had come and could not be stored"
            again = "Those are asked again then, and paid again (what a batch brought is only fetched again)."
            error.hint = f"{error.hint or 'Run the same command again.'} {again}"
        counters.error = error.message

    def _tell(self) -> None:
        with self._wake:
            waiters, self._waiters = self._waiters, []
        for loop, event in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)


def _lost(counters: Counters) -> str:
    """What is lost, in words; empty if nothing is."""
    usd = f" (${counters.lost_usd:,.2f})" if 0.005 <= counters.lost_usd < math.inf else ""
    counts = (
        (counters.lost_answers, "answer", "answers", usd),
        (counters.lost_given_up, "query given up", "queries given up", ""),
    )
    return " and ".join(
        f"{count:,} {one if count == 1 else many}{after}" for count, one, many, after in counts if count
    )


def explain(path: os.PathLike[str], error: Exception) -> RunFailed | None:
    """The error as one that trying again cannot help, or None if it may pass."""
    text = str(error)
    hint = "Nothing that was committed is harmed. Put it right and run the same command again."
    if "No space left" in text or "File too large" in text or "Disk quota" in text:
        return RunFailed(f"the disk of {path} is full", hint=hint)
    if isinstance(error, FileNotFoundError):
        return RunFailed(f"{path}: {error.strerror}", hint=hint)
    if "Read-only file system" in text or "read-only mode" in text or "Permission denied" in text:
        return RunFailed(f"{path} can no longer be written", hint=hint)
    if isinstance(error, duckdb.FatalException | duckdb.InternalException) or "has been invalidated" in text:
        return RunFailed(f"the database {path} failed: {text.strip().splitlines()[0]}", hint=hint)
    return None


def _identity(path: os.PathLike[str]) -> tuple[int, int] | None:
    """What the name of the database stands for now (device and inode); None if nothing, or in memory."""
    if str(path) == str(MEMORY):
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
