"""Each model's disparity between the groups of an attribute, and what may be said of it.

A disparity is confirmed where its p-value, corrected by Holm over all models x attributes x (disparity, worst
group) of a data set, is below 0.05. The p-value is that of shuffled groups.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from analyze.inference.multiplicity import holm
from analyze.report import numbers

LEVEL = 0.05
_DISPARITIES = (Path(__file__).parent / "disparities.sql").read_text(encoding="utf-8")


class Reading(StrEnum):
    """What may be said of a disparity."""

    BEHAVIOUR = "confirmed, also within labels"
    """Groups differ beyond chance, also among cases with the same true label."""
    CONFIRMED = "confirmed; may be label shift"
    """Groups differ beyond chance; among cases with the same true label that is not shown."""
    UNCORRECTED = "not confirmed: below 0.05 taken alone"
    NOISE = "not distinguishable from noise"
    NOT_TESTED = "not tested"


@dataclass(frozen=True, slots=True)
class Disparity:
    """A row of `group_disparities` that is told, with its reading. Scores are fractions."""

    collection: str
    coding: str
    arm: str
    outcome: str
    model: str
    attribute: str
    n_groups: int
    mean_score: float | None
    gd: float | None
    worst_group: str | None
    worst_score: float | None
    worst_low: float | None
    worst_high: float | None
    worst_corrected: float | None
    gd_floor: float | None
    gd_floor_95: float | None
    gd_excess: float | None
    detectable_gd: float | None
    gd_reweighted: float | None
    p_plain: float | None
    p_within_label: float | None
    p_worst: float | None
    p_worst_within_label: float | None
    share_fixed: float | None
    draws: int
    p_corrected: float | None = None
    """Of the disparity: Holm over models x attributes x (disparity, worst group) of the data set."""
    p_within_corrected: float | None = None
    reading: Reading = Reading.NOT_TESTED

    def as_dict(self) -> dict[str, Any]:
        """All columns by name."""
        return asdict(self)


def disparities(connection: duckdb.DuckDBPyConnection) -> list[Disparity]:
    """The disparities of every collection and model, in the order of analysis."""
    names = [field.name for field in fields(Disparity)][: -len(("p", "p within", "reading"))]
    found = [
        Disparity(**dict(zip(names, row, strict=True))) for row in connection.execute(_DISPARITIES).fetchall()
    ]
    families: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(found):
        families.setdefault((row.collection, row.coding, row.arm, row.outcome), []).append(place)
    for places in families.values():
        plain = _corrected([(found[place].p_plain, found[place].p_worst) for place in places])
        within = _corrected(
            [(found[place].p_within_label, found[place].p_worst_within_label) for place in places]
        )
        for place, p, p_within in zip(places, plain, within, strict=True):
            found[place] = replace(
                found[place],
                p_corrected=p,
                p_within_corrected=p_within,
                reading=_reading(found[place].p_plain, p, p_within),
            )
    return found


def _corrected(pairs: list[tuple[float | None, float | None]]) -> list[float | None]:
    """The first of each pair, corrected in the family of all that are there."""
    flat = [p for pair in pairs for p in pair]
    known = [place for place, p in enumerate(flat) if p is not None]
    corrected: list[float | None] = [None] * len(flat)
    if known:
        values = holm(np.array([flat[place] for place in known], dtype=np.float64))
        for place, value in zip(known, values, strict=True):
            corrected[place] = float(value)
    return corrected[::2]


def _reading(p: float | None, corrected: float | None, within: float | None) -> Reading:
    if p is None or corrected is None:
        return Reading.NOT_TESTED
    if corrected < LEVEL:
        return Reading.BEHAVIOUR if within is not None and within < LEVEL else Reading.CONFIRMED
    return Reading.UNCORRECTED if p < LEVEL else Reading.NOISE


def shown(row: Disparity) -> tuple[str, ...]:
    """The cells of a row in a table for people: scores in points."""
    model = row.model if row.arm in ("", "base") else f"{row.model} ({row.arm})"
    worst = "" if row.worst_group is None else f"{row.worst_group} {numbers.percent(row.worst_score)}"
    return (
        row.collection,
        model,
        row.attribute,
        numbers.percent(row.mean_score),
        numbers.percent(row.gd),
        numbers.percent(row.gd_floor),
        numbers.p_value(row.p_plain),
        numbers.p_value(row.p_corrected),
        numbers.p_value(row.p_within_label),
        worst,
        row.reading.value,
    )
