"""How many requests a lane keeps open: few at first, then twice as many, fewer when a server has too much."""

from __future__ import annotations

_LEAST_CUT = 0.05
_MOST_CUT = 0.5
_UNKNOWN_CUT = 0.3
_FEW = 10
_NEAR = 0.9
_FORGET_S = 60.0


class InFlight:
    """An adaptive limit. Times are seconds of any monotonic clock, given by the caller.

    Below `_fast_below` each answer opens one more (a doubling for each round trip); above it a whole round of
    answers does. An overload cuts once for all requests that were sent before the cut, and the level at which
    it happened is remembered: the way back is fast up to close below it, and slow past it. How deep it cuts
    is the share of requests refused since the last cut: a server that refuses one in a hundred is nearly
    within its means. An overload while doubling cuts to half: the capacity lies somewhere above that.
    """

    __slots__ = ("_ceiling", "_cut_at", "_fast_below", "_good", "_limit", "_refused", "cuts", "limit", "most")

    def __init__(self, most: int, start: int) -> None:
        self.most = most
        self._limit = float(min(start, most))
        self.limit = int(self._limit)
        """The most requests to keep open now."""
        self._fast_below = float(most)
        self._ceiling: float | None = None
        self._cut_at = -1e9
        self._good = 0
        self._refused = 0
        self.cuts = 0

    @property
    def ceiling(self) -> int | None:
        """The level at which the server last was overloaded."""
        return None if self._ceiling is None else int(self._ceiling)

    def succeeded(self, in_flight: int, sent_at: float, now: float) -> None:
        """An answer came while so many were open.

        It raises nothing if the limit was not reached (so not tried), or if it was sent before the last cut.
        """
        self._good += 1
        if self._limit >= self.most or in_flight < self._limit * 0.8 or sent_at <= self._cut_at:
            return
        if self._limit < self._fast_below:
            step = 1.0
        else:
            step = 1.0 / self._limit
            near = self._ceiling is not None and self._limit > self._ceiling * _NEAR * _NEAR
            if near and now - self._cut_at < _FORGET_S:
                step *= 0.25
        self._limit = min(self._limit + step, float(self.most))
        self.limit = int(self._limit)

    def overloaded(self, sent_at: float, now: float) -> bool:
        """The server said it has too much. True if this began an episode, and the limit was cut."""
        self._refused += 1
        if sent_at <= self._cut_at:
            return False
        kept = 1.0 - self._depth()
        self._fast_below = self._limit * (kept if self._ceiling is None else _NEAR)
        self._ceiling = self._limit
        self._limit = max(1.0, self._limit * kept)
        self.limit = int(self._limit)
        self._cut_at = now
        self._good = self._refused = 0
        self.cuts += 1
        return True

    @property
    def refused_share(self) -> float:
        """Of the replies since the last cut."""
        replies = self._good + self._refused
        return self._refused / replies if replies else 0.0

    def _depth(self) -> float:
        """Which share of the limit to cut."""
        if self._ceiling is None and self._limit < self.most:
            return _MOST_CUT
        if self._good + self._refused < _FEW:
            return _UNKNOWN_CUT
        return min(max(self.refused_share, _LEAST_CUT), _MOST_CUT)

    def probe(self) -> None:
        """The server seems to be gone: one request at a time until it answers."""
        if self._limit > 1.0:
            self._fast_below = max(self._limit * _NEAR, 2.0)
        self._limit = 1.0
        self.limit = 1
