"""A run in a process of its own, to be killed: `python runner_child.py DATABASE BASE_URL IN_FLIGHT`."""

from __future__ import annotations

import sys
from pathlib import Path

import uvloop
from runner_world import providers

import store
from runner.lifecycle.options import Asked, RunOptions
from runner.live.run import run


def main(database: str, base_url: str, in_flight: int) -> int:
    """Ask what is pending."""
    limits = {"in_flight": in_flight, "start_in_flight": in_flight}
    entry = providers(a={"base_url": base_url, "limits": limits}).resolve("judge")
    with store.open_study(Path(database)) as study:
        print("open", flush=True)
        summary = uvloop.run(
            run(study, [Asked(entry.settings(), entry)], None, RunOptions(monitor="none", serve_sql=False))
        )
    print(summary.state, flush=True)
    return summary.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
