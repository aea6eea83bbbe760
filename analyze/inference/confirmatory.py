"""The confirmatory tests: which there are, what each weighs, and how one p a label comes of them.

Declared before any answer is seen, in TESTS. A label's p is the smallest p of its tests divided by their
weights (the first step of a weighted Holm procedure: Holm, "A simple sequentially rejective multiple test
procedure", 1979), and over the labels of all models of a collection Holm's procedure corrects it. So the
chance of confirming any label on which nothing depends stays below the level. Within a confirmed label its
further tests and values are tested at the level at which the label was confirmed.

A test in which so little changed that it could not reject at the level, whatever the signs, takes no part:
its weight goes to the others, and a label without any other test is none of the family (Tarone, "A modified
Bonferroni method for discrete data", 1990). How much changed is left alone by the flips and orders that make
the p, so that this choice costs nothing of their validity. A test that compares fewer cases than signs would
need (`minimum_cases`) takes no part either, though orders of several answers would need fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.05

OUTCOME, MISSING, KIND = "outcome", "missing", "kind"


@dataclass(frozen=True, slots=True)
class ConfirmatoryTest:
    """One of the tests that each label has."""

    name: str
    weight: float
    title: str
    method: str


TESTS: tuple[ConfirmatoryTest, ...] = (
    ConfirmatoryTest(
        OUTCOME,
        0.8,
        "the primary outcome",
        "sign flips of cases, of the cluster t with the hypothesis imposed; of a label with several values, "
        "permutation of answers within cases, of their joint studentised statistic",
    ),
    ConfirmatoryTest(
        MISSING,
        0.1,
        "answers missing or declined",
        "permutation of answers within cases, of whether they are missing (of one value: the sign test)",
    ),
    ConfirmatoryTest(
        KIND,
        0.1,
        "the kind of decision",
        "permutation of answers within cases, of their kind (of one value: flips of signs)",
    ),
)
"""The tests in the order in which they are told, with their weights within a label."""

WEIGHTS: Mapping[str, float] = {test.name: test.weight for test in TESTS}

COUNTED_FROM = 20
"""From so many values tested the count test is shown: with fewer, less than one of them would fall below 0.05
by chance, and the count says no more than the single values do. With one value it cannot fall below 0.05."""


def weights(least: Mapping[str, float], level: float = LEVEL, primary: str = OUTCOME) -> dict[str, float]:
    """The weights of a label's tests, which sum to one, by the smallest p that each could give.

    `primary` weighs what the test of the outcome does: of an outcome that is a class, it is the test of its
    kind. Empty where no test could reject.
    """
    of_tests = {**WEIGHTS, primary: WEIGHTS[OUTCOME]}
    able = {name: of_tests[name] for name, p in least.items() if p < level}
    total = sum(able.values())
    return {name: weight / total for name, weight in able.items()}


@dataclass(frozen=True, slots=True)
class Within:
    """A test's p corrected within its label, and by what the p of its values are multiplied."""

    p: float
    factor: float


def weighted_holm(p: Mapping[str, float], weight: Mapping[str, float]) -> dict[str, Within]:
    """Each test's corrected p; the smallest is the label's."""
    order = sorted(weight, key=lambda name: (p[name] / weight[name], name))
    left, highest = 1.0, 0.0
    found = {}
    for name in order:
        factor = max(left, weight[name]) / weight[name]
        highest = max(highest, min(1.0, p[name] * factor))
        found[name] = Within(highest, factor)
        left -= weight[name]
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """Where a label stands in Holm's procedure over the family."""

    multiplier: int
    adjusted: float


def holm_steps(p: Sequence[float]) -> list[Step]:
    """Holm's adjusted p of each label, and by how much its p was multiplied."""
    order = np.argsort(np.asarray(p), kind="stable")
    found: dict[int, Step] = {}
    highest = 0.0
    for rank, i in enumerate(order):
        multiplier = len(p) - rank
        highest = max(highest, min(1.0, multiplier * p[int(i)]))
        found[int(i)] = Step(multiplier, highest)
    return [found[i] for i in range(len(p))]


def least_p(cases: int) -> float:
    """The smallest two-sided p that so many cases can give, if all of them move, and the same way."""
    return float(2.0 ** (1 - cases)) if cases else 1.0


def minimum_cases(family: int = 1, level: float = LEVEL) -> int:
    """So many cases must be compared that a label of `family` can be confirmed: 6 of one, 12 of 65."""
    cases = 1
    while least_p(cases) * max(family, 1) >= level:
        cases += 1
    return cases


def coverage_level(confirmed: int, effects: int, level: float = LEVEL) -> float:
    """The level of intervals of effects that were chosen as they are confirmed: 1 - level * chosen / all.

    Of the intervals shown, the expected share that misses its effect is then at most the level.

    Source: Benjamini and Yekutieli, "False discovery rate-adjusted multiple confidence intervals for selected
    parameters", JASA 2005.
    """
    return 1 - level * confirmed / effects
