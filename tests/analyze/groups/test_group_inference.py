"""Tests, intervals and corrections of group scores: exact cases, level, power, and what they must not do."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats
from simulated_sets import several, single

from analyze.groups import Attribute, Classes, GroupData, Predictions, Rule, Settings, Variant, analyze
from analyze.groups.analysis import difference_rows, with_holm
from analyze.groups.counts import group_sums, panel
from analyze.groups.disparity import summarize
from analyze.groups.drift import Measure, drift, drift_with_floor
from analyze.groups.inference.bootstrap import bootstrap
from analyze.groups.inference.excess import detectable_gd, excess_interval
from analyze.groups.inference.permutation import against, shuffle
from analyze.groups.inference.seeds import seed_variance
from analyze.groups.inference.strata import Null, TableBlock, permutation, row_strata
from analyze.groups.inference.worst import worst_group
from analyze.groups.rules import RULES, macro_f1

SUPPORT = RULES.index(Rule.SUPPORT)
QUICK = Settings(permutations=199, bootstraps=200, drift_draws=0)


def whole(data, predictions=None):
    """The panel of all rows of a set, with their groups."""
    found = panel(data, predictions or data.predictions, np.ones(len(data.truth), dtype=bool), Variant.ALL)
    return found, data.attributes[0].codes[found.rows], len(data.attributes[0].groups)


def null_test(data, null, draws, seed=0):
    rows, groups, number = whole(data)
    observed = macro_f1(group_sums(rows.counts, rows.pattern, groups, number).swapaxes(0, 1), Rule.SUPPORT)
    shuffled = shuffle(permutation(data, rows, groups, number, null), draws, np.random.default_rng(seed))
    return against(observed, shuffled.scores[SUPPORT], shuffled.share_fixed)


def disparity_of(data, groups):
    rows, _, number = whole(data)
    scores = macro_f1(group_sums(rows.counts, rows.pattern, groups, number).swapaxes(0, 1), Rule.SUPPORT)
    return float(summarize(scores).gd.mean())


@pytest.mark.parametrize(
    ("times", "sizes"),
    [
        ([5], [1, 4]),
        ([5], [2, 2, 1]),
        ([1, 1], [1, 1]),
        ([3, 2], [4, 1]),
        ([1, 4, 2, 9], [7, 9]),
        ([200, 30, 1, 1], [150, 60, 20, 2]),
        ([1] * 12, [5, 4, 3]),
        ([2500, 1200, 300], [3500, 0, 500]),
    ],
)
def test_drawn_tables_have_both_margins_and_hypergeometric_cells(times, sizes):
    times, sizes = np.array(times), np.array(sizes)
    block = TableBlock(times, sizes, np.eye(len(times)))
    draws = 20_000
    table = block.draw(draws, np.random.default_rng(1))
    assert (table >= 0).all()
    assert (table.sum(axis=1) == times).all()
    assert (table.sum(axis=2) == sizes).all()
    n = times.sum()
    mean = np.outer(sizes, times) / n
    variance = mean * (1 - times / n) * ((n - sizes) / max(1, n - 1))[:, None]
    assert np.abs(table.mean(axis=0) - mean).max() <= 5 * np.sqrt(variance.max() / draws) + 1e-12
    assert np.allclose(table.var(axis=0), variance, rtol=0.08, atol=0.02)


def tiny(cluster=None, groups=(0, 0, 0, 1, 1, 1, 1, 0)):
    truth = np.array([0, 0, 1, 1, 0, 1, 0, 1])
    predicted = np.array([0, 0, 1, 1, 1, 1, 1, 0])
    attribute = Attribute("group", ("x", "y"), np.array(groups))
    shared = None if cluster is None else np.array(cluster)
    return GroupData(
        "made-up",
        Classes(("a", "b")),
        truth,
        (attribute,),
        (Predictions("m", None, predicted),),
        cluster=shared,
    )


def chance(data, assignments):
    observed = disparity_of(data, data.attributes[0].codes)
    drawn = [disparity_of(data, np.array(groups)) for groups in assignments]
    return float(np.mean([value >= observed - 1e-12 for value in drawn])), float(np.mean(drawn))


def near(found, exact, draws=4_000):
    p, floor = exact
    assert found.p == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / draws) + 1 / draws)
    assert found.floor == pytest.approx(floor, abs=5 * 0.5 / np.sqrt(draws))


def test_plain_p_is_that_of_all_permutations():
    data = tiny()
    assignments = [[int(row in chosen) for row in range(8)] for chosen in combinations(range(8), 4)]
    near(null_test(data, Null.PLAIN, 4_000), chance(data, assignments))


def test_p_within_labels_is_that_of_all_permutations_within_them():
    data = tiny()
    a, b = np.flatnonzero(data.truth == 0), np.flatnonzero(data.truth == 1)
    codes = data.attributes[0].codes
    assignments = []
    for one in set(permutations(codes[a])):
        for other in set(permutations(codes[b])):
            groups = codes.copy()
            groups[a], groups[b] = one, other
            assignments.append(groups)
    near(null_test(data, Null.WITHIN_LABEL, 4_000), chance(data, assignments))


def test_cases_are_permuted_as_wholes():
    data = tiny(cluster=[1, 1, 2, 3, 3, 4, 4, 2], groups=[0, 0, 0, 1, 1, 1, 1, 0])
    members = [[0, 1], [2, 7], [3, 4], [5, 6]]
    assignments = []
    for chosen in combinations(range(4), 2):
        groups = np.zeros(8, dtype=int)
        for case in chosen:
            groups[members[case]] = 1
        assignments.append(groups)
    near(null_test(data, Null.PLAIN, 4_000), chance(data, assignments))


def test_groups_of_a_case_that_spans_groups_move_together_and_are_shuffled_within():
    # Cases of two rows: two with one row in each group, two within one group.
    data = tiny(cluster=[1, 2, 2, 1, 3, 4, 3, 4], groups=[0, 0, 1, 1, 1, 0, 1, 0])
    members = [[0, 3], [1, 2], [4, 6], [5, 7]]
    kinds = [(0, 1), (0, 1), (1, 1), (0, 0)]
    assignments = []
    for order in permutations(range(4)):
        for turns in np.ndindex(2, 2, 2, 2):
            groups = np.zeros(8, dtype=int)
            for case, kind in enumerate(order):
                groups[members[case]] = kinds[kind][:: 1 if turns[case] else -1]
            assignments.append(groups)
    near(null_test(data, Null.PLAIN, 4_000), chance(data, assignments))


def test_cases_within_labels_change_places_only_with_cases_of_the_same_labels():
    rng = np.random.default_rng(2)
    data = replace(single(rng, (80, 60), (0.8, 0.6)), cluster=np.arange(140) // 2)
    rows, groups, number = whole(data)
    counts = permutation(data, rows, groups, number, Null.WITHIN_LABEL).draw(50, rng)
    support = group_sums(rows.counts, rows.pattern, groups, number)[:, 0, 2]
    assert (counts[:, :, 0, 2] == support).all()


def test_no_permutation_within_labels_moves_the_labels_of_a_group():
    rng = np.random.default_rng(3)
    data = single(rng, (50, 70, 20), (0.8, 0.6, 0.7))
    rows, groups, number = whole(data)
    counts = permutation(data, rows, groups, number, Null.WITHIN_LABEL).draw(50, rng)
    support = group_sums(rows.counts, rows.pattern, groups, number)[:, 0, 2]
    assert (counts[:, :, 0, 2] == support).all()
    plain = permutation(data, rows, groups, number, Null.PLAIN).draw(50, rng)
    assert not (plain[:, :, 0, 2] == support).all()


def test_rare_sets_of_classes_share_a_stratum_and_rare_classes_do_not():
    data = several(np.random.default_rng(4), 150)
    strata = row_strata(data, np.arange(150))
    sizes = np.bincount(strata)
    sets = {}
    for row, stratum in enumerate(strata):
        sets.setdefault(tuple(data.truth[row]), []).append(stratum)
    pooled = {stratum for places in sets.values() if len(places) < 5 for stratum in places}
    assert len(pooled) == 1
    for places in sets.values():
        assert len(set(places)) == 1
        assert (places[0] in pooled) == (len(places) < 5)
        if len(places) >= 5:
            assert sizes[places[0]] == len(places)
    alone = single(np.random.default_rng(4), (3, 2), (0.8, 0.8))
    assert len(set(row_strata(alone, np.arange(5)))) == len(set(alone.truth))


def test_the_share_of_rows_that_cannot_move_is_told():
    truth = np.array([0] * 6 + [1] * 4)
    attribute = Attribute("group", ("x", "y"), np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 0]))
    data = GroupData(
        "made-up", Classes(("a", "b")), truth, (attribute,), (Predictions("m", None, truth[::-1].copy()),)
    )
    rows = {row.rule: row for row in analyze(data, QUICK).disparities if row.variant == "all"}
    assert rows["support"].share_fixed == pytest.approx(0.4)


def rejections(sets, null):
    return sum(null_test(data, null, 199, seed).p <= 0.05 for seed, data in enumerate(sets))


def many(trials, make, seed):
    rng = np.random.default_rng(seed)
    return [make(rng) for _ in range(trials)]


TRIALS = 200
FEWEST, MOST = stats.binom.ppf(0.001, TRIALS, 0.05), stats.binom.ppf(0.999, TRIALS, 0.05)


@pytest.mark.parametrize("null", list(Null))
def test_without_a_disparity_the_tests_reject_in_one_of_twenty(null):
    sets = many(TRIALS, lambda rng: single(rng, (150, 90, 40), (0.7, 0.7, 0.7)), 10)
    assert FEWEST <= rejections(sets, null) <= MOST


@pytest.mark.parametrize("null", list(Null))
def test_a_disparity_is_found(null):
    sets = many(30, lambda rng: single(rng, (300, 200), (0.8, 0.6)), 11)
    assert rejections(sets, null) >= 24


def test_label_shift_alone_is_a_plain_difference_and_none_within_labels():
    table = np.array(
        [[0.85, 0.05, 0.05, 0.05], [0.05, 0.85, 0.05, 0.05], [0.1, 0.2, 0.6, 0.1], [0.2, 0.3, 0.2, 0.3]]
    )
    shares = (np.array([0.4, 0.4, 0.1, 0.1]), np.array([0.05, 0.15, 0.4, 0.4]))

    def shifted(rng):
        data = single(rng, (400, 300), (0.7, 0.7), shares)
        values = (table.cumsum(axis=1)[data.truth] < rng.random(700)[:, None]).sum(axis=1)
        return replace(data, predictions=(Predictions("m", None, values),))

    sets = many(60, shifted, 12)
    assert rejections(sets, Null.PLAIN) >= 30
    assert rejections(sets, Null.WITHIN_LABEL) <= stats.binom.ppf(0.999, 60, 0.05)


def repeated(rng, shared):
    """Every row four times, as repeated samples of a query are."""
    data = single(rng, (60, 40), (0.7, 0.7))
    again = np.repeat(np.arange(100), 4)
    return replace(
        data,
        truth=data.truth[again],
        attributes=(replace(data.attributes[0], codes=data.attributes[0].codes[again]),),
        predictions=(replace(data.predictions[0], values=data.predictions[0].values[again], answers=None),),
        cluster=again if shared else None,
    )


def test_rows_that_share_a_case_do_not_count_as_many():
    shared = rejections(many(100, lambda rng: repeated(rng, True), 13), Null.PLAIN)
    apart = rejections(many(100, lambda rng: repeated(rng, False), 13), Null.PLAIN)
    assert shared <= stats.binom.ppf(0.999, 100, 0.05)
    assert apart > 20


def drawn_scores(data, draws=2_000, seed=5):
    rows, groups, number = whole(data)
    counts = bootstrap(data, rows, rows.counts, groups, number).draw(draws, np.random.default_rng(seed))
    return macro_f1(counts.swapaxes(1, 2), Rule.SUPPORT)[:, 0], counts


def test_bootstrap_errors_are_those_of_new_test_sets():
    rng = np.random.default_rng(14)
    scores = []
    for _ in range(400):
        data = single(rng, (300, 100), (0.8, 0.6))
        rows, groups, number = whole(data)
        scores.append(macro_f1(group_sums(rows.counts, rows.pattern, groups, number)[:, 0], Rule.SUPPORT))
    drawn, _ = drawn_scores(data)
    assert drawn.std(axis=0) == pytest.approx(np.std(scores, axis=0), rel=0.2)


def test_the_bootstrap_keeps_the_size_of_a_group_and_not_its_labels():
    data = single(np.random.default_rng(15), (50, 30), (0.8, 0.6))
    _, counts = drawn_scores(data, 100)
    support = counts[:, :, 0, 2]
    assert (support.sum(axis=2) == [50, 30]).all()
    assert (support.std(axis=0) > 0).all()


def test_repeated_rows_that_share_a_case_have_the_errors_of_single_rows():
    rng = np.random.default_rng(16)
    data = repeated(rng, True)
    once = replace(
        data,
        truth=data.truth[::4],
        attributes=(replace(data.attributes[0], codes=data.attributes[0].codes[::4]),),
        predictions=(replace(data.predictions[0], values=data.predictions[0].values[::4]),),
        cluster=None,
    )
    assert drawn_scores(data)[0].std(axis=0) == pytest.approx(drawn_scores(once)[0].std(axis=0), rel=0.1)
    assert drawn_scores(replace(data, cluster=None))[0].std(axis=0) == pytest.approx(
        drawn_scores(once)[0].std(axis=0) / 2, rel=0.1
    )


def test_cases_with_rows_in_two_groups_are_resampled_with_both():
    rng = np.random.default_rng(17)
    data = single(rng, (100, 100), (0.7, 0.7))
    twins = replace(
        data,
        truth=np.concatenate([data.truth[:100]] * 2),
        predictions=(Predictions("m", None, np.concatenate([data.predictions[0].values[:100]] * 2)),),
        cluster=np.concatenate([np.arange(100)] * 2),
    )
    drawn, _ = drawn_scores(twins, 200)
    assert drawn[:, 0] == pytest.approx(drawn[:, 1], abs=1e-12)


def test_a_model_does_not_differ_from_itself():
    data = single(np.random.default_rng(18), (80, 60), (0.8, 0.6))
    twin = replace(data.predictions[0], model="twin")
    rows = difference_rows(replace(data, predictions=(data.predictions[0], twin)), "m", "twin", QUICK)
    assert {row.measure for row in rows} == {"mean", "worst", "gd"}
    for row in rows:
        assert row.difference == 0
        assert (row.ci_low, row.ci_high) == (0, 0)
        assert row.p is None


def pair(rng, one, other, seeds=1):
    models = tuple(("one", k) for k in range(seeds)) + tuple(("other", k) for k in range(seeds))
    data = single(rng, (150, 100), (0.7, 0.7), models=models)
    predictions = []
    for place, prediction in enumerate(data.predictions):
        accuracies = one if place < seeds else other
        right = rng.random(250) < np.repeat(accuracies, (150, 100))
        predictions.append(replace(prediction, values=np.where(right, data.truth, rng.integers(0, 4, 250))))
    return replace(data, predictions=tuple(predictions))


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_level_of_the_comparison_of_models(seeds):
    rng = np.random.default_rng(19)
    settings = Settings(permutations=199, bootstraps=200)
    p, covered = [], []
    for trial in range(100):
        data = pair(rng, (0.7, 0.7), (0.7, 0.7), seeds)
        rows = difference_rows(data, "one", "other", replace(settings, seed=trial))
        chosen = {row.measure: row for row in rows if row.is_default and row.variant == "all"}
        p.append([chosen[name].p <= 0.05 for name in ("mean", "worst", "gd")])
        covered.append([chosen[name].ci_low <= 0 <= chosen[name].ci_high for name in ("mean", "worst", "gd")])
    assert (np.sum(p, axis=0) <= stats.binom.ppf(0.999, 100, 0.05)).all()
    assert (np.sum(covered, axis=0) >= stats.binom.ppf(0.001, 100, 0.93)).all()


def test_a_difference_of_models_is_found():
    rng = np.random.default_rng(20)
    rows = difference_rows(pair(rng, (0.95, 0.4), (0.7, 0.7)), "one", "other", QUICK)
    chosen = {row.measure: row for row in rows if row.is_default and row.variant == "all"}
    assert chosen["gd"].p <= 0.02
    assert chosen["gd"].difference > 0.1
    assert chosen["gd"].ci_low > 0
    assert chosen["worst"].ci_high < 0
    assert chosen["gd"].p_holm >= chosen["gd"].p


def test_models_with_unequal_numbers_of_seeds_are_compared():
    rng = np.random.default_rng(21)
    data = single(rng, (80, 60), (0.8, 0.6), models=(("one", 1), ("one", 2), ("one", 3), ("other", None)))
    row = difference_rows(data, "one", "other", QUICK)[0]
    assert (row.n_seeds_1, row.n_seeds_2, row.n_seeds_tested) == (3, 1, 1)


def test_the_comparison_swaps_cases_as_wholes():
    rng = np.random.default_rng(22)
    p = {True: [], False: []}
    for trial in range(60):
        data = pair(rng, (0.7, 0.7), (0.7, 0.7))
        again = np.repeat(np.arange(250), 4)
        for shared in (True, False):
            more = replace(
                data,
                truth=data.truth[again],
                attributes=(replace(data.attributes[0], codes=data.attributes[0].codes[again]),),
                predictions=tuple(
                    replace(one, values=one.values[again], answers=None) for one in data.predictions
                ),
                cluster=again if shared else None,
            )
            rows = difference_rows(more, "one", "other", Settings(permutations=99, bootstraps=0, seed=trial))
            p[shared].append(next(row.p for row in rows if row.is_default and row.measure == "mean"))
    assert np.sum(np.array(p[True]) <= 0.05) <= stats.binom.ppf(0.999, 60, 0.05)
    assert np.sum(np.array(p[False]) <= 0.05) > 10


def test_excess_is_what_the_squares_leave():
    data = single(np.random.default_rng(23), (200, 150, 90), (0.9, 0.6, 0.7))
    for row in analyze(data, QUICK).disparities:
        assert row.gd_excess == pytest.approx(np.sqrt(max(0, row.gd**2 - row.gd_floor_rms**2)), abs=1e-12)
        assert row.gd_floor <= row.gd_floor_rms <= row.gd_floor_95
        assert row.excess_low <= row.gd_excess <= row.excess_high


def test_an_interval_of_the_excess_holds_zero_unless_the_test_rejects():
    rng = np.random.default_rng(24)
    noise = rng.normal(0, 0.03, (2_000, 1, 3))
    scores = np.array([[0.70, 0.71, 0.72]])
    assert excess_interval(scores, scores + noise, 0.4).low == 0
    apart = np.array([[0.5, 0.7, 0.9]])
    found = excess_interval(apart, apart + noise, 0.001)
    assert 0 < found.low < float(summarize(apart).gd[0]) < found.high
    assert excess_interval(apart, apart + noise, 0.03).low == 0


def test_equal_scores_have_an_interval_that_begins_at_zero():
    noise = np.random.default_rng(25).normal(0, 0.03, (500, 1, 2))
    found = excess_interval(np.array([[0.7, 0.7]]), 0.7 + noise, 1.0)
    assert found.low == 0
    assert found.high is None or found.high >= 0


def test_with_two_groups_the_interval_of_the_excess_is_that_of_their_gap_far_from_zero():
    rng = np.random.default_rng(26)
    scores = np.array([[0.5, 0.9]])
    found = excess_interval(scores, scores + rng.normal(0, 0.03, (20_000, 1, 2)), 0.001)
    half = 1.96 * 0.03 * np.sqrt(2) / 2
    assert found.low == pytest.approx(0.2 - half, abs=0.002)
    assert found.high == pytest.approx(0.2 + half, abs=0.002)


def test_the_detectable_disparity_of_two_groups_is_that_of_a_normal_test():
    rng = np.random.default_rng(27)
    shuffled = 0.7 + rng.normal(0, 0.03, (20_000, 1, 2))
    # The half gap has the standard error 0.03 / sqrt(2).
    assert detectable_gd(shuffled, rng) == pytest.approx(2.8016 * 0.03 / np.sqrt(2), rel=0.03)
    assert detectable_gd(shuffled[..., :1], rng) is None


def test_the_worst_of_equal_groups_is_brought_back_to_their_common_score():
    rng = np.random.default_rng(28)
    corrected, raw = [], []
    for _ in range(200):
        scores = 0.7 + rng.normal(0, 0.03, 5)
        draws = scores + rng.normal(0, 0.03, (400, 5))
        excess = np.sqrt(max(0, summarize(scores).gd ** 2 - 0.03**2 * 4 / 5))
        corrected.append(worst_group(scores, draws, float(excess), rng).corrected)
        raw.append(scores.min())
    assert np.mean(raw) < 0.67
    assert np.mean(corrected) == pytest.approx(0.7, abs=0.013)


def test_a_group_far_below_the_others_is_the_worst_and_keeps_its_score():
    rng = np.random.default_rng(29)
    scores = np.array([0.9, 0.4, np.nan, 0.88])
    draws = scores + rng.normal(0, 0.02, (2_000, 4))
    found = worst_group(scores, draws, float(summarize(scores).gd), rng)
    assert found.corrected == pytest.approx(0.4, abs=0.005)
    assert found.probability[1] > 0.999
    assert np.isnan(found.probability[2])
    assert np.nansum(found.probability) == pytest.approx(1)


def test_equal_groups_are_worst_with_equal_probability_where_nothing_exceeds_the_floor():
    rng = np.random.default_rng(30)
    scores = np.array([0.70, 0.68, 0.71])
    found = worst_group(scores, scores + rng.normal(0, 0.03, (2_000, 3)), 0.0, rng)
    assert found.probability == pytest.approx([1 / 3] * 3)


def test_noise_of_training_and_of_the_test_set_are_told_apart():
    rng = np.random.default_rng(31)
    training, shared, own, seeds = 0.02, 0.03, 0.01, 200
    scores = 0.7 + rng.normal(0, training, seeds) + rng.normal(0, own, seeds)
    draws = scores + rng.normal(0, shared, (4_000, 1)) + rng.normal(0, own, (4_000, seeds))
    found = seed_variance(scores, draws)
    assert found.training_sd == pytest.approx(training, rel=0.15)
    assert found.test_sd == pytest.approx(shared, rel=0.1)
    assert found.total_se == pytest.approx(np.sqrt(found.training_sd**2 / seeds + found.test_sd**2))
    assert seed_variance(scores[:1], draws[:, :1]) is None


def test_seeds_that_differ_by_their_own_rows_alone_have_hardly_any_noise_of_training():
    rng = np.random.default_rng(32)
    models = tuple(("m", seed) for seed in range(5))
    training, between = [], []
    for trial in range(20):
        data = single(rng, (200, 100), (0.7, 0.7), models=models)
        found = analyze(data, Settings(permutations=0, bootstraps=200, drift_draws=0, seed=trial))
        noise = next(row for row in found.seed_noise if row.variant == "all" and row.group_name == "g0")
        scores = [row.score for row in found.group_scores if row.group_name == "g0" and row.is_default]
        training.append(noise.training_sd**2)
        between.append(np.var(scores[:5], ddof=1))
    # Cutting at 0 leaves 0.28 of a variance with 4 degrees of freedom.
    assert np.mean(training) < 0.5 * np.mean(between)


def test_holm_is_over_attributes_and_both_tests():
    rng = np.random.default_rng(33)
    data = single(rng, (80, 60), (0.8, 0.6))
    second = Attribute("other", ("p", "q"), rng.integers(0, 2, 140))
    data = replace(data, attributes=(*data.attributes, second))
    rows = [row for row in analyze(data, QUICK).disparities if row.is_default and row.variant == "all"]
    family = sorted(p for row in rows for p in (row.p_plain, row.p_worst))
    assert len(family) == 4
    adjusted = np.maximum.accumulate(np.array(family) * [4, 3, 2, 1]).clip(max=1)
    expected = dict(zip(family, adjusted, strict=True))
    for row in rows:
        assert row.p_plain_holm == pytest.approx(expected[row.p_plain])
        assert row.p_worst_holm == pytest.approx(expected[row.p_worst])
    untested = [
        replace(row, p_plain=None, p_worst=None, p_plain_holm=None, p_worst_holm=None) for row in rows
    ]
    assert all(row.p_plain_holm is None for row in with_holm(untested))


@pytest.mark.parametrize("kind", ["single", "several"])
def test_among_the_answered_everything_is_as_if_the_other_rows_were_not_there(kind):
    rng = np.random.default_rng(38)
    data = (
        single(rng, (120, 80, 30), (0.8, 0.7, 0.6), models=(("m", 1), ("m", 2)), unanswered=0.25)
        if kind == "single"
        else several(rng, 260, unanswered=0.25, seeds=2)
    )
    draws = 2_000
    settings = Settings(permutations=draws, bootstraps=draws, drift_draws=0)
    found = analyze(data, settings)
    for one in data.predictions:
        there = one.answered
        left = replace(
            data,
            truth=data.truth[there],
            attributes=tuple(replace(each, codes=each.codes[there]) for each in data.attributes),
            predictions=(replace(one, values=one.values[there], answers=None),),
        )
        alone = [row for row in analyze(left, settings).disparities if row.seed and row.variant == "all"]
        chosen = [row for row in found.disparities if row.seed == one.seed and row.variant == "answered"]
        assert len(alone) == len(chosen) == 3
        for row, expected in zip(chosen, alone, strict=True):
            for name in (
                "n_groups",
                "mean_score",
                "gd",
                "worst_score",
                "worst_group",
                "gd_reweighted",
                "share_fixed",
            ):
                assert getattr(row, name) == pytest.approx(getattr(expected, name), abs=1e-12)
            for name in ("p_plain", "p_within_label", "p_worst"):
                p = getattr(expected, name)
                assert getattr(row, name) == pytest.approx(
                    p, abs=5 * np.sqrt(2 * p * (1 - p) / draws) + 1 / draws
                )
            assert row.gd_floor == pytest.approx(expected.gd_floor, rel=0.08)
        widths = {}
        for label, rows, seed in (("found", found, one.seed), ("alone", analyze(left, settings), one.seed)):
            variant = "answered" if label == "found" else "all"
            widths[label] = [
                row.ci_high - row.ci_low
                for row in rows.group_scores
                if row.seed == seed and row.variant == variant and row.is_default
            ]
        assert widths["found"] == pytest.approx(widths["alone"], rel=0.15)


def test_results_do_not_depend_on_what_else_is_analyzed():
    rng = np.random.default_rng(34)
    both = single(rng, (60, 50), (0.8, 0.6), models=(("one", 1), ("one", 2), ("other", 1)), unanswered=0.1)
    alone = replace(both, predictions=both.of_model("one"))
    together = [row for row in analyze(both, QUICK).disparities if row.model == "one"]
    assert together == list(analyze(alone, QUICK).disparities)
    assert analyze(alone, QUICK) == analyze(alone, QUICK)
    assert analyze(alone, replace(QUICK, seed=1)).disparities != analyze(alone, QUICK).disparities


def test_no_draws_mean_no_tests_and_no_intervals():
    data = single(np.random.default_rng(35), (60, 50), (0.8, 0.6), models=(("m", 1), ("m", 2)))
    found = analyze(data, Settings(permutations=0, bootstraps=0, drift_draws=0))
    for row in found.disparities:
        assert row.gd is not None
        assert (row.p_plain, row.gd_floor, row.gd_excess, row.excess_low, row.worst_corrected) == (None,) * 5
    assert {(row.ci_low, row.se) for row in found.group_scores} == {(None, None)}


def test_one_group_alone_has_no_disparity_to_test():
    data = single(np.random.default_rng(36), (60,), (0.8,))
    for row in analyze(data, QUICK).disparities:
        assert (row.n_groups, row.gd, row.p_plain, row.detectable_gd) == (1, 0, None, None)


def test_drift_by_hand():
    first, second = np.array([8.0, 2.0]), np.array([5.0, 5.0])
    p, q = first / 10, second / 10
    m = (p + q) / 2
    expected = np.sqrt((np.sum(p * np.log(p / m)) + np.sum(q * np.log(q / m))) / 2)
    assert drift(first, second, Measure.JS_DISTANCE) == pytest.approx(expected)
    p, q = np.array([8.5, 2.5]) / 11, np.array([5.5, 5.5]) / 11
    assert drift(first, second, Measure.KL) == pytest.approx(np.sum(p * np.log(p / q)))
    assert drift(first, first * 3, Measure.JS_DISTANCE) == 0
    assert np.isnan(drift(first, np.zeros(2), Measure.KL))
    assert drift(np.array([3.0, 0]), np.array([0, 4.0]), Measure.JS_DISTANCE) == pytest.approx(
        np.sqrt(np.log(2))
    )


@pytest.mark.parametrize(
    "classes", [Classes(("a", "b", "c")), Classes(("a", "b"), several=True, none_name="none")]
)
def test_without_drift_the_floor_holds_its_level(classes):
    rng = np.random.default_rng(37)
    p = []
    for trial in range(200):
        if classes.several:
            first, second = (rng.random((size, 2)) < [0.5, 0.2] for size in (60, 40))
        else:
            first, second = (rng.choice(3, size, p=[0.5, 0.3, 0.2]) for size in (60, 40))
        p.append(drift_with_floor(first, second, classes, Measure.JS_DISTANCE, 99, trial).p)
    assert np.sum(np.array(p) <= 0.05) <= stats.binom.ppf(0.999, 200, 0.05)


def test_drift_of_an_empty_group_is_unknown():
    found = drift_with_floor(np.zeros(0, dtype=int), np.array([0, 1]), Classes(("a", "b")), Measure.KL, 9, 1)
    assert (found.value, found.floor, found.p) == (None, None, None)
