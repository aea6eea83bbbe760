"""Sample size before paying: how many cases confirm an effect, and which effect a number of cases confirms.

A study is simulated again and again. Its answers move as those of a pilot do (or as is assumed), an effect is
added, and the confirmatory test of the label is applied at the level that Holm's correction leaves to the
first of all labels. The power is the share of simulated studies that confirm the label. Answers move rarely
and in steps, so a formula for normal noise would promise more than such data keep.

The test is `analyze.inference.equivalence.joint_test`: an F test of all values of the label, of which the
others are taken to have no effect. It does not confirm where so few cases move that no pattern of signs has a
p below the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analyze.counterfactual.frame import Floats, HoldsConnection
from analyze.inference.confirmatory import LEVEL, OUTCOME, WEIGHTS
from analyze.inference.equivalence import joint_test
from analyze.specification import Specifications
from store.errors import BadInput
from store.identity import BASE_ARM

_PILOT = (Path(__file__).parent / "pilot.sql").read_text(encoding="utf-8")

POWER = 0.8
MOST_CASES = 20_000
_FEWEST_CASES = 6
_SIMULATIONS = 1_000
_CELLS = 8_000_000
"""Simulated differences held at once; of very large studies fewer are simulated."""
_HALVINGS = 12


@dataclass(frozen=True, slots=True)
class Noise:
    """How answers move where nothing was done to them, and by how much they move when they do.

    `differences` are paired differences in the outcome's unit, most of them 0: their signs are drawn anew.
    `jumps` are the sizes of moves, from which the moves of an effect are drawn.
    """

    differences: Floats
    jumps: Floats
    source: str
    """Where they come from, for people."""

    @property
    def changing(self) -> float:
        """The share of differences that are not 0."""
        return float(np.mean(self.differences != 0)) if len(self.differences) else 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be tested."""

    labels: int = 65
    """Labels tested together, of all models."""
    values: int = 1
    """Treated values of the label."""
    level: float = LEVEL
    power: float = POWER
    outcomes: int = 1
    """Outcomes of one answer, which share the level."""

    @property
    def level_of_label(self) -> float:
        """The level of the test of the outcome, of the first label in Holm's procedure."""
        return self.level * WEIGHTS[OUTCOME] / self.labels / self.outcomes


def assumed(changing: float, jump: float) -> Noise:
    """Noise by assumption: a share of the answers moves by `jump`, up or down.

    Raises:
        BadInput: the share is not from 0 to 1, or the jump not above 0.
    """
    if not 0 <= changing <= 1:
        raise BadInput(f"The share of answers that change must be from 0 to 1, and is {changing:g}.")
    if not (math.isfinite(jump) and jump > 0):
        raise BadInput(f"The size of a change must be above 0, and is {jump:g}.")
    size = 1_000
    differences = np.zeros(size)
    differences[: round(changing * size)] = jump
    return Noise(differences, np.array([jump]), f"assumed: {changing:.0%} of the pairs change by {jump:g}")


def pilot(
    study: HoldsConnection,
    specs: Specifications,
    coding: str,
    model: str | None = None,
    arm: str = BASE_ARM,
) -> Noise:
    """Noise as in the answers of a study in an arm: every treated value against its reference, in every case.

    An effect in the pilot counts as noise, so the plan errs on the side of too many cases.

    Raises:
        BadInput: the study has no such answers, none of them differ, or the outcome is a class.
    """
    if specs.inference is None:
        raise BadInput(f"{specs.path} has no [inference], which says what the tests are of.")
    if specs.nominal:
        raise BadInput(
            f"The outcome '{specs.outcome}' is a class: there is no average change to plan for.",
            hint="Plan for an outcome that is an amount, yes or no, a rank or a probability.",
        )
    statement = _PILOT.format(
        view=specs.frame.view, outcome=specs.inference.outcome, sample=specs.inference.sample
    )
    asked = {"coding": coding, "model": model, "arm": arm, "outcome": specs.outcome}
    found = study.connection.execute(statement, asked).fetchnumpy()
    differences = np.asarray(found["difference"], dtype=np.float64)
    whose = f" of {model}" if model else ""
    if not len(differences):
        raise BadInput(
            f"The study has no pairs of answers{whose} under the coding '{coding}'.",
            hint="Run a pilot and `evenhand analyze` it, or state assumptions with --changing and --jump.",
        )
    jumps = np.abs(differences[differences != 0])
    if not len(jumps):
        raise BadInput(
            f"In none of the {len(differences):,} pairs{whose} did the answer change, so nothing is known of "
            "the size of a change.",
            hint="State it with --changing and --jump.",
        )
    return Noise(
        differences,
        jumps,
        f"{len(differences):,} pairs of answers{whose}, of which {np.mean(differences != 0):.0%} changed",
    )


def power(noise: Noise, plan: Plan, cases: int, effect: float, seed: int = 0) -> float:
    """The probability that so many cases confirm a label with this effect (in the outcome's unit)."""
    times = max(100, min(_SIMULATIONS, _CELLS // cases))
    generator = np.random.default_rng([seed, cases])
    differences = generator.choice(noise.differences, (times, cases))
    differences = differences * generator.choice([-1.0, 1.0], (times, cases))
    jump = generator.choice(noise.jumps, (times, cases))
    share = effect / float(noise.jumps.mean())
    moved = generator.random((times, cases)) < share
    # More than one mean jump in every case: all cases move, by more.
    differences += jump * moved * max(1.0, share)
    found = joint_test(differences, plan.level_of_label, plan.values, generator)
    return float(np.mean(found))


def cases_needed(noise: Noise, plan: Plan, effect: float, seed: int = 0) -> int | None:
    """The smallest number of cases that confirms `effect` with the plan's power; None beyond MOST_CASES."""
    low, high = _FEWEST_CASES - 1, _FEWEST_CASES
    while power(noise, plan, high, effect, seed) < plan.power:
        low, high = high, high * 2
        if low >= MOST_CASES:
            return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (
            (low, middle) if power(noise, plan, middle, effect, seed) >= plan.power else (middle, high)
        )
    return high if high <= MOST_CASES else None


def smallest_effect(noise: Noise, plan: Plan, cases: int, seed: int = 0) -> float | None:
    """The smallest effect that so many cases confirm with the plan's power; None where no effect would be."""
    mean = float(noise.jumps.mean())
    high = mean
    while power(noise, plan, cases, high, seed) < plan.power:
        high *= 2
        if high > 64 * mean:
            return None
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = power(noise, plan, cases, middle, seed) >= plan.power
        low, high = (low, middle) if found else (middle, high)
    return high
