"""`evenhand analyze`: read the answers under a coding, estimate, and store the tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import (
    console,
    db_option,
    json_option,
    open_study,
    print_json,
    sentence,
    specifications_option,
    split_list,
)
from evenhand.cli.selection import arms_of

if TYPE_CHECKING:
    from evenhand.domains.judifair.unknown_labels import Unknown
    from store import Study


def attributes_path() -> Path:
    """What is known of models: the domain's own file."""
    from evenhand.domains import judifair  # noqa: PLC0415

    return Path(judifair.__file__).parent / "models.toml"


_SHOWN = 8
"""Unknown labels that a message names."""

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
@click.option("--arm", "arms", help="Only these arms, separated by commas. [default: all that have answers]")
@click.option("--recode", is_flag=True, help="Read every answer again, even if it has been read before.")
@click.option(
    "--attributes",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    default=attributes_path,
    show_default="those of judifair",
    help="Attributes of models, such as size, release date and origin (TOML), to relate to their metrics.",
)
@specifications_option
@json_option
def command(
    db: Path,
    coding: str,
    models: str | None,
    arms: str | None,
    recode: bool,
    attributes: Path,
    specifications: Path,
    as_json: bool,
) -> None:
    """Estimate effects, inconsistency and error into tables.

    Each answer becomes a verdict; each variant of each label is regressed with document fixed effects;
    the results replace earlier ones in `estimates`, `label_metrics` and `model_metrics`, which
    `evenhand sql` reads. What cannot be estimated gets a row with a note. Earlier results that cannot be
    computed anew are never removed: an analysis that would lose them refuses, and changes nothing.
    """
    from analyze.report import print_summary, summary_json  # noqa: PLC0415

    with open_study(db) as study:
        notices = analyze_study(
            study,
            specifications,
            codings=CODINGS[coding],
            models=split_list(models),
            arms=arms_of(arms),
            recode=recode,
            attributes=attributes,
        )
        for notice in notices:
            sentence(console(stderr=True), notice)
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
    arms: tuple[str, ...] | None = None,
    recode: bool = False,
    attributes: Path | None = None,
) -> list[str]:
    """Code what is not coded yet, then estimate. Gives what a person should know besides the results.

    `attributes` is a file of what is known of models; the domain's own unless given. Whatever is raised, the
    results of earlier analyses stay as they are.

    Raises:
        BadInput: the study has answers of labels or values that this installation does not know.
        RunFailed: there is no answer to analyze.
    """
    import analyze  # noqa: PLC0415
    from evenhand.domains.judifair import unknown_labels  # noqa: PLC0415
    from evenhand.domains.judifair.coding import code  # noqa: PLC0415
    from store.errors import BadInput, RunFailed  # noqa: PLC0415
    from store.identity import BASE_ARM  # noqa: PLC0415

    if models == ():
        raise BadInput(
            "--models names no model.", hint="Write them with commas between; without it, all are analyzed."
        )
    unknown = unknown_labels.find(study, models)
    _refuse_unknown([one for one in unknown if one.built])
    code(study, codings, rebuild=recode)
    analysis = analyze.run(
        study,
        specifications,
        codings=codings,
        models=models,
        arms=arms,
        attributes=attributes or attributes_path(),
    )
    if not analysis.cells:
        _refuse_unknown(unknown)
        raise RunFailed(
            f"{study.path} has no answer that counts. Earlier results, if there are any, stay as they are.",
            hint="Ask a model first (`evenhand run MODEL`); `evenhand runs` lists runs that were set aside.",
        )
    notices = [
        f"Removed: the results of {cell.model} ({cell.collection}, {cell.coding} coding"
        f"{'' if cell.arm == BASE_ARM else f', arm {cell.arm}'}), as none of its "
        "answers counts any more. `evenhand runs` lists runs that were set aside."
        for cell in analysis.removed
    ]
    if unknown:
        notices.append(
            f"Not analyzed: {_listed(unknown)}. These labels or values came with an import and are not in "
            "the catalogue (`evenhand labels`)."
        )
    return notices


def _refuse_unknown(unknown: Sequence[Unknown]) -> None:
    """Raise BadInput for answers that this installation would drop."""
    from evenhand import __version__  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if unknown:
        raise BadInput(
            f"The study has answers of labels or values that this installation (Evenhand {__version__}) "
            f"does not know: {_listed(unknown)}. Nothing was analyzed, and earlier results stay as they are.",
            hint="Analyze the study with the installation that asked them (its labels.toml "
            "has them). If they are no longer wanted, build the collection again with the same cases and "
            "--retire-missing: their answers stay in the study and do not count.",
        )


def _listed(unknown: Sequence[Unknown]) -> str:
    shown = [f"{one.name} ({one.answers:,} in '{one.collection}')" for one in unknown[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else "")
