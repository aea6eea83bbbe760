"""When so few documents carry an effect that its cluster p cannot be trusted, and the flip p leads.

Cluster-robust variances are averages over many documents that change. With few changers, or one that
outweighs the others, the cluster t is far from Student's; the sign flips stay valid (if symmetric), but
can no longer reach small p-values.
"""

from __future__ import annotations

import numpy as np

from analyze.counterfactual.frame import Floats, Ints
from analyze.inference.scores import ValueScores

FEWEST = 30
LEAST_EFFECTIVE = 10
LARGEST_SHARE = 0.2


def flag(value: ValueScores) -> str | None:
    """Why the flip p leads, in words, or None where the cluster p may be used."""
    return _flag(
        value.ups + value.downs,
        value.effective,
        value.largest_share,
        ("document changes", "documents change"),
        "document",
    )


def cluster_flag(value: ValueScores, clusters: Ints, name: str) -> str | None:
    """The same for errors clustered by `clusters`, a code for each of the value's documents (-1: none)."""
    known = clusters >= 0
    totals = np.bincount(clusters[known], weights=value.s[known]) if known.any() else np.zeros(1)
    square = totals**2
    if not square.any():
        return None
    effective = float(square.sum() ** 2 / (square**2).sum())
    changing = int(np.count_nonzero(np.abs(totals) > 1e-9 * np.abs(totals).max()))
    largest = float(square.max() / square.sum())
    return _flag(changing, effective, largest, (f"{name} changes", f"values of {name} change"), name)


def least_p(moving: int) -> float:
    """The smallest two-sided p that flips of so many documents can give.

    Below 5, 6 and 8 changers it cannot fall under 0.1, 0.05 and 0.01.
    """
    return float(2.0 ** (1 - moving)) if moving else 1.0


def _flag(changing: int, effective: float, largest: float, change: tuple[str, str], one: str) -> str | None:
    if changing == 0:
        return None
    reasons = []
    if changing < FEWEST:
        reasons.append(f"only {changing} {change[changing != 1]}")
    if effective < LEAST_EFFECTIVE and changing > 1:
        reasons.append(f"effectively {effective:.1f} of them")
    if largest > LARGEST_SHARE:
        reasons.append(f"one {one} holds {largest:.0%}")
    unreachable = [level for level in (0.01, 0.05, 0.1) if least_p(changing) >= level]
    if unreachable:
        reasons.append(f"p cannot fall under {unreachable[-1]:g}")
    return "; ".join(reasons) or None


def largest_of(differences: Floats) -> float | None:
    """The 90th percentile of the moves' sizes, for bounds on what was not answered."""
    sizes = np.abs(differences[np.isfinite(differences) & (differences != 0)])
    return float(np.quantile(sizes, 0.9)) if len(sizes) else None
