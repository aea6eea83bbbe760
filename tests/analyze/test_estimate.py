"""What is estimated, and what is said of what is not: no sample may crash the analysis or vanish from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tastings import DESIGNS, Table, specifications

import analyze
from analyze.counterfactual.estimate import Engine

ENGINES = pytest.mark.parametrize("engine", ["pyfixest", "numpy"])


def estimates(table: Table, folder: Path, engine: Engine = "numpy") -> dict[tuple[str, str, str], dict]:
    found = analyze.run(
        table.database(), specifications(folder), engine=engine, audit=False
    ).estimates.to_pylist()
    return {(row["label"], row["value"], row["variant"]): row for row in found}


def glasses(moves: dict[str, tuple[float | None, float | None, float | None]]) -> Table:
    """Wines tasted from crystal, plastic and paper."""
    table = Table()
    for i, (wine, points) in enumerate(moves.items()):
        for value, given in zip(("crystal", "plastic", "paper"), points, strict=True):
            if given is not None:
                table.taste("glass", value, wine, given, truth=10.0, region=f"region {i % 3}")
    return table


@ENGINES
def test_paired_differences_by_hand(tmp_path: Path, engine: Engine) -> None:
    """With two values and complete documents the estimate is the mean difference, its t the paired t."""
    rng = np.random.default_rng(1)
    before = rng.integers(5, 20, 40).astype(float)
    jumps = rng.choice([-2.0, 0.0, 0.0, 3.0], 40)
    table = Table()
    for i in range(40):
        table.taste("music", "silence", f"wine {i}", before[i])
        table.taste("music", "loud", f"wine {i}", before[i] + jumps[i])
    row = estimates(table, tmp_path, engine)["music", "loud", "level"]
    paired = stats.ttest_rel(before + jumps, before)
    assert row["coef"] == pytest.approx(jumps.mean(), rel=1e-12)
    # G/(G-1) * (N-1)/(N-K-1) against the plain paired t: the second factor is all that differs.
    assert row["t"] == pytest.approx(paired.statistic * np.sqrt((80 - 1 - 1) / (80 - 1)), rel=1e-12)
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(row["t"]), 39), rel=1e-12)
    assert (row["n"], row["documents"], row["clusters"], row["df"]) == (80, 40, 40, 39)
    assert row["changers"] == np.count_nonzero(jumps)
    half = stats.t.ppf(0.975, 39) * row["se"]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((row["coef"] - half, row["coef"] + half))
    assert row["note"] is None


@ENGINES
def test_nothing_changes(tmp_path: Path, engine: Engine) -> None:
    row = estimates(glasses({f"w{i}": (10 + i, 10 + i, 10 + i) for i in range(6)}), tmp_path, engine)
    for key in (("glass", "plastic", "main"), ("glass", "paper", "by_region"), ("glass", "paper", "robust")):
        assert (row[key]["coef"], row[key]["se"], row[key]["p"]) == (0.0, None, None)
        assert row[key]["note"] == "no variation"
        assert row[key]["changers"] == 0
    # The distance from the truth does not change either.
    assert row["glass", "plastic", "distance"]["note"] == "no variation"


@ENGINES
def test_one_value_changes_nothing_beside_one_that_does(tmp_path: Path, engine: Engine) -> None:
    """The still value's standard error is rounding: it must not become a t of one."""
    moves = {f"w{i}": (10.1 + i, 10.1 + i, 10.1 + i + i % 3) for i in range(12)}
    found = estimates(glasses(moves), tmp_path, engine)
    still, moving = found["glass", "plastic", "level"], found["glass", "paper", "level"]
    assert (still["coef"], still["p"], still["note"], still["changers"]) == (0.0, None, "no variation", 0)
    assert moving["coef"] == pytest.approx(1.0)
    assert moving["p"] < 0.01
    assert moving["changers"] == 8


@ENGINES
def test_every_document_moves_alike(tmp_path: Path, engine: Engine) -> None:
    moves = {f"w{i}": (10.0 + i, 12.0 + i, None) for i in range(8)}
    row = estimates(glasses(moves), tmp_path, engine)["glass", "plastic", "level"]
    assert row["coef"] == pytest.approx(2.0)
    assert (row["se"], row["p"]) == (None, None)
    assert row["note"].startswith("no spread")
    assert row["changers"] == 8


@ENGINES
@pytest.mark.parametrize(
    ("moves", "plastic", "paper"),
    [
        ({"a": (10, None, None), "b": (None, 9, None)}, "no repeated documents", "no repeated documents"),
        ({"a": (None, 9, 8), "b": (None, 8, 8)}, "reference value missing", "reference value missing"),
        ({f"w{i}": (10, 9 + i % 2, None) for i in range(9)}, None, "value missing"),
        # Paper stands only beside itself: nothing ties it to crystal.
        (
            {**{f"w{i}": (10, 9 + i % 2, None) for i in range(9)}, "z": (None, None, 5.0)},
            None,
            "never beside the reference",
        ),
    ],
)
def test_what_cannot_be_estimated_says_why(
    tmp_path: Path, engine: Engine, moves: dict, plastic: str | None, paper: str
) -> None:
    found = estimates(glasses(moves), tmp_path, engine)
    for variant in ("main", "level", "robust", "by_region", "distance"):
        for value, why in (("plastic", plastic), ("paper", paper)):
            row = found["glass", value, variant]
            if why is None:
                assert row["p"] is not None
            else:
                assert (row["coef"], row["p"]) == (None, None)
                assert row["note"].startswith(why)


