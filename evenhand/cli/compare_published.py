"""`evenhand compare-published`: figures as published, as reproduced, and as corrected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import (
    console,
    db_option,
    domain_option,
    json_option,
    only_judifair,
    open_study,
    print_json,
    specifications_option,
    specifications_path,
    split_list,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from analyze.compare import Comparison

THRESHOLD = 0.1
"""At which the paper counts labels as biased."""


@click.command(
    epilog="""\b
Examples:
  evenhand compare-published
  evenhand compare-published --models "Phi 4" --published printed.csv --out comparison
  evenhand compare-published --json
  evenhand compare-published --paper fairlex
"""
)
@db_option
@click.option("--models", help="Only these models, separated by commas. [default: all]")
@click.option(
    "--published",
    "printed",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV of printed figures: label, value, variant, coef, p, n; our names, or rows as printed.",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write the comparison as CSV files into this folder.",
)
@click.option(
    "--paper",
    type=click.Choice(["llms-on-trial", "fairlex"]),
    default="llms-on-trial",
    show_default=True,
    help="fairlex: print that paper's tables, the cells that contradict each other, and the noise floors.",
)
@click.option("--all", "everything", is_flag=True, help="Headline figures of every group of labels too.")
@domain_option
@specifications_option
@json_option
def command(
    db: Path,
    models: str | None,
    printed: Path | None,
    folder: Path | None,
    paper: str,
    everything: bool,
    domain: str | None,
    specifications: Path | None,
    as_json: bool,
) -> None:
    """Compare the published coding with the corrected one, with the reason for every difference.

    Shows which labels gain or lose significance and how effects and headline numbers move; --published puts
    the printed figures beside. Analyzes both codings first where that has not been done, or not since answers
    came. The HTML report has it as a section; the tables `comparison_*` hold all of it for `evenhand sql`.
    """
    from analyze import load  # noqa: PLC0415
    from analyze.compare import compare  # noqa: PLC0415
    from analyze.stored.staleness import outdated, unanalysed  # noqa: PLC0415
    from evenhand.cli.published_fairlex import compare_fairlex  # noqa: PLC0415
    from evenhand.domains.judifair.coding import designs  # noqa: PLC0415
    from evenhand.services.analysis import analyze_study  # noqa: PLC0415
    from evenhand.services.domains import DEFAULT  # noqa: PLC0415

    if paper == "fairlex":
        compare_fairlex(folder=folder, as_json=as_json)
        return
    chosen = split_list(models)
    specifications = specifications or specifications_path()
    with open_study(db) as study:
        only_judifair(study, domain, "compare-published")
        done = {
            coding
            for (coding,) in study.connection.execute("SELECT DISTINCT coding FROM estimates").fetchall()
        }
        done -= {row.coding for row in outdated(study.connection)}
        done -= {row.coding for row in unanalysed(study.connection)}
        missing = tuple(coding for coding in ("corrected", "published") if coding not in done)
        if missing:
            analyze_study(study, DEFAULT, specifications=specifications, codings=missing, models=chosen)
        # A study made by an earlier version may not have the names of the printed rows yet.
        designs.ensure(study)
        comparison = compare(study, specifications, models=chosen, printed=printed)
    if folder is not None:
        _write_csv(comparison, folder)
    if as_json:
        print_json({name: table.to_pylist() for name, table in comparison.tables.items()})
        return
    out = console()
    out.print(_labels(_named(comparison, comparison.labels)))
    specs = load(specifications)
    shown = (specs.frame.primary, specs.frame.level)
    out.print(_values([row for row in _named(comparison, comparison.values) if row["variant"] in shown]))
    metrics = [
        row
        for row in _named(comparison, comparison.metrics)
        if (row["before_value"] is not None or row["after_value"] is not None)
        and row["metric"] != "deviation_from_pyfixest"  # a check of ours, not a finding
    ]
    out.print(_metrics([row for row in metrics if everything or row["group"] == "all"]))
    if printed is not None:
        _say_reproduced(comparison)


def _named(comparison: Comparison, table: pa.Table) -> list[dict[str, Any]]:
    """Rows with the model's whole name, which tells its configurations apart."""
    rows: list[dict[str, Any]] = table.to_pylist()
    names = comparison.names
    return [{**row, "model": names[row["collection"], row["model_key"], row["arm"]]} for row in rows]


def _table(title: str, texts: str, numbers: str, last: str = "") -> Table:
    """A table with columns of texts, of numbers, and of texts again; names are separated by commas."""
    from rich.table import Table  # noqa: PLC0415

    table = Table(title=title, title_justify="left")
    for names, right in ((texts, False), (numbers, True), (last, False)):
        for name in filter(None, names.split(", ")):
            table.add_column(name, justify="right" if right else "left", overflow="fold")
    return table


def _values(rows: list[dict[str, Any]]) -> Table:
    table = _table(
        "Effects", "model, label, value, variant", "published, p, n, corrected, p, n", "why they differ"
    )
    for row in rows:
        table.add_row(
            *(row[name] for name in ("model", "label", "value", "variant")),
            *(
                _number(row[f"{coding}_{name}"])
                for coding in ("before", "after")
                for name in ("coef", "p", "n")
            ),
            row["reason"] or row["before_note"] or row["after_note"] or "",
        )
    return table


def _labels(rows: list[dict[str, Any]]) -> Table:
    table = _table(f"Labels at p < {THRESHOLD:g}", "model, label", "published p, corrected p", "change, why")
    for row in rows:
        if row["threshold"] == THRESHOLD:
            table.add_row(
                row["model"],
                row["label"],
                _number(row["before_p"]),
                _number(row["after_p"]),
                row["change"],
                row["reason"] or "",
            )
    return table


def _metrics(rows: list[dict[str, Any]]) -> Table:
    table = _table("Headline figures", "model, figure, at, of", "published, n, corrected, n", "why")
    for row in rows:
        table.add_row(
            row["model"],
            row["metric"],
            "" if row["threshold"] is None else f"{row['threshold']:g}",
            row["group"],
            _number(row["before_value"]),
            _number(row["before_n"]),
            _number(row["after_value"]),
            _number(row["after_n"]),
            row["reason"] or "",
        )
    return table


def _say_reproduced(comparison: Comparison) -> None:
    rows = [row for row in comparison.values.to_pylist() if row["reproduced"] is not None]
    agree = sum(bool(row["reproduced"]) for row in rows)
    click.echo(f"Of {len(rows):,} printed figures, {agree:,} are reproduced to the digits printed.")
    for row in rows:
        if not row["reproduced"]:
            click.echo(f"  not: {row['label']} = {row['value']}, {row['variant']}")
    for row in comparison.unmatched.to_pylist():
        named = ", ".join(filter(None, (row["label"], row["value"], row["variant"])))
        click.echo(f"  line {row['line']} ({named}) is not used: {row['note']}")


def _write_csv(comparison: Comparison, folder: Path) -> None:
    from pyarrow import csv  # noqa: PLC0415

    from store.errors import BadInput  # noqa: PLC0415

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in comparison.tables.items():
            csv.write_csv(table, folder / f"{name}.csv")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror or error}.") from error


def _number(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
