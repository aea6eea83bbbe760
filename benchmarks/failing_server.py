"""A loopback server that fails at random, or has so many places, and counts what it gave.

    python -m benchmarks.failing_server '{"mix": {"429": 0.03, "hang": 0.002}, "places": [[0, 16]]}'

prints its port. GET /stats tells what it answered and refused, whole and from `late_s` on. Failures are a
status; "429ra", which says `Retry-After: 1`; "reset"; and "hang", which lasts until the client leaves.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks.replying_server import ANSWER
from evenhand.simulate.http import Connection, Request, reply

DELAY_S, JITTER_S = 0.2, 0.2
_LOOK_S = 0.1
_BUSY = reply(503, b'{"error": {"message": "overloaded"}}')


@dataclass
class Failing:
    """The server's state. `places`: (from this second on, requests at a time); none for any number."""

    mix: dict[str, float] = field(default_factory=dict)
    places: list[tuple[float, int]] = field(default_factory=list)
    late_s: float = 60.0
    seed: int = 1

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.connections: set[Connection] = set()
        self.open = self.number = 0
        self.counts: Counter[str] = Counter()
        self.first_at: float | None = None
        self.answers: list[float] = []

    def handle(self, connection: Connection, request: Request) -> None:
        """Take one request."""
        if request.path.startswith("/stats"):
            connection.send(reply(200, json.dumps(self.stats()).encode()))
            return
        now = time.monotonic()
        self.first_at = self.first_at or now
        self._count("requests", now)
        places = [count for at, count in self.places if at <= now - self.first_at]
        if places and self.open >= places[-1]:
            self._count("refused", now)
            connection.send(_BUSY)
            return
        self.open += 1
        kind = self._drawn()
        loop = asyncio.get_running_loop()
        if kind == "hang":
            loop.call_later(_LOOK_S, self._hang, connection)
        else:
            loop.call_later(DELAY_S + JITTER_S * self.chance.random(), self._end, connection, kind)

    def stats(self) -> dict[str, Any]:
        """What it gave, in seconds since the first request."""
        first = self.first_at or 0.0
        span = self.answers[-1] - self.answers[0] if len(self.answers) > 1 else None
        last = self.answers[-1] - first if self.answers else 0.0
        return {**self.counts, "span_s": span, "last_s": last}

    def _count(self, what: str, now: float) -> None:
        self.counts[what] += 1
        if self.first_at is not None and now - self.first_at > self.late_s:
            self.counts[f"late {what}"] += 1

    def _drawn(self) -> str:
        x = self.chance.random()
        for kind, share in self.mix.items():
            if x < share:
                return kind
            x -= share
        return "ok"

    def _hang(self, connection: Connection) -> None:
        if connection.open:
            asyncio.get_running_loop().call_later(_LOOK_S, self._hang, connection)
        else:
            self.open -= 1

    def _end(self, connection: Connection, kind: str) -> None:
        self.open -= 1
        if kind == "ok":
            now = time.monotonic()
            self.number += 1
            self.answers.append(now)
            self._count("ok", now)
            connection.send(reply(200, json.dumps({**ANSWER, "id": f"c-{self.number}"}).encode()))
        elif kind == "reset":
            connection.reset()
        else:
            status = int(kind.removesuffix("ra"))
            wait = {"Retry-After": "1"} if kind.endswith("ra") else {}
            message = json.dumps({"error": {"message": f"status {status}"}})
            connection.send(reply(status, message.encode(), wait))


async def serve(state: Failing) -> None:
    """Serve until the process ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(state.handle, state.connections), "127.0.0.1", 0, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Failing(**json.loads(sys.argv[1]))))
