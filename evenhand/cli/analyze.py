"""`evenhand analyze`: read the answers under a coding, estimate, and store the tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import (
    console,
    db_option,
    domain_option,
    json_option,
    open_study,
    print_json,
    sentence,
    specifications_option,
    split_list,
)
from evenhand.cli.selection import arms_of

if TYPE_CHECKING:
    from store import Study


@click.command(
    epilog="""\b
Examples:
  evenhand analyze
  evenhand analyze --coding both --models phi4
  evenhand analyze --json > results.json
"""
)
@db_option
@domain_option
@click.option(
    "--coding",
    help="How an answer is read. Of judifair: corrected (as it should be), published (as the published "
    "scripts do), or both.  [default: the domain's first]",
)
@click.option("--models", help="Only these models, separated by commas. [default: all that have answers]")
@click.option("--arm", "arms", help="Only these arms, separated by commas. [default: all that have answers]")
@click.option("--recode", is_flag=True, help="Read every answer again, even if it has been read before.")
@click.option(
    "--attributes",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Attributes of models, such as size, release date and origin (TOML), to relate to their metrics.  "
    "[default: the domain's own]",
)
@specifications_option
@json_option
def command(
    db: Path,
    domain: str | None,
    coding: str | None,
    models: str | None,
    arms: str | None,
    recode: bool,
    attributes: Path | None,
    specifications: Path | None,
    as_json: bool,
) -> None:
    """Estimate effects, inconsistency and error into tables.

    Each answer is read, and each variant of each label is estimated by a regression with document fixed
    effects. The results replace earlier ones in `estimates`, `label_metrics` and `model_metrics`, which
    `evenhand sql` reads. What cannot be estimated gets a row with a note. Earlier results that cannot be
    computed anew are never removed: an analysis that would lose them refuses, and changes nothing.

    Data sets with groups (`evenhand load`) are analyzed too: scores, disparities, drift and tests go into
    `group_scores`, `group_disparities` and the other tables that begin with `group_`, into `worst_class` and
    `cross_attribute`.
    """
    from analyze.report import print_summary, summary_json  # noqa: PLC0415
    from evenhand.cli.groups import groups_json, print_groups  # noqa: PLC0415
    from evenhand.services.analysis import analyze_study  # noqa: PLC0415
    from evenhand.services.events import Event, Notice  # noqa: PLC0415
    from evenhand.services.group_analysis import analyze_groups, designs_of  # noqa: PLC0415
    from evenhand.services.reports import specifications as of_domains  # noqa: PLC0415

    def hear(event: Event) -> None:
        if isinstance(event, Notice):
            sentence(console(stderr=True), event.text)

    with open_study(db) as study:
        with_groups, with_effects = designs_of(study)
        if with_groups:
            analyze_groups(study, domain, models=split_list(models), reread=recode, on_event=hear)
            if not with_effects:
                if as_json:
                    print_json(groups_json(study))
                else:
                    print_groups(study)
                return
        analyze_study(
            study,
            domain,
            specifications=specifications,
            codings=None if coding is None else _codings(study, domain, coding),
            models=split_list(models),
            arms=arms_of(arms),
            reread=recode,
            attributes=attributes,
            on_event=hear,
        )
        every = of_domains(study, domain, specifications)
        if as_json:
            found = [summary_json(study, specs) for specs in every]
            document = found[0] if len(found) == 1 else {"outcomes": found}
            print_json({**document, "groups": groups_json(study)} if with_groups else document)
        else:
            if with_groups:
                print_groups(study)
            for specs in every:
                if len(every) > 1:
                    console().rule(f"Outcome: {specs.outcome}", align="left")
                print_summary(study, specs, console())


def _codings(study: Study, domain: str | None, typed: str) -> tuple[str, ...]:
    """The codings that were typed: one or more names, or both for all that the domain has."""
    from evenhand.services import domains  # noqa: PLC0415

    if typed == "both":
        return domains.one_of_study(study, domain).codings
    return split_list(typed) or ()
