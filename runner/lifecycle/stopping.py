"""Why and how a run ends early: a first signal stops sending, a second one stops at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self

Reason = Literal["", "signal", "cost", "hours", "failure"]

_NAMES = {signal.SIGINT: "Ctrl-C"}
_AGAIN = {signal.SIGINT: "Press Ctrl-C again to stop now."}


class Stop:
    """Whether to stop, since when, and why. `changed` wakes whoever waits for it."""

    def __init__(self, drain_s: float) -> None:
        self.reason: Reason = ""
        self.message = ""
        self.goes_on = True
        """The same call would go on."""
        self.at_once = False
        self.deadline: float | None = None
        """On the loop's clock: what has not arrived by then is cut off."""
        self.changed = asyncio.Event()
        self._drain_s = drain_s

    def ask(self, reason: Reason, message: str, *, goes_on: bool = True) -> None:
        """Stop sending; the first reason stands."""
        if not self.reason:
            self.reason, self.message, self.goes_on = reason, message, goes_on
            self.deadline = asyncio.get_running_loop().time() + self._drain_s
        self.changed.set()

    def now(self, reason: Reason = "", message: str = "") -> None:
        """Stop at once."""
        if reason:
            self.ask(reason, message)
        self.at_once = True
        self.changed.set()


class Signals:
    """SIGINT, SIGTERM and (where a terminal can hang up) SIGHUP, while the run lasts.

    After the second signal a third one kills, as if we had never listened. Outside the main thread, where no
    handlers can be set, this does nothing.
    """

    def __init__(self, stop: Stop, told: Callable[[str], None]) -> None:
        self._stop = stop
        self._told = told
        self._loop = asyncio.get_running_loop()
        self._installed: list[signal.Signals] = []

    def __enter__(self) -> Self:
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if one is signal.SIGHUP and signal.getsignal(one) is not signal.SIG_DFL:
                continue  # nohup: the run is meant to outlive the terminal
            try:
                self._loop.add_signal_handler(one, self._received, one)
            except (ValueError, RuntimeError, NotImplementedError):
                return self
            self._installed.append(one)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def _received(self, which: signal.Signals) -> None:
        if self._stop.reason == "signal":
            self._stop.now()
            self._told("Stopping now. Answers that have arrived are being stored.")
            self._remove()
        else:
            self._stop.ask("signal", f"Stopped by {_NAMES.get(which, which.name)}.")
            self._stop.reason = "signal"
            again = _AGAIN.get(which, "A second signal stops at once.")
            self._told(f"Stopping: waiting for the answers to open requests. {again}")

    def _remove(self) -> None:
        for one in self._installed:
            self._loop.remove_signal_handler(one)
        self._installed.clear()
