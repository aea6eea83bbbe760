"""Worst-class influence (WCI): how much of a group is the class that a model gets wrong most.

FairLex (eq. 12) does not say whose worst class. Here it is the class with the lowest F1 over all reported
rows pooled, one class for all groups, as the paper's table suggests; the group's own worst class is offered
beside it. Only classes that occur among the true ones can be worst; of classes tied, the lowest code is.
"""

from __future__ import annotations

import numpy as np

from analyze.groups.data import Floats
from analyze.groups.disparity import TIE
from analyze.groups.rules import SUPPORT, class_f1


def worst_class(counts: Floats) -> int | None:
    """The class with the lowest F1 among those that occur; None where none does. counts: (3, classes)."""
    f1 = np.where(counts[SUPPORT] > 0, class_f1(counts), np.inf)
    if not np.isfinite(f1).any():
        return None
    return int(np.flatnonzero(f1 <= f1.min() + TIE)[0])


def influence(counts: Floats, rows: int, worst: int | None) -> float | None:
    """The share of a group's rows that have this true class; None without rows or class."""
    if worst is None or rows == 0:
        return None
    return float(counts[SUPPORT, worst] / rows)
