"""The domains that there are, a new one to fill in, and whether one is right.

Not among the commands before a domain can be built and analysed from the command line.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import console, json_option, print_json

if TYPE_CHECKING:
    from evenhand.audit import Domain

EXAMPLE = Path(__file__).parents[1] / "audit" / "example"


@click.group(
    epilog="""\b
Examples:
  evenhand domain list
  evenhand domain new hiring
  evenhand domain check hiring
"""
)
def command() -> None:
    """List the domains, start a new one, or check one.

    A domain says what is judged and how: its cases, the facts that vary, the prompt, the form of an
    answer and its outcomes. A folder of a few text files is enough.
    """


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the domains that can be named, and where each comes from."""
    from evenhand.audit import names  # noqa: PLC0415

    found = names()
    if as_json:
        print_json([{"name": name, "from": source} for name, source in found.items()])
        return
    for name, source in found.items():
        click.echo(f"{name}  ({source})")
    click.echo("Any folder with a domain.toml is a domain too: name it by its path.")


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def new(folder: Path) -> None:
    """Write an example domain into FOLDER, to be changed into your own."""
    from store.errors import BadInput  # noqa: PLC0415

    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty.", hint="Name a new folder: nothing is overwritten.")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    click.echo(f"Wrote an example domain to {folder}. Edit its files, then: evenhand domain check {folder}")


@command.command()
@click.argument("domain")
@json_option
def check(domain: str, as_json: bool) -> None:
    """Check DOMAIN (a name or a folder): its files, its cases, and how its example answers are read.

    Exits with 2 where a file is wrong, and with 1 where an answer in answers.jsonl is not read as expected.
    """
    from evenhand.audit import find  # noqa: PLC0415

    found = find(domain)
    wrong, answers = _misread(found)
    if as_json:
        print_json({"domain": found.name, "cases": len(found.cases()), "answers": answers, "misread": wrong})
    else:
        _print(found, wrong, answers)
    sys.exit(1 if wrong else 0)


def _print(found: Domain, wrong: list[dict[str, Any]], answers: int) -> None:
    out = console()
    cases = found.cases()
    out.print(f"{found.name}: {next(iter(found.title.values()), '')}", markup=False)
    out.print(f"  designs:  {', '.join(found.designs)}", markup=False)
    for outcome in found.outcomes:
        out.print(f"  outcome:  {outcome.name} ({outcome.kind})", markup=False)
    for label in found.labels:
        values = ", ".join(value.name for value in label.values)
        out.print(f"  label:    {label.key}: {values} (reference: {label.reference})", markup=False)
    for attribute in found.attributes:
        out.print(f"  groups:   {attribute.name}: {', '.join(attribute.groups)}", markup=False)
    out.print(f"  arms:     {', '.join(found.prompts)}", markup=False)
    out.print(f"  cases:    {len(cases)}", markup=False)
    if answers:
        out.print(
            f"  answers:  {answers - len({one['line'] for one in wrong})} of {answers} read as expected"
        )
    for one in wrong:
        out.print(
            f"answers.jsonl: line {one['line']}: {one['outcome']} was read as {one['read']!r} "
            f"({one['read_as']}), expected {one['expected']!r}",
            markup=False,
        )


def _misread(found: Domain) -> tuple[list[dict[str, Any]], int]:
    """The example answers that are not read as expected, and how many examples there are."""
    from evenhand.audit.folder import read_answers  # noqa: PLC0415

    rows = [] if found.folder is None else read_answers(found.folder)
    wrong = []
    for line, row in rows:
        for reading in found.read(row.text):
            value = list(reading.value) if isinstance(reading.value, tuple) else reading.value
            if reading.outcome in row.expected and value != row.expected[reading.outcome]:
                wrong.append(
                    {
                        "line": line,
                        "outcome": reading.outcome,
                        "read": value,
                        "read_as": reading.read_as,
                        "expected": row.expected[reading.outcome],
                    }
                )
    return wrong, len(rows)
