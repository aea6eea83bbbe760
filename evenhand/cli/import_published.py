"""`evenhand import`: bring published predictions into a study."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.import_predictions import import_for_domain
from evenhand.cli.options import console, db_option, json_option, open_study, print_json

if TYPE_CHECKING:
    from evenhand.domains.judifair.importer import ImportReport


BULK_CHECKPOINT = "512MB"
"""An import may fold its log into the file seldom: it can be run again, unlike answers that were paid for."""


@click.command(
    name="import",
    epilog="""\b
Examples:
  evenhand import LLM-Fairness/results/t0/PHI4_t0 --documents documents.csv
  evenhand import LLM-Fairness/results --dry-run --map-out map.csv
  evenhand import LLM-Fairness/results --map map.csv
  evenhand import predictions.jsonl --domain fairlex-cail --model my-classifier --seed 1
""",
)
@click.argument("path", type=click.Path(path_type=Path))
@db_option
@click.option("--model", help="The model, where folders and file names do not tell it.")
@click.option(
    "--documents",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with id, case_number, crime_name. [default: documents.csv in PATH]",
)
@click.option(
    "--map",
    "map_in",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV that says model, temperature and label of files, over what is inferred.",
)
@click.option(
    "--map-out", type=click.Path(path_type=Path, dir_okay=False), help="Write the map that was inferred."
)
@click.option("--collection", help="Name of the collection. [default: the published one's]")
@click.option(
    "--domain",
    help="The domain of a data set from `evenhand load`, if PATH holds a classifier's predictions for it.",
)
@click.option("--seed", type=int, help="With --domain: the seed of the classifier's training.")
@click.option("--outcome", help="With --domain: the outcome that is predicted, if the domain has several.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; store nothing.")
@json_option
def command(
    path: Path,
    db: Path,
    model: str | None,
    documents: Path | None,
    map_in: Path | None,
    map_out: Path | None,
    collection: str | None,
    domain: str | None,
    seed: int | None,
    outcome: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Add published predictions (a file, a model's folder, or all results) to a study.

    Model, temperature and label are inferred from folders, names and contents, printed, and may be
    overridden with --map. A file whose values belong to another label keeps both names. A broken file is
    reported with the place where it breaks, and the rest is imported. Importing twice adds nothing; of a file
    that was saved again with corrected true judgments, these are taken over. Exit code 1 if a file broke.

    With --domain, PATH is a file (.jsonl, .jsonl.gz, .parquet or .csv) of predictions for the test split of
    a loaded data set: each line has `row` (the line of the test file, from 0) or `id`, and `prediction` (or
    `predictions`, a list) as names or codes. Rows without a line, and answers that name no class, are
    counted.
    """
    from evenhand.domains.judifair.importer import import_published  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if not path.exists():
        raise BadInput(f"There is nothing at {path}.", hint="Give a file or folder of predictions.")
    if domain is not None:
        for name, given in (("--documents", documents), ("--map", map_in), ("--map-out", map_out)):
            if given is not None:
                raise BadInput(f"{name} does not go with --domain.", hint="Leave it out.")
        if dry_run:
            raise BadInput("--dry-run does not go with --domain.", hint="Leave it out.")
        import_for_domain(
            path,
            db,
            domain=domain,
            model=model,
            seed=seed,
            outcome=outcome,
            collection=collection,
            as_json=as_json,
        )
        return
    for name, unused in (("--seed", seed), ("--outcome", outcome)):
        if unused is not None:
            raise BadInput(f"{name} needs --domain.", hint="Name the domain of the loaded data set.")
    named: dict[str, Any] = {} if collection is None else {"collection": collection}
    # A dry run leaves nothing behind, not even an empty study.
    where = Path(":memory:") if dry_run and not db.exists() else db
    with open_study(where, create=True, checkpoint_threshold=BULK_CHECKPOINT) as study:
        report = import_published(
            study, path, model=model, documents=documents, mapping=map_in, dry_run=dry_run, **named
        )
    if map_out is not None:
        map_out.write_text(report.map_csv(), encoding="utf-8")
    if as_json:
        print_json({**dataclasses.asdict(report), "added": report.added, "truths": report.truths})
    else:
        _print(report, db)
    sys.exit(1 if report.broken else 0)


def _print(report: ImportReport, db: Path) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    out = console()
    table = Table(title="File → model, temperature, label", title_justify="left")
    table.add_column("file", overflow="fold", ratio=3)
    table.add_column("model", overflow="fold")
    table.add_column("T", justify="right")
    table.add_column("label", overflow="fold", ratio=2)
    for name in ("rows", "added", "repeats"):
        table.add_column(name, justify="right")
    table.add_column("status")
    for file in report.files:
        label = file.label or "—"
        if file.published_label and file.published_label != file.label:
            label += f" (file: {file.published_label})"
        table.add_row(
            Text(file.name),
            Text(file.model or "—"),
            "—" if file.temperature is None else f"{file.temperature:g}",
            Text(label),
            f"{file.rows:,}",
            f"{file.added:,}",
            f"{file.repeats:,}",
            Text(file.status),
        )
    out.print(table)
    for name, text in report.all_warnings():
        out.print(Text(f"Warning: {name + ': ' if name else ''}{text}", style="yellow"))
    done = ", ".join(f"{n:,} {status}" for status, n in report.counts().items())
    verb = "would be imported into" if report.dry_run else "imported into"
    corrected = "would be corrected" if report.dry_run else "corrected"
    truths = f"true judgments of documents {corrected}: {report.truths:,}; " if report.truths else ""
    out.print(
        f"{report.added:,} answers {verb} {db} in {report.seconds:.1f} s; files: {done}; {truths}"
        f"documents described: {report.documents:,}.",
        markup=False,
    )
    if not report.dry_run and (report.added or report.truths):
        out.print(f"Next: evenhand check --db {db}; evenhand analyze --coding both --db {db}", markup=False)
