"""`evenhand build`: write counterfactual queries into a study."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from evenhand.cli.options import (
    console,
    counted,
    db_option,
    domain_option,
    json_option,
    labels_file_option,
    print_json,
    sentence,
    split_list,
)

DOCUMENTS, LABELS = 8, 4
"""Of a sample, unless said otherwise."""


@click.command(
    epilog="""\b
Examples:
  evenhand build
  evenhand build --sample --sample-documents 12 --sample-labels 6 --seed 3
  evenhand build --labels defendant_sex,judge_religion
  evenhand build --cases my-cases.jsonl --collection my-cases
  evenhand build --labels-file my-labels.toml --labels defendant_height
  evenhand build --arm plain
"""
)
@db_option
@domain_option
@click.option(
    "--design",
    type=click.Choice(["counterfactual", "groups"]),
    help="The design, for a domain that has both.  [default: its first]",
)
@click.option(
    "--cases",
    "cases_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Your own cases (JSONL or TOML, in the form of the bundled cases) instead of the bundled ones.",
)
@click.option("--collection", help="Name of the collection. [default: the bundled one's, or FILE's name]")
@click.option("--labels", help="Only these labels, separated by commas. [default: all]")
@click.option("--sample", is_flag=True, help="A balanced subset: whole document x label sets.")
@click.option(
    "--sample-documents", type=click.IntRange(min=1), help=f"Implies --sample. [default: {DOCUMENTS}]"
)
@click.option("--sample-labels", type=click.IntRange(min=1), help=f"Implies --sample. [default: {LABELS}]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@click.option("--placebo", is_flag=True, help="Ask each reference value in other words too (a noise floor).")
@click.option(
    "--arm",
    default="base",
    show_default=True,
    help="The wording of the instructions. judifair has base, listed (all values of a label in each prompt) "
    "and plain (without the instruction to reason from the law and not from frequency).",
)
@labels_file_option
@click.option(
    "--retire-missing",
    is_flag=True,
    help="Retire what earlier builds of the collection have and this one has not; the answers stay.",
)
@json_option
def command(
    db: Path,
    domain: str | None,
    design: str | None,
    cases_file: Path | None,
    collection: str | None,
    labels: str | None,
    sample: bool,
    sample_documents: int | None,
    sample_labels: int | None,
    seed: int,
    placebo: bool,
    arm: str,
    labels_file: Path | None,
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
    from evenhand.audit.protocol import BuildOptions, Sampling  # noqa: PLC0415
    from evenhand.services import queries  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415
    from store.identity import BASE_ARM  # noqa: PLC0415

    wanted = split_list(labels)
    if wanted == ():
        raise BadInput(
            "--labels names no label.",
            hint="Write them with commas between (--labels defendant_sex,judge_age); without it, all.",
        )
    sampled = sample or sample_documents is not None or sample_labels is not None
    options = BuildOptions(
        cases_file=cases_file,
        collection=collection,
        labels=wanted,
        labels_file=labels_file,
        arm=arm,
        design=design,
        sample=Sampling(sample_documents, sample_labels, seed) if sampled else None,
        placebo=placebo,
        retire_missing=retire_missing,
    )
    built = queries.build(db, domain, options)
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
