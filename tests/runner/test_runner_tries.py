"""How many failures of a query are taken for chance."""

from __future__ import annotations

import random

import pytest

from runner.lifecycle.tries import Chance


def after(share: float, queries: int = 400, seed: int = 1) -> Chance:
    chance, found = random.Random(seed), Chance()
    for _ in range(queries):
        failures = 0
        while chance.random() < share:
            failures += 1
        found.answered(failures)
    return found


@pytest.mark.parametrize("share", [0.0, 0.05, 0.14, 0.3, 0.5])
def test_the_share_is_that_of_the_failing_requests(share):
    assert after(share).share == pytest.approx(share, abs=0.06)


@pytest.mark.parametrize(
    ("share", "few", "many"), [(0.0, 6, 6), (0.05, 6, 7), (0.14, 7, 10), (0.3, 12, 17), (0.5, 20, 28)]
)
def test_a_query_may_fail_as_often_as_chance_explains(share, few, many):
    assert few <= after(share).tries(6) <= many


def test_before_anything_is_known_it_is_the_tries_that_were_asked_for():
    assert Chance().tries(1) == 1
    assert after(0.0).tries(1) == 1


def test_the_tries_have_an_end_even_where_nearly_everything_fails():
    assert after(0.97, queries=50).tries(6) < 60


def test_what_was_long_ago_is_forgotten():
    chance = after(0.5)
    for _ in range(1500):
        chance.answered(0)
    assert chance.tries(6) == 6
