"""Per cents against pyfixest, equivalence against its definition, detectable effects against simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyfixest
import pytest
from scipy import stats
from test_scores import unbalanced

from analyze.inference import equivalence
from analyze.inference.effects import bound_on_share, per_cent, sign_test
from analyze.inference.equivalence import (
    bound_on_effect,
    conclusion,
    conclusion_of_few,
    detectable,
    equivalence_p,
    with_correction,
)
from analyze.inference.scores import label_scores


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_per_cent_is_pyfixests_poisson() -> None:
    rows, y = unbalanced(3, 2)
    y = np.maximum(np.round(y), 0)
    sample = label_scores(rows, y, np.ones(len(y), dtype=bool)).sample
    found = per_cent(sample.y, sample.x, sample.doc)
    frame = pd.DataFrame({"y": sample.y, "a": sample.x[:, 0], "b": sample.x[:, 1], "doc": sample.doc})
    theirs = pyfixest.fepois("y ~ a + b | doc", frame, vcov={"CRV1": "doc"}, iwls_tol=1e-12)
    np.testing.assert_allclose(np.log1p(found.effect / 100), theirs.coef(), rtol=1e-6)
    width = np.log1p(found.high / 100) - np.log1p(found.effect / 100)
    np.testing.assert_allclose(width, 1.99 * theirs.se(), rtol=0.03)


def test_per_cent_of_two_complete_values_is_the_ratio_of_means() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, (50, 2)).astype(float)
    found = per_cent(y.ravel(), np.tile([0.0, 1.0], 50)[:, None], np.repeat(np.arange(50), 2))
    assert found.effect[0] == pytest.approx(100 * (y[:, 1].sum() / y[:, 0].sum() - 1), rel=1e-9)


@pytest.mark.parametrize("y", [[3.0, 0, 5, 0], [0.0, 3, 0, 5], [0.0, 0, 0, 0], [1.0, -1, 2, 3]])
def test_no_ratio_no_per_cent(y: list[float]) -> None:
    assert per_cent(np.array(y), np.tile([0.0, 1.0], 2)[:, None], np.repeat(np.arange(2), 2)) is None


def test_sign_test_and_rule_of_three() -> None:
    assert sign_test(9, 1) == pytest.approx(22 / 1024)
    assert sign_test(0, 0) is None
    assert bound_on_share(1000) == 0.003
    # The bound is the share at which no change in n would have a chance of 5%, nearly.
    assert pytest.approx(0.05, abs=0.001) == (1 - 0.003) ** 1000
    assert bound_on_share(0) is None


def test_equivalence_needs_the_90_percent_interval_inside_the_margin() -> None:
    for effect, se in ((0.1, 0.3), (0.9, 0.3), (-0.5, 0.2), (0.0, 0.61)):
        half = stats.t.isf(0.05, 99) * se
        inside = abs(effect) + half < 1.0
        assert (equivalence_p(effect, se, 99, 1.0) < 0.05) == inside
    assert conclusion(0.5, 0.01) == equivalence.EQUIVALENT
    assert conclusion(0.5, 0.5) == equivalence.INCONCLUSIVE
    assert conclusion(0.01, 0.5) == equivalence.DIFFERENT
    assert conclusion(0.01, 0.01) == equivalence.SMALL_DIFFERENCE


def test_few_changers_are_equivalent_by_a_bound_only() -> None:
    """The bound on the share: the one at which so few changers or fewer would have a chance of 5%."""
    differences = np.concatenate([[2.0, -1.0, 0.5], np.zeros(197), [np.nan]])
    bound = bound_on_effect(differences, 2.0)
    assert stats.binom.cdf(3, 200, bound / 2.0) == pytest.approx(0.05)
    assert bound_on_effect(np.zeros(100), 1.0) == pytest.approx(3 / 100, rel=0.02)
    assert bound_on_effect(np.ones(8), 3.0) == 3.0
    assert conclusion_of_few(0.5, bound, 0.1) == "equivalent, as hardly anything changes"
    assert conclusion_of_few(0.5, bound, 0.05) == "inconclusive: few documents change"
    assert conclusion_of_few(0.01, bound, 0.05) == equivalence.DIFFERENT
    assert conclusion_of_few(0.01, bound, 0.1) == equivalence.SMALL_DIFFERENCE
    assert with_correction(equivalence.DIFFERENT, False) == "different, taken alone"
    assert with_correction(equivalence.DIFFERENT, True) == "different"
    assert with_correction(equivalence.EQUIVALENT, False) == "equivalent"


def test_the_detectable_effect_is_found_at_the_promised_rate() -> None:
    rng = np.random.default_rng(6)
    noise = rng.choice([-6.0, 0, 0, 0, 0, 0, 3, 6], 400)
    jumps = noise[noise != 0]
    found = detectable(noise, jumps)
    assert found.effect == pytest.approx(found.share * np.abs(jumps).mean())
    hits = 0
    for _ in range(400):
        moved = rng.permutation(noise) * rng.choice([-1.0, 1], 400)
        moved += rng.choice(np.abs(jumps), 400) * (rng.random(400) < found.share)
        result = stats.ttest_1samp(moved, 0)
        hits += result.statistic > 0 and result.pvalue < 0.05
    assert hits / 400 == pytest.approx(0.8, abs=0.07)


def test_nothing_to_detect_with() -> None:
    assert detectable(np.zeros(50), np.zeros(50)) is None
    assert detectable(np.array([1.0, 2.0]), np.ones(2)) is None
