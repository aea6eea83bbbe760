"""`evenhand plot`: one figure, as one puts it into a paper."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.commands.options import console, db_option, open_study, sentence, specifications_option

FIGURES = ("coefficients", "inconsistency", "heatmap")


@click.command(
    epilog="""\b
Examples:
  evenhand plot coefficients coefficients.svg
  evenhand plot coefficients sex.pdf --label defendant_sex --model phi4
  evenhand plot heatmap heatmap.png --coding corrected
"""
)
@click.argument("figure", type=click.Choice(FIGURES))
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@db_option
@click.option(
    "--model",
    help="The model, by its name in the report or its key, if there are several (not for the heatmap).",
)
@click.option("--coding", help="The coding. [default: the first analysed]")
@click.option("--label", help="One label alone (coefficients).")
@specifications_option
def command(
    figure: str,
    out: Path,
    db: Path,
    model: str | None,
    coding: str | None,
    label: str | None,
    specifications: Path,
) -> None:
    """Write a single FIGURE to OUT; its ending says the format: .svg, .pdf or .png.

    coefficients: effects with 90 and 95% intervals. inconsistency: how often answers in
    months differ, label by label.
    heatmap: labels against models, effect and significance.
    """
    from analyze.plots import plot  # noqa: PLC0415

    complaints = console(stderr=True)

    def tell(notice: str) -> None:
        sentence(complaints, notice)

    with open_study(db) as study:
        click.echo(
            plot(study, specifications, figure, out, model=model, coding=coding, label=label, tell=tell)
        )
