"""What the runner costs: CPU an answer and throughput beside a bare `session.post` and the openai SDK.

    python -m benchmarks.runner_overhead [--requests 20000] [--concurrency 64] [--rounds 3] [--delay 0]

Each client runs in a process of its own against a loopback server that costs next to nothing, with the same
6 KB Chinese prompts and the same number of requests open. The bare loop is orjson bytes through aiohttp on
uvloop and nothing else: no limits, no retries, no database. The transport is that of the runner alone, which
sends a body and brings an answer or a fault. The runner is the whole of it: lanes, classification, commits to
DuckDB, with its monitor off and on (live tables on a pseudo-terminal). Imports are not counted. Rounds take
turns, so that a noisy machine is noisy for all; ratios are of medians. The openai SDK is left out where it is
not installed.

The aim is twice the CPU of the bare loop. On a machine with nothing else to do it is more, about 2.4, and the
output says for what: 59 of 141 us are the same `session.post`, as the runner too sends by aiohttp's public
interface; 17 make it a transport (a reply is read in any form and charset, one too many is told from the
next, timeouts are kept); 65 are what the bare loop does not do at all: prompts put together from the study,
limits, replicas and budget, what each answer used and cost, rows appended and committed. These 65 us are one
second in 15,000 answers. Throughput is for a server that takes no time, where a client is bound by its CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import itertools
import json
import os
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import orjson
import uvloop

from benchmarks.prompts import prompt

TARGETS = {"cpu": 2.0, "throughput": 0.4, "sdk_cpu": 6.0}


async def bare(base_url: str, requests: int, concurrency: int, _: Path) -> float:
    """aiohttp, orjson bytes, and nothing else."""
    import aiohttp

    url = base_url + "/chat/completions"
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    numbers = itertools.count()

    async def work(session: aiohttp.ClientSession) -> None:
        while (number := next(numbers)) < requests:
            body = orjson.dumps(
                {
                    "model": "judge-1",
                    "temperature": 0.0,
                    "max_tokens": 2048,
                    "messages": [{"role": "user", "content": prompt(number)}],
                }
            )
            async with session.post(url, data=body, headers=headers) as response:
                orjson.loads(await response.read())["choices"][0]["message"]["content"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        started = time.perf_counter()
        await asyncio.gather(*(work(session) for _ in range(concurrency)))
        return time.perf_counter() - started


async def sdk(base_url: str, requests: int, concurrency: int, _: Path) -> float:
    """The openai SDK, as its documentation shows it."""
    from openai import AsyncOpenAI

    numbers = itertools.count()

    async def work(client: AsyncOpenAI) -> None:
        while (number := next(numbers)) < requests:
            reply = await client.chat.completions.create(
                model="judge-1",
                temperature=0.0,
                max_tokens=2048,
                messages=[{"role": "user", "content": prompt(number)}],
            )
            assert reply.choices[0].message.content

    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:
        started = time.perf_counter()
        await asyncio.gather(*(work(client) for _ in range(concurrency)))
        return time.perf_counter() - started


def _providers(base_url: str, concurrency: int) -> Any:
    """The loopback server as a provider, with limits that are never reached."""
    from runner.providers.file import Providers
    from runner.providers.schema import File

    limits = {
        "in_flight": concurrency,
        "start_in_flight": concurrency,
        "requests_per_minute": 10_000_000,
        "tokens_per_minute": 100_000_000_000,
    }
    offer = {"id": "judge-1", "prices": {"input": 1, "cached": 0.5, "output": 2}}
    table = {"base_url": base_url, "limits": limits, "models": {"judge": offer}}
    return Providers(Path("bench"), File.model_validate({"providers": {"bench": table}}).providers)


async def transport(base_url: str, requests: int, concurrency: int, _: Path) -> float:
    """The runner's transport alone: bodies sent, replies read and classified, by nobody's limits."""
    from runner.transport.address import address_of
    from runner.transport.http import http_transports
    from runner.transport.outcome import Answer
    from runner.transport.redact import Redactor

    route = _providers(base_url, concurrency).resolve("judge").routes[0]
    numbers = itertools.count()
    async with http_transports(Redactor(())) as transports:
        way = transports(address_of(route, None))

        async def work() -> None:
            while (number := next(numbers)) < requests:
                messages = [{"role": "user", "content": prompt(number)}]
                body = orjson.dumps({"model": "judge-1", "messages": messages})
                assert isinstance((await way.ask(body)).result, Answer)

        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(concurrency)))
        await way.close()
        return time.perf_counter() - started


async def runner(
    base_url: str, requests: int, concurrency: int, database: Path, monitor: str = "none"
) -> float:
    """The whole runner over a study."""
    import store
    from runner.lifecycle.options import Asked, RunOptions
    from runner.live.run import run

    entry = _providers(base_url, concurrency).resolve("judge")
    with store.open_study(database) as study:
        started = time.perf_counter()
        summary = await run(study, [Asked(entry.settings(), entry)], None, RunOptions(monitor=monitor))  # type: ignore[arg-type]
        took = time.perf_counter() - started
    assert summary.counts == {"answered": requests}, summary
    return took


async def runner_monitored(base_url: str, requests: int, concurrency: int, database: Path) -> float:
    """The runner with its live view."""
    return await runner(base_url, requests, concurrency, database, monitor="live")


CLIENTS = {
    "bare": bare,
    "transport": transport,
    "runner": runner,
    "runner+monitor": runner_monitored,
    "openai": sdk,
}


NEEDS = {
    "bare": ("aiohttp",),
    "transport": ("runner.transport.http", "runner.providers.schema"),
    "runner": (
        "duckdb",
        "pyarrow.compute",
        "runner.live.run",
        "store.pending_queries",
        "store.writer",
        "store.live",
    ),
    "openai": ("openai",),
}


def measure(name: str, base_url: str, requests: int, concurrency: int) -> dict[str, float]:
    """One client in a process of its own; its standard error is a terminal, for the monitor."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.duckdb"
        if name.startswith("runner"):
            subprocess.run(
                [sys.executable, "-m", "benchmarks.prompts", str(database), str(requests)], check=True
            )
        master, slave = pty.openpty()
        drained = threading.Thread(target=_drain, args=(master,), daemon=True)
        drained.start()
        command = [sys.executable, "-m", "benchmarks.runner_overhead", "--client", name, "--url", base_url]
        command += [
            "--requests",
            str(requests),
            "--concurrency",
            str(concurrency),
            "--database",
            str(database),
        ]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=slave, check=True, env={**os.environ, "TERM": "xterm"}
        )
        os.close(slave)
        return json.loads(done.stdout)


