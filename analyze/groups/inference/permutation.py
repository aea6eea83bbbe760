"""Permutation tests of the groups: is a disparity larger than shuffled groups would show?

GD is positive even if no group differs, and its bootstrap interval can never hold 0. So GD is compared with
its distribution over shuffles of the groups: their mean is the *floor*. The p-values are exact whatever the
sizes of the groups and the shape of the score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyze.groups.data import Floats
from analyze.groups.disparity import TIE, average, summarize
from analyze.groups.inference.strata import Permutation
from analyze.groups.rules import RULES, macro_f1_by_rule

DRAWS = 9_999


@dataclass(frozen=True, slots=True)
class Shuffled:
    """Group scores under shuffled groups."""

    scores: Floats
    """(rules, draws, seeds, groups)."""
    share_fixed: float
    """Share of the rows that no shuffle moves."""


def shuffle(null: Permutation, draws: int, generator: np.random.Generator) -> Shuffled:
    """Scores of shuffled groups by every rule; one shuffle serves all seeds."""
    scores = np.empty((len(RULES), draws, null.shape[0], null.groups))
    step = max(1, (1 << 24) // (null.groups * int(np.prod(null.shape))))
    for start in range(0, draws, step):
        part = slice(start, min(draws, start + step))
        counts = null.draw(part.stop - part.start, generator).swapaxes(1, 2)
        scores[:, part] = macro_f1_by_rule(counts, RULES)
    return Shuffled(scores, null.share_fixed)


@dataclass(frozen=True, slots=True)
class NullTest:
    """A disparity and a worst group against shuffled groups."""

    p: float
    """The share of draws, the data counted as one, with at least this GD."""
    p_worst: float
    """The same for how far the worst group is below the mean of the groups. The worst score itself would be
    the weaker statistic: where the worst group is the largest, shuffled groups all score about like it."""
    floor: float
    """Mean GD of the shuffles: what to expect if no group differs."""
    floor_rms: float
    """Root of their mean square."""
    floor_95: float
    """Their 95th percentile."""
    worst_floor: float
    """Mean of the worst score of the shuffles."""
    share_fixed: float
    draws: int

    def excess(self, gd: float) -> float:
        """sqrt(max(0, GD^2 - mean of the shuffles' GD^2)): the disparity beyond what chance adds.

        The squares add up: the expected GD^2 is the true GD^2 plus that of noise. The mean of squares
        (`floor_rms`), not the square of the mean, makes the difference unbiased before it is cut at 0.
        """
        return float(np.sqrt(max(0.0, gd**2 - self.floor_rms**2)))


def against(observed: Floats, shuffled: Floats, share_fixed: float) -> NullTest | None:
    """The tests for scores (seeds, groups) against (draws, seeds, groups), each averaged over the seeds.

    None where fewer than two groups have a score in any seed.
    """
    if (np.count_nonzero(~np.isnan(observed), axis=1) < 2).all():
        return None
    real, drawn = summarize(observed), summarize(shuffled)
    gd, shortfall = average(real.gd), average(real.mean - real.worst)
    null_gd, null_shortfall = _over_seeds(drawn.gd), _over_seeds(drawn.mean - drawn.worst)
    draws = len(shuffled)
    return NullTest(
        p=(1 + int(np.count_nonzero(null_gd >= gd - TIE))) / (1 + draws),
        p_worst=(1 + int(np.count_nonzero(null_shortfall >= shortfall - TIE))) / (1 + draws),
        floor=float(null_gd.mean()),
        floor_rms=float(np.sqrt(np.square(null_gd).mean())),
        floor_95=float(np.quantile(null_gd, 0.95)),
        worst_floor=float(_over_seeds(drawn.worst).mean()),
        share_fixed=share_fixed,
        draws=draws,
    )


def _over_seeds(values: Floats) -> Floats:
    """The mean over the seeds (last axis) that have a value; a draw without any counts as no disparity."""
    return np.nan_to_num(average(values))
