"""`evenhand power`: how many cases a study needs, before anything is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import (
    console,
    domain_option,
    json_option,
    print_json,
    read_study,
    sentence,
    specifications_option,
)

if TYPE_CHECKING:
    from analyze.inference.power import Noise

_GRID = (10, 20, 30, 50, 100, 200, 500, 1_000)


@click.command(
    epilog="""\b
Examples:
  evenhand power --effect 3 --db pilot.duckdb
  evenhand power --effect 3 --changing 0.2 --jump 6
  evenhand power --cases 30 --db pilot.duckdb --labels 10
  evenhand power --effect 2 --values 6 --labels 65 --changing 0.1 --jump 12 --json
"""
)
@click.option(
    "--effect",
    type=click.FloatRange(min=0, min_open=True),
    help="Average effect to confirm, in the outcome's unit.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=6, max=20_000),
    help="Print the smallest effect that this number of cases confirms.",
)
@click.option(
    "--labels",
    type=click.IntRange(min=1),
    default=65,
    show_default=True,
    help="Labels tested together, over all models.",
)
@click.option(
    "--values",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Values of the label, besides the reference.",
)
@click.option(
    "--power",
    "wanted",
    type=click.FloatRange(min=0.5, max=0.99),
    default=0.8,
    show_default=True,
    help="Probability of confirming the effect.",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A pilot: an analyzed study whose answers show how much they vary.",
)
@click.option("--model", help="With --db: only this model's answers. [default: all]")
@click.option("--coding", help="With --db: how answers are read. [default: the domain's first]")
@click.option(
    "--changing",
    type=click.FloatRange(min=0, max=1),
    help="Without a pilot: share of answers that change by chance.",
)
@click.option(
    "--jump",
    type=click.FloatRange(min=0, min_open=True),
    help="Without a pilot: size of a change, in the outcome's unit.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the simulation.")
@domain_option
@specifications_option
@json_option
def command(
    effect: float | None,
    cases: int | None,
    labels: int,
    values: int,
    wanted: float,
    db: Path | None,
    model: str | None,
    coding: str | None,
    changing: float | None,
    jump: float | None,
    seed: int,
    domain: str | None,
    specifications: Path | None,
    as_json: bool,
) -> None:
    """Show how many cases confirm an effect of a given size, or which effect a number of cases confirms.

    The study is simulated: answers vary as in a pilot (--db) or as you assume (--changing and --jump), the
    effect is added, and the confirmatory test is applied at the level that the correction for all labels
    leaves.
    """
    from analyze.inference import power  # noqa: PLC0415

    if (effect is None) == (cases is None):
        raise click.UsageError(
            "Give either --effect (to get the number of cases) or --cases (to get the effect)."
        )
    noise = _noise(db, model, coding, changing, jump, domain, specifications)
    plan = power.Plan(labels=labels, values=values, power=wanted)
    needed = None if effect is None else power.cases_needed(noise, plan, effect, seed)
    smallest = None if cases is None else power.smallest_effect(noise, plan, cases, seed)
    grid = [] if effect is None else [(n, power.power(noise, plan, n, effect, seed)) for n in _GRID]
    if as_json:
        print_json(
            {
                "effect": effect,
                "cases": cases,
                "cases_needed": needed,
                "smallest_effect": smallest,
                "power": wanted,
                "labels": labels,
                "values": values,
                "level": plan.level_of_label,
                "noise": noise.source,
                "power_by_cases": [{"cases": n, "power": p} for n, p in grid],
            }
        )
        return
    out = console()
    with_power = f"with a probability of {wanted:.0%}"
    if effect is not None:
        count = f"More than {power.MOST_CASES:,}" if needed is None else f"{needed:,}"
        said = f"{count} cases are needed to confirm an average effect of {effect:g} {with_power}."
    elif smallest is None:
        said = f"{cases:,} cases confirm no effect {with_power}, however large."
    else:
        said = f"{cases:,} cases confirm an average effect of {smallest:.3g} or more {with_power}."
    sentence(out, said, "bold")
    corrected = f"0.05 corrected for {labels} label{'s' * (labels != 1)}"
    sentence(
        out,
        f"Variation: {noise.source}. Test: p below {plan.level_of_label:.2g}, which is {corrected}; "
        f"{values} value{'s' * (values != 1)} of the label.",
    )
    for n, probability in grid:
        sentence(out, f"  {n:>6,} cases: {probability:.0%}")


def _noise(
    db: Path | None,
    model: str | None,
    coding: str | None,
    changing: float | None,
    jump: float | None,
    domain: str | None,
    specifications: Path | None,
) -> Noise:
    """How answers vary: from a pilot, or as assumed."""
    from analyze.inference import power  # noqa: PLC0415
    from evenhand.services.reports import only_specifications  # noqa: PLC0415

    if changing is not None and jump is not None and db is None:
        return power.assumed(changing, jump)
    if db is not None and changing is None and jump is None:
        with read_study(db) as study:
            specs = only_specifications(study, domain, specifications)
            return power.pilot(study, specs, coding or specs.coding_names()[0], model)
    raise click.UsageError("Give either a pilot (--db FILE), or both --changing and --jump.")
