"""Findings of a domain that is not law: repeats, doses, temperatures, pairs, what may still be asked."""

from __future__ import annotations

from pathlib import Path

import cellar
import numpy as np
import pytest
from tastings import SPECIFICATIONS, Table, specifications

import analyze
from analyze.findings import Finding, Pending, read_findings, read_pending

INFERENCE = """
[inference]
outcome = "points"
sample = "true"
missing = "CASE WHEN points IS NULL THEN 'spilt' END"
declined = "points IS NULL AND region = 'dry'"
carrier = "region"
"""


def found(table: Table, folder: Path) -> list[Finding]:
    connection = table.database()
    analyze.run(connection, specifications(folder, SPECIFICATIONS + INFERENCE), audit=False, draws=4_999)
    return read_findings(connection)


def of(rows: list[Finding], label: str, value: str, test: str = "outcome") -> Finding:
    (row,) = (r for r in rows if (r.label, r.value, r.test) == (label, value, test))
    return row


def test_a_domain_without_kinds_has_no_test_of_kinds(tmp_path: Path) -> None:
    table = Table()
    for i in range(12):
        for value in ("silence", "loud"):
            table.taste("music", value, f"w{i}", 10.0 + i)
    rows = found(table, tmp_path)
    assert [(r.scope, r.test) for r in rows] == [
        ("label", "outcome"), ("test", "outcome"), ("value", "outcome"),
        ("test", "missing"), ("value", "missing"),
    ]  # fmt: skip
    assert [r.position for r in rows] == list(range(5))
    assert {r.unit for r in rows if r.test == "outcome"} == {"points"}


def test_repeats_are_averaged_and_count_once(tmp_path: Path) -> None:
    """Three repeats that differ: a pair is a wine, and its move the difference of the means."""
    rng = np.random.default_rng(1)
    table = Table()
    moves = []
    for i in range(20):
        loud = [float(rng.integers(10, 14)) for _ in range(3)]
        quiet = [float(rng.integers(10, 13)) for _ in range(2)]
        moves.append(np.mean(loud) - np.mean(quiet))
        for repeat, points in enumerate(loud):
            table.taste("music", "loud", f"w{i:02}", points, repeat=repeat)
        for repeat, points in enumerate([*quiet, None]):
            table.taste("music", "silence", f"w{i:02}", points, repeat=repeat)
    row = of(found(table, tmp_path), "music", "loud")
    assert (row.n_asked, row.n_compared) == (20, 20)
    assert row.effect == pytest.approx(np.mean(moves))
    assert (row.ups, row.downs) == (int(np.sum(np.array(moves) > 0)), int(np.sum(np.array(moves) < 0)))
    assert row.se == pytest.approx(np.std(moves, ddof=1) / np.sqrt(20))
    missing = of(found(table, tmp_path), "music", "loud", "missing")
    assert missing.effect == pytest.approx(-1 / 3)
    assert (missing.ups, missing.downs, missing.declined, missing.declined_reference) == (0, 20, 0, 0)


