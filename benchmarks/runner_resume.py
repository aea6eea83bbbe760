"""How soon a resumed run sends its first request, with 2.8 million answers of 16 models stored.

    python -m benchmarks.runner_resume [--queries 177100] [--models 16]

One of the models lacks its last thousand answers. The time is taken from the start of the process, imports
included, and from the call of `run`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

TARGET_S = 3.0
LACKING = 1_000

_ANSWERS = """
INSERT INTO predictions
    (prediction_id, query_id, model_key, run_id, repeat, outcome, text, created_at, prompt_tokens)
SELECT uuid(), query_id, ?, ?, 0, 'answered', '{"刑期": ' || (ordinal % 120) || '}', now()::TIMESTAMP, 2100
FROM queries WHERE ordinal < ?
"""


def _entry(base_url: str) -> Any:
    from runner.providers.file import Providers
    from runner.providers.schema import File

    table = {"base_url": base_url, "models": {"judge": {"id": "judge-1"}}}
    return Providers(Path("bench"), File.model_validate({"providers": {"bench": table}}).providers).resolve(
        "judge"
    )


def build(database: Path, queries: int, models: int) -> None:
    """The study, with all answers but the last thousand of the first model."""
    import store
    from benchmarks.prompts import make_study

    make_study(database, queries)
    settings = _entry("http://127.0.0.1:9/v1").settings()
    with store.open_study(database, checkpoint_threshold="1GB") as study:
        run_id = store.runs.start_run(study, "import", {})
        store.add_model(study, **settings.row())
        for number in range(models):
            key = settings.model_key if number == 0 else f"{number:032}"
            upto = queries - LACKING if number == 0 else queries
            study.connection.execute(_ANSWERS, [key, run_id, upto])
        store.runs.finish_run(study, run_id, "finished")


async def resume(database: Path, base_url: str, started: float) -> dict[str, float]:
    """Run, and say when the first request went out."""
    import store
    from runner.lifecycle.options import Asked, RunOptions
    from runner.live.run import run
    from runner.transport.http import HttpTransport

    first: list[float] = []
    real = HttpTransport.ask

    async def ask(transport: HttpTransport, body: bytes) -> Any:
        if not first:
            first.append(time.time())
        return await real(transport, body)

    HttpTransport.ask = ask  # type: ignore[method-assign]
    with store.open_study(database) as study:
        called = time.time()
        entry = _entry(base_url)
        summary = await run(study, [Asked(entry.settings(), entry)], None, RunOptions(monitor="none"))
    assert summary.counts == {"answered": LACKING}, summary
    return {"process": first[0] - started, "run": first[0] - called}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=177_100)
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        database, url, started = given.child
        print(json.dumps(uvloop.run(resume(Path(database), url, float(started)))))
        return
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.replying_server"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / "bench.duckdb"
            build(database, given.queries, given.models)
            command = [sys.executable, "-m", "benchmarks.runner_resume", "--child", str(database), url]
            done = subprocess.run([*command, str(time.time())], stdout=subprocess.PIPE, check=True)
    finally:
        server.terminate()
    took = json.loads(done.stdout)
    print(
        f"{given.queries * given.models - LACKING:,} answers stored: first request {took['run']:.2f} s after "
        f"the call (target {TARGET_S:.0f}), {took['process']:.2f} s after the start of the process"
    )


if __name__ == "__main__":
    main()
