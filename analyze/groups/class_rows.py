"""The rows of classes and rates: F1 of each class in each group, worst classes, selection and error rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyze.groups import rows
from analyze.groups.data import Floats
from analyze.groups.rates import Rate, rates
from analyze.groups.rules import HITS, PREDICTED, SUPPORT, class_f1
from analyze.groups.view import View
from analyze.groups.worst_class import influence, worst_class


def class_rows(view: View, seed: int | None, place: int) -> list[rows.ClassScore]:
    """Counts and F1 of each class: all reported groups pooled, then group by group."""
    counts = view.scores.counts[place]
    pooled = counts[view.attribute.is_reported].sum(axis=0)
    tables = [(None, pooled), *zip(view.attribute.groups, counts, strict=True)]
    found = []
    for name, table in tables:
        f1 = class_f1(table)
        for column, class_name in enumerate(view.data.classes.columns):
            found.append(
                rows.ClassScore(
                    view.data.collection,
                    view.model,
                    seed,
                    view.variant.value,
                    view.attribute.name,
                    name,
                    class_name,
                    int(table[HITS, column]),
                    int(table[PREDICTED, column]),
                    int(table[SUPPORT, column]),
                    float(f1[column]),
                )
            )
    return found


def worst_class_rows(view: View, seed: int | None, place: int) -> list[rows.WorstClass]:
    """The worst class of all reported rows and of each reported group, with their shares of the group."""
    counts = view.scores.counts[place]
    names = view.data.classes.columns
    common = worst_class(counts[view.attribute.is_reported].sum(axis=0))
    found = []
    for group in view.attribute.reported:
        own = worst_class(counts[group])
        n = int(view.scores.n[place, group])
        found.append(
            rows.WorstClass(
                view.data.collection,
                view.model,
                seed,
                view.variant.value,
                view.attribute.name,
                view.attribute.groups[group],
                None if common is None else names[common],
                influence(counts[group], n, common),
                None if own is None else names[own],
                influence(counts[group], n, own),
            )
        )
    return found


def rate_rows(view: View, seed: int | None, places: list[int]) -> list[rows.GroupRates]:
    """Selection and error rates of each group; none where no class is the favourable one.

    Over seeds, rates and ratios are averages, without an interval.
    """
    positive, cells = view.data.classes.positive, view.scores.cells
    if positive is None or cells is None:
        return []
    may_be_best = view.attribute.is_reported & (view.scores.n[places].min(axis=0) >= view.data.minimum_n)
    inflation = _design_effect(view)
    of_seeds = [rates(cells[place], positive, may_be_best, inflation) for place in places]
    alone = len(places) == 1
    found = []
    for group, name in enumerate(view.attribute.groups):
        own = [of_seed[group] for of_seed in of_seeds]
        ratios = [one.ratio for one in own if one.ratio is not None]
        found.append(
            rows.GroupRates(
                view.data.collection,
                view.model,
                seed,
                view.attribute.name,
                name,
                view.variant.value,
                int(view.scores.n[places, group].min()),
                *_averaged([one.selection for one in own]),
                *_averaged([one.true_positive for one in own]),
                *_averaged([one.false_positive for one in own]),
                float(np.mean(ratios)) if ratios else None,
                own[0].ratio_low if alone else None,
                own[0].ratio_high if alone else None,
            )
        )
    return found


def _averaged(of_seeds: Sequence[Rate]) -> tuple[float | None, float | None, float | None]:
    """The mean of a rate over seeds; its interval for one seed only."""
    if len(of_seeds) == 1:
        return of_seeds[0].value, of_seeds[0].low, of_seeds[0].high
    values = [one.value for one in of_seeds if one.value is not None]
    return (float(np.mean(values)) if values else None), None, None


def _design_effect(view: View) -> Floats | None:
    """Each group's sum of squared case sizes over the sum of case sizes; None without cases."""
    if view.data.cluster is None:
        return None
    cases = view.data.cluster[view.scores.panel.rows]
    factor = np.ones(len(view.attribute.groups))
    for group in range(len(factor)):
        sizes = np.unique(cases[view.scores.groups == group], return_counts=True)[1]
        if len(sizes):
            factor[group] = np.square(sizes).sum() / sizes.sum()
    return factor