def _drain(master: int) -> None:
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        return


def one(name: str, base_url: str, requests: int, concurrency: int, database: Path) -> None:
    """In the child: run a client and print what it took, imports left aside."""
    for module in NEEDS[name.partition("+")[0]]:
        importlib.import_module(module)
    before = resource.getrusage(resource.RUSAGE_SELF)
    wall = uvloop.run(CLIENTS[name](base_url, requests, concurrency, database))
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        json.dumps({"cpu_us": cpu / requests * 1e6, "per_s": requests / wall, "mb": after.ru_maxrss / 1024})
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that the server takes")
    parser.add_argument("--client", choices=CLIENTS)
    parser.add_argument("--url")
    parser.add_argument("--database", type=Path)
    given = parser.parse_args()
    if given.client:
        one(given.client, given.url, given.requests, given.concurrency, given.database)
        return
    clients = list(CLIENTS)
    try:
        import openai  # noqa: F401
    except ImportError:
        clients.remove("openai")
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.replying_server", str(given.delay)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        rounds = [
            {name: measure(name, url, _share(name, given.requests), given.concurrency) for name in clients}
            for _ in range(given.rounds)
        ]
    finally:
        server.terminate()
    report(rounds, clients)


def _share(name: str, requests: int) -> int:
    """The SDK is slow enough to be measured with fewer."""
    return requests // 5 if name == "openai" else requests


def report(rounds: list[dict[str, dict[str, float]]], clients: list[str]) -> None:
    """The medians, and the ratios with their targets."""
    median: dict[str, dict[str, Any]] = {
        name: {key: statistics.median(r[name][key] for r in rounds) for key in rounds[0][name]}
        for name in clients
    }
    print(f"{'client':16}{'CPU us/answer':>16}{'requests/s':>12}{'peak MB':>10}")
    for name in clients:
        row = median[name]
        print(f"{name:16}{row['cpu_us']:16.0f}{row['per_s']:12.0f}{row['mb']:10.0f}")
    for name in ("runner", "runner+monitor"):
        cpu = median[name]["cpu_us"] / median["bare"]["cpu_us"]
        rate = median[name]["per_s"] / median["bare"]["per_s"]
        print(f"{name}: {cpu:.2f}x the CPU of bare (target at most {TARGETS['cpu']}), ", end="")
        print(f"{rate:.2f}x its throughput (target at least {TARGETS['throughput']})")
        if cpu > TARGETS["cpu"]:
            post, sending = (median[part]["cpu_us"] for part in ("bare", "transport"))
            whole = median[name]["cpu_us"]
            print(
                f"  of {whole:.0f} us: {post:.0f} the post, {sending - post:.0f} replies read and guarded, "
                f"{whole - sending:.0f} prompts, limits, budget, rows and commits"
            )
        if "openai" in median:
            less = median["openai"]["cpu_us"] / median[name]["cpu_us"]
            print(
                f"{name}: {less:.1f}x less CPU than the openai SDK (target at least {TARGETS['sdk_cpu']:.0f})"
            )


if __name__ == "__main__":
    main()
