"""Sign flips against enumeration by brute force and scipy's own, and their level beside a biased value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from test_scores import rows_of, unbalanced

from analyze.inference import flips
from analyze.inference.flips import flip
from analyze.inference.multiplicity import benjamini_hochberg, holm, step_down_max
from analyze.inference.scores import LabelScores, label_scores
from analyze.inference.signs import Signs


def scored(y: NDArray, values: int) -> LabelScores:
    """Complete documents: y is (documents, 1 + values)."""
    documents = len(y)
    doc = np.repeat(np.arange(documents), values + 1)
    treat = np.tile(np.arange(values + 1), documents)
    scores = label_scores(rows_of(doc, treat), y.ravel(), np.ones(y.size, dtype=bool))
    assert scores is not None
    return scores


def pairs(differences: NDArray) -> LabelScores:
    return scored(np.column_stack([np.full(len(differences), 20.0), 20.0 + differences]), 1)


def test_few_movers_are_enumerated_exactly_as_scipy_does() -> None:
    differences = np.array([3.0, -1, 2, 6, 1, -2, 4, 0, 0, 0, 0, 12])
    (found,) = flip([pairs(differences)], Signs()).values

    def t(x: NDArray, axis: int) -> NDArray:
        return np.abs(x.mean(axis=axis) / x.std(axis=axis, ddof=1))

    theirs = stats.permutation_test(
        (differences[differences != 0],),
        lambda x, axis: t(np.concatenate([x, np.zeros((*x.shape[:-1], 4))], axis=-1), axis),
        permutation_type="samples",
        n_resamples=np.inf,
        alternative="greater",
        vectorized=True,
    )
    assert found.enumerated
    assert found.patterns == 2**8
    assert found.p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_incomplete_documents_are_enumerated_with_the_cluster_t() -> None:
    """Every pattern by brute force, the t computed from flipped scores as the definition has it."""
    rows, y = unbalanced(4, 2)
    keep = np.isin(rows.doc, np.unique(rows.doc)[:12])
    scores = label_scores(rows, y, keep)
    assert scores is not None
    for value in scores.values:
        assert np.count_nonzero(value.moving) <= 12
        t2 = []
        for signs in itertools.product([-1, 1], repeat=len(value.s)):
            s = value.s * signs
            effect = s.sum() / value.a.sum()
            centred = s - value.a * effect
            t2.append(s.sum() ** 2 / (centred @ centred))
        observed = value.effect**2 / value.variance * value.small_sample
        p = np.mean(np.array(t2) >= observed * (1 - 1e-9))
        assert flips.enumerate_value(value).p == pytest.approx(p)


def test_draws_agree_with_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    y = 20 + rng.choice([-2.0, 0, 0, 1, 3], (14, 4))
    label = scored(y, 3)
    exact = flip([label], Signs())
    monkeypatch.setattr(flips, "ENUMERATED", 0)
    drawn = flip([label], Signs(draws=60_000))
    for a, b in zip([*exact.values, *exact.labels], [*drawn.values, *drawn.labels], strict=True):
        assert a.enumerated
        assert not b.enumerated
        assert b.p == pytest.approx(a.p, abs=4 * np.sqrt(a.p * (1 - a.p) / 60_000) + 1e-4)


def test_the_smallest_p_of_few_changers() -> None:
    """Below 5, 6 and 8 changers p cannot fall under 0.1, 0.05 and 0.01."""
    for changers, least in ((4, 0.125), (5, 0.0625), (7, 0.015625), (8, 0.0078125)):
        differences = np.concatenate([np.arange(1.0, changers + 1), np.zeros(30)])
        assert flip([pairs(differences)], Signs()).values[0].p == least


def test_an_effect_of_zero_has_p_one() -> None:
    for differences in (np.array([1.0, -1, 2, -2, 0, 0]), np.tile([1.0, -1, 3, -3], 20)):
        found = flip([pairs(differences)], Signs(draws=1_000))
        assert found.values[0].p == 1.0


def test_a_label_with_one_value_has_its_values_p() -> None:
    rng = np.random.default_rng(1)
    for documents in (15, 200):
        label = pairs(rng.choice([-1.0, 0, 2], documents))
        found = flip([label], Signs(draws=2_000))
        assert found.labels[0] == found.values[0]


def test_a_planted_effect_is_found_and_the_wald_is_large() -> None:
    rng = np.random.default_rng(2)
    y = 20 + rng.choice([-1.0, 0, 0, 1], (300, 3))
    y[:, 2] += rng.choice([0.0, 2.0], 300)
    still, moving = (flip([scored(y, 2)], Signs(draws=5_000))).values
    assert moving.p == pytest.approx(1 / 5_001)
    assert still.p > 0.01
    found = flip([scored(y, 2)], Signs(draws=5_000))
    assert found.labels[0].p == pytest.approx(1 / 5_001)
    assert found.wald[0] > stats.chi2.isf(1e-6, 2)


def test_signs_are_shared_and_repeatable() -> None:
    signs = Signs(draws=5_000, block=512)
    whole = np.concatenate(list(signs.blocks(np.arange(70))))
    part = np.concatenate(list(signs.blocks(np.array([3, 64]))))
    more = np.concatenate(list(signs.blocks(np.arange(900))))
    assert whole.shape == (5_000, 70)
    np.testing.assert_array_equal(whole[:, [3, 64]], part)
    np.testing.assert_array_equal(more[:, :70], whole)
    assert set(np.unique(whole)) == {-1.0, 1.0}
    assert np.abs(whole.mean(axis=0)).max() < 5 / np.sqrt(5_000)
    correlation = np.corrcoef(whole.T) - np.eye(70)
    assert np.abs(correlation).max() < 5.5 / np.sqrt(5_000)


def test_level_beside_a_biased_value() -> None:
    """An unbiased value beside a strongly biased one: rejections stay within the binomial 99.9% bound."""
    rng = np.random.default_rng(12)
    rejected = trials = 0
    for _ in range(150):
        y = 20 + rng.choice([-2.0, 0, 0, 0, 2, 6], (120, 3))
        y[:, 2] += rng.choice([0.0, 6.0, 12.0], 120)
        (value, _) = flip([scored(y, 2)], Signs(draws=499, seed=int(rng.integers(2**31)))).values
        rejected += value.p <= 0.05
        trials += 1
    assert rejected <= stats.binom.ppf(0.999, trials, 0.05)


def test_common_signs_give_the_null_of_the_count() -> None:
    """Twenty labels with the same noise: the count's null must be far wider than the binomial."""
    rng = np.random.default_rng(3)
    shared = rng.choice([-2.0, 0, 1, 2], 150)
    labels = [pairs(shared + 0.2 * rng.normal(size=150)) for _ in range(20)]
    found = flip(labels, Signs(draws=4_000))
    counts = found.value_counts[0.1]
    assert counts.mean() == pytest.approx(2, abs=0.4)
    assert counts.std() > 3 * np.sqrt(20 * 0.1 * 0.9)
    np.testing.assert_array_equal(counts, found.label_counts[0.1])


