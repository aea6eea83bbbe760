"""Sample sizes: against an independent simulation, and in the directions in which they must go."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analyze.inference.power import Noise, Plan, assumed, cases_needed, power, smallest_effect
from store.errors import BadInput

NOISE = assumed(0.2, 6)


def independent(changing: float, jump: float, cases: int, effect: float, level: float) -> float:
    """A two-sided one-sample t test of simulated differences, written on its own."""
    rng = np.random.default_rng(12345)
    found = 0
    for _ in range(2_000):
        noise = np.where(rng.random(cases) < changing, jump, 0.0) * np.sign(rng.random(cases) - 0.5)
        moved = noise + np.where(rng.random(cases) < effect / jump, jump, 0.0)
        if np.ptp(moved) > 0:
            t, p = stats.ttest_1samp(moved, 0.0)
            found += bool(t > 0 and p < level and 2.0 ** (1 - np.count_nonzero(moved)) < level)
    return found / 2_000


@pytest.mark.parametrize(("cases", "effect"), [(30, 3.0), (60, 2.0), (200, 1.0)])
@pytest.mark.parametrize("labels", [1, 65])
def test_power_is_that_of_an_independent_simulation(cases: int, effect: float, labels: int) -> None:
    plan = Plan(labels=labels)
    expected = independent(0.2, 6, cases, effect, 0.05 * 0.8 / labels)
    assert power(NOISE, plan, cases, effect) == pytest.approx(expected, abs=0.05)


def test_the_cases_needed_reach_the_power_and_fewer_do_not() -> None:
    plan = Plan()
    needed = cases_needed(NOISE, plan, 3.0)
    assert needed is not None
    assert power(NOISE, plan, needed, 3.0, seed=7) == pytest.approx(0.8, abs=0.06)
    assert power(NOISE, plan, needed // 2, 3.0, seed=7) < 0.5


def test_the_two_questions_agree() -> None:
    plan = Plan()
    effect = smallest_effect(NOISE, plan, 50)
    assert effect is not None
    needed = cases_needed(NOISE, plan, effect)
    assert needed == pytest.approx(50, rel=0.1)


def test_more_labels_more_values_and_more_noise_need_more_cases() -> None:
    needed = [
        cases_needed(assumed(changing, 6), Plan(labels=labels, values=values), 2.0)
        for changing, labels, values in ((0.1, 1, 1), (0.1, 65, 1), (0.1, 65, 6), (0.4, 65, 6))
    ]
    assert needed == sorted(needed)
    assert len(set(needed)) == 4


def test_an_effect_beyond_the_usual_jump_moves_every_case() -> None:
    assert power(NOISE, Plan(labels=1), 20, 30.0) == 1.0


def test_no_effect_is_found_no_oftener_than_the_level() -> None:
    noise = Noise(np.random.default_rng(3).normal(0, 4, 5_000), np.array([4.0]), "normal")
    plan = Plan(labels=1, level=0.05)
    assert power(noise, plan, 40, 1e-9) == pytest.approx(0.04 / 2, abs=0.015)


def test_an_effect_out_of_reach_has_no_number_of_cases() -> None:
    assert cases_needed(assumed(0.9, 12), Plan(), 0.05) is None


def test_so_few_cases_confirm_nothing() -> None:
    assert smallest_effect(NOISE, Plan(), 8) is None


@pytest.mark.parametrize(("changing", "jump"), [(-0.1, 6), (1.1, 6), (0.2, 0), (0.2, float("nan"))])
def test_assumptions_that_cannot_be_are_refused(changing: float, jump: float) -> None:
    with pytest.raises(BadInput):
        assumed(changing, jump)
