"""Every number of the reference bundle of group fairness, within its tolerance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from reference_sets import SETS, ReferenceSet, read_set

from analyze.groups import GroupAnalysis, Rule, Settings, Variant, analyze
from analyze.groups.attribute_rows import attribute_rows
from analyze.groups.data_rows import representation_rows

EXACT = 1e-9
VARIANTS = tuple(Variant)


@pytest.fixture(scope="module", params=SETS)
def found(request, reference) -> tuple[ReferenceSet, GroupAnalysis]:
    folder = reference / "fairlex" / "dev" / request.param
    if not folder.is_dir():
        pytest.skip(
            "the reference bundle of group fairness (../shared/reference/fairlex) is not on this machine"
        )
    one = read_set(folder)
    return one, analyze(one.data, Settings(seed=7, drift_draws=50), pairs=())


def same(value: Any, expected: Any, tolerance: float = EXACT) -> None:
    """Exact for names, integers and nulls, near for fractions, by their own range for Monte Carlo numbers."""
    if isinstance(expected, dict) and "tol" in expected:
        assert abs(value - expected["value"]) <= expected["tol"], (value, expected)
    elif isinstance(expected, dict) and "accept" in expected:
        assert expected["accept"][0] <= value <= expected["accept"][1], (value, expected)
    elif isinstance(expected, float):
        assert value is not None
        assert math.isclose(value, expected, rel_tol=0, abs_tol=tolerance), (value, expected)
    else:
        assert value == expected


def near_zero(expected: float | None) -> float:
    return 1e-7 if expected is not None and expected < 1e-6 else EXACT


def rule_of(one: ReferenceSet, name: str) -> str:
    return one.data.rule.value if name == "fairlex" else name


def index(rows: Any, *names: str) -> dict[tuple[Any, ...], Any]:
    table = {tuple(getattr(row, name) for name in names): row for row in rows}
    assert len(table) == len(rows), "a key is there twice"
    return table


def per_seed(one: ReferenceSet) -> Any:
    """(model, seed, variant, attribute, what is expected)."""
    for model, seeds in one.expected["models"].items():
        for seed, content in seeds["seeds"].items():
            for variant in VARIANTS:
                for attribute, numbers in content["variants"][variant.value]["attributes"].items():
                    yield model, int(seed), variant.value, attribute, numbers


def test_answers_are_counted(found):
    one, analysis = found
    table = index(analysis.answers, "model", "seed")
    for model, seeds in one.expected["models"].items():
        for seed, content in seeds["seeds"].items():
            row = table[model, int(seed)]
            assert (row.n, row.n_answered, row.n_missing, row.n_invalid) == tuple(
                content[name] for name in ("n_test", "n_answered", "n_missing", "n_invalid")
            )


def test_group_scores(found):
    one, analysis = found
    table = index(analysis.group_scores, "model", "seed", "variant", "attribute", "group_name", "rule")
    for model, seed, variant, attribute, numbers in per_seed(one):
        for group, expected in numbers["groups"].items():
            for name, value in expected["mF1"].items():
                row = table[model, seed, variant, attribute, group, rule_of(one, name)]
                same(row.n, expected["n"])
                same(row.score, value)
                assert row.reported
                assert row.is_default == (row.rule == one.data.rule)
            same(
                table[model, seed, variant, attribute, group, "support"].reweighted,
                expected.get("mF1_reweighted"),
            )


def test_intervals_of_scores(found):
    one, analysis = found
    table = index(analysis.group_scores, "model", "seed", "variant", "attribute", "group_name", "rule")
    for model, seed, variant, attribute, numbers in per_seed(one):
        for group, expected in numbers["groups"].items():
            row = table[model, seed, variant, attribute, group, one.data.rule.value]
            same(row.ci_low, expected["interval95"]["low"])
            same(row.ci_high, expected["interval95"]["high"])


def test_summaries(found):
    one, analysis = found
    table = index(analysis.disparities, "model", "seed", "variant", "attribute", "rule")
    for model, seed, variant, attribute, numbers in per_seed(one):
        for name, expected in numbers["summary"].items():
            if name == "fairlex_table2_groups":
                continue
            same_summary(table[model, seed, variant, attribute, rule_of(one, name)], expected)


def same_summary(row: Any, expected: dict[str, Any]) -> None:
    same(row.n_groups, expected["n_groups"])
    same(row.mean_score, expected["mean"])
    same(row.gd, expected["gd"])
    same(row.worst_score, expected["worst"])
    same(row.worst_group, expected["worst_group"])


def test_summaries_without_groups_that_a_table_omits(found):
    one, _ = found
    for attribute in one.data.attributes:
        omitted = one.expected["attributes"][attribute.name]["table2_omits"]
        if not omitted:
            continue
        reduced = attribute.without(omitted)
        table = {}
        for model in one.data.models:
            rows = attribute_rows(
                one.data, model, reduced, Settings(permutations=0, bootstraps=0)
            ).disparities
            table |= index([row for row in rows if row.is_default], "model", "seed", "variant")
        for model, seed, variant, name, numbers in per_seed(one):
            if name == attribute.name:
                same_summary(table[model, seed, variant], numbers["summary"]["fairlex_table2_groups"])
        shares = representation_rows(replace(one.data, attributes=(reduced,)))
        for row in shares:
            if row.split == "train":
                expected = one.expected["data"]["attributes"][attribute.name][row.group_name]
                same(row.share, expected["train_share_table2_groups"])


def test_worst_class_influence(found):
    one, analysis = found
    table = index(analysis.worst_classes, "model", "seed", "variant", "attribute", "group_name")
    for model, seed, variant, attribute, numbers in per_seed(one):
        for group, expected in numbers["groups"].items():
            row = table[model, seed, variant, attribute, group]
            same(row.worst_class, numbers["worst_class"])
            same(row.wci, expected["wci"])
            same(row.own_worst_class, expected["wci_own"]["class"])
            same(row.wci_own, expected["wci_own"]["value"])


def test_permutation_tests(found):
    one, analysis = found
    table = index(analysis.disparities, "model", "seed", "variant", "attribute", "rule")
    for model, seed, variant, attribute, numbers in per_seed(one):
        row = table[model, seed, variant, attribute, one.data.rule.value]
        same(row.p_plain, numbers["tests"]["plain"])
        same(row.p_within_label, numbers["tests"]["within_label"])
        same(row.gd_floor, numbers["tests"]["gd_floor"])
        assert row.draws == one.expected["draws"]["permutation"]


def test_numbers_over_seeds(found):
    one, analysis = found
    scores = index(analysis.group_scores, "model", "seed", "variant", "attribute", "group_name", "rule")
    table = index(analysis.disparities, "model", "seed", "variant", "attribute", "rule")
    rule = one.data.rule.value
    for model, seeds in one.expected["models"].items():
        for variant in VARIANTS:
            for attribute, expected in seeds["over_seeds"][variant.value].items():
                for group, numbers in expected["groups"].items():
                    row = scores[model, None, variant.value, attribute, group, rule]
                    same(row.score, numbers["mF1"])
                    same(row.n_seeds, numbers["n_seeds"])
                row = table[model, None, variant.value, attribute, rule]
                same(row.mean_score, expected["mean_of_means"])
                same(row.gd, expected["mean_of_gd"])
                same(row.worst_score, expected["mean_of_worst"])
                same(row.mean_of_averages, expected["mean_of_averages"])
                same(row.gd_of_averages, expected["gd_of_averages"])
                same(row.worst_of_averages, expected["worst_of_averages"])
                same(row.worst_group, expected["worst_group_of_averages"])
                assert row.gd >= row.gd_of_averages - 1e-12
                if "tests" in expected:
                    same(row.p_plain, expected["tests"]["plain"])
                    same(row.p_within_label, expected["tests"]["within_label"])


def test_crossed_attributes(found):
    one, analysis = found
    keys = ("model", "seed", "attribute_1", "group_1", "attribute_2", "group_2")
    table = index(analysis.cross_scores, *keys)
    overlaps = index(analysis.overlaps, "split", *keys[2:])
    for model, seeds in one.expected["models"].items():
        contents = [
            (int(seed), content["variants"]["all"]["pairs"]) for seed, content in seeds["seeds"].items()
        ]
        for seed, pairs in [*contents, (None, seeds["over_seeds"]["pairs"])]:
            for pair in pairs:
                first, second = pair["attributes"]
                for cell in pair["cells"]:
                    row = table[model, seed, first, cell[first], second, cell[second]]
                    same(row.n, cell["n"])
                    same(row.score, cell["mF1"])
    for pair in one.expected["data"]["pairs"]:
        first, second = pair["attributes"]
        for cell in pair["cells"]:
            for split in ("train", "test"):
                row = overlaps[split, first, cell[first], second, cell[second]]
                same(row.n, cell[f"n_{split}"])
                same(row.share_of_1_within_2, cell[f"share_of_{first}_within_{second}_{split}"])
                same(row.share_of_2_within_1, cell[f"share_of_{second}_within_{first}_{split}"])


def test_representation_and_label_counts(found):
    one, analysis = found
    rows = index(analysis.representation, "split", "attribute", "group_name")
    labels = index(analysis.label_counts, "split", "attribute", "group_name", "class_name")
    for attribute, groups in one.expected["data"]["attributes"].items():
        for group, expected in groups.items():
            for split in ("train", "val", "test"):
                row = rows[split, attribute, group]
                same(row.n, expected[f"n_{split}"])
                assert row.reported is expected["reported"]
                for label, count in expected["label_counts"][split].items():
                    same(labels[split, attribute, group, label].n, count)
            same(rows["train", attribute, group].share, expected["train_share"])


def test_drift(found):
    one, analysis = found
    table = index(analysis.drift, "attribute", "group_name", "comparison", "measure")
    seen = 0
    for attribute, groups in one.expected["data"]["attributes"].items():
        for group, expected in groups.items():
            for measure in ("js_distance", "js_distance_lowest", "js_distance_lowest_code"):
                for pair, value in expected.get(measure, {}).items():
                    row = table[attribute, group, pair.replace("_", "-"), measure]
                    same(row.value, value, near_zero(value))
                    assert row.floor is None or row.floor > 0
                    seen += 1
            same(table[attribute, group, "train-test", "kl"].value, expected["kl_train_test"])
    assert seen


def test_classes_taken_in_beyond_the_support_only_lower_a_score(found):
    _, analysis = found
    table = index(analysis.group_scores, "model", "seed", "variant", "attribute", "group_name", "rule")
    for (*key, rule), row in table.items():
        if rule == Rule.ALL and row.score is not None:
            union, support = table[(*key, Rule.UNION)].score, table[(*key, Rule.SUPPORT)].score
            assert row.score <= union + 1e-12 <= support + 2e-12
