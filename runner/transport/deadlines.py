"""Timeouts of requests, looked after by one timer for all of them.

aiohttp's own set two timers a request and enter a context around every wait, which is a fifth of the whole
cost of a request. Here one timer looks through what is open, a few times within the shortest timeout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

_LOOKS = 20
_SHORTEST_TICK_S = 0.02
_LONGEST_TICK_S = 1.0
_STALL_S = 1.0
"""A look that is later than this was held up: the process was stopped (SIGSTOP), or the loop was busy."""


class Exchange:
    """One request on its way."""

    __slots__ = ("headers", "started", "task", "too_late")

    def __init__(self, task: asyncio.Task[object], started: float) -> None:
        self.task = task
        self.started = started
        self.headers: Mapping[str, str] | None = None
        """Of the reply, when it has begun."""
        self.too_late: str | None = None
        """Which timeout it ran into."""

    def given_up(self) -> bool:
        """Whether the CancelledError just caught is this timeout's, and no one else's too."""
        return self.too_late is not None and self.task.uncancel() == 0


class Deadlines:
    """The timeouts of one lane, in seconds."""

    def __init__(self, first_byte_s: float, total_s: float) -> None:
        self._first_byte_s = first_byte_s
        self._total_s = total_s
        self._tick_s = min(max(min(first_byte_s, total_s) / _LOOKS, _SHORTEST_TICK_S), _LONGEST_TICK_S)
        self._open: set[Exchange] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0

    def start(self) -> Exchange:
        """A request begins in the current task."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        exchange = Exchange(task, loop.time())
        self._open.add(exchange)
        if self._timer is None:
            self._look_again(loop)
        return exchange

    def end(self, exchange: Exchange) -> None:
        """It is over; its task is not cancelled any more."""
        self._open.discard(exchange)

    def _look_again(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due = loop.time() + self._tick_s
        self._timer = loop.call_at(self._due, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        if (late := now - self._due) > _STALL_S:
            # Replies that came meanwhile lie unread: the server is not to blame for that time.
            for exchange in self._open:
                exchange.started += late
        for exchange in self._open:
            if exchange.too_late is not None:
                continue
            took = now - exchange.started
            if took > self._total_s:
                exchange.too_late = f"not complete within {self._total_s:g} s"
            elif took > self._first_byte_s and exchange.headers is None:
                exchange.too_late = f"no reply for {self._first_byte_s:g} s"
            if exchange.too_late is not None:
                exchange.task.cancel()
        self._timer = None
        if self._open:
            self._look_again(loop)
