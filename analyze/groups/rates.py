"""The rates that fairness law talks about, for tasks with a favourable and an unfavourable class.

Selection rate: share of a group's rows predicted favourable. True positive rate: that share among the rows
that are truly favourable; false positive rate: among those that are not. A row without an answer is not
selected. The four-fifths ratio is a group's selection rate over the highest one of the compared groups; under
0.8 is the rule of thumb of US employment law for adverse impact (29 CFR 1607.4 D), which is no test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from analyze.groups.data import Bools, Floats

FOUR_FIFTHS = 0.8


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95% interval (Wilson); None where it has no denominator."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of one group."""

    selection: Rate
    true_positive: Rate
    false_positive: Rate
    ratio: float | None
    """Selection rate over the highest of the compared groups; None if that is 0 or the group has no rows."""
    ratio_low: float | None
    """95% interval of the ratio (log method), the group with the highest rate taken as given."""
    ratio_high: float | None


def wilson(hits: float, n: float, inflation: float = 1.0) -> Rate:
    """Wilson's 95% interval of a share; `inflation` is the design effect of rows that share a case."""
    if n <= 0:
        return Rate(None, None, None, 0)
    z = scipy.stats.norm.isf(0.025)
    share, effective = hits / n, n / inflation
    centre = (share + z**2 / (2 * effective)) / (1 + z**2 / effective)
    half = z / (1 + z**2 / effective) * np.sqrt(share * (1 - share) / effective + z**2 / (4 * effective**2))
    return Rate(float(share), float(max(0.0, centre - half)), float(min(1.0, centre + half)), int(n))


def rates(cells: Floats, positive: int, compared: Bools, inflation: Floats | None = None) -> list[Rates]:
    """The rates of each group.

    Args:
        cells: (groups, 2, 3), true by predicted class, the last column without an answer.
        positive: code of the favourable class.
        compared: groups that may be the one with the highest selection rate.
        inflation: each group's design effect where rows share a case, at its largest (all rows of a case
            alike), so that intervals err on the wide side. None: rows are independent.
    """
    groups = len(cells)
    factor = np.ones(groups) if inflation is None else inflation
    n = cells.sum(axis=(1, 2))
    selected = cells[:, :, positive].sum(axis=1)
    share = np.divide(selected, n, out=np.full(groups, -1.0), where=(n > 0) & compared)
    best = int(np.argmax(share)) if groups and share.max() > 0 else None
    found = []
    for group in range(groups):
        true = cells[group, positive]
        false = cells[group, 1 - positive]
        ratio = None if best is None or n[group] == 0 else float(selected[group] / n[group] / share[best])
        low = high = None
        if ratio is not None and best is not None and ratio > 0 and group != best:
            error = sum(factor[one] * (1 / selected[one] - 1 / n[one]) for one in (group, best))
            width = float(scipy.stats.norm.isf(0.025) * np.sqrt(error))
            low, high = ratio * np.exp(-width), ratio * np.exp(width)
        found.append(
            Rates(
                wilson(selected[group], n[group], factor[group]),
                wilson(true[positive], true.sum(), factor[group]),
                wilson(false[positive], false.sum(), factor[group]),
                ratio,
                None if low is None else float(low),
                None if high is None else float(high),
            )
        )
    return found
