"""What the models of a batch run share, and how they wait: patiently, but never past a stop."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from runner.batch.api import ApiFault
from runner.batch.requests import Allowance
from runner.lifecycle.failure_policy import UNREACHED_S, of_the_file, passes
from runner.lifecycle.options import RunOptions
from runner.transport.redact import Redactor

if TYPE_CHECKING:
    import aiohttp

    from store.study import Study
    from store.writer import Writer

LATE_S = 600.0
"""What a provider owes and has not (a file of results, or the batch itself) is looked for so long, ..."""
LATE_LOOKS = 5
"""... and at least so often, in one call; the batch then stays open for the next one."""
_GONE_AFTER = 3
_LONGEST_WAIT_S = 600.0
_FIRST_WAIT_S = 2.0
_HARVESTS = 2
_T = TypeVar("_T")


class Stopped(Exception):
    """The run is to stop; batches go on at the provider."""


class Vain:
    """Looks in vain for what a provider owes, batch by batch."""

    def __init__(self, late_s: float) -> None:
        self._late_s = late_s
        self._looks: dict[uuid.UUID, tuple[int, float]] = {}

    def again(self, batch: uuid.UUID) -> bool:
        """Count one. False when it is time to give up."""
        looks, since = self._looks.get(batch, (0, time.monotonic()))
        self._looks[batch] = (looks + 1, since)
        return looks + 1 < LATE_LOOKS or time.monotonic() - since < self._late_s

    def found(self, batch: uuid.UUID) -> None:
        """It has come after all."""
        self._looks.pop(batch, None)

    def __contains__(self, batch: uuid.UUID) -> bool:
        return batch in self._looks


@dataclass(slots=True)
class BatchShared:
    """What all models of a batch run use together."""

    study: Study
    run_id: uuid.UUID
    writer: Writer
    session: aiohttp.ClientSession
    redactor: Redactor
    options: RunOptions
    poll_s: float
    folder: Path
    """For files on their way."""
    allowance: Allowance
    tell: Callable[..., None]
    """Called with a text and its parts by name."""
    late_s: float = LATE_S
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    harvests: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_HARVESTS))
    reached: set[str] = field(default_factory=set)
    """Whose servers have replied in this run, by name."""
    failing: dict[tuple[str, str], str] = field(default_factory=dict)
    """Calls that are being tried again, by name and what is called, and how they failed last."""

    async def wait(self, seconds: float) -> None:
        """Sleep. Raises Stopped when the run is to stop."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)
        if self.stopping.is_set():
            raise Stopped

    async def patiently(
        self, name: str, what: str, call: Callable[[int], Awaitable[_T]], *, downloads: bool = False
    ) -> _T:
        """Call until it succeeds: again after passing errors, with growing waits, for `outage_s`.

        A server that was never reached in this run is tried for `UNREACHED_S` only.

        Args:
            name: whose server it is, in words.
            what: what is called, in words.
            call: is given the number of the try.
            downloads: it fetches a file; what is wrong with that alone is left to who calls.

        Raises ApiFault for an error that will not, or did not, pass.
        """
        started, number, gone = time.monotonic(), 0, 0
        while True:
            try:
                result = await call(number)
            except ApiFault as error:
                fault = error.fault
                gone += fault.status == 404
                passing = passes(fault) or (fault.status == 404 and gone < _GONE_AFTER)
                if downloads and of_the_file(fault):
                    passing = False
                if not fault.unreached:
                    self.reached.add(name)
                patience_s = self.options.outage_s if name in self.reached else UNREACHED_S
                if not passing or time.monotonic() - started > patience_s:
                    self.failing.pop((name, what), None)
                    raise
                self.failing[name, what] = fault.reason
                pause = min(min(_FIRST_WAIT_S, self.poll_s) * 2**number, _LONGEST_WAIT_S)
                pause = max(pause * random.uniform(0.5, 1.0), fault.retry_after or 0.0)
                if number in (0, 3) or number % 10 == 0:
                    limit = "" if name in self.reached else f" (for {UNREACHED_S:.0f} s at most)"
                    self.tell(f"{name}: {what}: {fault.reason}. Trying again in {pause:.0f} s{limit}.")
                number += 1
                await self.wait(pause)
            else:
                self.reached.add(name)
                self.failing.pop((name, what), None)
                return result
