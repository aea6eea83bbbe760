"""Strict request and token limits over a sliding window, as the strictest of providers would enforce them.

Never more than the limit within any `window_s` seconds: a burst at the start counts, and so does one that
straddles two minutes.
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Literal

RetryAfter = Literal["seconds", "date", "milliseconds", "none"]


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What one key may send to one model.

    Args:
        requests: per window; None for no limit.
        tokens: per window.
        window_s: seconds; shorter ones make tests short.
        counts: whether a request is charged its prompt + max_tokens, or in the end what it really used.
        refused_count: whether a refused request is charged too, as some providers do.
        retry_after: how a refusal says when to come back.
        headers: send `x-ratelimit-*` with every reply.
    """

    requests: int | None = None
    tokens: int | None = None
    window_s: float = 60.0
    counts: Literal["reserved", "used"] = "reserved"
    refused_count: bool = False
    retry_after: RetryAfter = "seconds"
    headers: bool = False


class Charge:
    """What one admitted request was charged; corrected when it is known what it used."""

    __slots__ = ("at", "tokens")

    def __init__(self, at: float, tokens: int) -> None:
        self.at = at
        self.tokens = tokens


@dataclass(slots=True)
class Window:
    """The requests that one key sent to one model lately, and counts of all."""

    limits: ServerLimits
    accepted: int = 0
    refused_requests: int = 0
    """Refused for the limit of requests."""
    refused_tokens: int = 0
    tokens: int = 0
    """Charged in all."""
    by_second: dict[int, int] = field(default_factory=dict)
    """Requests admitted in each second since the first."""
    first_at: float | None = None
    last_at: float = 0.0
    _charges: deque[Charge] = field(default_factory=deque)
    _in_window: int = 0

    def admit(
        self, now: float, prompt_tokens: int, max_tokens: int
    ) -> Charge | Literal["requests", "tokens"]:
        """Charge a request, or say which limit forbids it. `now`: seconds of a steady clock."""
        self._forget(now)
        limits = self.limits
        cost = prompt_tokens + (max_tokens if limits.counts == "reserved" else 0)
        refused: Literal["requests", "tokens"] | None = None
        if limits.requests is not None and len(self._charges) >= limits.requests:
            refused = "requests"
            self.refused_requests += 1
        elif limits.tokens is not None and self._in_window + cost > limits.tokens:
            refused = "tokens"
            self.refused_tokens += 1
        if refused is not None:
            if limits.refused_count:
                self._charges.append(Charge(now, 0))
            return refused
        charge = Charge(now, cost)
        self._charges.append(charge)
        self._in_window += cost
        self.tokens += cost
        self.accepted += 1
        self.last_at = now
        if self.first_at is None:
            self.first_at = now
        second = int(now - self.first_at)
        self.by_second[second] = self.by_second.get(second, 0) + 1
        return charge

    def settle(self, charge: Charge, used: int, now: float) -> None:
        """Correct a charge to what was used, where that is what counts."""
        if self.limits.counts == "used":
            if charge.at > now - self.limits.window_s:
                self._in_window += used - charge.tokens
            self.tokens += used - charge.tokens
            charge.tokens = used

    def wait_s(self, now: float, which: Literal["requests", "tokens"]) -> float:
        """Seconds until something leaves the window."""
        self._forget(now)
        if not self._charges or (which == "tokens" and self._in_window == 0):
            return self.limits.window_s  # asked for more than the whole limit at once
        return max(self._charges[0].at + self.limits.window_s - now, 0.001)

    def retry_headers(self, now: float, which: Literal["requests", "tokens"]) -> dict[str, str]:
        """The headers of a refusal."""
        return retry_headers(self.limits.retry_after, self.wait_s(now, which)) | self.headers(now)

    def headers(self, now: float) -> dict[str, str]:
        """`x-ratelimit-*` as OpenAI sends them, where these limits are told."""
        if not self.limits.headers:
            return {}
        self._forget(now)
        told: dict[str, str] = {}
        left = self._charges[0].at + self.limits.window_s - now if self._charges else 0.0
        for name, limit, used in (
            ("requests", self.limits.requests, len(self._charges)),
            ("tokens", self.limits.tokens, self._in_window),
        ):
            if limit is not None:
                told[f"x-ratelimit-limit-{name}"] = str(limit)
                told[f"x-ratelimit-remaining-{name}"] = str(max(limit - used, 0))
                told[f"x-ratelimit-reset-{name}"] = f"{left:.3f}s"
        return told

    def most_in(self, seconds: int) -> int:
        """The most requests admitted in any run of so many whole seconds."""
        if not self.by_second:
            return 0
        counts = [self.by_second.get(second, 0) for second in range(max(self.by_second) + 1)]
        running = sum(counts[:seconds])
        most = running
        for i in range(seconds, len(counts)):
            running += counts[i] - counts[i - seconds]
            most = max(most, running)
        return most

    def _forget(self, now: float) -> None:
        horizon = now - self.limits.window_s
        charges = self._charges
        while charges and charges[0].at <= horizon:
            self._in_window -= charges.popleft().tokens


def retry_headers(form: RetryAfter, wait_s: float) -> dict[str, str]:
    """`Retry-After` in one of its forms, never sooner than `wait_s`."""
    if form == "seconds":
        return {"Retry-After": str(math.ceil(wait_s))}
    if form == "date":
        return {"Retry-After": formatdate(math.ceil(time.time() + wait_s), usegmt=True)}
    if form == "milliseconds":
        return {"retry-after-ms": str(math.ceil(wait_s * 1000))}
    return {}