def test_documents_that_all_move_alike_have_an_infinite_t() -> None:
    """Twelve of twelve by two months: how often flips make such a cluster t significant, by hand."""
    label = pairs(np.full(12, 2.0))
    found = flip([label], Signs(draws=40_000))
    patterns = np.array(list(itertools.product([-2.0, 2.0], repeat=12)))
    with np.errstate(divide="ignore"):
        t = np.abs(patterns.mean(axis=1)) / (patterns.std(axis=1, ddof=1) / np.sqrt(12))
    share = float(np.mean(2 * stats.t.sf(t, 11) < 0.05))
    assert share == pytest.approx(0.0386, abs=1e-4)
    assert found.value_counts[0.05].mean() == pytest.approx(share, abs=0.005)
    assert found.values[0].p == 2**-11
    assert flips.observed_squared_t(label.values[0]) == np.inf


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(benjamini_hochberg(p), [0.02, 0.04, 0.04, 0.02])
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p))


def test_the_maximum_is_of_studentised_statistics_under_common_signs() -> None:
    """Every t, of every label in every draw, by its definition; a label of two values by Hotelling's F."""
    rng = np.random.default_rng(21)
    n, draws = 24, 20_000
    moves = [rng.choice([-3.0, 0, 0, 1, 2], n) for _ in range(6)]
    moves[0] = np.where(np.arange(n) < 21, 2.0, rng.choice([-1.0, 0.0, 1.0], n))
    double = rng.choice([-2.0, 0, 0, 2, 6], (n, 2))
    labels = [*(pairs(move) for move in moves), scored(20 + np.column_stack([np.zeros(n), double]), 2)]
    results = flip(labels, Signs(draws=draws, seed=4))
    ours = step_down_max(results.observed_z, list(results.label_z))

    def p_of(d: NDArray) -> NDArray:
        """Of (draws, documents, values): how rare each draw's statistic is for normal answers."""
        k, mean = d.shape[2], d.mean(axis=1)
        centred = d - mean[:, None]
        covariance = np.einsum("dij,dik->djk", centred, centred) / (n - 1)
        squared = n * np.einsum("dj,djk,dk->d", mean, np.linalg.inv(covariance), mean)
        return stats.f.sf(squared * (n - k) / (k * (n - 1)), k, n - k)

    signs = np.random.default_rng(5).choice([-1.0, 1.0], (draws, n, 1))
    answers = [*(move[None, :, None] for move in moves), double[None]]
    observed = np.array([p_of(d)[0] for d in answers])
    drawn = np.array([p_of(d * signs) for d in answers])
    floor = 0.0
    order = np.argsort(observed)
    for step, j in enumerate(order):
        least = drawn[order[step:]].min(axis=0)
        floor = max(floor, float(np.mean(least <= observed[j] * (1 + 1e-9))))
        assert ours[j] == pytest.approx(floor, abs=0.015)
    assert order[0] == 0
    assert ours[0] < 0.005


