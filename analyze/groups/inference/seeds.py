"""Two kinds of chance: which seed a model was trained with, and which rows the test set has.

Averaging over seeds removes training noise only; all seeds were scored on one test set, and its noise stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyze.groups.data import Floats


@dataclass(frozen=True, slots=True)
class SeedVariance:
    """The standard deviations of a score that is averaged over seeds."""

    training_sd: float
    """Of the score of one seed, from training alone."""
    test_sd: float
    """Of the mean over seeds, from the choice of test rows, the trained models taken as given."""
    total_se: float
    """Of the mean over seeds, from both: sqrt(training_sd^2 / seeds + test_sd^2)."""
    seeds: int


def seed_variance(scores: Floats, drawn: Floats) -> SeedVariance | None:
    """Divide the variance of a score into that of training and that of the test set.

    Seeds differ on a finite test set even if trained alike, because each errs on other rows. How much, the
    bootstrap (the same draws for all seeds) shows: the mean variance between seeds within its draws, less the
    observed variance between seeds, is that part; it is taken off the observed variance, down to 0 at most.

    Args:
        scores: (seeds,), observed.
        drawn: (draws, seeds), bootstrapped, one draw for all seeds.

    None where fewer than two seeds have a score.
    """
    there = ~np.isnan(scores)
    x, draws = scores[there], drawn[:, there]
    draws = draws[~np.isnan(draws).any(axis=1)]
    if len(x) < 2 or len(draws) < 2:
        return None
    between = float(x.var(ddof=1))
    own_rows = max(0.0, float(draws.var(axis=1, ddof=1).mean()) - between)
    training = max(0.0, between - own_rows)
    test = float(draws.mean(axis=1).var(ddof=1))
    return SeedVariance(
        float(np.sqrt(training)), float(np.sqrt(test)), float(np.sqrt(training / len(x) + test)), len(x)
    )
