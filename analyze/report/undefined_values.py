"""What stands in the tables of results as a number and is none: nothing was compared, nothing was tested.

A share of differing answers where no two values were answered, and a p of no trial, are shown as dashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from analyze.report.shapes import LabelMetric, ModelMetric, Tally

_TRIALS = {"bernoulli_p": ("n", "trials")}
"""Of a p in a further table, the columns that may say of how many trials it is."""


def labels(found: Iterable[LabelMetric], tallies: Sequence[Tally]) -> tuple[LabelMetric, ...]:
    """The labels' metrics, without an inconsistency where fewer than two values have a usable answer."""
    usable: dict[str, set[str]] = {}
    for tally in tallies:
        if tally.usable:
            usable.setdefault(tally.label, set()).add(tally.value)
    return tuple(
        replace(row, inconsistency=None) if tallies and len(usable.get(row.label, ())) < 2 else row
        for row in found
    )


def metrics(found: Iterable[ModelMetric], labels: Sequence[LabelMetric]) -> tuple[ModelMetric, ...]:
    """The model's metrics, without means of nothing and without the p of no trial."""
    compared = any(row.inconsistency is not None for row in labels)
    return tuple(
        replace(row, value=None)
        if (row.metric.startswith("bernoulli_p") and not row.n)
        or (row.metric.startswith("inconsistency_weighted") and not compared)
        else row
        for row in found
    )


def further(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of a further table, likewise."""
    gone = {
        p: None
        for p, columns in _TRIALS.items()
        if p in row and any(row[column] == 0 for column in columns if column in row)
    }
    return {**row, **gone}
