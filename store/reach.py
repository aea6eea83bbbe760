"""A study wherever it is: in the process that has it open, or else in its file."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from store import live, readonly
from store.opening import InUse
from store.readonly import ROW_LIMIT, TIMEOUT_S, Reading, Rows

GRACE_S = 1.5
"""A run holds its file a moment before its socket answers, and a moment after."""

Found = TypeVar("Found")


def wherever(ask: Callable[[], Found | None], read: Callable[[], Found]) -> Found:
    """What `ask` gets from the running process; where it gets None, as there is none, what `read` finds.

    Raises:
        BadInput: what both raise; `InUse` if a process holds the file and does not answer.
    """
    deadline = time.monotonic() + GRACE_S
    while True:
        found = ask()
        if found is not None:
            return found
        try:
            return read()
        except InUse:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@contextlib.contextmanager
def reading(path: str | os.PathLike[str], sql: str, *, timeout_s: float = TIMEOUT_S) -> Iterator[Reading]:
    """As `store.readonly.reading`, from the running process where there is one (`Reading.live` says so).

    Raises:
        BadInput: as `store.readonly.reading`; `InUse` if a process holds the file and does not answer.
        RunFailed: the running process ended on the way.
    """
    with contextlib.ExitStack() as stack:
        yield wherever(
            lambda: stack.enter_context(live.live_reading(path, sql, timeout_s=timeout_s)),
            lambda: stack.enter_context(readonly.reading(path, sql, timeout_s=timeout_s)),
        )


def run_sql(
    path: str | os.PathLike[str], sql: str, *, limit: int = ROW_LIMIT, timeout_s: float = TIMEOUT_S
) -> Rows:
    """As `store.readonly.run_sql`, from the running process where there is one (`Rows.live` says so).

    Raises:
        BadInput, RunFailed: as `reading`.
    """
    with reading(path, sql, timeout_s=timeout_s) as result:
        return result.rows(limit)
