"""`evenhand demo`: the whole road in one command, on the embedded model or on the scripted judge."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.demo_groups import demo_groups
from evenhand.cli.options import console, open_study, specifications_path, typed

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.domains.judifair.catalogue import Label
    from evenhand.simulate import Script
    from store import Study

# Two substantive and two procedural labels whose sentences stand at the end of the prompt, so that a document
# is read once and the rest of its prompts from the prefix cache: on 2 cores that makes 2 minutes of 6.
LABELS = ("defendant_ethnicity", "victim_wealth", "defender_type", "online_broadcast")
DOCUMENTS = 8
SEED = 7
QUESTION = "SELECT doc_id, label, value, months FROM answers LIMIT 5"
LONGEST_ANSWER = 160
"""Tokens; an answer that is held to the schema takes about 54."""


@click.command(
    epilog="""\b
Examples:
  evenhand demo
  evenhand demo --simulated
  evenhand demo --domain fairlex-cail
  evenhand demo --documents 12 --db my-demo.duckdb --report my-report
"""
)
@click.option(
    "--simulated",
    is_flag=True,
    help="Ask a scripted judge with a planted bias instead: all queries, one minute.",
)
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    default=DOCUMENTS,
    show_default=True,
    help="Of the embedded demo.",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="[default: demo.duckdb, or demo-simulated.duckdb]",
)
@click.option(
    "--report",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="[default: report, or report-simulated]",
)
@click.option(
    "--domain",
    help="Compare groups instead, on made-up data of fairlex-cail, -fscs or -scotus: a scripted judge with a "
    "planted disparity, under a minute.",
)
def command(
    simulated: bool, documents: int, db: Path | None, folder: Path | None, domain: str | None
) -> None:
    """Run the whole pipeline in one command: build, run, analyze, report.

    Asks a real language model on this machine (SmolLM2-135M, which comes with a Python package) about 8
    fictional cases and 4 labels. The model is tiny and knows little Chinese: its verdicts mean nothing, but
    the pipeline is the real one. Stored answers are not asked for again, so a second call takes seconds.
    """
    out = console()
    if domain not in (None, "judifair"):
        demo_groups(domain, db or Path("demo-groups.duckdb"), folder or Path("report-groups"))
    elif simulated:
        _simulated(out, db or Path("demo-simulated.duckdb"), folder or Path("report-simulated"))
    else:
        _embedded(out, db or Path("demo.duckdb"), folder or Path("report"), documents)


def _embedded(out: Console, db: Path, folder: Path, documents: int) -> None:
    from evenhand.domains.judifair import case_files  # noqa: PLC0415
    from evenhand.domains.judifair.sample import draw  # noqa: PLC0415

    out.rule("Evenhand demo: a real model on this machine")
    out.print(
        "SmolLM2-135M is a tiny model that knows little Chinese: [bold]its verdicts mean "
        "nothing[/bold]. The pipeline is the real one: cases, queries, answers on disk, statistics, report."
    )
    drawn = draw(case_files.bundled(), documents=documents, labels=LABELS, seed=SEED)
    _go(
        out,
        db,
        folder,
        model="smollm2-135m",
        build={"cases": drawn.cases, "labels": drawn.labels},
        # At temperature 0 this model gives every variant of a case the same term.
        settings={"temperature": 1.0, "seed": SEED, "max_tokens": LONGEST_ANSWER},
    )


def _simulated(out: Console, db: Path, folder: Path) -> None:
    from evenhand.simulate import Bias, Script  # noqa: PLC0415

    script = Script(
        seed=SEED,
        # One bias that thirty cases confirm among 65 labels, and one that they do not.
        biases=(
            Bias("defendant_religion", "伊斯兰教", probability=0.9, steps=2),
            Bias("online_broadcast", "是"),
        ),
    )
    out.rule("Evenhand demo: a scripted judge with a planted bias")
    _go(out, db, folder, model="scripted-judge", build={}, settings={"temperature": 0.0}, script=script)


def _go(
    out: Console,
    db: Path,
    folder: Path,
    *,
    model: str,
    build: dict[str, Any],
    settings: dict[str, Any],
    script: Script | None = None,
) -> None:
    from analyze.report import print_summary, write_html  # noqa: PLC0415
    from evenhand.cli.run import print_run  # noqa: PLC0415
    from evenhand.domains.judifair.build import build as build_queries  # noqa: PLC0415
    from evenhand.services.analysis import analyze_study  # noqa: PLC0415
    from evenhand.services.runs import run_study  # noqa: PLC0415
    from runner import RunOptions, load_providers  # noqa: PLC0415
    from store import Selection  # noqa: PLC0415

    specifications = specifications_path()
    with open_study(db, create=True) as study:
        built = build_queries(study, **build)
        out.print(
            f"\n1. Built: {built.documents} fictional cases x {built.labels} labels, every value: "
            f"{built.queries:,} queries in {db}."
        )
        planted = "" if script is None else _planted(study, script)
        if planted:
            out.print(f"\n{planted}", markup=False)
        out.print(f"\n2. Asking {model}.")
        labels = None if "labels" not in build else _keys(build["labels"])
        documents = None if "cases" not in build else tuple(case.doc_id for case in build["cases"])
        summary = run_study(
            study,
            load_providers(),
            (model,),
            Selection(collection=built.collection, labels=labels, documents=documents),
            settings=settings,
            options=RunOptions(),
            script=script,
        )
        print_run(summary, as_json=False)
        if summary.exit_code or summary.pending:
            sys.exit(summary.exit_code or 1)
        out.print("\n3. Estimating.\n")
        analyze_study(study)
        print_summary(study, specifications, out)
        page = write_html(study, specifications, folder)
    out.print(f"\n4. Report for readers: [bold]{page}[/bold]")
    if planted:
        out.print(f"Compare it with what was planted.\n{planted}", markup=False)
    # Not folded here: a command that is copied must stay one line.
    command = f'{typed()} sql "{QUESTION}" --db {shlex.quote(str(db))}'
    out.print(f"Ask the data:\n{command}", markup=False, soft_wrap=True)


def _planted(study: Study, script: Script) -> str:
    """What the script plants, and how large that is in this study's documents."""
    from evenhand.simulate import SimulatedJudge  # noqa: PLC0415

    return SimulatedJudge.of_study(study, script).describe()


def _keys(labels: tuple[Label, ...]) -> tuple[str, ...]:
    return tuple(label.key for label in labels)
