"""A client and a server on a clock of their own: discrete events, seeded, thousands of requests in a second.

`plain_loop` is what a simple script does: so many workers, each of which keeps its query and tries again
after a jittered, growing wait. `run` is the runner's controller (`runner.limits.slots`) with the runner's
waits.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from runner.lifecycle.failure_policy import backoff_s
from runner.limits.slots import Slots

MIX = {
    "429": 0.03, "429ra": 0.02, "500": 0.03, "502": 0.02, "503": 0.02, "529": 0.01, "reset": 0.03,
    "hang": 0.002,
}  # fmt: skip
"""The default faults of the goodput check: 16% in all."""
CLIENT_S = 0.001
"""What the client itself takes for a request."""
_INSTANT_S = 0.005


def usual(chance: random.Random) -> float:
    """0.2 to 0.4 s."""
    return 0.2 + 0.2 * chance.random()


@dataclass(frozen=True)
class World:
    """What a server does. Times are seconds since the start."""

    mix: Mapping[str, float] = field(default_factory=dict)
    """Kind of failure -> its share. "429ra" says Retry-After, "hang" never comes to an end."""
    latency: Callable[[random.Random], float] = usual
    capacity: Callable[[float], int] | None = None
    """At a time so many places; it refuses what is beyond."""
    slower_beyond: int | None = None
    """With more open than this it grows slower in proportion."""
    per_minute: float | None = None
    window_s: float | None = None
    """The rate limit counts strictly within so long a window; None for a token bucket of `burst`."""
    burst: float = 10.0
    outage: tuple[float, float] | None = None
    outage_kind: str = "connect"
    quick: bool = False
    """Failures come at once, and not when the answer would have come."""
    bursts: tuple[float, float, float] | None = None
    """Mean seconds without and with a burst of failures, and the share that fails in one."""
    retry_after_s: float = 1.0
    tells_when: bool = False
    """A refusal for the rate says when there is room."""
    balanced: int = 1
    """So many servers with `capacity` each, behind a balancer that picks one at random."""


class Server:
    """A world with a state."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(seed)
        self.open = 0
        self.places = [0] * world.balanced
        self.bucket, self.filled_at = world.burst, 0.0
        self.window: deque[float] = deque()
        self.burst_until = self.calm_until = 0.0

    def arrive(self, now: float) -> tuple[str, float, int]:
        """What becomes of a request: its kind, seconds, and the place it takes (-1 for none)."""
        world, chance = self.world, self.chance
        if world.outage and world.outage[0] <= now < world.outage[1]:
            return world.outage_kind, _INSTANT_S, -1
        if world.per_minute and not self._within_rate(world.per_minute / 60, now):
            return "refused", _INSTANT_S, -1
        place = chance.randrange(world.balanced)
        if world.capacity and self.places[place] >= world.capacity(now):
            return "refused", _INSTANT_S, -1
        self.open += 1
        self.places[place] += 1
        kind = self._drawn(now)
        seconds = world.latency(chance)
        if world.slower_beyond:
            seconds *= max(1.0, self.open / world.slower_beyond)
        if kind == "hang":
            seconds = math.inf
        elif world.quick and kind != "ok":
            seconds = _INSTANT_S
        return kind, seconds, place

    def room_in(self, now: float) -> float:
        """Seconds until the rate limit has room for a request."""
        world = self.world
        if world.window_s is None:
            return max(0.0, 1 - self.bucket) / ((world.per_minute or math.inf) / 60)
        return self.window[0] + world.window_s - now if self.window else 0.0

    def leave(self, place: int) -> None:
        """A request that had a place is over."""
        self.open -= 1
        self.places[place] -= 1

    def _within_rate(self, rate: float, now: float) -> bool:
        world = self.world
        if world.window_s is not None:
            while self.window and self.window[0] <= now - world.window_s:
                self.window.popleft()
            if len(self.window) >= rate * world.window_s:
                return False
            self.window.append(now)
            return True
        self.bucket = min(world.burst, self.bucket + (now - self.filled_at) * rate)
        self.filled_at = now
        if self.bucket < 1:
            return False
        self.bucket -= 1
        return True

    def _drawn(self, now: float) -> str:
        chance = self.chance
        if self.world.bursts:
            calm, bad, share = self.world.bursts
            while now >= max(self.calm_until, self.burst_until):
                if self.calm_until >= self.burst_until:
                    self.burst_until = self.calm_until + chance.expovariate(1 / bad)
                else:
                    self.calm_until = self.burst_until + chance.expovariate(1 / calm)
            if self.burst_until > self.calm_until and chance.random() < share:
                return "503"
        x = chance.random()
        for kind, share in self.world.mix.items():
            if x < share:
                return kind
            x -= share
        return "ok"


@dataclass
class Log:
    """What a client saw, and when."""

    answers: list[float] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    left: int = 0
    end: float = 0.0

    @property
    def span(self) -> float:
        """Seconds from the first answer to the last."""
        return self.answers[-1] - self.answers[0]

    def rate(self, start: float, end: float) -> float:
        """Answers a second in a stretch of time."""
        return sum(start < at <= end for at in self.answers) / (end - start)


