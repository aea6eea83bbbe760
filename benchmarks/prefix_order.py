"""How many prompt tokens the order of asking saves: documents together, against the same queries shuffled.

    python -m benchmarks.prefix_order [--documents 4] [--labels 3]

Asks the embedded llama.cpp server, whose replies count the prompt tokens that it read from its prefix cache.
Each order gets a server of its own, and one token is generated, since reading is what is compared.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp

import store
from evenhand.domains import judifair
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.sample import draw
from runner.engines.embedded import EmbeddedServer
from store import PendingQuery

LABELS = ("defendant_sex", "judge_political_background", "online_broadcast", "victim_wealth", "court_level")


@dataclass(frozen=True, slots=True)
class Reading:
    """What one order cost."""

    prompt_tokens: int
    cached_tokens: int
    seconds: float

    @property
    def read(self) -> int:
        """Prompt tokens that had to be computed."""
        return self.prompt_tokens - self.cached_tokens


def queries_of(documents: int, labels: int) -> list[PendingQuery]:
    """The queries of a small study of bundled cases, in the order of asking."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw(case_files.bundled(), documents=documents, labels=LABELS[:labels], seed=1)
        with store.open_study(Path(folder) / "study.duckdb", migrations=[judifair.MIGRATIONS]) as study:
            build(study, cases=drawn.cases, labels=drawn.labels)
            return list(store.pending(study, "0" * 32))


async def measure(queries: Sequence[PendingQuery]) -> Reading:
    """Ask a fresh server one query after the other."""
    prompt_tokens = cached_tokens = 0
    async with EmbeddedServer() as server, aiohttp.ClientSession() as session:
        started = time.perf_counter()
        for query in queries:
            body = {"messages": [{"role": "user", "content": query.user_text}], "max_tokens": 1}
            timeout = aiohttp.ClientTimeout(total=300)
            async with session.post(
                f"{server.base_url}/chat/completions", json=body, timeout=timeout
            ) as response:
                usage = (await response.json())["usage"]
            prompt_tokens += usage["prompt_tokens"]
            cached_tokens += usage["prompt_tokens_details"]["cached_tokens"]
        return Reading(prompt_tokens, cached_tokens, time.perf_counter() - started)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both orders and print what the better one saves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--documents", type=int, default=4)
    parser.add_argument("--labels", type=int, default=3, choices=range(1, len(LABELS) + 1))
    options = parser.parse_args(arguments)
    ordered = queries_of(options.documents, options.labels)
    shuffled = list(ordered)
    random.Random(1).shuffle(shuffled)
    print(f"Prefix cache: {len(ordered)} queries of {options.documents} documents, embedded llama.cpp server")
    results = {}
    for name, queries in (("documents together", ordered), ("shuffled", shuffled)):
        reading = results[name] = asyncio.run(measure(queries))
        print(
            f"  {name:20} {reading.prompt_tokens:7,} prompt tokens, {reading.cached_tokens:7,} cached,"
            f" {reading.read:7,} read, {reading.seconds:6.1f} s"
        )
    together, mixed = results["documents together"], results["shuffled"]
    print(
        f"  The order saves {1 - together.read / mixed.read:.0%} of the prompt tokens that would be read: "
        f"{mixed.read / together.read:.1f} times fewer."
    )


if __name__ == "__main__":
    main()
