"""`evenhand sql`: one read-only question to a study, also while a run writes into it."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import click

from evenhand.cli.options import Number, console, db_option, json_option, print_json
from evenhand.cli.output import printable

SCREEN_ROWS = 1_000
MOST_SCREEN_ROWS = 5_000
"""Laying out a table of more takes longer than anybody reads it."""
LONGEST_CELL = 4_000
"""Characters of a cell in a table; a whole answer, and not what a mistaken join of texts makes."""
JSON_ROWS = 1_000_000
_BORDER = 3
"""Columns of the screen between two cells."""


@click.command(
    epilog="""\b
Examples:
  evenhand sql "SELECT label, value, coef, p, n FROM estimates WHERE variant = 'main' ORDER BY p LIMIT 10"
  evenhand sql "SELECT outcome, count(*) FROM predictions GROUP BY outcome"
  evenhand sql "SELECT doc_id, value, months FROM answers WHERE label = 'defendant_sex'" --json
  evenhand sql - < question.sql
"""
)
@click.argument("query")
@db_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help=f"Rows at most. [default: {SCREEN_ROWS:,}, and up to {MOST_SCREEN_ROWS:,} in a table; with --json "
    f"{JSON_ROWS:,}, and more is an error]",
)
@click.option(
    "--timeout",
    type=Number(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds after which the query is cancelled.",
)
@json_option
def command(query: str, db: Path, limit: int | None, timeout: float, as_json: bool) -> None:
    """Query the study in SQL, read-only.

    One SELECT (or EXPLAIN); nothing can be changed and no other file can be read. `-` reads the question
    from standard input. While a run writes into the study its process answers, and the output says so. People
    mostly ask the views and tables `answers`, `estimates`, `label_metrics`, `model_metrics`, `queries`,
    `runs`.
    """
    from store.reach import run_sql  # noqa: PLC0415

    text = _standard_input() if query == "-" else query
    cap = limit if limit is not None else (JSON_ROWS if as_json else SCREEN_ROWS)
    if not as_json:
        cap = min(cap, MOST_SCREEN_ROWS)
    rows = run_sql(db, text, limit=cap, timeout_s=timeout)
    if as_json:
        if rows.truncated:
            from store.errors import BadInput  # noqa: PLC0415

            raise BadInput(
                f"The answer has more than {cap:,} rows.",
                hint="Nothing was printed, as a cut answer looks like a whole one: raise --limit, or add a "
                "LIMIT to the question.",
            )
        print_json(rows.objects())
        return
    _print_table(rows.columns, rows.rows)
    if rows.truncated:
        more = "--limit" if cap < MOST_SCREEN_ROWS else "a table shows no more; `evenhand export` writes all"
        click.echo(f"The first {cap:,} rows; there are more ({more}).", err=True)
    if rows.live:
        click.echo("Answered by the running process.", err=True)


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        from store.errors import BadInput  # noqa: PLC0415

        raise BadInput(
            f"The question on standard input is not UTF-8 text (byte {error.start}).",
            hint="Save it as UTF-8.",
        ) from None


def _print_table(columns: tuple[str, ...] | list[str], rows: list[tuple[object, ...]]) -> None:
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    if sum(cell_len(name) + _BORDER for name in columns) + 1 > console().width:
        _print_records(columns, rows)
        return
    table = Table()
    for index, name in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in rows if row[index] is not None)
        table.add_column(Text(name), justify="right" if rows and numeric else "left", overflow="fold")
    for row in rows:
        # Text, not str: what a model answered may look like rich's markup.
        table.add_row(*(Text("" if cell is None else _shown(cell)) for cell in row))
    console().print(table)
    click.echo(f"{len(rows):,} row{'' if len(rows) == 1 else 's'}", err=True)


def _print_records(columns: tuple[str, ...] | list[str], rows: list[tuple[object, ...]]) -> None:
    """One row below the other, a line for each column: for more columns than fit side by side."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    out = console()
    for number, row in enumerate(rows, start=1):
        record = Table(
            box=None, show_header=False, pad_edge=False, title=f"row {number:,}", title_justify="left"
        )
        record.add_column(style="bold", no_wrap=True)
        record.add_column(overflow="fold")
        for name, cell in zip(columns, row, strict=True):
            record.add_row(Text(name), Text("" if cell is None else _shown(cell)))
        out.print(record)
    click.echo(f"{len(rows):,} row{'' if len(rows) == 1 else 's'}", err=True)


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        text = f"{cell:.6g}"
    elif isinstance(cell, str | int | dt.date | dt.time):
        text = printable(str(cell))
    else:
        from store.values import as_text  # noqa: PLC0415

        text = printable(as_text(cell))
    if len(text) > LONGEST_CELL:
        return f"{text[:LONGEST_CELL]}… [cut: {len(text):,} characters; --json and export give all]"
    return text
