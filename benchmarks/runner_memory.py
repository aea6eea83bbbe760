"""The most memory that a run takes: 177,100 queries of 6 KB, from the first to the last commit.

    python -m benchmarks.runner_memory [--requests 177100] [--concurrency 64]

The run has a process of its own, as `evenhand run` would; the server, another.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TARGET_MB = 300


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=177_100)
    parser.add_argument("--concurrency", type=int, default=64)
    given = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.replying_server"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / "bench.duckdb"
            subprocess.run(
                [sys.executable, "-m", "benchmarks.prompts", str(database), str(given.requests)], check=True
            )
            command = [sys.executable, "-m", "benchmarks.runner_overhead", "--client", "runner", "--url", url]
            command += ["--requests", str(given.requests), "--concurrency", str(given.concurrency)]
            command += ["--database", str(database)]
            done = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            size = database.stat().st_size / 1e6
    finally:
        server.terminate()
    print(
        f"{given.requests:,} queries: peak {done['mb']:.0f} MB (target under {TARGET_MB}), "
        f"{done['per_s']:.0f} requests/s, {done['cpu_us']:.0f} us CPU a request, database {size:.0f} MB"
    )


if __name__ == "__main__":
    main()
