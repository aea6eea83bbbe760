"""How fast a lane may send: one limit of so many requests, or tokens, a minute, kept in two ways at once.

The pace spreads them evenly (a bucket of a quarter of a second, which starts empty), because many servers
enforce a minute's limit by the second. The ledger counts what was sent within the last minute and a bit, so
that a server that counts strictly, in a sliding or a fixed window, never counts more than its limit: the bit
is what requests may drift on their way. A plain bucket lets a whole bucket more pass in its first minute.
"""

from __future__ import annotations

from collections import deque

MINUTE = 60.0
DRIFT_S = 0.7
"""How much closer together requests may arrive than they were sent."""
SLACK_S = 0.25
"""How much of a delay may be made up for at once."""
SLOT_S = 0.05
"""The ledger adds up what is sent within a slot, so its size does not depend on the rate."""

_GENTLER = 0.97
_GENTLEST = 0.7
_RECOVERY_S = 30.0


Slot = list[float]
"""Of the ledger: time of its last request (so that nothing leaves too early), amount, time of its first."""


class Pace:
    """One limit. Times are seconds of any monotonic clock, given by the caller."""

    __slots__ = ("_free_at", "_ledger", "_limit", "_refused_at", "_share", "_sum", "per_minute")

    def __init__(self, per_minute: float, now: float) -> None:
        self.per_minute = per_minute
        self._share = 1.0
        self._limit = per_minute
        self._free_at = now + SLACK_S
        self._ledger: deque[Slot] = deque()
        self._sum = 0.0
        self._refused_at = -1e9

    def wait(self, amount: float, now: float) -> float:
        """Seconds until so much may be sent; 0 for now."""
        ledger = self._ledger
        horizon = now - MINUTE - DRIFT_S
        while ledger and ledger[0][0] <= horizon:
            self._sum -= ledger.popleft()[1]
        if self._share < 1.0 and now - self._refused_at > _RECOVERY_S:
            self._refused_at = now
            self._set(self.per_minute, min(1.0, self._share / _GENTLER))
        paced = self._free_at - SLACK_S - now
        over = self._sum + amount - self._limit
        if over > 0 and ledger:
            return max(paced, self._room_in(over, horizon), 0.001)
        return paced if paced > 0 else 0.0

    def _room_in(self, over: float, horizon: float) -> float:
        """Seconds until enough of the ledger is past."""
        for time, amount, _ in self._ledger:
            over -= amount
            if over <= 0:
                return time - horizon
        return self._ledger[-1][0] - horizon

    def take(self, amount: float, now: float) -> Slot:
        """Count so much as sent now; `settle` takes what this gives."""
        free_at = self._free_at
        self._free_at = (free_at if free_at > now else now) + amount * MINUTE / self._limit
        ledger = self._ledger
        if ledger and now - ledger[-1][2] < SLOT_S:
            slot = ledger[-1]
            slot[0] = now
            slot[1] += amount
        else:
            slot = [now, amount, now]
            ledger.append(slot)
        self._sum += amount
        return slot

    def settle(self, slot: Slot, change: float) -> None:
        """What was sent in this slot turned out to count as so much more (or, below zero, less)."""
        self._free_at += change * MINUTE / self._limit
        if self._ledger and slot[0] >= self._ledger[0][0]:
            slot[1] += change
            self._sum += change

    def refused(self, now: float) -> None:
        """The server counted more than we did: stay further below its limit for a while.

        A refusal far below the limit has another reason, and changes nothing here.
        """
        if self._sum < self._limit / 2:
            return
        self._refused_at = now
        self._set(self.per_minute, max(_GENTLEST, self._share * _GENTLER))

    def follow(self, per_minute: float) -> None:
        """The limit is another one than we thought."""
        self._set(per_minute, self._share)

    def _set(self, per_minute: float, share: float) -> None:
        self.per_minute = per_minute
        self._share = share
        self._limit = per_minute * share
