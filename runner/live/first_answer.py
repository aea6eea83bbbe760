"""How long a lane that has never answered is waited for, and what to do about it.

After its first answer a server that fails is one that will come back, and has `outage_s` for it. Before, it
is rather one that was never started, or an address, a name or a timeout that is wrong.
"""

from __future__ import annotations

from enum import StrEnum

from runner.lifecycle.failure_policy import UNREACHED_S
from runner.providers.schema import Timeouts
from runner.providers.urls import place_of
from runner.transport.outcome import Fault, Kind

NO_MODEL_S = 25.0
REDIRECTED_S = 5.0
UNREADABLE_S = 60.0
ERRORS_S = 120.0
"""A server that loads a model answers with errors for a while."""
ROUNDS = 2.5
"""So many timeouts long is a silent server waited for; the third one in a row is the last."""


class _Trouble(StrEnum):
    """What is wrong, in the words of the message."""

    UNREACHED = "no connection"
    NO_MODEL = "no such model"
    REDIRECTED = "nothing but redirects"
    SILENT = "no answer"
    UNREADABLE = "nothing but replies that cannot be read"
    ERRORS = "nothing but errors"


_ADVICE = {
    _Trouble.UNREACHED: "start the server, or correct base_url in providers.toml",
    _Trouble.NO_MODEL: "correct the model's id, or base_url, in providers.toml",
    _Trouble.SILENT: "see what the server does, or raise the provider's timeouts in providers.toml",
    _Trouble.UNREADABLE: "base_url in providers.toml must lead to a server of OpenAI's chat completions",
    _Trouble.ERRORS: "see what the server says in its own log",
}


def _trouble(fault: Fault) -> _Trouble:
    if fault.unreached:
        return _Trouble.UNREACHED
    if fault.kind is Kind.NO_MODEL:
        return _Trouble.NO_MODEL
    if fault.kind is Kind.REDIRECTED:
        return _Trouble.REDIRECTED
    if fault.kind is Kind.TIMEOUT and fault.status is None:
        return _Trouble.SILENT
    if fault.kind in (Kind.BAD_BODY, Kind.NO_CHOICES):
        return _Trouble.UNREADABLE
    return _Trouble.ERRORS


class FirstPatience:
    """Of one lane. Each trouble has its own clock: an hour of 429 is no reason to end at the first reset."""

    def __init__(self, timeouts: Timeouts, base_url: str) -> None:
        self._place = place_of(base_url)
        self._silent_s = ROUNDS * min(timeouts.first_byte, timeouts.total)
        self._since: dict[_Trouble, float] = {}

    def left(self, fault: Fault, sent_at: float, now: float) -> float:
        """Seconds for which it makes sense to go on trying; 0 or less when there are none."""
        trouble = _trouble(fault)
        most = {
            _Trouble.UNREACHED: UNREACHED_S,
            _Trouble.NO_MODEL: NO_MODEL_S,
            _Trouble.REDIRECTED: REDIRECTED_S,
            _Trouble.SILENT: self._silent_s,
            _Trouble.UNREADABLE: UNREADABLE_S,
            _Trouble.ERRORS: ERRORS_S,
        }[trouble]
        return most - (now - self._since.setdefault(trouble, sent_at))

    def why(self, fault: Fault, now: float) -> str:
        """What was tried for how long, what came of it, and what to do."""
        trouble = _trouble(fault)
        waited = now - self._since[trouble]
        if trouble is _Trouble.REDIRECTED:  # its message is the advice
            return f"{trouble} for {waited:.0f} s: {fault.message}"
        where = "" if self._place in fault.reason else f" (the address is {self._place})"
        return f"{trouble} for {waited:.0f} s ({fault.reason}); {_ADVICE[trouble]}{where}"
