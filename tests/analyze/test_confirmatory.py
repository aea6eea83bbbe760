"""The declared tests, their weights, and how one p a label comes of them, by hand."""

from __future__ import annotations

import pytest

from analyze.inference import confirmatory
from analyze.inference.confirmatory import TESTS, WEIGHTS, holm_steps, weighted_holm, weights
from analyze.report import numbers


def test_weights_are_declared_and_sum_to_one() -> None:
    assert sum(test.weight for test in TESTS) == pytest.approx(1)
    assert WEIGHTS["outcome"] == 0.8
    assert list(WEIGHTS) == ["outcome", "missing", "kind"]


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        ({"outcome": 1e-5, "missing": 1e-5, "kind": 1e-5}, {"outcome": 0.8, "missing": 0.1, "kind": 0.1}),
        ({"outcome": 1e-5, "missing": 0.5, "kind": 1.0}, {"outcome": 1.0}),
        ({"outcome": 1.0, "missing": 1e-5}, {"missing": 1.0}),
        ({"outcome": 0.03, "missing": 0.03}, {"outcome": 0.8 / 0.9, "missing": 0.1 / 0.9}),
        ({"outcome": 0.0625}, {}),
        ({}, {}),
    ],
)
def test_a_test_that_cannot_reject_gives_its_weight_away(
    least: dict[str, float], expected: dict[str, float]
) -> None:
    assert weights(least) == pytest.approx(expected)


def test_weighted_holm() -> None:
    found = weighted_holm(
        {"outcome": 0.02, "missing": 0.001, "kind": 0.5}, {"outcome": 0.8, "missing": 0.1, "kind": 0.1}
    )
    assert found["missing"].p == pytest.approx(0.01)
    assert found["outcome"].p == pytest.approx(0.02 * 0.9 / 0.8)
    assert found["kind"].p == pytest.approx(0.5)
    assert [found[name].factor for name in ("missing", "outcome", "kind")] == pytest.approx(
        [10, 0.9 / 0.8, 1]
    )
    alone = weighted_holm({"outcome": 0.7}, {"outcome": 1.0})
    assert (alone["outcome"].p, alone["outcome"].factor) == (0.7, 1.0)


def test_holm_steps_tell_by_what_a_label_was_multiplied() -> None:
    steps = holm_steps([0.02, 0.001, 0.4, 0.02])
    assert [step.multiplier for step in steps] == [3, 4, 1, 2]
    assert [step.adjusted for step in steps] == pytest.approx([0.06, 0.004, 0.4, 0.06])
    assert holm_steps([]) == []


def test_intervals_of_chosen_effects() -> None:
    assert confirmatory.coverage_level(1, 97) == pytest.approx(1 - 0.05 / 97)
    assert confirmatory.coverage_level(97, 97) == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.04996, "0.04996"), (0.0494, "0.049"), (0.0498, "0.0498"), (0.05, "0.050"), (0.0503, "0.050"),
        (0.00999, "0.00999"), (0.01, "0.010"), (0.0996, "0.0996"), (0.1, "0.100"), (0.00099, "<0.001"),
        (0.001, "0.001"), (1.0, "1.000"), (0.0499999999, "0.0499999999"), (None, numbers.NOTHING),
    ],
)  # fmt: skip
def test_a_p_is_never_shown_on_the_other_side_of_a_level(p: float | None, text: str) -> None:
    assert numbers.p_value(p) == text