def plain_loop(world: World, seed: int, queries: int, workers: int = 64, give_up_s: float = 8.0) -> Log:
    """The plainest loop there is."""
    server, chance, log = Server(world, seed + 777), random.Random(seed + 778), Log()
    events: list[tuple[float, int, str, int, int]] = []
    order = itertools.count()
    todo = queries

    def send(now: float, tries: int) -> None:
        kind, seconds, place = server.arrive(now)
        log.sent.append(now)
        late = seconds > give_up_s
        heapq.heappush(
            events, (now + min(seconds, give_up_s), next(order), "hang" if late else kind, tries, place)
        )

    for _ in range(min(workers, queries)):
        todo -= 1
        send(0.0, 0)
    while events:
        now, _, kind, tries, place = heapq.heappop(events)
        if kind == "again":
            send(now, tries)
            continue
        if place >= 0:
            server.leave(place)
        if kind == "ok":
            log.answers.append(now)
            if todo:
                todo -= 1
                send(now, 0)
        else:
            wait = world.retry_after_s if kind == "429ra" else min(8.0, 0.5 * 2**tries) * chance.random()
            heapq.heappush(events, (now + wait, next(order), "again", tries + 1, -1))
    return log


def run(
    world: World,
    seed: int,
    queries: int,
    most: int = 64,
    start: int = 8,
    give_up_s: float = 8.0,
    longest_s: float = 3000.0,
    slots: Slots | None = None,
) -> Log:
    """The runner's controller."""
    server, chance, log = Server(world, seed + 5), random.Random(seed), Log()
    slots = slots or Slots(most, start, 0.0, random.Random(seed + 9))
    events: list[tuple[float, int, str, int, int, int, float]] = []
    again: list[tuple[float, int]] = []
    order = itertools.count()
    todo, now, wake_at = queries, 0.0, math.inf
    recent: deque[float] = deque(maxlen=1000)
    patience = give_up_s
    while len(log.answers) < queries and now < longest_s:
        while todo or again:
            due = again and again[0][0] <= now
            wait = slots.wait(now) if todo or due else again[0][0] - now
            if wait > 0:
                if now + wait < wake_at - 1e-9:
                    wake_at = now + max(wait, 1e-4)
                    heapq.heappush(events, (wake_at, next(order), "wake", 0, -1, -1, now))
                break
            if due:
                tries = heapq.heappop(again)[1]
            else:
                todo, tries = todo - 1, 0
            slot = slots.send(now)
            kind, seconds, place = server.arrive(now + CLIENT_S / 2)
            log.sent.append(now)
            late = seconds > patience
            ends = now + min(seconds, patience) + CLIENT_S
            heapq.heappush(events, (ends, next(order), "hang" if late else kind, tries, place, slot, now))
        if not events:
            break
        now, _, kind, tries, place, slot, sent_at = heapq.heappop(events)
        if kind == "wake":
            if now >= wake_at - 1e-9:
                wake_at = math.inf
            continue
        if place >= 0:
            server.leave(place)
        if kind == "ok":
            log.answers.append(now)
            log.latencies.append(now - sent_at)
            recent.append(now - sent_at)
            if len(log.answers) % 50 == 0 and len(log.answers) >= 100:
                patience = min(give_up_s, max(3 * sorted(recent)[int(0.99 * len(recent))], 5.0))
            slots.succeeded(slot, sent_at, now)
        else:
            if place < 0:
                log.refused.append(now)
            asked = world.retry_after_s if kind == "429ra" else None
            if place < 0 and world.tells_when:
                asked = server.room_in(now)
            spoke = kind not in ("connect", "reset", "hang")
            slots.failed(slot, sent_at, now, spoke=spoke, retry_after=asked)
            wait = backoff_s(tries + 1, chance) if asked is None else asked
            heapq.heappush(again, (now + wait, tries + 1))
    log.left, log.end = queries - len(log.answers), now
    return log


def steps(*changes: tuple[float, int]) -> Callable[[float], int]:
    """A capacity that changes: (from this second on, places)."""
    return lambda now: [places for at, places in changes if at <= now][-1]


def used(
    log: Log, changes: Iterable[tuple[float, int]], mix: Mapping[str, float], start: float, latency_s: float
) -> float:
    """Of what the places allow from `start` on, with these failures. A hang keeps its place for 5 s."""
    changes, end = list(changes), log.answers[-1]
    latency_s += 5 * mix.get("hang", 0.0)
    share = sum(mix.values())
    ends = [at for at, _ in changes[1:]] + [end]
    places = sum(
        count * max(0.0, min(end, until) - max(start, at))
        for (at, count), until in zip(changes, ends, strict=True)
    )
    return sum(at > start for at in log.answers) / (places / latency_s * (1 - share))


def refused(log: Log, start: float = 0.0) -> float:
    """The share of requests that the server turned away for load."""
    return sum(at > start for at in log.refused) / max(1, sum(at > start for at in log.sent))
