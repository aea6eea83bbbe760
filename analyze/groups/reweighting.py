"""Scores at common label shares: what of a gap between groups is label shift, and what behaviour.

Macro-F1 moves with the shares of the true classes alone, even if the model errs alike everywhere: its
precision does. Weighting each group's rows of true class k by pi_k / pi_gk (the class's share in all reported
rows over its share in the group) gives every group the same shares. The gap that remains is behaviour; the
rest of the observed gap is label shift. Classes that a group lacks cannot be weighted in and stay absent.
"""

from __future__ import annotations

import numpy as np

from analyze.groups.counts import counts_of_cells
from analyze.groups.data import Bools, Floats
from analyze.groups.rules import Rule, macro_f1


def reweighted_f1(cells: Floats, reported: Bools, rule: Rule = Rule.SUPPORT) -> Floats:
    """Macro-F1, each group brought to the label shares of the reported rows.

    Args:
        cells: (..., groups, classes, classes + 1): true by predicted class, last column without an answer.
        reported: (groups,), the groups whose rows make up the common shares.
        rule: which classes are averaged.

    Returns:
        (..., groups); NaN for groups without rows.
    """
    support = cells.sum(axis=-1)
    pooled = support[..., reported, :].sum(axis=-2)
    common = _shares(pooled)[..., None, :]
    own = _shares(support)
    weights = np.divide(np.broadcast_to(common, own.shape), own, out=np.zeros_like(own), where=own > 0)
    return macro_f1(counts_of_cells(cells * weights[..., None]), rule)


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=np.zeros_like(counts), where=total > 0))
