"""Does bias go with what kind of label it is: its group, whether it is demographic, its role?

The unit is the label: the share of models in which it is biased. Models trained on the same texts are no
independent sample, so they are taken as given, and labels are what is permuted, within strata of labels that
have the same number of values (more values, more chances to be significant) and, unless that is the question,
are alike demographic. A pooled chi-squared over labels x models rejects 27% of true hypotheses at 5%, a
paired Wilcoxon over models 30%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyze.between_models.rows import StructureTest
from analyze.counterfactual.frame import Floats

PERMUTATIONS = 9_999


@dataclass(frozen=True, slots=True)
class LabelShare:
    """A label, and in what share of the models it is biased."""

    label: str
    group: str
    demographic: bool | None
    role: str | None
    values: int
    share: float


def structure_tests(
    labels: Sequence[LabelShare],
    threshold: float,
    models: int,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> list[StructureTest]:
    """Rows for every level of every factor that the labels have."""
    found: list[StructureTest] = []
    for factor in ("group", "demographic", "role"):
        known = [label for label in labels if getattr(label, factor) is not None]
        if not known:
            continue
        level = np.array([_level(getattr(label, factor)) for label in known])
        share = np.array([label.share for label in known])
        by = ["values"] if factor == "demographic" else ["values", "demographic"]
        stratum = np.array(["/".join(str(getattr(label, name)) for name in by) for label in known])
        p = _permutation_p(share, level, stratum, permutations, seed)
        for name in sorted(set(level)):
            at = level == name
            found.append(
                StructureTest(
                    factor=factor,
                    level=name,
                    threshold=threshold,
                    labels=int(at.sum()),
                    share=float(share[at].mean()),
                    p=p,
                    strata=" x ".join(by),
                    models=models,
                    permutations=None if p is None else permutations,
                    note="no stratum has two levels to exchange" if p is None else None,
                )
            )
    return found


def _level(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _permutation_p(
    share: Floats, level: NDArray[np.str_], stratum: NDArray[np.str_], permutations: int, seed: int
) -> float | None:
    """Levels are exchanged within strata.

    The statistic is the variance between levels of stratum-centred shares.
    """
    centred = share.copy()
    movable = False
    for name in np.unique(stratum):
        at = stratum == name
        centred[at] -= share[at].mean()
        movable |= len(np.unique(level[at])) > 1
    if not movable:
        return None
    member = (level[:, None] == np.unique(level)[None, :]).astype(np.float64)
    member /= np.sqrt(member.sum(axis=0))

    def between(values: Floats) -> Floats:
        found: Floats = ((values @ member) ** 2).sum(axis=-1)
        return found

    generator = np.random.default_rng(seed)
    drawn = np.broadcast_to(centred, (permutations, len(centred))).copy()
    for name in np.unique(stratum):
        at = np.flatnonzero(stratum == name)
        drawn[:, at] = generator.permuted(drawn[:, at], axis=1)
    observed = between(centred)
    return float((1 + np.count_nonzero(between(drawn) >= observed - 1e-12)) / (1 + permutations))