def test_the_maximum_holds_its_level_with_few_documents_and_beside_an_effect() -> None:
    """Labels of one, two and three values, the first biased: how often another is rejected, at 5%."""
    rng = np.random.default_rng(31)
    rejected, trials, documents = 0, 300, 18
    for number in range(trials):
        labels = []
        for k in (1, 1, 2, 3, 1):
            y = 20 + rng.choice([-6.0, -1, 0, 0, 0, 1, 6], (documents, k + 1))
            y[:, 1:] += 5 * (rng.random((documents, 1)) < 0.8) * (not labels)
            labels.append(scored(y, k))
        results = flip(labels, Signs(draws=399, seed=number))
        p = np.array([flipped.p for flipped in results.labels])
        adjusted = step_down_max(results.observed_z, list(results.label_z), p)
        rejected += bool((adjusted[1:] <= 0.05).any())
    assert rejected <= stats.binom.ppf(0.999, trials, 0.05)
    assert rejected >= stats.binom.ppf(0.001, trials, 0.02)


def test_step_down_uses_dependence_and_never_undercuts_its_own_p() -> None:
    rng = np.random.default_rng(4)
    one = rng.normal(size=20_000).astype(np.float32)
    same = [one] * 10
    independent = list(rng.normal(size=(10, 20_000)).astype(np.float32))
    observed = np.full(10, 2.3)
    p = stats.norm.sf(2.3)
    np.testing.assert_allclose(step_down_max(observed, same), p, rtol=0.15)
    np.testing.assert_allclose(step_down_max(observed, independent), 1 - (1 - p) ** 10, rtol=0.15)
    assert (step_down_max(observed, same, np.full(10, 0.2)) == 0.2).all()
    # Stepping down: once the largest is rejected, the rest are judged among themselves.
    mixed = step_down_max(np.array([9.0, 2.3]), independent[:2])
    assert mixed[0] < 1e-3
    assert mixed[1] == pytest.approx(p, rel=0.2)
