"""`evenhand runs`: what was asked when, and setting a run aside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import console, db_option, json_option, open_study, print_json, read_study

if TYPE_CHECKING:
    from store.runs import Run


@click.command(
    epilog="""\b
Examples:
  evenhand runs
  evenhand runs --set-aside 0193a2
  evenhand runs --count-again 0193a2
  evenhand runs --give-up-batch batch_68a1
"""
)
@db_option
@click.option("--set-aside", "aside", metavar="RUN", help="Exclude this run's answers from all statistics.")
@click.option("--count-again", "again", metavar="RUN", help="Include this run's answers again.")
@click.option(
    "--give-up-batch",
    "lost_batch",
    metavar="BATCH",
    help="Stop waiting for an open batch. Its queries will be asked, and paid for, again.",
)
@json_option
def command(db: Path, aside: str | None, again: str | None, lost_batch: str | None, as_json: bool) -> None:
    """List runs, oldest first, with their cost; exclude one.

    Set a run aside when it went wrong (a wrong server, say): its answers stay in the file, no statistic reads
    them, and the next `evenhand run` asks those queries again. RUN is an id or the beginning of one. While a
    run writes into the study its process lists them, and the output says so; nothing can be set aside then.

    The cost is that of answers and of tries that gave none; what may have been charged beyond it, as no reply
    said so, stands after a plus sign.
    """
    from store import batches, reach, runs  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if sum(map(bool, (aside, again, lost_batch))) > 1:
        raise BadInput(
            "--set-aside, --count-again and --give-up-batch are commands of their own.",
            hint="Give one of them.",
        )
    live = False
    if lost_batch:
        with open_study(db) as study:
            batch = batches.give_up(study, lost_batch)
            click.echo(
                f"Batch {lost_batch} is given up: what it asked and has no answer is to be asked again "
                f"({batch.requests:,} requests in all).",
                err=as_json,
            )
            found = runs.list_runs(study)
    elif aside or again:
        with open_study(db) as study:
            run_id = runs.set_aside(study, aside or again or "", aside=bool(aside))
            click.echo(f"Run {run_id} {'no longer counts' if aside else 'counts again'}.", err=as_json)
            if waiting := [one for one in batches.open_batches(study, aside=True) if one.run_id == run_id]:
                names = ", ".join(one.batch_id or "one not submitted" for one in waiting)
                click.echo(
                    f"Of its open batches ({names}) nothing is fetched now, and what they ask is to be asked "
                    "again. --count-again takes them up again.",
                    err=as_json,
                )
            found = runs.list_runs(study)
    else:
        found, live = reach.wherever(lambda: _of_process(db), lambda: _of_file(db))
    if as_json:
        print_json(
            [
                {
                    "run_id": str(run.run_id),
                    "kind": run.kind,
                    "state": run.state,
                    "started_at": run.started_at.isoformat(),
                    "ended_at": run.ended_at.isoformat() if run.ended_at else None,
                    "set_aside": run.set_aside_at is not None,
                    "models": _models(run),
                    "predictions": run.predictions,
                    "failures": run.failures,
                    "cost_usd": run.cost_usd,
                    "without_answer_usd": run.without_answer_usd,
                    "assumed_usd": run.assumed_usd,
                    "manifest": run.manifest,
                }
                for run in found
            ]
        )
        return
    from rich.table import Table  # noqa: PLC0415

    table = Table()
    table.add_column("run", no_wrap=True)
    for name in ("kind", "state", "started (UTC)", "models"):
        table.add_column(name)
    table.add_column("answers", justify="right")
    table.add_column("given up", justify="right")
    table.add_column("cost", justify="right")
    for run in found:
        state = f"{run.state}, set aside" if run.set_aside_at else run.state
        table.add_row(
            # The beginning of a time-ordered id is its time: 13 digits tell runs of one millisecond apart.
            str(run.run_id)[:13],
            run.kind,
            state,
            f"{run.started_at:%Y-%m-%d %H:%M:%S}",
            ", ".join(_models(run)),
            f"{run.predictions:,}",
            f"{run.failures:,}",
            _cost(run),
        )
    console().print(table)
    if live:
        click.echo("Answered by the running process.", err=True)


def _of_process(db: Path) -> tuple[list[Run], bool] | None:
    from store import runs  # noqa: PLC0415

    found = runs.live_runs(db)
    return None if found is None else (found, True)


def _of_file(db: Path) -> tuple[list[Run], bool]:
    from store import runs  # noqa: PLC0415

    with read_study(db) as study:
        return runs.list_runs(study), False


def _cost(run: Run) -> str:
    from runner.status.summary import dollars  # noqa: PLC0415

    known = "" if run.cost_usd is None else dollars(run.cost_usd)
    return f"{known} + {dollars(run.assumed_usd)}" if run.assumed_usd >= 0.00005 else known


def _models(run: Run) -> list[str]:
    """The models that a run asked, also where nothing came of it; those that an import or a merge brought."""
    config = run.manifest.get("config") if run.kind == "run" else None
    asked = (config or {}).get("models", [])
    return sorted({*run.models, *(one["settings"]["model"] for one in asked)})
