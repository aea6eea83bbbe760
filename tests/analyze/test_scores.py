"""Document scores against the regression that they are the parts of."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from analyze.counterfactual import within
from analyze.counterfactual.frame import Design, LabelRows
from analyze.inference.scores import label_scores


def rows_of(doc: NDArray, treat: NDArray, *, dose: NDArray | None = None) -> LabelRows:
    continuous = dose is not None
    treated = ("dose",) if continuous else tuple(f"v{j}" for j in range(1, int(treat.max()) + 1))
    return LabelRows(
        design=Design("label", "group", None, None, continuous, ("r",), treated),
        doc=doc,
        treat=treat,
        value=treat,
        repeat=np.zeros_like(doc),
        dose=np.full(len(doc), np.nan) if dose is None else dose,
        columns={},
        samples={},
        clusters={},
    )


def unbalanced(seed: int, values: int) -> tuple[LabelRows, NDArray]:
    """Documents with some values missing and some asked twice."""
    rng = np.random.default_rng(seed)
    doc, treat = (a.ravel() for a in np.meshgrid(np.arange(80), np.arange(values + 1), indexing="ij"))
    times = rng.choice([0, 1, 1, 1, 2], len(doc))
    doc, treat = np.repeat(doc, times), np.repeat(treat, times)
    y = rng.normal(30, 10, 80)[doc] + (rng.random(len(doc)) < 0.4) * rng.choice([-6.0, 6.0, 12.0], len(doc))
    return rows_of(doc, treat), y


@pytest.mark.parametrize("values", [1, 2, 5])
def test_effects_and_variances_are_the_regressions(values: int) -> None:
    rows, y = unbalanced(values, values)
    scores = label_scores(rows, y, np.ones(len(y), dtype=bool))
    assert scores is not None
    sample = scores.sample
    fit = within.fit(sample.y, sample.x, sample.doc)
    errors = fit.clustered(sample.doc)
    for at, value in enumerate(scores.values):
        assert value.effect == pytest.approx(fit.coef[at], rel=1e-9)
        assert value.variance == pytest.approx(errors.se[at] ** 2, rel=1e-9)
        assert not value.complete
    np.testing.assert_allclose(scores.centred.sum(axis=0), 0, atol=1e-9)


def test_complete_documents_score_half_their_difference() -> None:
    rng = np.random.default_rng(0)
    doc, treat = np.repeat(np.arange(50), 3), np.tile([0, 1, 2], 50)
    y = rng.normal(size=50)[doc] + rng.choice([0.0, 0.0, 1.0, -2.0], 150)
    scores = label_scores(rows_of(doc, treat), y, np.ones(150, dtype=bool))
    assert scores is not None
    for value in scores.values:
        difference = y[value.column + 1 :: 3] - y[::3]
        np.testing.assert_allclose(value.s, difference / 2, atol=1e-12)
        np.testing.assert_allclose(value.a, 0.5)
        np.testing.assert_array_equal(value.moving, np.abs(difference) > 1e-9)
        assert (value.ups, value.downs) == (np.sum(difference > 1e-9), np.sum(difference < -1e-9))
        assert value.complete


def test_a_value_stays_exact_where_another_of_its_label_is_missing() -> None:
    """Whatever else a document lacks: with the reference and the value its score is half their difference."""
    rng = np.random.default_rng(0)
    doc, treat = np.repeat(np.arange(50), 4), np.tile([0, 1, 2, 3], 50)
    y = rng.normal(size=200)
    keep = (treat < 2) | (rng.random(200) < 0.7)
    scores = label_scores(rows_of(doc, treat), y, keep)
    assert scores is not None
    np.testing.assert_allclose(scores.values[0].s, (y[1::4] - y[::4]) / 2, atol=1e-12)
    assert [value.complete for value in scores.values] == [True, False, False]


def test_a_dose_is_its_own_regression() -> None:
    rng = np.random.default_rng(5)
    doc = np.repeat(np.arange(40), 2)
    dose = np.log(rng.uniform(20, 60, 80))
    y = rng.normal(size=40)[doc] + 2 * dose + rng.normal(size=80)
    rows = rows_of(doc, np.zeros_like(doc), dose=dose)
    scores = label_scores(rows, y, np.ones(80, dtype=bool))
    assert scores is not None
    fit = within.fit(y, dose[:, None], doc)
    assert scores.values[0].effect == pytest.approx(fit.coef[0], rel=1e-9)
    assert scores.values[0].variance == pytest.approx(fit.clustered(doc).se[0] ** 2, rel=1e-9)


def test_concentration_of_an_effect_is_seen() -> None:
    doc, treat = np.repeat(np.arange(100), 2), np.tile([0, 1], 100)
    y = np.zeros(200)
    y[1:20:2] = 1.0
    y[21] = 10.0
    (value,) = label_scores(rows_of(doc, treat), y, np.ones(200, dtype=bool)).values
    assert value.largest_share == pytest.approx(100 / 110)
    assert value.effective == pytest.approx(110**2 / (10 + 100**2))
    assert (value.ups, value.downs) == (11, 0)


def test_nothing_changes_nothing_to_score() -> None:
    doc, treat = np.repeat(np.arange(10), 2), np.tile([0, 1], 10)
    assert label_scores(rows_of(doc, treat), np.repeat(np.arange(10.0), 2), np.ones(20, dtype=bool)) is None
