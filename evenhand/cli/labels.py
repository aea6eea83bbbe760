"""`evenhand labels`: the facts that can be varied, their values, and what they are called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import console, domain_option, json_option, labels_file_option, print_json

if TYPE_CHECKING:
    from evenhand.domains.judifair.catalogue import Label, Value

ROLES = ("defendant", "victim", "crime", "defender", "prosecutor", "judge", "court")


@click.command(
    epilog="""\b
Examples:
  evenhand labels
  evenhand labels defendant_sex judge_age
  evenhand labels --role judge --demographic
  evenhand labels --dimension procedural --search religion
  evenhand labels --json > labels.json
"""
)
@click.argument("names", nargs=-1)
@click.option("--dimension", type=click.Choice(["substantive", "procedural"]), help="Only this dimension.")
@click.option(
    "--demographic/--not-demographic",
    default=None,
    help="Only labels that are traits of a person; only those that are not.",
)
@click.option("--role", type=click.Choice(ROLES), help="Only labels of this person or part of the trial.")
@click.option("--search", metavar="TEXT", help="Only labels with TEXT in a name, Chinese or English.")
@domain_option
@labels_file_option
@json_option
def command(
    domain: str | None,
    names: tuple[str, ...],
    dimension: str | None,
    demographic: bool | None,
    role: str | None,
    search: str | None,
    labels_file: Path | None,
    as_json: bool,
) -> None:
    """List the labels: what each varies, its values in Chinese and English, and its reference.

    NAMES are keys of labels; all by default. A label is substantive or procedural, and demographic or not:
    its quadrant. The value marked * is the reference, with which the others are compared. Other commands take
    the key of a label (--labels), and a value by either name.
    """
    from evenhand.domains.judifair import catalogue  # noqa: PLC0415
    from evenhand.services import domains  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if domain is not None and domain != domains.DEFAULT:
        if labels_file is not None:
            raise BadInput(
                f"--labels-file works only for the labels of {domains.DEFAULT}.",
                hint="Labels of a folder stand in its labels.toml.",
            )
        if dimension or role or demographic is not None:
            raise BadInput(
                f"--dimension, --role and --demographic work only for the labels of {domains.DEFAULT}.",
                hint="Use --search TEXT.",
            )
        _of_folder(domain, names, search, as_json=as_json)
        return

    known = catalogue.with_own(labels_file)
    found = [
        label
        for label in (catalogue.resolve(names, known) if names else known)
        if dimension in (None, label.dimension)
        and demographic in (None, label.demographic)
        and role in (None, label.role)
        and (search is None or search.casefold() in _searched(label))
    ]
    if not found:
        raise BadInput("No label matches.", hint="`evenhand labels` alone lists all of them.")
    if as_json:
        print_json([_document(label) for label in found])
    else:
        _print(found)


def _of_folder(domain: str, names: tuple[str, ...], search: str | None, *, as_json: bool) -> None:
    """List the labels of a domain that is data."""
    from evenhand.audit import find  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    found = find(domain)
    chosen = [found.label(name) for name in names] or list(found.labels)
    listed = [
        {
            "label": label.key,
            "names": dict(label.names),
            "reference": label.reference,
            "treatment": label.treatment,
            "values": [{"value": value.name, "names": dict(value.names)} for value in label.values],
            "splits": dict(label.splits),
        }
        for label in chosen
    ]
    if search is not None:
        listed = [one for one in listed if search.casefold() in str(one).casefold()]
    if not listed:
        raise BadInput("No label matches.", hint=f"`evenhand labels --domain {domain}` lists all.")
    if as_json:
        print_json(listed)
        return
    out = console()
    for label in chosen:
        if any(one["label"] == label.key for one in listed):
            values = "; ".join(
                f"{'*' if value.name == label.reference else ''}{value.name}" for value in label.values
            )
            name = next(iter(label.names.values()), label.key)
            out.print(f"{label.key}  {name}  {values}", markup=False)
    out.print(f"{len(listed)} label{'' if len(listed) == 1 else 's'}; * marks the reference.", markup=False)


def quadrant(label: Label) -> str:
    """Dimension, and demographic or not, in words."""
    return f"{label.dimension}, {'' if label.demographic else 'not '}demographic"


def _searched(label: Label) -> str:
    words = [label.key, label.published_key, label.name_zh, label.name_en]
    words += [name for value in label.values for name in (value.zh, value.en)]
    return "\n".join(words).casefold()


def _document(label: Label) -> dict[str, Any]:
    return {
        "label": label.key,
        "published_key": label.published_key,
        "name_en": label.name_en,
        "name_zh": label.name_zh,
        "dimension": label.dimension,
        "demographic": label.demographic,
        "quadrant": quadrant(label),
        "role": label.role,
        "treatment": label.treatment,
        "reference": label.reference.zh,
        "values": [
            {"value": value.zh, "value_en": value.en, "reference": value.is_reference}
            for value in label.values
        ],
        "excluded_crimes": list(label.exclude_crimes),
        "age_range": label.age_range,
    }


def _print(labels: list[Label]) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    out = console()
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("label", overflow="fold")
    table.add_column("name", overflow="fold")
    table.add_column("quadrant", overflow="fold")
    table.add_column("values (* reference)", overflow="fold", ratio=1)
    for label in labels:
        values = "; ".join(map(_value, label.values))
        if label.treatment == "log_age":
            values += " (years; the effect is per unit of ln(age))"
        name = f"{label.name_en} {label.name_zh}"
        table.add_row(*map(Text, (label.key, name, quadrant(label), values)))
    out.print(table)
    out.print(f"{len(labels)} label{'' if len(labels) == 1 else 's'}.", markup=False)


def _value(value: Value) -> str:
    return f"{'*' if value.is_reference else ''}{value.zh} {value.en}"
