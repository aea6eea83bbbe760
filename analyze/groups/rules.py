"""Macro-F1 of counts, by a declared rule of which classes it averages.

The rule matters more than most differences between models: where a group lacks a class, `all` counts 0 for
it, `support` leaves it out, and `union` counts 0 if the model predicted it there. Libraries differ silently.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

HITS, PREDICTED, SUPPORT = 0, 1, 2
"""Places in the last axis but one of an array of counts: true positives, predicted, truly there."""


class Rule(StrEnum):
    """Which classes the mean of the F1 scores takes in."""

    SUPPORT = "support"
    """Those that occur among the true classes of the group."""
    UNION = "union"
    """Those that occur among its true or its predicted classes."""
    ALL = "all"
    """Every class of the task."""


RULES = tuple(Rule)
"""The order of the rules wherever scores have an axis for them."""


def class_f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of each class, 2 TP / (2 TP + FP + FN), and 0 where a class is neither there nor predicted.

    Args:
        counts: (..., 3, classes): true positives, predicted, truly there.
    """
    denominator = counts[..., PREDICTED, :] + counts[..., SUPPORT, :]
    return np.asarray(
        np.divide(
            2 * counts[..., HITS, :], denominator, out=np.zeros(denominator.shape), where=denominator > 0
        )
    )


def macro_f1(counts: NDArray[np.float64], rule: Rule) -> NDArray[np.float64]:
    """The mean of the classes' F1 scores, a fraction; NaN where there is no class to average.

    Args:
        counts: (..., 3, classes), as for `class_f1`. Where nothing is there and nothing predicted, the group
            is empty, and its score NaN under every rule.
        rule: which classes are averaged.
    """
    return np.asarray(macro_f1_by_rule(counts, (rule,))[0])


def macro_f1_by_rule(counts: NDArray[np.float64], rules: tuple[Rule, ...] = RULES) -> NDArray[np.float64]:
    """The same for several rules at once: (rules, ...)."""
    f1 = class_f1(counts)
    supported = counts[..., SUPPORT, :] > 0
    either = supported | (counts[..., PREDICTED, :] > 0)
    empty = ~either.any(axis=-1)
    scores = []
    for rule in rules:
        if rule is Rule.ALL:
            score = f1.mean(axis=-1)
        else:
            taken = supported if rule is Rule.SUPPORT else either
            number = taken.sum(axis=-1)
            total = np.where(taken, f1, 0.0).sum(axis=-1)
            score = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
        scores.append(np.where(empty, np.nan, score))
    return np.stack(scores)


def micro_f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of all classes' counts together; NaN where there are none."""
    denominator = (counts[..., PREDICTED, :] + counts[..., SUPPORT, :]).sum(axis=-1)
    hits = 2 * counts[..., HITS, :].sum(axis=-1)
    return np.asarray(
        np.divide(hits, denominator, out=np.full(denominator.shape, np.nan), where=denominator > 0)
    )
