"""`evenhand export`: a table or the answer to a question as Parquet, CSV or Excel."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import Number, db_option, json_option, print_json


@click.command(
    epilog="""\b
Examples:
  evenhand export estimates estimates.csv
  evenhand export answers answers.parquet
  evenhand export "SELECT * FROM answers WHERE label = 'judge_age'" judge_age.xlsx
"""
)
@click.argument("what")
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@db_option
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@click.option(
    "--raw",
    is_flag=True,
    help="CSV: leave cells that a spreadsheet would run as a formula as they are.",
)
@click.option("--timeout", type=Number(min=0, min_open=True), default=600.0, show_default=True)
@json_option
def command(
    what: str, out: Path, db: Path, overwrite: bool, raw: bool, timeout: float, as_json: bool
) -> None:
    """Write WHAT (a table, a view or a SELECT) to OUT; its ending says the format: .parquet, .csv or .xlsx.

    Works while a run writes into the study: its process answers, read-only.
    """
    from store.export import export  # noqa: PLC0415

    name = what.strip()
    question = f'SELECT * FROM "{name}"' if name.replace("_", "").isalnum() else name
    done = export(db, question, out, timeout_s=timeout, overwrite=overwrite, formula_safe=not raw)
    if as_json:
        print_json({"path": str(done.path), "rows": done.rows, "live": done.live, "guarded": done.guarded})
        return
    source = ", as the running process has them" if done.live else ""
    click.echo(f"{done.rows:,} row{'' if done.rows == 1 else 's'} in {out}{source}.")
    if done.guarded:
        click.echo(
            f"{done.guarded:,} cells got an apostrophe, so that no spreadsheet runs them (--raw: none)."
        )
    if done.cut:
        click.echo(f"{done.cut:,} cells were longer than Excel allows and were cut; each says so.")
