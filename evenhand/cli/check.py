"""`evenhand check`: the defects of a data set, with counts and examples."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import (
    console,
    counted,
    db_option,
    domain_option,
    json_option,
    print_json,
    read_study,
)
from evenhand.cli.output import printable

if TYPE_CHECKING:
    from rich.table import Table

    from evenhand.audit.general import GeneralAudit
    from evenhand.domains.judifair.check import Finding
    from store import Study

PLACES = 8
"""Places of a finding that a screen shows; --all and --json show all."""


@click.command(
    epilog="""\b
Examples:
  evenhand check
  evenhand check --model phi4 --all
  evenhand check --json > findings.json
"""
)
@db_option
@domain_option
@click.option("--collection", help="Only this collection. [default: all]")
@click.option("--model", help="Only this model. [default: all]")
@click.option("--arm", default="base", show_default=True, help="The answers of this arm.")
@click.option("--all", "everything", is_flag=True, help="List every place of every defect.")
@json_option
def command(
    db: Path,
    domain: str | None,
    collection: str | None,
    model: str | None,
    arm: str,
    everything: bool,
    as_json: bool,
) -> None:
    """List the defects of an imported or own data set, with counts and examples.

    Mislabelled files, duplicates, failed requests stored as answers, values missing for some documents (and
    whether that depends on the value), documents without truth, blank terms, terms out of range, one stock
    answer given to different cases.
    """
    from evenhand.audit.general import GeneralAudit  # noqa: PLC0415
    from evenhand.domains.judifair.check import check  # noqa: PLC0415
    from evenhand.services import domains  # noqa: PLC0415

    with read_study(db) as study:
        audit = domains.one_of_study(study, domain)
        if isinstance(audit, GeneralAudit):
            _unread(study, audit, collection, model, as_json=as_json)
            return
        findings = check(study, collection=collection, model=model, arm=arm)
    if as_json:
        print_json([{**dataclasses.asdict(finding), "count": finding.count} for finding in findings])
        return
    out = console()
    for finding in findings:
        out.print(f"\n{finding.title}: {finding.count:,} {finding.unit}", style="bold", markup=False)
        out.print(finding.why, markup=False)
        shown = finding.details if everything else finding.details[:PLACES]
        out.print(_places(finding, len(shown)))
        if len(shown) < len(finding.details):
            out.print(f"… and {len(finding.details) - len(shown):,} more places (--all).", markup=False)
    kinds = len(findings)
    out.print(f"\n{kinds} kind{'' if kinds == 1 else 's'} of defect found." if kinds else "No defect found.")


def _unread(
    study: Study, audit: GeneralAudit, collection: str | None, model: str | None, *, as_json: bool
) -> None:
    """List the answers of a domain that is data which could not be read, by reason."""
    from evenhand.audit import missing  # noqa: PLC0415

    if not study.read_only:
        audit.read(study, audit.codings)
    found = [
        one
        for one in missing(study, audit.domain)
        if collection in (None, one.collection) and model in (None, one.model)
    ]
    if as_json:
        print_json([dataclasses.asdict(one) for one in found])
        return
    out = console()
    for one in found:
        out.print(
            f"{one.model}, {one.outcome}: {one.answers:,} of {one.of:,} answers are missing: {one.reason}",
            markup=False,
        )
        for example in one.examples:
            out.print(f"    {printable(example)}", markup=False)
    out.print(
        "Every answer could be read." if not found else f"{counted(len(found), 'kind')} of missing answers."
    )


def _places(finding: Finding, count: int) -> Table:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(show_edge=False, pad_edge=False)
    table.add_column("model")
    table.add_column("label", overflow="fold")
    table.add_column("value", overflow="fold")
    table.add_column("count", justify="right")
    table.add_column("p", justify="right")
    table.add_column("note, examples", overflow="fold", ratio=1)
    for detail in finding.details[:count]:
        temperature = "" if detail.temperature is None else f" T={detail.temperature:g}"
        of = "" if detail.of is None else f" of {detail.of:,}"
        note = "; ".join(part for part in (detail.note, ", ".join(detail.examples)) if part)
        table.add_row(
            Text(f"{detail.model or '—'}{temperature}"),
            Text(printable(detail.label or "—")),
            Text(printable(detail.value or "—")),
            f"{detail.count:,}{of}",
            "" if detail.p is None else f"{detail.p:.2g}",
            Text(printable(note)),
        )
    return table
