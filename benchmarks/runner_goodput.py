"""What is left of the throughput where a server fails at random, or takes only so many requests at a time.

    python -m benchmarks.runner_goodput [--queries 2000] [--rounds 1] [--mix NAME] [--places 16[@S],...]

Each client is a process of its own with 64 requests open, against a server that answers after 0.2 to 0.4 s:

  plain   64 workers on aiohttp, each of which keeps its query and tries again: after Retry-After, or a
          jittered 0.5, 1, 2, ... 8 s; a reply that takes over 8 s is given up
  runner  the whole runner, over a study
  openai  64 workers on the openai SDK with 20 retries, where it is installed

Printed are the answers a second between the server's first answer and its last, and their ratio to the plain
loop's. With --places: what the runner used of them, and the share of requests refused, after a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.concurrency.scenarios import MIXES
from benchmarks.failing_server import DELAY_S, JITTER_S
from benchmarks.prompts import prompt

OPEN = 64
PATIENCE_S = 8.0
HELD_BY_A_HANG_S = 5.0
TARGETS = {"ratio": 0.95, "used": 0.9, "refused": 0.05}


async def plain(base_url: str, queries: int, _: Path) -> None:
    """The plainest loop that gets every answer."""
    import aiohttp

    numbers = iter(range(queries))

    async def ask(session: aiohttp.ClientSession, body: dict[str, Any]) -> float | None:
        """One try: None for an answer, else seconds to wait, or -1 where the server does not say."""
        async with session.post(f"{base_url}/chat/completions", json=body) as response:
            if response.status == 200:
                json.loads(await response.read())["choices"][0]["message"]["content"]
                return None
            return float(response.headers.get("Retry-After", -1))

    async def work(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            body = {"model": "judge-1", "messages": [{"role": "user", "content": prompt(number)}]}
            for tries in itertools.count():
                wait: float | None = -1.0
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    wait = await ask(session, body)
                if wait is None:
                    break
                await asyncio.sleep(min(8.0, 0.5 * 2**tries) * random.random() if wait < 0 else wait)

    timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        await asyncio.gather(*(work(session) for _ in range(OPEN)))


async def sdk(base_url: str, queries: int, _: Path) -> None:
    """The openai SDK, with many retries."""
    from openai import AsyncOpenAI

    numbers = iter(range(queries))

    async def work(client: AsyncOpenAI) -> None:
        for number in numbers:
            messages = [{"role": "user", "content": prompt(number)}]
            await client.chat.completions.create(model="judge-1", messages=messages)  # type: ignore[arg-type]

    async with AsyncOpenAI(base_url=base_url, api_key="none", max_retries=20, timeout=PATIENCE_S) as client:
        await asyncio.gather(*(work(client) for _ in range(OPEN)))


async def runner(base_url: str, queries: int, database: Path) -> None:
    """The whole runner over a study."""
    import store
    from runner.lifecycle.options import Asked, RunOptions
    from runner.live.run import run
    from runner.providers.file import Providers
    from runner.providers.schema import File

    table = {
        "base_url": base_url,
        "limits": {"in_flight": OPEN},
        "timeouts": {"connect": 5, "first_byte": PATIENCE_S, "total": 20},
        "models": {"judge": {"id": "judge-1", "prices": {"input": 0, "output": 0}}},
    }
    providers = Providers(Path("bench"), File.model_validate({"providers": {"bench": table}}).providers)
    entry = providers.resolve("judge")
    with store.open_study(database) as study:
        summary = await run(study, [Asked(entry.settings(), entry)], None, RunOptions(monitor="none"))
    assert summary.counts == {"answered": queries}, summary.message


CLIENTS = {"plain": plain, "runner": runner, "openai": sdk}


@contextmanager
def server(mix: dict[str, float], places: list[tuple[float, int]]) -> Iterator[str]:
    """A failing server in a process of its own: its address."""
    settings = json.dumps({"mix": mix, "places": places})
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.failing_server", settings], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
    finally:
        child.terminate()
        child.wait()


def measure(
    name: str, queries: int, mix: dict[str, float], places: list[tuple[float, int]]
) -> dict[str, float]:
    """What the server gave to one client."""
    with tempfile.TemporaryDirectory() as folder, server(mix, places) as address:
        database = Path(folder) / "bench.duckdb"
        if name == "runner":
            subprocess.run(
                [sys.executable, "-m", "benchmarks.prompts", str(database), str(queries)], check=True
            )
        command = [sys.executable, "-m", "benchmarks.runner_goodput", "--client", name]
        command += ["--url", f"{address}/v1", "--queries", str(queries), "--database", str(database)]
        subprocess.run(command, check=True)
        with urllib.request.urlopen(f"{address}/stats") as reply:
            stats: dict[str, float] = json.load(reply)
    return stats


def of_places(stats: dict[str, float], mix: dict[str, float], places: list[tuple[float, int]]) -> str:
    """How many places were used and how many requests refused after the first minute."""
    ends = [at for at, _ in places[1:]] + [stats["last_s"]]
    seconds = sum(
        count * max(0.0, min(stats["last_s"], end) - max(60.0, at))
        for (at, count), end in zip(places, ends, strict=True)
    )
    takes = DELAY_S + JITTER_S / 2 + mix.get("hang", 0.0) * HELD_BY_A_HANG_S
    used = stats.get("late ok", 0) / max(seconds / takes * (1 - sum(mix.values())), 1e-9)
    share = stats.get("late refused", 0) / max(stats.get("late requests", 0), 1)
    return (
        f"used {used:.2f} (target at least {TARGETS['used']}), "
        f"refused {share:.1%} (target under {TARGETS['refused']:.0%})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--mix", choices=MIXES)
    parser.add_argument("--places")
    parser.add_argument("--client", choices=CLIENTS)
    parser.add_argument("--url")
    parser.add_argument("--database", type=Path)
    given = parser.parse_args()
    if given.client:
        uvloop.run(CLIENTS[given.client](given.url, given.queries, given.database))
        return
    if given.places:
        mix = MIXES[given.mix or "no failures"]
        pairs = [one.partition("@") for one in given.places.split(",")]
        places = [(float(at or 0), int(count)) for count, _, at in pairs]
        stats = measure("runner", given.queries or 12_000, mix, places)
        print(f"places {given.places}, {given.mix or 'no failures'}: {of_places(stats, mix, places)}")
        return
    clients = list(CLIENTS)
    try:
        import openai  # noqa: F401
    except ImportError:
        clients.remove("openai")
    for name in [given.mix] if given.mix else ["no failures", "2% 429, 3% 500", "default mix"]:
        rates: dict[str, list[float]] = {client: [] for client in clients}
        queries = given.queries or 2_000
        for _ in range(given.rounds):
            for client in clients:
                rates[client].append(queries / measure(client, queries, MIXES[name], [])["span_s"])
        base = statistics.median(rates["plain"])
        shown = [
            f"{client} {statistics.median(found):.0f}/s ({statistics.median(found) / base:.2f})"
            for client, found in rates.items()
        ]
        print(f"{name}: {', '.join(shown)}; target of runner at least {TARGETS['ratio']}", flush=True)


if __name__ == "__main__":
    main()
