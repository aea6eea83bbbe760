"""What servers do to a client, as scenarios with figures."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.concurrency.simulator import (
    MIX,
    World,
    plain_loop,
    refused,
    run,
    steps,
    used,
    usual,
)

Figures = dict[str, Any]

MIXES: dict[str, dict[str, float]] = {
    "default mix": MIX,
    "12% failures": {"429": 0.06, "503": 0.04, "reset": 0.02},
    "2% 429, 3% 500": {"429": 0.02, "500": 0.03},
    "Retry-After 3%, 529 3%, hangs": {"429ra": 0.03, "529": 0.03, "hang": 0.003},
    "30% failures": {"429": 0.15, "503": 0.15},
    "20% 500": {"500": 0.20},
    "no failures": {},
}


def start_of(seed: int) -> int:
    """Requests to begin with."""
    return (8, 16, 32)[seed % 3]


def random_failures(
    mix: Mapping[str, float],
    seed: int,
    *,
    queries: int = 4000,
    most: int = 64,
    delay: Callable[[random.Random], float] = usual,
    give_up_s: float = 8.0,
    **world: object,
) -> Figures:
    """The ratio of goodputs: the plain loop's time to ours, from the first answer to the last."""
    place = World(mix=mix, latency=delay, **world)  # type: ignore[arg-type]
    plain = plain_loop(place, seed, queries, most, give_up_s)
    ours = run(place, seed, queries, most, start_of(seed), give_up_s)
    return {"ratio": plain.span / ours.span, "left": ours.left}


def full_server(
    changes: list[tuple[float, int]],
    mix: Mapping[str, float],
    seed: int,
    *,
    most: int = 64,
    latency_s: float = 0.3,
) -> Figures:
    """A server that refuses what is beyond its places: how many it used and refused after a minute."""

    def delay(chance: random.Random) -> float:
        return latency_s * (2 + 2 * chance.random()) / 3

    rate = sum(places for _, places in changes) / len(changes) / latency_s
    ours = run(
        World(mix=mix, capacity=steps(*changes), latency=delay),
        seed,
        int(max(rate * 150, 1200)),
        most,
        start_of(seed),
    )
    return {
        "used": used(ours, changes, mix, 60.0, latency_s),
        "refused": refused(ours, 60.0),
        "left": ours.left,
    }


def soft_overload(mix: Mapping[str, float], seed: int, beyond: int = 24) -> Figures:
    """A server that only grows slower."""
    place = World(mix=mix, slower_beyond=beyond)
    plain, ours = plain_loop(place, seed, 4000), run(place, seed, 4000, 64, start_of(seed))
    return {
        "ratio": plain.span / ours.span,
        "latency": sum(ours.latencies) / len(ours.latencies) / 0.3,
        "left": ours.left,
    }


def rate_limit(
    per_minute: float,
    window_s: float | None,
    seed: int,
    mix: Mapping[str, float] | None = None,
    *,
    tells_when: bool = False,
) -> Figures:
    """A limit that no header tells and nothing configures: what is used of it, and refused, after 120 s."""
    place = World(per_minute=per_minute, window_s=window_s, mix=mix or {}, tells_when=tells_when)
    ours = run(place, seed, int(per_minute * 8), 64, start_of(seed), longest_s=420.0)
    end = min(ours.answers[-1], 420.0)
    share = sum((mix or {}).values())
    return {
        "used": ours.rate(120.0, end) / (per_minute / 60) / (1 - share),
        "refused": refused(ours, 120.0),
    }


def outage(mix: Mapping[str, float], seed: int, kind: str = "connect", seconds: float = 30.0) -> Figures:
    """A server that is gone for a while: requests sent meanwhile, and seconds until all is as before."""
    start, end = 12.0, 12.0 + seconds
    ours = run(World(mix=mix, outage=(start, end), outage_kind=kind), seed, 6000, 64, start_of(seed))
    full = 64 / 0.3 * (1 - sum(mix.values()))
    back = next(
        (t / 10 for t in range(600) if ours.rate(end + t / 10, end + t / 10 + 1) >= 0.85 * full), math.inf
    )
    return {"probes": sum(start + 2 < at < end for at in ours.sent), "back": back, "left": ours.left}


def heavy_tailed(chance: random.Random) -> float:
    """5 to 20 s."""
    return min(20.0, 5 * math.exp(abs(chance.gauss(0, 0.6))))


def delay_of(seconds: float) -> Callable[[random.Random], float]:
    """About so long an answer, by half more or less."""
    return lambda chance: seconds * (0.67 + 0.66 * chance.random())


Scenario = Callable[[int], Figures]


