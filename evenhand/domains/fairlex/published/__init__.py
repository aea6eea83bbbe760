"""The printed tables of the FairLex paper: their figures, cells that contradict each other, noise floors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "printed.json"

SETS = ("ecthr", "scotus", "fscs", "cail")
"""The four sets, by their short names."""
_OF_SET = {"table6": "ecthr", "table7": "scotus", "table8": "ecthr", "table9": "scotus", "table10": "fscs"}
_REASONS = {
    "T4-mean": "The mean over groups in Table 4 is not that of the group scores in Table 2. A mean is the "
    "same whether seeds are averaged before or after: these are other runs, or other groups.",
    "T4-GD": "The GD in Table 4 is below that of the group scores in Table 2. The mean over seeds of GD is "
    "never below the GD of averaged scores.",
    "T4-worst": "The worst group in Table 4 does not fit the lowest group in Table 2.",
    "T4-bound": "No group can lie so far below the mean: the bound is GD x sqrt(groups - 1). With one group "
    "more (the benchmark's code reports 'other' as well) it is possible.",
    "T2-percent": "The percentage does not follow from the counts printed beside it.",
    "T2-T6": "Tables 2 and 6 give the group different numbers of training cases.",
    "T2+T6-age-total": "The age groups of Table 2 and the unidentified of Table 6 are more than all "
    "training cases.",
    "T2-LD": "Table 2 prints the drift from train to dev where other groups have that from train to test.",
    "T10-triangle": "The three distances break the triangle inequality, which this distance keeps. The value "
    "is that of the line above.",
}
"""Why cells contradict each other, by the first part of a contradiction's id."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed figure."""

    table: str
    set: str
    attribute: str
    row: str
    field: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Printed cells that cannot all be right."""

    id: str
    kind: str
    """contradiction; conditional (under one reading of the averages only); rounding (by one printed unit)."""
    cells: tuple[Mapping[str, Any], ...]
    implied: Mapping[str, Any]
    """What the other cells imply."""
    why: str


@dataclass(frozen=True, slots=True)
class Floor:
    """What GD, in points, a test set of the paper's size shows without any disparity, from simulation."""

    set: str
    attribute: str
    mean: float
    percentile_95: float
    worst_group_bias: float
    """How much lower the worst group's score is for being chosen."""


@dataclass(frozen=True, slots=True)
class PrintedDisparity:
    """A GD of Table 4 beside the floor of its test set."""

    set: str
    attribute: str
    method: str
    mean: float
    gd: float
    worst: float
    floor: Floor

    @property
    def reading(self) -> str:
        """Whether it stands out of what chance gives."""
        if self.gd > self.floor.percentile_95:
            return "above what chance gives 95 times in 100"
        return "within noise"


@cache
def _printed() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def source() -> str:
    """What the figures were copied from."""
    return str(_printed()["source"])


def cells() -> Iterator[Cell]:
    """Every printed figure."""
    for table, content in _printed()["tables"].items():
        number = table.removeprefix("table")
        sets = (
            {_OF_SET.get(table, "cail"): content} if table not in ("table2", "table3", "table4") else content
        )
        for name, attributes in sets.items():
            if table == "table3":
                for row, values in attributes["rows"].items():
                    for field, value in values.items():
                        yield Cell(number, name, "", row, field, value)
                continue
            for attribute, rows in attributes.items():
                for row, values in rows.items():
                    fields = values.items() if isinstance(values, Mapping) else [("n_train", values)]
                    for field, value in fields:
                        yield Cell(number, name, attribute, row, field, value)


def contradictions() -> list[Contradiction]:
    """The printed cells that contradict each other."""
    return [
        Contradiction(
            one["id"],
            one["kind"],
            tuple(one["cells"]),
            one["derived"],
            _REASONS[one["id"].split("/", maxsplit=1)[0]],
        )
        for one in _printed()["contradictions"]
    ]


def floors() -> dict[tuple[str, str], Floor]:
    """The noise floor of each attribute, by set and attribute."""
    return {(one["set"], one["attribute"]): Floor(**one) for one in _printed()["floors"]}


def disparities() -> list[PrintedDisparity]:
    """The disparities of Table 4, each beside its floor."""
    known = floors()
    return [
        PrintedDisparity(
            name, attribute, method, values["mF1"], values["GD"], values["worst"], known[name, attribute]
        )
        for name, attributes in _printed()["tables"]["table4"].items()
        for attribute, methods in attributes.items()
        for method, values in methods.items()
    ]


__all__ = [
    "SETS",
    "Cell",
    "Contradiction",
    "Floor",
    "PrintedDisparity",
    "cells",
    "contradictions",
    "disparities",
    "floors",
    "source",
]
