"""Two attributes crossed: the rows that have both groups, and how much of one group the other one is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyze.groups.data import Attribute, Floats, Ints


@dataclass(frozen=True, slots=True)
class Crossing:
    """The crossing of the reported groups of two attributes: first x second."""

    rows: Ints
    first_within_second: Floats
    """Rows with both / rows with the second's group and any reported group of the first; NaN without any."""
    second_within_first: Floats


def crossed(first: Attribute, second: Attribute, codes: tuple[Ints, Ints] | None = None) -> Ints:
    """Each row's cell, first's place among its reported groups x number of second's + second's; -1 for none.

    Args:
        codes: group codes of other rows (those of another split) in place of the attributes' own.
    """
    one, other = codes if codes is not None else (first.codes, second.codes)
    row, column = _places(first, one), _places(second, other)
    both = (row >= 0) & (column >= 0)
    return np.where(both, row * len(second.reported) + column, -1)


def crossing(first: Attribute, second: Attribute, codes: tuple[Ints, Ints] | None = None) -> Crossing:
    """Counts and shares of the crossing."""
    shape = (len(first.reported), len(second.reported))
    cells = crossed(first, second, codes)
    rows = np.bincount(cells[cells >= 0], minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)
    return Crossing(rows, _share(rows, rows.sum(axis=0)[None, :]), _share(rows, rows.sum(axis=1)[:, None]))


def _share(part: Ints, whole: Ints) -> Floats:
    filled = np.broadcast_to(whole, part.shape)
    return np.asarray(np.divide(part, filled, out=np.full(part.shape, np.nan), where=filled > 0))


def _places(attribute: Attribute, codes: Ints) -> Ints:
    place = np.full(len(attribute.groups) + 1, -1, dtype=np.int64)
    place[list(attribute.reported)] = np.arange(len(attribute.reported))
    return place[codes]
