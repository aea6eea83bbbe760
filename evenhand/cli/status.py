"""`evenhand status`: where a run stands, in whatever process it is, or how it ended."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import console, db_option, json_option, print_json, read_study, sentence

if TYPE_CHECKING:
    from store.runs import Run

    Stand = tuple[dict[str, Any] | None, Run | None]


@click.command(
    epilog="""\b
Examples:
  evenhand status
  evenhand status --watch
  evenhand status --json
"""
)
@db_option
@click.option("--watch", is_flag=True, help="Repeat every 2 seconds until the run ends.")
@json_option
def command(db: Path, watch: bool, as_json: bool) -> None:
    """Show the progress of the run that is writing to the study, or how the last run ended.

    Exit code 1 if the last run failed.
    """
    live = _show(db, as_json=as_json)
    while watch and live:
        time.sleep(2)
        live = _show(db, as_json=as_json)


def _show(db: Path, *, as_json: bool) -> bool:
    """Show one status and say whether a run is going on."""
    from store import live, reach, runs  # noqa: PLC0415

    def running() -> Stand | None:
        snapshot = live.status(db)
        return (snapshot, None) if snapshot else None

    def ended() -> Stand:
        with read_study(db) as study:
            found = [run for run in runs.list_runs(study) if run.kind == "run"]
        return None, found[-1] if found else None

    # A run that is just ending, or starting, holds its file a moment while its process answers no more.
    snapshot, last = reach.wherever(running, ended)
    if snapshot is None:
        _show_last(db, last, as_json=as_json)
    elif as_json:
        print_json({"live": True, **snapshot})
    else:
        _print(snapshot, f"Running (process {snapshot.get('pid', 'unknown')})")
    return snapshot is not None


def _show_last(db: Path, last: Run | None, *, as_json: bool) -> None:
    if last is None:
        if as_json:
            print_json({"live": False, "run_id": None})
        else:
            click.echo(f"No run has asked anything in {db} yet. Next: evenhand run MODEL")
        return
    snapshot: dict[str, Any] = last.manifest.get("status") or {}
    message: str | None = last.manifest.get("message")
    state = "interrupted" if last.state == "running" else last.state
    if as_json:
        print_json(
            {"live": False, **snapshot, "run_id": str(last.run_id), "state": state, "message": message}
        )
    elif snapshot.get("models"):
        if message:  # says what the models' failures say, and how to go on
            snapshot = {**snapshot, "models": [{**model, "failure": None} for model in snapshot["models"]]}
        _print(snapshot, f"Ended: {state} ({_ended(last)})")
        sentence(console(), message or "", style="bold red" if state == "failed" else "bold")
    elif message:
        sentence(console(), f"The last run ended: {state} ({_ended(last)}). {message}")
    else:
        click.echo(
            f"The last run (of {last.started_at:%Y-%m-%d %H:%M:%S} UTC) was {state}: "
            f"{last.predictions:,} answers and {last.failures:,} given up are stored. "
            "Run the same command again to resume."
        )
    if state == "failed":
        sys.exit(1)


def _ended(run: Run) -> str:
    return f"{run.ended_at:%Y-%m-%d %H:%M:%S} UTC" if run.ended_at else "killed"


def _print(snapshot: dict[str, Any], title: str) -> None:
    from runner.status.monitor import tables  # noqa: PLC0415

    out = console()
    out.print(title, style="bold", markup=False)
    out.print(tables(snapshot, out.width))
