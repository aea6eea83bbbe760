"""`evenhand snapshot`: a consistent copy of a study at any time."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import db_option, json_option, print_json


@click.command(
    epilog="""\b
Examples:
  evenhand snapshot backup.duckdb
  evenhand snapshot /mnt/backup/$(date +%F).duckdb --db trial.duckdb
"""
)
@click.argument("out", metavar="FILE", type=click.Path(path_type=Path))
@db_option
@json_option
def command(out: Path, db: Path, as_json: bool) -> None:
    """Copy the study into the new FILE, also while a run writes into it.

    The copy holds everything that was committed when it began, and is a study of its own. While a run writes,
    its process gives the rows; do not copy the file with cp then, as the newest answers are in a log beside
    it. An existing FILE is never overwritten.
    """
    from store.snapshot import snapshot  # noqa: PLC0415

    made = snapshot(db, out)
    if as_json:
        print_json(
            {
                "path": str(made.path),
                "answers": made.answers,
                "given_up": made.given_up,
                "taken_at": made.taken_at.isoformat(),
                "live": made.live,
            }
        )
        return
    given_up = f" and {made.given_up:,} given up" if made.given_up else ""
    source = ", given by the running process" if made.live else ""
    click.echo(
        f"{out} holds {made.answers:,} answer{'' if made.answers == 1 else 's'}{given_up}, as of "
        f"{made.taken_at:%Y-%m-%d %H:%M:%S} UTC{source}."
    )
