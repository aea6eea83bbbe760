"""Permutation within cases, held against every order gone through, the sign test, and what breaks flips."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from analyze.inference.within_cases import HITS, permute, permute_mean


def dummies(cases: int, levels: int) -> np.ndarray:
    return np.broadcast_to(np.eye(levels), (cases, levels, levels)).copy()


def everywhere(cases: int, levels: int) -> np.ndarray:
    return np.ones((cases, levels), dtype=bool)


def by_hand(y: np.ndarray, statistic) -> float:
    """The p over all orders of each case."""
    orders = [list(permutations(case)) for case in y]
    observed = statistic(y)
    reached = [statistic(np.array(one)) >= observed - 1e-9 for one in product(*orders)]
    return float(np.mean(reached))


def test_every_order_of_three_values() -> None:
    y = np.array([[0.0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]])
    found = permute(dummies(5, 3), y[:, :, None], everywhere(5, 3), 60_000, (1,))
    spread = by_hand(y, lambda z: ((z.sum(axis=0) - z.sum() / 3) ** 2).sum())
    assert found.p == pytest.approx(spread, rel=0.3)  # a hundred hits
    assert (found.exact, found.moving) == (False, 5)
    assert found.least_p == pytest.approx(3 / 3**5)


def test_the_mean_of_three_values_studentised() -> None:
    y = np.array([[3.0, 4, 9], [1, 1, 5], [2, 3, 4], [7, 5, 9]])

    def wald(z: np.ndarray) -> float:
        s = (z - z.mean(axis=1, keepdims=True))[:, :2]
        return float(s.sum(axis=0) @ np.linalg.pinv(s.T @ s) @ s.sum(axis=0))

    found = permute_mean(dummies(4, 3), y, everywhere(4, 3), 100_000, (2,))
    assert found.p == pytest.approx(by_hand(y, wald), rel=0.3)


@pytest.mark.parametrize(("ups", "downs", "still"), [(30, 0, 0), (12, 3, 40), (5, 5, 1), (1, 0, 5)])
def test_two_answers_of_one_size_are_the_sign_test(ups: int, downs: int, still: int) -> None:
    y = np.array([[0.0, 1.0]] * ups + [[1.0, 0.0]] * downs + [[1.0, 1.0]] * still)
    found = permute(dummies(len(y), 2), y[:, :, None], everywhere(len(y), 2), 99, (3,))
    assert found.p == pytest.approx(stats.binomtest(ups, ups + downs).pvalue)
    assert found.exact
    assert found.least_p == pytest.approx(2.0 ** (1 - ups - downs))


def test_two_answers_of_kinds_are_flips() -> None:
    """Fines become acquittals in eight cases: only the two patterns of one sign are as far."""
    kinds = np.zeros((10, 2, 3))
    kinds[:8, 0, 0] = kinds[:8, 1, 1] = kinds[8:, :, 2] = 1.0
    found = permute(dummies(10, 2), kinds, everywhere(10, 2), 99, (4,))
    assert (found.p, found.exact, found.moving) == (2**-7, True, 8)


def test_cells_that_are_not_there_take_no_part() -> None:
    y = np.full((20, 3), np.nan)
    y[:, 0], y[:10, 1], y[10:, 2] = 0.0, 1.0, 1.0
    there = np.isfinite(y)
    found = permute(dummies(20, 3), np.nan_to_num(y)[:, :, None], there, 999, (5,))
    assert found.moving == 20
    assert found.p == pytest.approx(1 / 1_000)
    nothing = permute(dummies(20, 3), np.zeros((20, 3, 1)), there, 999, (5,))
    assert (nothing.p, nothing.moving, nothing.least_p) == (1.0, 0, 1.0)


def test_doses_in_order() -> None:
    dose = np.broadcast_to(np.log([20.0, 30.0, 55.0])[None, :, None], (40, 3, 1))
    rising = np.tile([1.0, 2.0, 3.0], (40, 1))
    assert permute_mean(dose, rising, everywhere(40, 3), 999, (6,)).p == 1 / 1_000
    bent = np.tile([2.0, 1.0, 2.0], (20, 1))
    bent = np.vstack([bent, np.tile([1.0, 2.0, 1.0], (20, 1))])
    assert permute_mean(dose, bent, everywhere(40, 3), 999, (6,)).p > 0.05


def test_many_cells_a_case_are_ordered_as_few_are() -> None:
    rng = np.random.default_rng(7)
    y = rng.normal(size=(25, 8)) + np.array([1.5] + [0.0] * 7)
    assert permute_mean(dummies(25, 8), y, everywhere(25, 8), 999, (7,)).p == 1 / 1_000
    y[:, 0] -= 1.5
    assert permute_mean(dummies(25, 8), y, everywhere(25, 8), 999, (7,)).p > 0.01


def test_draws_stop_when_enough_is_known() -> None:
    rng = np.random.default_rng(8)
    y = rng.normal(size=(30, 4))
    found = permute_mean(dummies(30, 4), y, everywhere(30, 4), 10**9, (8,))
    assert HITS / found.p < 100_000


@pytest.mark.parametrize("levels", [3, 6])
def test_skewed_noise_that_means_nothing_is_rejected_at_the_level_only(levels: int) -> None:
    """Rare moves that all go up: flips of signs reject them far too often, orders do not."""
    rng = np.random.default_rng(9)
    trials = 600
    p = []
    for number in range(trials):
        y = (rng.random((30, levels)) < 0.15) * rng.choice([1.0, 2.0, 6.0], (30, levels))
        p.append(permute_mean(dummies(30, levels), y, everywhere(30, levels), 1_999, (number,)).p)
    for level in (0.05, 0.01, 0.002):
        rejected = int(np.sum(np.array(p) <= level))
        assert rejected <= stats.binom.ppf(0.999, trials, level)
    assert np.mean(np.array(p) <= 0.05) > 0.02
