"""`evenhand load`: bring a data set with true answers and groups into a study."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from evenhand.cli.options import console, counted, db_option, json_option, open_study, print_json, sentence

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.services.load import Loaded

MEMORY = "192MB"
"""For DuckDB: a data set of any size is read in batches."""


@click.command(
    epilog="""\b
Examples:
  evenhand load cail --domain fairlex-cail
  evenhand load scotus --domain fairlex-scotus --split test --limit 100
  evenhand load applicants.csv --domain my-domain
"""
)
@click.argument("path", type=click.Path(path_type=Path))
@db_option
@click.option(
    "--domain",
    required=True,
    help="What is judged: fairlex-ecthr, -scotus, -fscs, -cail, or the folder of a domain of your own.",
)
@click.option(
    "--split",
    type=click.Choice(["all", "test"]),
    default="all",
    show_default=True,
    help="Splits to load. Train and val give shares and label drift; models are asked about test only.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), help="At most the first N rows of each split."
)
@click.option("--collection", help="Name of the data set in the study. [default: the domain's name]")
@json_option
def command(
    path: Path, db: Path, domain: str, split: str, limit: int | None, collection: str | None, as_json: bool
) -> None:
    """Load a data set whose cases have a true answer and belong to groups.

    PATH is a folder with the files test, train and val (also called validation or dev), each .jsonl,
    .jsonl.gz, .parquet or .csv, or a single such file. A text is the name of a class or group, an integer its
    place in the domain's list. A wrong column, code or name is reported with its line, and nothing is stored.

    The sets of FairLex are not shipped: docs/fairlex.md says where to get them.
    """
    from evenhand.audit import find  # noqa: PLC0415
    from evenhand.services.load import load_data_set  # noqa: PLC0415

    found = find(domain)
    with open_study(db, create=True, memory_limit=MEMORY) as study:
        loaded = load_data_set(
            study,
            found,
            path,
            splits=cast(Literal["all", "test"], split),
            limit=limit,
            collection=collection,
        )
    if as_json:
        print_json(dataclasses.asdict(loaded))
    else:
        _print(console(), loaded, db)


def _print(out: Console, loaded: Loaded, db: Path) -> None:
    from rich.table import Table  # noqa: PLC0415

    rows = ", ".join(f"{split} {number:,}" for split, number in loaded.rows.items())
    sentence(
        out, f"Loaded into {db}, collection '{loaded.collection}': {rows} rows, {loaded.added:,} of them new."
    )
    table = Table()
    for name in ("attribute", "group"):
        table.add_column(name)
    for split in loaded.rows:
        table.add_column(split, justify="right")
    table.add_column("")
    for group in loaded.groups:
        table.add_row(
            str(group["attribute"]),
            str(group["group_name"]),
            *(f"{group[split]:,}" for split in loaded.rows),
            "" if group["is_identified"] else "unidentified: listed, not compared",
        )
    out.print(table)
    for attribute, number in loaded.without_group.items():
        sentence(out, f"Without a group of {attribute}: {counted(number, 'row')}.")
    for outcome, number in loaded.without_truth.items():
        sentence(out, f"Without a true {outcome}: {counted(number, 'row')}. They are not scored.")
    if loaded.empty_texts:
        sentence(out, f"With an empty text: {counted(loaded.empty_texts, 'row')}.")
    if loaded.unused:
        sentence(out, f"Columns that are not used: {', '.join(loaded.unused)}.")
    missing = [split for split in ("train", "val") if split not in loaded.rows]
    if missing:
        sentence(out, f"Not loaded: {' and '.join(missing)}. Shares and label drift need them.")
    sentence(
        out,
        f"Next: evenhand import FILE --domain {loaded.domain} --model NAME --db {db} (predictions of a "
        f"classifier), or evenhand run MODEL --db {db} ({loaded.queries:,} queries).",
    )
