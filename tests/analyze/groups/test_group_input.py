"""Input that does not fit is refused, with what is wrong and where."""

from __future__ import annotations

import numpy as np
import pytest

from analyze.groups import Attribute, Classes, GroupData, Predictions, Split, analyze

AB = Classes(("a", "b"))
SETS = Classes(("a", "b"), several=True)
GROUP = Attribute("group", ("x", "y"), np.array([0, 1, 0]))
TRUTH = np.array([0, 1, 1])


def predictions(values=TRUTH, seed=None, answers=None, model="m"):
    return Predictions(model, seed, np.asarray(values), answers)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Classes(("a",)), "too few classes"),
        (lambda: Classes(("a", "a")), "named twice"),
        (lambda: Classes(("a", "none"), several=True, none_name="none"), "named twice"),
        (lambda: Classes(("a", "b"), none_name="none"), "several classes a row"),
        (lambda: Classes(("a", "b", "c"), positive=1), "two classes"),
        (lambda: Classes(("a", "b"), positive=2), "code 0 or 1"),
        (lambda: Attribute("group", ("x", "x"), TRUTH), "named twice"),
        (lambda: Attribute("group", ("x",), TRUTH), "row 1 has the group code 1"),
        (lambda: Attribute("group", ("x", "y"), np.array([0, -2])), "row 1 has the group code -2"),
        (lambda: Attribute("group", ("x", "y"), TRUTH.astype(float)), "integer code"),
        (lambda: Attribute("group", ("x", "y"), TRUTH, frozenset({2})), "no group has one of the codes"),
        (lambda: GROUP.without(["z"]), "no group z"),
        (lambda: GroupData("set", AB, np.array([0, 1, 2]), (GROUP,)), "the truth: row 2 has the code 2"),
        (lambda: GroupData("set", AB, np.array([0, -1, 1]), (GROUP,)), "the truth: row 1 has the code -1"),
        (lambda: GroupData("set", AB, np.array([0.0, 1, 1]), (GROUP,)), "integer code"),
        (lambda: GroupData("set", SETS, TRUTH, (GROUP,)), "boolean array"),
        (lambda: GroupData("set", SETS, np.zeros((3, 3), dtype=bool), (GROUP,)), "boolean array"),
        (lambda: GroupData("set", AB, np.array([0, 1]), (GROUP,)), "has 3 rows, and the truth has 2"),
        (lambda: GroupData("set", AB, TRUTH, (GROUP, GROUP)), "two attributes have one name"),
        (lambda: GroupData("set", AB, TRUTH, (GROUP,), minimum_n=0), "at least 1"),
        (lambda: GroupData("set", AB, TRUTH, (GROUP,), cluster=np.array([1])), "the clusters"),
        (
            lambda: GroupData("set", AB, TRUTH, (GROUP,), (predictions([0, 1]),)),
            "predictions of m has 2 rows",
        ),
        (lambda: GroupData("set", AB, TRUTH, (GROUP,), (predictions([0, 1, 2], 3),)), "m, seed 3: row 2"),
        (
            lambda: GroupData("set", AB, TRUTH, (GROUP,), (predictions(answers=np.array([0, 1, 3])),)),
            "valid, missing or invalid",
        ),
        (lambda: GroupData("set", AB, TRUTH, (GROUP,), (predictions(), predictions())), "same seed"),
        (
            lambda: GroupData("set", AB, TRUTH, (GROUP,), (predictions(), predictions(seed=1))),
            "without a seed",
        ),
        (
            lambda: GroupData("set", AB, TRUTH, (GROUP,), splits={"train": Split(TRUTH, {})}),
            "train has no groups of group",
        ),
        (
            lambda: GroupData(
                "set", AB, TRUTH, (GROUP,), splits={"train": Split(TRUTH, {"group": TRUTH[:1]})}
            ),
            "group of train has 1 rows",
        ),
        (
            lambda: GroupData("set", AB, TRUTH, (GROUP,), splits={"test": Split(TRUTH, {"group": TRUTH})}),
            "test is given twice",
        ),
        (
            lambda: analyze(GroupData("set", AB, TRUTH, (GROUP,), (predictions(),)), pairs=[("m", "n")]),
            "no predictions of n",
        ),
    ],
)
def test_input_that_does_not_fit(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_rows_without_a_group_are_in_none():
    attribute = Attribute("group", ("x", "y"), np.array([0, -1, 1]))
    data = GroupData("set", AB, TRUTH, (attribute,), (predictions(),))
    found = analyze(data)
    assert [row.n for row in found.representation] == [1, 1]
    assert {row.n for row in found.group_scores} == {1}
