"""`evenhand plot`: one figure, as one puts it into a paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import (
    console,
    db_option,
    domain_option,
    open_study,
    sentence,
    specifications_option,
)

if TYPE_CHECKING:
    from analyze.plots import Language

_WIDTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(cm|mm|in|inches|\")\s*")
_PER_INCH = {"cm": 2.54, "mm": 25.4}


def _width(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Read `8.8cm` as inches."""
    del ctx, param
    if value is None:
        return None
    found = _WIDTH.fullmatch(value)
    inches = 0.0 if found is None else float(found[1]) / _PER_INCH.get(found[2], 1)
    if not 1 <= inches <= 40:
        raise click.BadParameter(f"{value!r} is no width: write 8.8cm, 88mm or 3.5in, up to 40 inches.")
    return inches


FIGURES = ("coefficients", "inconsistency", "heatmap")


@click.command(
    epilog="""\b
Examples:
  evenhand plot coefficients coefficients.svg
  evenhand plot coefficients sex.pdf --label defendant_sex --model phi4
  evenhand plot heatmap heatmap.png --coding corrected
  evenhand plot coefficients fig2.pdf --width 8.8cm --language en --title "Figure 2. Effects in months"
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
@click.option(
    "--language",
    type=click.Choice(["en", "zh", "both"]),
    help="Names in English, Chinese or both. [default: both where this machine has a font for Chinese]",
)
@click.option(
    "--width",
    callback=_width,
    metavar="WIDTH",
    help="Exact width of the file: 8.8cm, 88mm or 3.5in (a column of a journal). [default: what it needs]",
)
@click.option("--title", help="Title instead of the model's name; empty for none.")
@click.option("--outcome", help="The outcome, where the domain has several. [default: the first]")
@domain_option
@specifications_option
def command(
    figure: str,
    out: Path,
    db: Path,
    model: str | None,
    coding: str | None,
    label: str | None,
    language: Language | None,
    width: float | None,
    title: str | None,
    outcome: str | None,
    domain: str | None,
    specifications: Path | None,
) -> None:
    """Write a single FIGURE to OUT; its ending says the format: .svg, .pdf or .png.

    coefficients: effects with 90 and 95% intervals. inconsistency: how often answers in
    months differ, label by label.
    heatmap: labels against models, effect and significance.

    With --width letters shrink, names take two lines, and the panel in logarithms is left out, as far as it
    takes to fit; what does not fit is an error that says the width needed.
    """
    from analyze.plots import plot  # noqa: PLC0415
    from evenhand.services.reports import only_specifications  # noqa: PLC0415

    complaints = console(stderr=True)

    def tell(notice: str) -> None:
        sentence(complaints, notice)

    with open_study(db) as study:
        drawn = plot(
            study,
            only_specifications(study, domain, specifications, outcome),
            figure,
            out,
            model=model,
            coding=coding,
            label=label,
            language=language,
            width_in=width,
            title=title,
            tell=tell,
        )
    click.echo(drawn)
