"""`evenhand build`: write counterfactual queries into a study."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import (
    console,
    counted,
    db_option,
    json_option,
    open_study,
    print_json,
    sentence,
    split_list,
)

if TYPE_CHECKING:
    from evenhand.domains.judifair.catalogue import Label

DOCUMENTS, LABELS = 8, 4
"""Of a sample, unless said otherwise."""


@click.command(
    epilog="""\b
Examples:
  evenhand build
  evenhand build --sample --sample-documents 12 --sample-labels 6 --seed 3
  evenhand build --labels defendant_sex,judge_religion
  evenhand build --cases my-cases.jsonl --collection my-cases
  evenhand build --arm plain
"""
)
@db_option
@click.option(
    "--cases",
    "cases_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Your own cases (JSONL or TOML, in the form of the bundled cases) instead of the bundled ones.",
)
@click.option("--collection", help="Name of the collection. [default: the bundled one's, or FILE's name]")
@click.option("--labels", help="Only these labels, separated by commas. [default: all 65]")
@click.option("--sample", is_flag=True, help="A balanced subset: whole document x label sets.")
@click.option(
    "--sample-documents", type=click.IntRange(min=1), help=f"Implies --sample. [default: {DOCUMENTS}]"
)
@click.option("--sample-labels", type=click.IntRange(min=1), help=f"Implies --sample. [default: {LABELS}]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample.")
@click.option("--placebo", is_flag=True, help="Ask each reference value in other words too (a noise floor).")
@click.option(
    "--arm",
    default="base",
    show_default=True,
    help="The wording of the instructions: base, listed (all values of a label in each prompt), or plain "
    "(without the instruction to reason from the law and not from frequency).",
)
@click.option(
    "--retire-missing",
    is_flag=True,
    help="Retire what earlier builds of the collection have and this one has not; the answers stay.",
)
@json_option
def command(
    db: Path,
    cases_file: Path | None,
    collection: str | None,
    labels: str | None,
    sample: bool,
    sample_documents: int | None,
    sample_labels: int | None,
    seed: int,
    placebo: bool,
    arm: str,
    retire_missing: bool,
    as_json: bool,
) -> None:
    """Write counterfactual queries into a study: cases x labels x values.

    Two queries of one document and label differ in one fact alone. Building again adds what is missing, and
    keeps what is not in this build (a case taken out of FILE, say) unless --retire-missing; building with
    another template retires the old queries of the same arm. Answers stay in any case. A label that cannot
    apply to a case is left out, and counted. A case of your own needs the slots of the labels asked, facts in
    Chinese, and words for a value that tell the label's fact: anything else is refused, with the place.
    """
    from evenhand.domains.judifair import build, case_files, catalogue, prompts  # noqa: PLC0415
    from evenhand.domains.judifair.sample import draw  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415
    from store.identity import BASE_ARM  # noqa: PLC0415

    template = prompts.of_arm(arm)
    wanted = split_list(labels)
    if wanted == ():
        raise BadInput(
            "--labels names no label.",
            hint="Write them with commas between (--labels defendant_sex,judge_age); without it, all 65.",
        )
    chosen: Sequence[Label | str] | None = wanted
    sampled = sample or sample_documents is not None or sample_labels is not None
    if cases_file is None:
        cases = case_files.bundled()
    else:
        # A case needs the slots of the labels asked; those of a sample are not drawn yet.
        asked = () if sampled else None if wanted is None else catalogue.resolve(wanted)
        cases = tuple(case_files.read_cases(cases_file, asked))
    if sampled:
        drawn = draw(
            cases,
            documents=sample_documents or (min(DOCUMENTS, len(cases)) if cases_file else DOCUMENTS),
            labels=(sample_labels or LABELS) if wanted is None else wanted,
            seed=seed,
        )
        cases, chosen = drawn.cases, drawn.labels
    build.check(cases, chosen)  # before there is a study: what is wrong leaves no file behind
    named: dict[str, Any] = {}
    if cases_file is not None:
        named = {
            "collection": collection or cases_file.stem,
            "kind": "own",
            "description": f"Cases of {cases_file.name}",
        }
    elif collection is not None:
        named = {"collection": collection}
    with open_study(db, create=True) as study:
        built = build.build(
            study,
            cases=cases,
            labels=chosen,
            template=template,
            placebo=placebo,
            retire_missing=retire_missing,
            **named,
        )
    if as_json:
        print_json(dataclasses.asdict(built))
        return
    out = console()
    own_arm = "" if built.arm == BASE_ARM else f", arm {built.arm}"
    out.print(
        f"{counted(built.documents, 'document')} x {counted(built.labels, 'label')} "
        f"({counted(built.values, 'value')}){own_arm}: {counted(built.queries, 'query', 'queries')} in {db}, "
        f"{built.added:,} of them new.",
        markup=False,
    )
    if built.placebos:
        out.print(f"Of these, {built.placebos:,} are placebos: the reference in other words.")
    if built.not_applicable:
        out.print(f"Left out: {built.not_applicable:,} document x label sets: the label cannot apply there.")
    if built.retired:
        out.print(f"Retired: {built.retired:,} queries of an earlier build; their answers stay.")
    if built.left:
        documents = f"{built.left_documents:,} document{'' if built.left_documents == 1 else 's'}"
        sentence(
            out,
            f"Kept: {built.left:,} queries about {documents} of the collection '{built.collection}' that are "
            "not in this build. They are asked too; the same command with --retire-missing retires them.",
        )
    for warning in built.warnings:
        sentence(out, f"Warning: {warning}", style="yellow")
    only = "" if built.arm == BASE_ARM else f" --arm {built.arm}"
    out.print(f"Next: evenhand run MODEL --db {db}{only}", markup=False)
