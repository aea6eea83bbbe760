"""SQL on a study wherever it is: in the process that has it open, or else in its file."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from store import live, readonly
from store.doorway import InUse
from store.readonly import ROW_LIMIT, TIMEOUT_S, Reading, Rows

GRACE_S = 1.5
"""A run holds its file a moment before its socket answers, and a moment after."""


@contextlib.contextmanager
def reading(path: str | os.PathLike[str], sql: str, *, timeout_s: float = TIMEOUT_S) -> Iterator[Reading]:
    """As `store.readonly.reading`, from the running process where there is one (`Reading.live` says so).

    Raises:
        BadInput: as `store.readonly.reading`; `InUse` if a process holds the file and does not answer.
        RunFailed: the running process ended on the way.
    """
    deadline = time.monotonic() + GRACE_S
    with contextlib.ExitStack() as stack:
        while True:
            found = stack.enter_context(live.live_reading(path, sql, timeout_s=timeout_s))
            if found is not None:
                break
            try:
                found = stack.enter_context(readonly.reading(path, sql, timeout_s=timeout_s))
                break
            except InUse:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield found


def run_sql(
    path: str | os.PathLike[str], sql: str, *, limit: int = ROW_LIMIT, timeout_s: float = TIMEOUT_S
) -> Rows:
    """As `store.readonly.run_sql`, from the running process where there is one (`Rows.live` says so).

    Raises:
        BadInput, RunFailed: as `reading`.
    """
    with reading(path, sql, timeout_s=timeout_s) as result:
        return result.rows(limit)
