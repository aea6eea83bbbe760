"""The rows of gaps between two groups, divided into label shift and behaviour."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from analyze.groups import rows
from analyze.groups.data import Bools, Floats
from analyze.groups.disparity import average
from analyze.groups.inference.bootstrap import NO_INTERVAL, deviation, percentile
from analyze.groups.rules import RULES
from analyze.groups.view import View

DETECTABLE_ERRORS = 2.8015852
"""Standard errors that a gap must have to be found with 80% power at 5%: z(0.975) + z(0.8)."""


def gap_rows(
    view: View, seed: int | None, places: list[int], averages: Floats, drawn: Floats, takes_part: Bools
) -> list[rows.Gap]:
    """The gaps between every two compared groups, by the collection's own rule.

    Args:
        view: the scores at common label shares.
        seed: of the rows.
        places: the seeds averaged.
        averages: (groups,), the scores by that rule.
        drawn: (draws, groups), bootstrapped.
        takes_part: (groups,), those compared.
    """
    found = []
    weighted = drawn_weighted = None
    if view.scores.reweighted is not None and view.scores.drawn_reweighted is not None:
        weighted = average(view.scores.reweighted[RULES.index(view.data.rule)][places], axis=0)
        drawn_weighted = average(view.scores.drawn_reweighted[:, places], axis=1)
    for one, other in combinations(np.flatnonzero(takes_part).tolist(), 2):
        gap = float(averages[one] - averages[other])
        draws = drawn[:, one] - drawn[:, other]
        interval, error = percentile(draws), deviation(draws)
        behaviour = None
        shift_interval = behaviour_interval = NO_INTERVAL
        if weighted is not None and drawn_weighted is not None:
            behaviour = float(weighted[one] - weighted[other])
            behaviour_draws = drawn_weighted[:, one] - drawn_weighted[:, other]
            behaviour_interval = percentile(behaviour_draws)
            shift_interval = percentile(draws - behaviour_draws)
        found.append(
            rows.Gap(
                collection=view.data.collection,
                model=view.model,
                seed=seed,
                attribute=view.attribute.name,
                variant=view.variant.value,
                rule=view.data.rule.value,
                first=view.attribute.groups[one],
                second=view.attribute.groups[other],
                gap=gap,
                ci_low=interval.low,
                ci_high=interval.high,
                se=error,
                detectable=None if error is None else DETECTABLE_ERRORS * error,
                label_shift=None if behaviour is None else gap - behaviour,
                label_shift_low=shift_interval.low,
                label_shift_high=shift_interval.high,
                behaviour=behaviour,
                behaviour_low=behaviour_interval.low,
                behaviour_high=behaviour_interval.high,
            )
        )
    return found
