"""What the data can rule out: equivalence within a margin, and the smallest effect that would be found.

No significant effect is not proof of none. Two one-sided tests ask whether the effect is smaller than a
margin set beforehand; where neither they nor the test of no effect reject, the data are inconclusive. The
smallest detectable effect is found by simulation from the label's own jumps, because answers move rarely
and in steps: a formula for normal noise would promise more than these data keep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from analyze.counterfactual.frame import Bools, Floats

POWER = 0.8
LEVEL = 0.05
SIMULATIONS = 400
_HALVINGS = 9

DIFFERENT = "different"
EQUIVALENT = "equivalent"
SMALL_DIFFERENCE = "different, within the margin"
INCONCLUSIVE = "inconclusive"
HARDLY_CHANGES = "equivalent, as hardly anything changes"
FEW_CHANGE = "inconclusive: few documents change"
ALONE = ", taken alone"
"""Follows a difference that does not hold once the other values and labels tested are counted."""


def equivalence_p(effect: float, se: float, df: float, margin: float) -> float:
    """p of two one-sided tests: the larger of those against effects of -margin and of +margin."""
    above = scipy.stats.t.sf((effect + margin) / se, df)
    below = scipy.stats.t.cdf((effect - margin) / se, df)
    return float(max(above, below))


def conclusion(p: float, equivalence: float) -> str:
    """What a test of no effect and one of equivalence say together, at 5%."""
    return {
        (True, True): SMALL_DIFFERENCE,
        (True, False): DIFFERENT,
        (False, True): EQUIVALENT,
        (False, False): INCONCLUSIVE,
    }[(p < LEVEL, equivalence < LEVEL)]


def bound_on_effect(differences: Floats, largest: float) -> float:
    """The 95% upper bound on the share of documents that change, exact (Clopper-Pearson), times a jump.

    The effect cannot be larger if no document moves by more than `largest`. Needs no standard error, so that
    it may be used where so few documents change that theirs is not to be trusted.
    """
    seen = differences[np.isfinite(differences)]
    changed = int(np.count_nonzero(seen))
    share = (
        float(scipy.stats.beta.ppf(0.95, changed + 1, len(seen) - changed)) if changed < len(seen) else 1.0
    )
    return share * largest


def conclusion_of_few(p: float, bound: float, margin: float) -> str:
    """What can be said where few documents change: `bound` is the largest effect that they allow."""
    return {
        (True, True): SMALL_DIFFERENCE,
        (True, False): DIFFERENT,
        (False, True): HARDLY_CHANGES,
        (False, False): FEW_CHANGE,
    }[(p < LEVEL, bound <= margin)]


def with_correction(found: str | None, holds: bool) -> str | None:
    """The conclusion once it is known whether the difference holds among all that was tested."""
    return f"{found}{ALONE}" if found in (DIFFERENT, SMALL_DIFFERENCE) and not holds else found


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest effect found with 80% power at 5%."""

    share: float
    """Of documents that would have to move."""
    effect: float
    """In the outcome's unit: share x mean jump."""


def detectable(differences: Floats, jumps: Floats, seed: int = 0) -> Detectable | None:
    """Simulate the smallest effect that the cluster t would find in documents like these.

    Args:
        differences: each document's answer under the value minus that under the reference, as observed. Their
            signs are drawn anew in every simulation: that is the noise.
        jumps: sizes of the label's moves; an injected effect moves a share of the documents up by one of
        them. seed: of the simulation.

    None where there are no jumps to inject, or even all documents moving would not be found.
    """
    n = len(differences)
    critical = float(scipy.stats.t.isf(LEVEL / 2, n - 1)) if n > 1 else np.inf

    def found(moved: Floats, _rng: np.random.Generator) -> Bools:
        mean = moved.mean(axis=1)
        spread = moved.std(axis=1, ddof=1) / np.sqrt(n)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(spread > 0, mean / spread, 0.0) > critical

    return _smallest(differences, jumps, found, seed)


def confirmable(
    differences: Floats, jumps: Floats, *, level: float, values: int = 1, seed: int = 0
) -> Detectable | None:
    """The same for the joint test by sign flips of a label with so many values, at the level that is its own.

    The label's statistic is the value's squared t and, for its other values, which are taken to have no
    effect, a chi-squared. Where few cases move, the flips cannot reach the level, whatever t is: 2^(1 - m)
    of m cases must be below it.
    """
    if len(differences) <= values:
        return None

    def found(moved: Floats, rng: np.random.Generator) -> Bools:
        return joint_test(moved, level, values, rng)

    return _smallest(differences, jumps, found, seed)


def joint_test(moved: Floats, level: float, values: int, rng: np.random.Generator) -> Bools:
    """Whether the confirmatory test of a label finds the effect, in each row of simulated paired differences.

    Args:
        moved: simulations x cases, of one value whose effect is upwards.
        level: of the label's test of the outcome.
        values: treated values of the label; the others have no effect.
        rng: draws the chi-squared of those.
    """
    n = moved.shape[1]
    if n <= values:
        return np.zeros(len(moved), dtype=bool)
    critical = values * (n - 1) / (n - values) * float(scipy.stats.f.isf(level, values, n - values))
    mean = moved.mean(axis=1)
    spread = moved.std(axis=1, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.where(spread > 0, mean / spread, np.inf) ** 2
    if values > 1:
        squared = squared + rng.chisquare(values - 1, len(moved))
    moving = np.count_nonzero(moved, axis=1)
    reached: Bools = (mean > 0) & (squared > critical) & (2.0 ** (1.0 - moving) < level)
    return reached


def _smallest(
    differences: Floats, jumps: Floats, found: Callable[[Floats, np.random.Generator], Bools], seed: int
) -> Detectable | None:
    """The smallest share of moving documents at which `found` holds in four of five simulations."""
    jumps = np.abs(jumps[jumps != 0])
    n = len(differences)
    if len(jumps) == 0 or n < 3:
        return None
    generator = np.random.default_rng(seed)
    noise = differences * generator.choice([-1.0, 1.0], (SIMULATIONS, n))
    jump = generator.choice(jumps, (SIMULATIONS, n))
    uniform = generator.random((SIMULATIONS, n))

    def power(share: float) -> float:
        return float(np.mean(found(noise + jump * (uniform < share), np.random.default_rng(seed + 1))))

    if power(1.0) < POWER:
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return Detectable(high, high * float(jumps.mean()))
