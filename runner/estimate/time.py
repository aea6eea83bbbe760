"""How long a run takes: whichever is slowest of the requests, the tokens and the open requests allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.estimate.tokens import Figure, Usage

if TYPE_CHECKING:
    from runner.providers.file import Route

BATCH_WINDOW_S = 24 * 3600.0

_FIRST_TOKEN_S = (0.3, 1.0, 3.0)
_SPEEDS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    # Tokens a second of one request, slow, expected, fast: read from the prompt, written in the answer.
    "api": ((2_000, 20_000, 50_000), (20, 50, 120)),
    "vllm": ((500, 5_000, 20_000), (5, 25, 60)),
    "embedded": ((60, 300, 2_000), (15, 60, 200)),
    "simulated": ((1e6, 1e6, 1e6), (1e4, 1e5, 1e6)),
}
_RARELY_REACHED = 4
"""The slow case: the server takes no more than this part of the open requests that the file allows."""


@dataclass(frozen=True, slots=True)
class _Case:
    """One case of three. `share` is that of the open requests which the server takes."""

    prompt: float
    answer: float
    latency_s: float
    share: float


def latency(route: Route, usage: Usage) -> Figure:
    """Seconds of one request: stored, or assumed from the kind of the provider."""
    if usage.latency_s is not None:
        return usage.latency_s
    reads, writes = _SPEEDS[route.kind]
    first = _FIRST_TOKEN_S if route.kind in ("api", "vllm") else (0.0, 0.0, 0.0)
    low = first[0] + usage.prompt.low / reads[2] + usage.answer.low / writes[2]
    expected = first[1] + usage.prompt.expected / reads[1] + usage.answer.expected / writes[1]
    # An answer as long as max_tokens is a rarity, not the mean of a slow run.
    slow = min(3 * usage.answer.expected, usage.answer.high)
    high = first[2] + usage.prompt.expected / reads[0] + slow / writes[0]
    where = "this machine" if route.kind == "embedded" else route.provider
    return Figure(
        low,
        expected,
        high,
        f"a latency of {expected:,.3g} s assumed ({low:,.3g} to {high:,.3g}), as no stored answer of this "
        f"model tells how fast {where} is",
    )


def duration(
    route: Route, usage: Usage, queries: int, *, max_tokens: int, keys: int, in_flight: int | None
) -> tuple[Figure, str]:
    """Seconds for so many queries with so many keys, and what decides it.

    The token limit is taken to count what the provider counts: prompt + max_tokens, or what was really used.
    """
    one = latency(route, usage)
    reserved = route.limits.counts == "reserved"
    slow_answer = min(3 * usage.answer.expected, usage.answer.high)
    cases = (
        _Case(usage.prompt.low, max_tokens if reserved else usage.answer.low, one.low, 1.0),
        _Case(usage.prompt.expected, max_tokens if reserved else usage.answer.expected, one.expected, 1.0),
        _Case(usage.prompt.high, max_tokens if reserved else slow_answer, one.high, 1 / _RARELY_REACHED),
    )
    lanes = keys * len(route.servers())
    low, expected, high = (_spans(route, case, queries, lanes, in_flight) for case in cases)
    seconds, bound_by = max(expected)
    how = f"what decides is {bound_by}; {one.how}"
    return Figure(max(low)[0], seconds, max(high)[0], how), bound_by


def _spans(
    route: Route, case: _Case, queries: int, lanes: int, in_flight: int | None
) -> list[tuple[float, str]]:
    """Seconds under each limit alone, and the limit in words. Each key and replica has its own limits."""
    limits = route.limits
    allowed = limits.in_flight if in_flight is None else min(limits.in_flight, in_flight)
    most = max(allowed * lanes, 1)
    taken = max(most * case.share, 1.0)
    spans = [(max(queries / taken, math.ceil(queries / most)) * case.latency_s, f"{most:,} open requests")]
    if limits.requests_per_minute is not None:
        rate = limits.requests_per_minute * lanes
        spans.append((queries / rate * 60 + case.latency_s, f"{rate:,.0f} requests a minute"))
    if limits.tokens_per_minute is not None:
        rate = limits.tokens_per_minute * lanes
        tokens = queries * (case.prompt + case.answer)
        words = "prompt + max_tokens counted" if limits.counts == "reserved" else "those used counted"
        spans.append((tokens / rate * 60 + case.latency_s, f"{rate:,.0f} tokens a minute ({words})"))
    return spans
