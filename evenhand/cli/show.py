"""`evenhand show`: one prompt, with its difference from the reference marked, and what was answered."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import (
    console,
    db_option,
    domain_option,
    json_option,
    only_judifair,
    print_json,
    read_study,
)
from evenhand.cli.output import printable

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.audit.show import Shown
    from evenhand.domains.judifair.answered import Answer


@click.command(
    epilog="""\b
Examples:
  evenhand show theft-ebike:defendant_sex:女
  evenhand show theft-ebike:defendant_sex:female --answers
  evenhand show theft-ebike:judge_age --answers --model gpt-4o-mini
  evenhand show 1f3c9a
"""
)
@click.argument("query")
@db_option
@click.option(
    "--answers", "with_answers", is_flag=True, help="Both prompts' answers too, and how they were read."
)
@click.option("--arm", help="Only of this arm. [default: the base, then the others]")
@click.option("--model", help="With --answers: only this model, by name or key.")
@click.option(
    "--coding", type=click.Choice(["corrected", "published"]), default="corrected", show_default=True,
    help="With --answers: whose readings.",
)  # fmt: skip
@domain_option
@json_option
def command(
    query: str,
    db: Path,
    domain: str | None,
    with_answers: bool,
    arm: str | None,
    model: str | None,
    coding: str,
    as_json: bool,
) -> None:
    """Print one prompt as the model gets it, with its difference from the reference marked.

    QUERY is an id (or the beginning of one), or DOCUMENT, DOCUMENT:LABEL or DOCUMENT:LABEL:VALUE, VALUE in
    Chinese or English (`evenhand labels`). The text in the first brackets is this prompt's, the one in the
    second its counterpart's. With --answers, what each model answered to either follows, and what was read.
    """
    from evenhand.domains.judifair.answered import answers  # noqa: PLC0415
    from evenhand.domains.judifair.coding import code  # noqa: PLC0415
    from evenhand.services import domains  # noqa: PLC0415

    if model is not None and not with_answers:
        raise click.UsageError("--model has no meaning without --answers")
    found: list[Answer] = []
    with read_study(db) as study:
        if with_answers:
            only_judifair(study, domain, "show --answers")
        shown = domains.one_of_study(study, domain).show(study, query, arm)
        if with_answers:
            if not study.read_only:
                code(study, (coding,))
            queries = [one for one in (shown.query_id, shown.counterpart_id) if one is not None]
            found = answers(study, queries, coding=coding, model=model)
    if as_json:
        document = shown.as_dict()
        if with_answers:
            document["answers"] = [dataclasses.asdict(one) for one in found]
        print_json(document)
        return
    out = console()
    out.print(shown.as_text())
    if with_answers:
        _print_answers(out, shown, found)


def _print_answers(out: Console, shown: Shown, found: Sequence[Answer]) -> None:
    """Both answers of each model and repeat, below one another, with their readings."""
    if not found:
        out.print("\nNo model has answered it.")
    for key in dict.fromkeys((one.model_key, one.repeat) for one in found):
        pair = [one for one in found if (one.model_key, one.repeat) == key]
        first = pair[0]
        temperature = "not set" if first.temperature is None else f"{first.temperature:g}"
        out.print(
            f"\n{first.model} ({first.model_key[:6]}), temperature {temperature}, repeat {first.repeat}",
            style="bold",
            markup=False,
        )
        for query, value in (
            (shown.query_id, shown.value),
            (shown.counterpart_id, shown.counterpart_value),
        ):
            for one in pair:
                if one.query_id == query:
                    print_answer(out, value or "", one.reading, one.text)


def print_answer(out: Console, value: str, reading: str, text: str | None) -> None:
    """One answer: the value that was asked, what was read, and the text itself, indented."""
    out.print(f"  {printable(value)}: {printable(reading)}", markup=False, style="green")
    for line in printable(text or "").splitlines():
        out.print(f"    {line}", markup=False, soft_wrap=True)
