"""`evenhand analyze`: read the answers under a coding, estimate, and store the tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.commands.options import (
    console,
    db_option,
    json_option,
    open_study,
    print_json,
    specifications_option,
    split_list,
)

if TYPE_CHECKING:
    from store import Study


def attributes_path() -> Path:
    """What is known of models: the domain's own file."""
    import judifair  # noqa: PLC0415

    return Path(judifair.__file__).parent / "models.toml"


CODINGS = {"published": ("published",), "corrected": ("corrected",), "both": ("corrected", "published")}


@click.command(
    epilog="""\b
Examples:
  evenhand analyze
  evenhand analyze --coding both --models phi4
  evenhand analyze --json > results.json
"""
)
@db_option
@click.option(
    "--coding",
    type=click.Choice(list(CODINGS)),
    default="corrected",
    show_default=True,
    help="How an answer is read: as it should be, as the published scripts do, or both.",
)
@click.option("--models", help="Only these models, separated by commas. [default: all that have answers]")
@click.option("--recode", is_flag=True, help="Read every answer again, even those already coded.")
@click.option(
    "--attributes",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    default=attributes_path,
    show_default="those of judifair/models.toml",
    help="Size, day of release, origin and the like of models (TOML), to hold against their metrics.",
)
@specifications_option
@json_option
def command(
    db: Path,
    coding: str,
    models: str | None,
    recode: bool,
    attributes: Path,
    specifications: Path,
    as_json: bool,
) -> None:
    """Estimate effects, inconsistency and error into tables.

    Each answer becomes a verdict; each variant of each label is regressed with document fixed effects;
    the results replace earlier ones in `estimates`, `label_metrics` and `model_metrics`, which
    `evenhand sql` reads. What cannot be estimated gets a row with a note.
    """
    from analyze.report import print_summary, summary_json  # noqa: PLC0415

    with open_study(db) as study:
        analyze_study(
            study,
            specifications,
            codings=CODINGS[coding],
            models=split_list(models),
            recode=recode,
            attributes=attributes,
        )
        if as_json:
            print_json(summary_json(study, specifications))
        else:
            print_summary(study, specifications, console())


def analyze_study(
    study: Study,
    specifications: Path,
    *,
    codings: tuple[str, ...] = ("corrected",),
    models: tuple[str, ...] | None = None,
    recode: bool = False,
    attributes: Path | None = None,
) -> None:
    """Code what is not coded yet, then estimate. Raises `RunFailed` where there is no answer to analyze.

    `attributes` is a file of what is known of models; the domain's own unless given.
    """
    import analyze  # noqa: PLC0415
    from judifair.coding import code  # noqa: PLC0415
    from store.errors import RunFailed  # noqa: PLC0415

    code(study, codings, rebuild=recode)
    analysis = analyze.run(
        study, specifications, codings=codings, models=models, attributes=attributes or attributes_path()
    )
    if not analysis.cells:
        raise RunFailed(
            f"{study.path} has no answer that counts",
            hint="Ask a model first (`evenhand run MODEL`); `evenhand runs` lists runs that were set aside.",
        )
