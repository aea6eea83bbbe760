"""Scores by hand, by row-by-row counting, and by scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from simulated_sets import several, single

from analyze.groups import (
    Answer,
    Attribute,
    Classes,
    GroupData,
    Predictions,
    Rule,
    Settings,
    Variant,
    analyze,
)
from analyze.groups.disparity import average, is_lowest, lowest, summarize
from analyze.groups.rates import rates, wilson
from analyze.groups.reweighting import reweighted_f1
from analyze.groups.rules import macro_f1, micro_f1
from analyze.groups.worst_class import worst_class

NOTHING_DRAWN = Settings(permutations=0, bootstraps=0, drift_draws=0)


def one_attribute(truth, predicted, groups, answers=None, rule=Rule.SUPPORT, names=("x", "y"), **more):
    classes = Classes(("a", "b", "c"))
    attribute = Attribute("group", names, np.array(groups))
    prediction = Predictions("m", None, np.array(predicted), None if answers is None else np.array(answers))
    return GroupData("made-up", classes, np.array(truth), (attribute,), (prediction,), rule, **more)


def by(rows, *names):
    return {tuple(getattr(row, name) for name in names): row for row in rows}


# True a a b; predicted a c b: F1 of a 2/3, b 1, c 0 (predicted, not there).
@pytest.mark.parametrize(("rule", "score"), [("support", 5 / 6), ("union", 5 / 9), ("all", 5 / 9)])
def test_a_class_that_is_predicted_and_not_there(rule, score):
    data = one_attribute([0, 0, 1], [0, 2, 1], [0, 0, 0])
    row = by(analyze(data, NOTHING_DRAWN).group_scores, "group_name", "variant", "rule")["x", "all", rule]
    assert row.score == pytest.approx(score, abs=1e-12)
    assert row.accuracy == pytest.approx(2 / 3)
    assert row.micro_f1 == pytest.approx(2 / 3)


# True a a b; predicted a a b: only `all` minds that c is neither there nor predicted.
@pytest.mark.parametrize(("rule", "score"), [("support", 1), ("union", 1), ("all", 2 / 3)])
def test_a_class_that_is_neither_there_nor_predicted(rule, score):
    data = one_attribute([0, 0, 1], [0, 0, 1], [0, 0, 0])
    row = by(analyze(data, NOTHING_DRAWN).group_scores, "group_name", "variant", "rule")["x", "all", rule]
    assert row.score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("answer", [Answer.MISSING, Answer.INVALID])
def test_a_row_without_an_answer_is_a_miss_and_no_false_positive(answer):
    # True a a b, the second a unanswered: F1 of a is 2 / (2 + 0 + 1), that of b 1.
    data = one_attribute([0, 0, 1], [0, 0, 1], [0, 0, 0], [Answer.VALID, answer, Answer.VALID])
    analysis = analyze(data, NOTHING_DRAWN)
    table = by(analysis.group_scores, "group_name", "variant", "rule")
    assert table["x", "all", "support"].score == pytest.approx(5 / 6)
    assert table["x", "all", "support"].n == 3
    assert table["x", "all", "support"].accuracy == pytest.approx(2 / 3)
    assert table["x", "all", "support"].micro_f1 == pytest.approx(4 / 5)
    assert table["x", "answered", "support"].score == 1
    assert table["x", "answered", "support"].n == 2
    counted = analysis.answers[0]
    assert (counted.n, counted.n_answered) == (3, 2)
    assert (counted.n_missing, counted.n_invalid) == ((1, 0) if answer is Answer.MISSING else (0, 1))


def test_several_classes_without_an_answer_are_no_prediction_of_none():
    classes = Classes(("a", "b"), several=True, none_name="none")
    truth = np.array([[True, True], [False, False], [False, False]])
    predicted = np.array([[True, False], [False, False], [False, False]])
    answers = np.array([0, 0, 1], dtype=np.int8)
    data = GroupData(
        "made-up",
        classes,
        truth,
        (Attribute("group", ("x",), np.zeros(3, dtype=int)),),
        (Predictions("m", 1, predicted, answers),),
        Rule.ALL,
    )
    analysis = analyze(data, NOTHING_DRAWN)
    table = by(analysis.group_scores, "seed", "variant", "rule")
    # a: 1; b: 0 (missed); none: one hit, one miss, 2/3.
    assert table[1, "all", "all"].score == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert table[1, "answered", "all"].score == pytest.approx((1 + 0 + 1) / 3)
    assert table[1, "all", "all"].accuracy == pytest.approx(1 / 3)
    classes_of = by(analysis.class_scores, "seed", "variant", "group_name", "class_name")
    none = classes_of[1, "all", "x", "none"]
    assert (none.true_positives, none.predicted, none.support) == (1, 1, 2)


def test_what_stands_in_a_row_without_an_answer_does_not_matter():
    rng = np.random.default_rng(1)
    for data in (single(rng, (40, 30), (0.7, 0.7), unanswered=0.3), several(rng, 90, unanswered=0.3)):
        one = data.predictions[0]
        other = one.values.copy()
        other[~one.answered] = 99 if other.ndim == 1 else True
        changed = replace(data, predictions=(replace(one, values=other),))
        assert analyze(data, NOTHING_DRAWN) == analyze(changed, NOTHING_DRAWN)


def test_a_group_without_rows_has_no_score_and_takes_no_part():
    data = one_attribute([0, 1, 0], [0, 1, 1], [0, 0, 2], names=("x", "y", "z"))
    analysis = analyze(data, Settings(permutations=99, bootstraps=50, drift_draws=0))
    row = by(analysis.group_scores, "group_name", "variant", "rule")["y", "all", "support"]
    assert (row.n, row.score, row.ci_low, row.compared) == (0, None, None, False)
    summary = by(analysis.disparities, "variant", "rule")["all", "support"]
    assert summary.n_groups == 2
    assert summary.worst_group == "z"


def test_a_group_whose_rows_are_all_unanswered_has_no_score_among_the_answered():
    answers = [Answer.VALID, Answer.VALID, Answer.MISSING, Answer.INVALID]
    data = one_attribute([0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], answers)
    table = by(analyze(data, NOTHING_DRAWN).disparities, "variant", "rule")
    assert table["all", "support"].n_groups == 2
    assert table["all", "support"].worst_score == 0
    assert table["answered", "support"].n_groups == 1
    assert table["answered", "support"].gd == 0


def test_groups_under_the_minimum_are_shown_and_not_compared():
    rng = np.random.default_rng(2)
    data = single(rng, (100, 80, 5), (0.9, 0.8, 0.1), minimum_n=10)
    analysis = analyze(data, Settings(permutations=99, bootstraps=50, drift_draws=0))
    rows = by(analysis.group_scores, "group_name", "variant", "rule")
    assert rows["g2", "all", "support"].score is not None
    assert not rows["g2", "all", "support"].compared
    assert rows["g2", "all", "support"].reported
    summary = by(analysis.disparities, "variant", "rule")["all", "support"]
    assert summary.n_groups == 2
    assert summary.worst_group == "g1"
    assert {(gap.first, gap.second) for gap in analysis.gaps} == {("g0", "g1")}


def test_unidentified_groups_are_listed_and_not_reported():
    data = several(np.random.default_rng(3), 300)
    analysis = analyze(data, NOTHING_DRAWN)
    rows = by(analysis.group_scores, "seed", "group_name", "variant", "rule")
    unknown = rows[1, "not known", "all", "all"]
    assert unknown.score is not None
    assert not unknown.reported
    assert not unknown.compared
    assert by(analysis.disparities, "seed", "variant", "rule")[1, "all", "all"].n_groups == 3
    assert "not known" not in {row.group_name for row in analysis.worst_classes}
    assert next(row for row in analysis.representation if row.group_name == "not known").share is None


def row_by_row(data, prediction, inside, variant, rule):
    """Macro-F1 straight from the definition, one row and class at a time."""
    columns = data.classes.columns
    f1, taken = [], []
    for k, _ in enumerate(columns):
        tp = fp = fn = predicted_somewhere = support = 0
        for row in np.flatnonzero(inside):
            answered = prediction.answered[row]
            if not answered and variant is Variant.ANSWERED:
                continue
            is_true = label_set(data, data.truth[row])[k]
            is_predicted = answered and label_set(data, prediction.values[row])[k]
            tp += is_true and is_predicted
            fp += is_predicted and not is_true
            fn += is_true and not is_predicted
            support += is_true
            predicted_somewhere += is_predicted
        f1.append(2 * tp / (2 * tp + fp + fn) if 2 * tp + fp + fn else 0.0)
        there = {Rule.SUPPORT: support, Rule.UNION: support or predicted_somewhere, Rule.ALL: True}[rule]
        taken.append(bool(there))
    return float(np.mean(np.array(f1)[taken]))


def label_set(data, value):
    if not data.classes.several:
        return [value == k for k in range(len(data.classes.names))]
    return [*value, not any(value)]


@pytest.mark.parametrize("kind", ["single", "several"])
def test_scores_agree_with_counting_row_by_row(kind):
    rng = np.random.default_rng(4)
    seeds = (("m", 1), ("m", 2), ("m", 3))
    data = (
        single(rng, (60, 9, 2), (0.8, 0.6, 0.5), models=seeds, unanswered=0.2)
        if kind == "single"
        else several(rng, 120, unanswered=0.2, seeds=3)
    )
    analysis = analyze(data, NOTHING_DRAWN)
    table = by(analysis.group_scores, "seed", "group_name", "variant", "rule")
    attribute = data.attributes[0]
    for prediction, (code, name), variant, rule in product(
        data.predictions, enumerate(attribute.groups), Variant, Rule
    ):
        inside = attribute.codes == code
        if variant is Variant.ANSWERED and not (inside & prediction.answered).any():
            continue
        found = table[prediction.seed, name, variant.value, rule.value].score
        assert found == pytest.approx(row_by_row(data, prediction, inside, variant, rule), abs=1e-12)


@pytest.mark.parametrize("kind", ["single", "several"])
def test_scores_agree_with_scikit_learn(kind):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    rng = np.random.default_rng(5)
    data = single(rng, (90, 30, 4), (0.8, 0.6, 0.5)) if kind == "single" else several(rng, 200)
    prediction = data.predictions[0]
    truth, predicted = data.classes.indicators(data.truth), data.classes.indicators(prediction.values)
    table = by(analyze(data, NOTHING_DRAWN).group_scores, "seed", "group_name", "variant", "rule")
    for code, name in enumerate(data.attributes[0].groups):
        inside = data.attributes[0].codes == code
        one, other = truth[inside], predicted[inside]
        labels = {
            "support": np.flatnonzero(one.any(axis=0)),
            "union": np.flatnonzero((one | other).any(axis=0)),
            "all": np.arange(truth.shape[1]),
        }
        for rule, chosen in labels.items():
            row = table[prediction.seed, name, "all", rule]
            expected = metrics.f1_score(one, other, labels=chosen, average="macro", zero_division=0)
            assert row.score == pytest.approx(expected, abs=1e-12)
        assert row.micro_f1 == pytest.approx(metrics.f1_score(one, other, average="micro", zero_division=0))
        assert row.accuracy == pytest.approx(metrics.accuracy_score(one, other))


def test_micro_f1_is_accuracy_where_every_row_has_one_class():
    data = single(np.random.default_rng(6), (50, 40), (0.8, 0.6))
    for row in analyze(data, NOTHING_DRAWN).group_scores:
        assert row.micro_f1 == pytest.approx(row.accuracy)


def test_mean_disparity_and_worst_by_hand():
    found = summarize(np.array([[0.5, 0.7, np.nan], [np.nan, np.nan, np.nan], [0.3, 0.3, 0.6]]))
    assert found.mean == pytest.approx([0.6, np.nan, 0.4], nan_ok=True)
    assert found.gd == pytest.approx([0.1, np.nan, np.sqrt(0.02)], nan_ok=True)
    assert found.worst == pytest.approx([0.5, np.nan, 0.3], nan_ok=True)
    assert average(np.array([1.0, np.nan])) == 1


@pytest.mark.parametrize(
    ("scores", "place"),
    [
        ([0.5, 0.4, 0.4], 1),
        ([0.4 + 1e-13, 0.4], 0),
        ([0.4 + 1e-9, 0.4], 1),
        ([np.nan, 0.9], 1),
        ([np.nan], None),
    ],
)
def test_of_groups_tied_for_the_worst_the_first_is_named(scores, place):
    assert lowest(np.array(scores)) == place


def test_ties_for_the_worst_are_shared():
    assert is_lowest(np.array([0.4, 0.4, 0.9, np.nan])).tolist() == [0.5, 0.5, 0, 0]


def test_averages_over_seeds_by_hand():
    # Seed 1: x right, y wrong; seed 2 the other way round. Every seed has GD 1/2, the averages none.
    attribute = Attribute("group", ("x", "y"), np.array([0, 0, 1, 1]))
    truth = np.array([0, 1, 0, 1])
    seeds = (Predictions("m", 1, np.array([0, 1, 1, 0])), Predictions("m", 2, np.array([1, 0, 0, 1])))
    data = GroupData("made-up", Classes(("a", "b")), truth, (attribute,), seeds)
    row = by(analyze(data, NOTHING_DRAWN).disparities, "seed", "variant", "rule")[None, "all", "support"]
    assert (row.mean_score, row.gd, row.worst_score) == (0.5, 0.5, 0)
    assert (row.mean_of_averages, row.gd_of_averages, row.worst_of_averages) == (0.5, 0, 0.5)
    assert row.worst_group == "x"


def test_reweighting_removes_a_gap_that_label_shares_alone_make():
    table = np.array([[0.9, 0.1], [0.3, 0.7]])
    shares = np.array([[0.9, 0.1], [0.5, 0.5]])
    cells = np.zeros((2, 2, 3))
    cells[:, :, :2] = 1000 * shares[:, :, None] * table
    plain = macro_f1(
        np.stack([np.diagonal(cells[..., :2], axis1=1, axis2=2), cells[..., :2].sum(1), cells.sum(2)], 1),
        Rule.SUPPORT,
    )
    assert abs(plain[0] - plain[1]) > 0.03
    weighted = reweighted_f1(cells, np.array([True, True]))
    assert weighted[0] == pytest.approx(weighted[1], abs=1e-12)
    # By hand, at common shares of 0.7 and 0.3.
    a = 2 * 0.7 * 0.9 / (0.7 + 0.7 * 0.9 + 0.3 * 0.3)
    b = 2 * 0.3 * 0.7 / (0.3 + 0.7 * 0.1 + 0.3 * 0.7)
    assert weighted[0] == pytest.approx((a + b) / 2, abs=1e-12)


def test_gaps_are_the_sum_of_label_shift_and_behaviour():
    rng = np.random.default_rng(7)
    shares = (np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.4, 0.1, 0.2, 0.3]))
    data = single(rng, (400, 300), (0.8, 0.6), shares)
    for gap in analyze(data, Settings(permutations=0, bootstraps=200, drift_draws=0)).gaps:
        assert gap.label_shift + gap.behaviour == pytest.approx(gap.gap, abs=1e-12)
        assert gap.ci_low < gap.gap < gap.ci_high
        assert gap.behaviour_low < gap.behaviour < gap.behaviour_high


def test_the_worst_class_is_one_that_occurs_and_the_first_of_those_tied():
    counts = np.array([[0, 0, 3], [4, 0, 3], [0, 2, 3]], dtype=float)  # class 0 is predicted and not there
    assert worst_class(counts) == 1
    counts = np.array([[0, 0], [1, 1], [2, 2]], dtype=float)
    assert worst_class(counts) == 0
    assert worst_class(np.zeros((3, 2))) is None


def test_rates_by_hand():
    # x: 4 of 10 favourable in truth, 3 of them selected, 1 of 6 others selected, 1 other unanswered.
    # y: 5 of 10, 4 selected; 4 of 5 others selected.
    cells = np.array([[[4, 1, 1], [1, 3, 0]], [[1, 4, 0], [1, 4, 0]]], dtype=float)
    x, y = rates(cells, 1, np.array([True, True]))
    assert x.selection.value == pytest.approx(0.4)
    assert x.true_positive.value == pytest.approx(0.75)
    assert x.false_positive.value == pytest.approx(1 / 6)
    assert (x.ratio, y.ratio) == (pytest.approx(0.5), 1)
    assert x.ratio_low < 0.5 < x.ratio_high
    assert y.ratio_low is None


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(0, 10, 0, 0.27753), (10, 10, 0.72247, 1), (5, 10, 0.23659, 0.76341)]
)
def test_intervals_of_shares_are_wilsons(hits, n, low, high):
    found = wilson(hits, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-5), pytest.approx(high, abs=1e-5))


def test_rates_without_a_denominator_are_none():
    cells = np.array([[[2, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]], dtype=float)
    x, y = rates(cells, 1, np.array([True, True]))
    assert x.true_positive.value is None
    assert (x.selection.value, x.ratio) == (0, None)
    assert (y.selection.value, y.ratio) == (None, None)


def test_micro_f1_of_nothing_is_nothing():
    assert np.isnan(micro_f1(np.zeros((3, 4))))
    assert np.isnan(macro_f1(np.zeros((3, 4)), Rule.ALL))