def test_noise_of_repeats_is_no_finding(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    table = Table()
    for i in range(30):
        for value in ("silence", "loud"):
            for repeat in range(3):
                table.taste("music", value, f"w{i:02}", float(rng.integers(5, 15)), repeat=repeat)
        for value in ("crystal", "plastic", "paper"):
            for repeat in range(3):
                table.taste("glass", value, f"w{i:02}", float(rng.integers(5, 15)), repeat=repeat)
    assert "confirmed" not in {r.state for r in found(table, tmp_path)}


def test_three_doses_tell_the_two_that_lie_furthest_apart(tmp_path: Path) -> None:
    table = Table()
    for i in range(15):
        for dose in (1.0, 2.0, 5.0):
            table.taste("price", f"{dose:g} euros", f"w{i:02}", 10.0 + i + dose, dose=dose)
    row = of(found(table, tmp_path), "price", "price")
    assert (row.contrast, row.effect, row.effect_kind) == ("1 euros -> 5 euros", 4.0, "paired")
    assert (row.p_kind, row.state, row.p) == ("permutations", "confirmed", 1 / 5_000)


def test_doses_that_every_case_has_of_its_own_are_estimated_by_the_slope(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    table = Table()
    for i in range(20):
        for dose in rng.uniform(1, 9, 2):
            points = 10.0 + i + 2 * dose + float(rng.normal())
            table.taste("price", f"{dose}", f"w{i:02}", points, dose=float(dose))
    row = of(found(table, tmp_path), "price", "price")
    assert row.contrast is None
    assert (row.effect_kind, row.unit, row.state) == ("slope", "points for 1 of price", "confirmed")
    assert "estimated" in row.notes
    assert row.effect == pytest.approx(2, abs=0.3)
    assert row.n_compared == 20


def test_declined_answers_are_told_from_spilt_ones(tmp_path: Path) -> None:
    table = Table()
    for i in range(24):
        dry = "dry" if i < 9 else "wet"
        table.taste("music", "silence", f"w{i:02}", 10.0 + i, region=dry)
        table.taste("music", "loud", f"w{i:02}", None if i < 14 else 10.0 + i, region=dry)
    row = of(found(table, tmp_path), "music", "loud", "missing")
    assert (row.measure, row.n_changed, row.declined, row.state) == ("missing", 14, 9, "confirmed")


def test_two_documents_and_pairs_without_a_partner(tmp_path: Path) -> None:
    table = Table()
    for i in range(2):
        table.taste("music", "silence", f"w{i}", 10.0)
        table.taste("music", "loud", f"w{i}", 12.0)
    for i in range(30):
        table.taste("glass", "crystal" if i % 2 else "plastic", f"w{i}", 10.0)
    rows = found(table, tmp_path)
    loud, plastic = of(rows, "music", "loud"), of(rows, "glass", "plastic")
    assert (loud.n_compared, loud.state, loud.reason_code) == (2, "untestable", "too_few_cases")
    assert (loud.p, loud.ups) == (0.5, 2)
    assert (plastic.n_asked, plastic.n_compared, plastic.state) == (0, 0, "untestable")
    assert plastic.reason_code == "nothing_compared"


def test_two_temperatures_are_two_models_of_one_family(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = Table()
    for temperature in (0.0, 1.0):
        for i in range(20):
            for value in ("silence", "loud"):
                points = 10.0 + float(rng.integers(0, 3)) + 5.0 * (value == "loud" and temperature == 1.0)
                table.taste("music", value, f"w{i:02}", points)
                table.rows[-1] |= {"temperature": temperature, "model_key": f"key at {temperature}"}
    rows = [r for r in found(table, tmp_path) if r.scope == "label"]
    assert [(r.cell.temperature, r.family, r.state == "confirmed") for r in rows] == [
        (0.0, 2, False),
        (1.0, 2, True),
    ]


def test_a_value_beside_a_confirmed_one_is_not_named_with_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    table = Table()
    for i in range(40):
        for value in ("crystal", "plastic", "paper"):
            points = 10.0 + i + float(rng.integers(0, 3)) + 4.0 * (value == "plastic")
            table.taste("glass", value, f"w{i:02}", points)
    rows = found(table, tmp_path)
    plastic, paper = of(rows, "glass", "plastic"), of(rows, "glass", "paper")
    assert (plastic.state, paper.state) == ("confirmed", "not_shown")
    assert plastic.p_within is not None
    assert plastic.p is not None
    assert plastic.p_within >= plastic.p
    assert (plastic.ci_kind, paper.ci_kind) == ("selected", "plain")


def test_what_is_pending_by_model_and_repeat(tmp_path: Path) -> None:
    made = cellar.Cellar(models=(("A", "api", 0.0), ("B", "api", 0.0)), wines=4)
    with made.open(tmp_path / "cellar.duckdb") as study:
        queries = 4 * sum(len(label[5]) for label in made.labels)
        study.connection.execute(
            "DELETE FROM predictions WHERE model_key = ? AND query_id IN "
            "(SELECT query_id FROM queries WHERE doc_id = 'wine 3')", [f"{1:032x}"],
        )  # fmt: skip
        first, second = read_pending(study)
        assert first == Pending("cellar", "A", 0.0, f"{0:032x}", "base", 0, queries, queries, 0, 0)
        assert second == Pending(
            "cellar", "B", 0.0, f"{1:032x}", "base", 0, queries, queries * 3 // 4, 0, queries // 4
        )
        study.connection.execute("UPDATE models SET kind = 'imported' WHERE model = 'B'")
        assert read_pending(study)[1].pending == 0