def listed() -> dict[str, Scenario]:
    """What the runner promises."""
    three = [(0.0, 16), (60.0, 48), (120.0, 8)]
    made: dict[str, Scenario] = {
        name: lambda seed, mix=mix: random_failures(mix, seed) for name, mix in MIXES.items()
    }
    made |= {
        "capacity 16": lambda seed: full_server([(0.0, 16)], {}, seed),
        "capacity 16, default mix": lambda seed: full_server([(0.0, 16)], MIX, seed),
        "capacity 16, 48, 8": lambda seed: full_server(three, {}, seed),
        "capacity 16, 48, 8, default mix": lambda seed: full_server(three, MIX, seed),
        "slower beyond 24": lambda seed: soft_overload({}, seed),
        "slower beyond 24, default mix": lambda seed: soft_overload(MIX, seed),
        "600 a minute, bucket": lambda seed: rate_limit(600, None, seed),
        "600 a minute, window": lambda seed: rate_limit(600, 60.0, seed),
        "outage of 30 s": lambda seed: outage({}, seed),
        "outage of 30 s, default mix": lambda seed: outage(MIX, seed),
        "outage of 30 s by 503": lambda seed: outage({}, seed, "503"),
        "5 to 20 s, 256 open, default mix": lambda seed: random_failures(
            MIX, seed, queries=20_000, most=256, delay=heavy_tailed, give_up_s=120.0
        ),
    }
    return made


def grid() -> dict[str, Scenario]:
    """What it was not tuned on."""
    made: dict[str, Scenario] = {}
    for places in (1, 2, 4, 8, 24, 40, 100):
        for name in ("no failures", "2% 429, 3% 500", "default mix", "30% failures"):
            made[f"capacity {places}, {name}"] = lambda seed, places=places, mix=MIXES[name]: full_server(
                [(0.0, places)], mix, seed, most=64 if places < 64 else 256
            )
    for places in (4, 24):
        for seconds in (0.05, 2.0):
            made[f"capacity {places}, {seconds:g} s, default mix"] = lambda seed, p=places, s=seconds: (
                full_server([(0.0, p)], MIX, seed, latency_s=s)
            )
    for seconds in (0.02, 0.1, 1.0, 5.0, 20.0):
        for name in ("default mix", "30% failures"):
            made[f"{seconds:g} s, {name}"] = lambda seed, s=seconds, mix=MIXES[name]: random_failures(
                mix, seed, delay=delay_of(s), give_up_s=max(8.0, 4 * s)
            )
    for open_ in (1, 2, 4, 16, 256):
        made[f"{open_} open, default mix"] = lambda seed, o=open_: random_failures(
            MIX, seed, most=o, queries=max(500, min(8000, o * 100))
        )
    for seconds in (3.0, 10.0):
        made[f"Retry-After {seconds:g} s, 4%"] = lambda seed, s=seconds: random_failures(
            {"429ra": 0.04}, seed, retry_after_s=s
        )
    made["Retry-After 1 s, 30%"] = lambda seed: random_failures({"429ra": 0.3}, seed)
    made["quick failures, default mix"] = lambda seed: random_failures(MIX, seed, quick=True)
    made["quick failures, 30%"] = lambda seed: random_failures(MIXES["30% failures"], seed, quick=True)
    made["bursts: 40% for 2 s in 10 s"] = lambda seed: random_failures(
        {"500": 0.02}, seed, bursts=(10.0, 2.0, 0.4)
    )
    made["bursts: 80% for 1 s in 20 s"] = lambda seed: random_failures(
        {"500": 0.02}, seed, bursts=(20.0, 1.0, 0.8)
    )
    for per_minute in (10, 60, 200, 3000, 6000):
        for window in (None, 60.0):
            made[f"{per_minute} a minute, {'window' if window else 'bucket'}"] = (
                lambda seed, p=per_minute, w=window: rate_limit(p, w, seed)
            )
    for per_minute in (10, 60, 600, 6000):
        for window in (None, 60.0):
            made[f"{per_minute} a minute, {'window' if window else 'bucket'}, Retry-After"] = (
                lambda seed, p=per_minute, w=window: rate_limit(p, w, seed, tells_when=True)
            )
    made["600 a minute, window, default mix"] = lambda seed: rate_limit(600, 60.0, seed, MIX)
    made["600 a minute, bucket, default mix"] = lambda seed: rate_limit(600, None, seed, MIX)
    for beyond in (4, 100):
        made[f"slower beyond {beyond}"] = lambda seed, b=beyond: soft_overload({}, seed, b)
    made["outage of 120 s"] = lambda seed: outage({}, seed, seconds=120.0)
    made["outage of 2 s"] = lambda seed: outage({}, seed, seconds=2.0)
    return made
