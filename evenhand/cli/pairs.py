"""`evenhand pairs`: the evidence behind an effect, answer beside answer."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import (
    console,
    db_option,
    domain_option,
    json_option,
    print_json,
    read_study,
    specifications_option,
)
from evenhand.cli.output import printable
from evenhand.cli.selection import arms_of
from evenhand.cli.show import print_answer

if TYPE_CHECKING:
    from rich.console import Console

    from analyze.counterfactual.frame import Cell
    from analyze.counterfactual.pairs import Pair, Side, Which
    from analyze.specification import Specifications
    from evenhand.audit.protocol import Audit
    from evenhand.domains.judifair.catalogue import Label, Value
    from store import Study


@click.command(
    epilog="""\b
Examples:
  evenhand pairs --label defendant_religion --value 伊斯兰教 --changed
  evenhand pairs --label judge_age --value 55 --model gpt-4o-mini --limit 5
  evenhand pairs --label defendant_sex --value female --refused --json
"""
)
@db_option
@click.option("--label", required=True, help="The label (`evenhand labels`).")
@click.option(
    "--value", help="The value to compare with the reference, in Chinese or English. [default: each]"
)
@click.option("--model", help="Only this model, by name or key. [default: all]")
@click.option("--collection", help="Only this collection. [default: all]")
@click.option("--arm", "arms", help="Only these arms, separated by commas. [default: all]")
@click.option("--changed", "which", flag_value="changed", help="Only pairs whose decision differs.")
@click.option(
    "--unreadable", "which", flag_value="unreadable", help="Only pairs with an answer that could not be read."
)
@click.option(
    "--refused", "which", flag_value="declined", help="Only pairs with an answer that the model declined."
)
@click.option("--coding", help="How the answers are read. [default: the domain's first coding]")
@click.option("--outcome", help="The outcome, where the domain has several. [default: the first]")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="At most this many pairs of each value and model.",
)
@domain_option
@specifications_option
@json_option
def command(
    db: Path,
    label: str,
    value: str | None,
    model: str | None,
    collection: str | None,
    arms: str | None,
    which: Which | None,
    coding: str | None,
    outcome: str | None,
    limit: int,
    domain: str | None,
    specifications: Path | None,
    as_json: bool,
) -> None:
    """List counterfactual pairs: two answers to one case between which one fact was changed.

    Each pair shows the sentence of the prompt with the changed fact in brackets, both answers as the model
    gave them, and how they were read. Pairs come in the order of the cases, not by size: they are examples of
    what happened, and no selection. `evenhand show QUERY --answers` shows one with its whole prompt.
    """
    import analyze.counterfactual.frame  # noqa: PLC0415
    from analyze.counterfactual.pairs import pairs  # noqa: PLC0415
    from evenhand.services import domains, reports  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    found: list[tuple[Cell, str, Pair]] = []
    more = False
    with read_study(db) as study:
        audit = domains.one_of_study(study, domain)
        specs = reports.only_specifications(study, domain, specifications, outcome)
        chosen = (
            _judifair_label(study, label, value)
            if audit.name == domains.DEFAULT
            else _label(audit, label, value)
        )
        coding = coding or audit.codings[0]
        if coding not in audit.codings:
            raise BadInput(
                f"{audit.name} has no coding '{coding}'.", hint=f"It has: {', '.join(audit.codings)}."
            )
        if not study.read_only:
            audit.read(study, (coding,))
        cells = analyze.counterfactual.frame.cells(
            study.connection,
            specs,
            codings=[coding],
            models=None if model is None else [model],
            collections=None if collection is None else [collection],
            arms=arms_of(arms),
        )
        for cell in cells:
            for one, english in chosen.values.items():
                shown = pairs(
                    study, specs, cell, chosen.key, one, [chosen.reference],
                    which=which or "all", limit=limit + 1,
                )  # fmt: skip
                more = more or len(shown) > limit
                found += [(cell, english, pair) for pair in shown[:limit]]
    if as_json:
        print_json([_document(cell, chosen, pair) for cell, _, pair in found])
        return
    out = console()
    for cell, english, pair in found:
        _print(out, specs, cell, chosen, english, pair)
    count = len(found)
    out.print(f"{count} pair{'' if count == 1 else 's'}{'; there are more (--limit)' if more else ''}.")


@dataclasses.dataclass(frozen=True, slots=True)
class _Label:
    """What is compared: values of one label with its reference, each with its English name."""

    key: str
    values: dict[str, str]
    reference: str
    reference_english: str


def _judifair_label(study: Study, label: str, value: str | None) -> _Label:
    from evenhand.domains.judifair import catalogue  # noqa: PLC0415

    (chosen,) = catalogue.resolve([label], catalogue.of_study(study.connection))
    values = {one.zh: one.en for one in _values(chosen, value)}
    return _Label(chosen.key, values, chosen.reference.zh, chosen.reference.en)


def _label(audit: Audit, label: str, value: str | None) -> _Label:
    """The label of a domain that is data."""
    from evenhand.audit.general import GeneralAudit  # noqa: PLC0415
    from evenhand.audit.names import name_in  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if not isinstance(audit, GeneralAudit):
        raise BadInput(f"`evenhand pairs` does not work for the domain '{audit.name}' yet.")
    chosen = audit.domain.label(label)
    names = {one.name: name_in(one.names, "en", one.name) for one in chosen.values}
    others = {name: title for name, title in names.items() if name != chosen.reference}
    if value is not None:
        named = [
            name for name, title in others.items() if value.casefold() in (name.casefold(), title.casefold())
        ]
        if not named:
            what = (
                "is the reference" if value in (chosen.reference, names[chosen.reference]) else "is no value"
            )
            raise BadInput(
                f"{value!r} {what} of {label}.",
                hint=f"Values to compare with the reference: {', '.join(others)}.",
            )
        others = {name: others[name] for name in named}
    return _Label(label, others, chosen.reference, names[chosen.reference])


def _values(label: Label, value: str | None) -> tuple[Value, ...]:
    from evenhand.domains.judifair.catalogue import Value  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if value is None:
        return label.treated
    named = label.named(value)
    if named is None and label.treatment == "log_age" and value.isdecimal():
        # Imported studies ask each case at ages of its own.
        return (Value(value, f"{value} years", is_reference=False, is_treated=True, position=0),)
    if named is None or named.is_reference:
        names = ", ".join(f"{one.zh} ({one.en})" for one in label.treated)
        what = "is the reference" if named is not None else "is no value"
        raise BadInput(
            f"{value!r} {what} of {label.key}.", hint=f"Values to compare with the reference: {names}."
        )
    return (named,)


def _document(cell: Cell, label: _Label, pair: Pair) -> dict[str, Any]:
    return {
        "collection": cell.collection,
        "model": cell.model,
        "model_key": cell.model_key,
        "temperature": cell.temperature,
        "coding": cell.coding,
        "arm": cell.arm,
        "outcome": cell.outcome,
        "doc_id": pair.doc_id,
        "repeat": pair.repeat,
        "label": label.key,
        "reference": dataclasses.asdict(pair.reference),
        "varied": dataclasses.asdict(pair.varied),
    }


def _print(out: Console, specs: Specifications, cell: Cell, label: _Label, english: str, pair: Pair) -> None:
    from rich.text import Text  # noqa: PLC0415

    from store.identity import BASE_ARM  # noqa: PLC0415
    from store.prompt import difference  # noqa: PLC0415

    temperature = "not set" if cell.temperature is None else f"{cell.temperature:g}"
    head = f"{cell.collection} / {pair.doc_id} / {label.key}   {cell.model}, temperature {temperature}"
    head += "" if cell.arm == BASE_ARM else f", arm {cell.arm}"
    out.print(f"{head}, repeat {pair.repeat}", style="bold", markup=False)
    if pair.reference.fact is not None and pair.varied.fact is not None:
        before, here, there, after = map(printable, difference(pair.varied.fact, pair.reference.fact))
        fact = Text(f"  {before}")
        fact.append(f"[{here}]", style="bold green")
        fact.append(f"[{there}]", style="strike red")
        fact.append(after)
        out.print(fact)
    for side, name in ((pair.varied, english), (pair.reference, label.reference_english)):
        said = side.value if name == side.value else f"{side.value} ({name})"
        print_answer(out, said, _reading(specs, side), side.text)
    out.print()


def _reading(specs: Specifications, side: Side) -> str:
    if side.missing is not None or side.amount is None:
        return f"not read: {(side.missing or 'unknown').replace('_', ' ')}"
    if specs.kind != "amount" and side.kind is not None:
        return side.kind
    kind = f"{side.kind.replace('_', ' ')}, " if side.kind else ""
    return f"{kind}{side.amount:g} {specs.frame.unit}"
