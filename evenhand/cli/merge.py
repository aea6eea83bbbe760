"""`evenhand merge`: bring another study's queries and answers into this one."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import db_option, json_option, open_study, print_json


@click.command(
    epilog="""\b
Examples:
  evenhand merge other.duckdb
  evenhand run gpt-4o-mini --shard 2/4 --db part2.duckdb   (on another machine)
  evenhand merge part2.duckdb --db study.duckdb
"""
)
@click.argument("other", type=click.Path(path_type=Path, dir_okay=False))
@db_option
@json_option
def command(other: Path, db: Path, as_json: bool) -> None:
    """Add to this study what the study OTHER has and this one does not.

    Cases, queries, models, runs, answers, what was given up, and batches that are still at a provider; all or
    nothing. Merging twice adds nothing. OTHER is not changed. Parts of a run (--shard) are brought together
    this way.
    """
    from evenhand.domains import judifair  # noqa: PLC0415
    from store.merge import SharedTable, merge  # noqa: PLC0415

    domain = (
        SharedTable("judifair.labels", ("label",)),
        SharedTable("judifair.own_labels", ("label",)),
        SharedTable("judifair.label_values", ("label", "value")),
        SharedTable("judifair.truths", ("collection", "doc_id")),
        SharedTable("judifair.truth_exceptions", ("prediction_id",)),
        SharedTable("judifair.imported_files", ("source_hash",)),
        SharedTable("judifair.file_labels", ("source_hash",)),
    )
    with open_study(db) as study:
        merged = merge(study, other, domain, [judifair.MIGRATIONS])
    if as_json:
        print_json(
            {
                "added": merged.added,
                "retired": merged.retired,
                "total": merged.total,
                "differing": merged.differing,
            }
        )
        return
    added = ", ".join(f"{count:,} {table}" for table, count in merged.added.items() if count)
    click.echo(f"Added to {db}: {added or 'nothing; it has all of it'}.")
    if merged.retired:
        click.echo(
            f"{merged.retired:,} queries came in retired, as this study asks them with another prompt: their "
            "answers are kept and do not count."
        )
    for table, count in merged.differing.items():
        click.echo(f"{count:,} rows of {table} say something else in {other}: those of {db} stand.")
