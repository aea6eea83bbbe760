"""How large the true disparity may be, and how large it would have to be to be seen.

No percentile interval of resampled disparities can hold 0. The interval here inverts a test instead: it holds
every true disparity under which the observed one is not surprising.
"""

from __future__ import annotations

import numpy as np

from analyze.groups.data import Floats
from analyze.groups.disparity import average, summarize
from analyze.groups.inference.bootstrap import NO_INTERVAL, Interval

_HALVINGS = 40
POWER = 0.8


def excess_interval(scores: Floats, drawn: Floats, p: float) -> Interval:
    """A 95% interval of the true disparity (GD), by inversion of a test.

    The noise of the groups' scores is e* = drawn - mean(drawn), as the bootstrap gives it, shape and all.
    With the observed deviations of the groups from their mean scaled by a factor L, the disparity would be
    GD(L x deviations + e*) over the draws; the interval holds L x GD for all L under which the observed GD
    lies between the 2.5th and 97.5th percentile of that. It begins at 0 unless the permutation test of the
    groups rejects at 2.5%, the level of its lower end.

    Simulated coverage at true disparities of 0, 1, 3 and 8 points (six classes, scores around 0.7, 150 to 200
    sets each, so within 2 to 4 points; the worlds of `benchmarks.groups_calibration`): groups of 11,093/907
    rows 97, 94, 96, 94%; seven of 624 to 2,488 rows 97, 95, 94, 92%; 479/452 rows 96, 95, 95, 95%; 472/125/93
    rows 97, 95, 96, 94%; 401/265/106/60 rows 99, 95, 94, 93%. The percentile interval covers 0% at 0.

    Args:
        scores: (seeds, groups), observed; the disparity is the mean of those of the seeds.
        drawn: (draws, seeds, groups), bootstrapped.
        p: of the permutation test of equal scores.
    """
    observed = float(average(summarize(scores).gd))
    noise = drawn - average(drawn, axis=0)
    if not observed > 0 or len(drawn) == 0:
        return Interval(0.0, None) if observed == 0 else NO_INTERVAL
    deviations = scores - summarize(scores).mean[:, None]

    def at_least(factor: float) -> float:
        """The chance of a disparity of at least the observed one."""
        return float((_mean_gd(factor * deviations + noise) >= observed).mean())

    high = 1.0
    while at_least(high) < 0.975 and high < 1e6:
        high *= 2
    upper = 0.0 if at_least(0.0) >= 0.975 else _crossing(at_least, 0.0, high, 0.975)
    lower = 0.0 if p > 0.025 or at_least(0.0) > 0.025 else _crossing(at_least, 0.0, 1.0, 0.025)
    return Interval(lower * observed, upper * observed)


def detectable_gd(shuffled: Floats, generator: np.random.Generator) -> float | None:
    """The smallest disparity that the test of equal scores finds with 80% power at 5% on such a test set.

    To the scores of shuffled groups, which have the noise of no disparity, true deviations of equal disparity
    and random direction are added, until 80% of the sums exceed the 95th percentile of the shuffles.

    Args:
        shuffled: (draws, seeds, groups), scores under the null.
        generator: for the directions.
    """
    groups = shuffled.shape[-1]
    if groups < 2 or np.isnan(shuffled).all():
        return None
    limit = float(np.quantile(_mean_gd(shuffled), 0.95))
    direction = generator.normal(size=(len(shuffled), 1, groups))
    direction -= direction.mean(axis=-1, keepdims=True)
    direction /= np.sqrt(np.square(direction).mean(axis=-1, keepdims=True))

    def power(size: float) -> float:
        return float((_mean_gd(shuffled + size * direction) > limit).mean())

    high = max(limit, 1e-6)
    while power(high) < POWER and high < 1e3:
        high *= 2
    found = _crossing(power, 0.0, high, POWER)
    return found if found <= 0.5 else None


def _mean_gd(scores: Floats) -> Floats:
    """The disparity of each draw, averaged over the seeds."""
    return np.nan_to_num(average(summarize(scores).gd))


def _crossing(rising: object, low: float, high: float, level: float) -> float:
    """Where a rising function passes a level."""
    assert callable(rising)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rising(middle) < level:
            low = middle
        else:
            high = middle
        if high - low <= 1e-5 * high:
            break
    return (low + high) / 2