@ENGINES
def test_no_answer_at_all_in_a_sample(tmp_path: Path, engine: Engine) -> None:
    table = Table()
    for wine in ("a", "b"):
        for value in ("silence", "loud"):
            table.taste("music", value, wine, None)
    row = estimates(table, tmp_path, engine)["music", "loud", "main"]
    assert row["note"] == "empty sample; left out: 4 outside the sample"
    assert (row["n"], row["documents"], row["clusters"]) == (0, 0, None)


@ENGINES
def test_one_cluster_and_no_freedom(tmp_path: Path, engine: Engine) -> None:
    table = Table()
    for wine, jump in (("a", 1.0), ("b", 3.0)):
        table.taste("music", "silence", wine, 10.0, region="valley")
        table.taste("music", "loud", wine, 10.0 + jump, region="valley")
    found = estimates(table, tmp_path, engine)
    assert found["music", "loud", "by_region"]["note"] == "fewer than two clusters"
    assert found["music", "loud", "level"]["p"] is not None
    lone = Table()
    lone.taste("music", "silence", "a", 10.0)
    lone.taste("music", "loud", "a", 11.0)
    found = estimates(lone, tmp_path, engine)
    assert found["music", "loud", "robust"]["note"] == "one document only"
    assert found["music", "loud", "level"]["note"] == "one document only"


@ENGINES
def test_repeats_that_are_not_clustered_are_said_to_count_as_independent(
    tmp_path: Path, engine: Engine
) -> None:
    table = Table()
    for i in range(12):
        for repeat in range(2):
            table.taste("music", "silence", f"w{i}", 10.0, repeat=repeat)
            table.taste("music", "loud", f"w{i}", 10.0 + i % 3, repeat=repeat)
        for value, points in (("crystal", 10.0), ("plastic", 10.0 + i % 4), ("paper", 11.0 - i % 2)):
            table.taste("glass", value, f"w{i}", points)
    found = estimates(table, tmp_path, engine)
    assert found["music", "loud", "robust"]["note"] == "repeats counted as independent"
    assert found["music", "loud", "level"]["note"] is None
    assert found["glass", "paper", "robust"]["note"] is None


@ENGINES
def test_every_answer_is_accounted_for(tmp_path: Path, engine: Engine) -> None:
    moves = {f"w{i}": (10.0, 9.0 + i % 2, 10.0 + i % 4) for i in range(10)}
    table = glasses(moves)
    table.taste("glass", "crystal", "alone", 7.0, region="hill")
    table.taste("glass", "bottle", "w1", 7.0, region="hill")
    table.taste("glass", "paper", "w1", None, region="hill")
    table.taste("glass", "crystal", "w2", 11.0, region=None, repeat=1)
    found = estimates(table, tmp_path, engine)
    level, by_region = found["glass", "paper", "level"], found["glass", "paper", "by_region"]
    assert level["note"] == (
        "left out: 1 outside the sample, 1 of a value that is neither reference nor treated, "
        "1 alone in their document"
    )
    assert level["n"] == len(table.rows) - 3
    assert "1 without cluster" in by_region["note"]
    assert by_region["n"] == len(table.rows) - 4


@ENGINES
def test_continuous_treatment(tmp_path: Path, engine: Engine) -> None:
    rng = np.random.default_rng(2)
    table = Table()
    dose, points = np.log(rng.uniform(5, 80, (30, 2))), rng.normal(50, 5, 30)
    answers = points[:, None] + 1.5 * dose + rng.normal(0, 0.1, (30, 2))
    for i in range(30):
        for j in range(2):
            table.taste("price", f"{np.exp(dose[i, j]):.2f}", f"w{i}", answers[i, j], dose=dose[i, j])
    row = estimates(table, tmp_path, engine)["price", "price", "level"]
    dx, dy = dose[:, 1] - dose[:, 0], answers[:, 1] - answers[:, 0]
    assert row["coef"] == pytest.approx(dx @ dy / (dx @ dx), rel=1e-10)
    assert (row["documents"], row["changers"]) == (30, 30)
    same = Table()
    for wine in "abcd":
        for points in (1.0, 2.0):
            same.taste("price", "9", wine, points, dose=2.2)
    assert estimates(same, tmp_path, engine)["price", "price", "level"]["note"].startswith(
        "treatment does not"
    )


def test_p_below_1e16_is_not_zero(tmp_path: Path) -> None:
    table = Table()
    for i in range(100):
        table.taste("music", "silence", f"w{i}", 10.0)
        table.taste("music", "loud", f"w{i}", 15.0 + 3 * (i % 2))
    row = estimates(table, tmp_path)["music", "loud", "level"]
    assert 0 < row["p"] < 1e-50


def test_labels_without_answers_have_no_rows_and_others_have_all(tmp_path: Path) -> None:
    found = estimates(glasses({f"w{i}": (10, 9 + i % 2, 10 + i % 3) for i in range(9)}), tmp_path)
    assert {key[0] for key in found} == {"glass"}
    treated = next(design[4] for design in DESIGNS if design[0] == "glass")
    variants = ("main", "level", "robust", "by_region", "distance")
    assert set(found) == {("glass", value, variant) for value in treated for variant in variants}
