"""`evenhand report`: the report for readers, as a page or as tables."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import (
    console,
    db_option,
    domain_option,
    open_study,
    sentence,
    specifications_option,
    split_list,
)


@click.command(
    epilog="""\b
Examples:
  evenhand report
  evenhand report --format latex --out tables
  evenhand report --format xlsx --models phi4 --coding corrected
"""
)
@db_option
@domain_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "latex", "csv", "xlsx", "md", "json"]),
    default="html",
    show_default=True,
    help="A page that needs nothing else, or the same tables for papers and spreadsheets.",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("report"),
    show_default=True,
    help="The folder to write into.",
)
@click.option("--models", help="Only these models, separated by commas. [default: all analysed]")
@click.option("--coding", "codings", help="Only these codings, separated by commas. [default: all analysed]")
@click.option(
    "--no-texts",
    "without_texts",
    is_flag=True,
    help="Leave the models' answers out of the page, where they must not be shared.",
)
@specifications_option
def command(
    db: Path,
    domain: str | None,
    form: str,
    folder: Path,
    models: str | None,
    codings: str | None,
    without_texts: bool,
    specifications: Path | None,
) -> None:
    """Write the report of what `evenhand analyze` found.

    The page says first, in plain words, what is confirmed and how surely, what could not be tested or seen,
    and what not to conclude; below it stand examples of the answers, all tables, plots, exclusions and
    methods. It loads nothing from the network. The terminal prints the same first sentences.

    json writes report.json, with the same sentences, the findings that they are made from, and all figures.

    latex writes a file for each table, to be put into a paper, and report.tex, which sets all of them; the
    first lines of each say which engine and packages it needs.
    """
    from analyze.groups.report import sentences  # noqa: PLC0415
    from analyze.groups.report import write as write_groups  # noqa: PLC0415
    from analyze.report import opening  # noqa: PLC0415
    from evenhand.services import reports  # noqa: PLC0415
    from evenhand.services.events import Event, Notice  # noqa: PLC0415
    from evenhand.services.group_analysis import designs_of  # noqa: PLC0415

    complaints = console(stderr=True)

    def hear(event: Event) -> None:
        if isinstance(event, Notice):
            sentence(complaints, event.text)

    chosen = {"models": split_list(models), "codings": split_list(codings)}
    with open_study(db) as study:
        with_groups, with_effects = designs_of(study)
        told: list[str] = []
        paths: list[Path] = []
        if with_groups:
            page = "groups.html" if with_effects else "index.html"
            paths += write_groups(study.connection, folder, format=form, page=page)
            told += sentences(study.connection)
        if with_effects:
            paths += reports.write(
                study,
                folder,
                domain,
                format=form,
                file=specifications,
                texts=not without_texts,
                on_event=hear,
                **chosen,
            )
            every = reports.analyzed(study, reports.specifications(study, domain, specifications))
            for specs in every:
                told += [f"Outcome: {specs.outcome}"] if len(every) > 1 else []
                told += opening(study, specs, **chosen)
    out = console()
    for number, line in enumerate(told):
        sentence(out, line, "bold" if not number else "")
    for path in paths:
        click.echo(path)
