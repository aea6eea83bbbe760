"""One estimate never mixes arms or outcomes; outcomes of one answer are one family of tests, arms are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cellar
import numpy as np
import pytest
from tastings import SPECIFICATIONS, Table, specifications

import analyze
import store
from analyze.analysis import Analysis
from analyze.findings import Finding, read_findings
from analyze.report import model_comparison
from analyze.report.data import read
from analyze.report.export import write_tables
from analyze.report.html import render, write_html
from analyze.specification import Specifications, load
from analyze.stored import staleness
from store.errors import BadInput

TEXT = SPECIFICATIONS + '\n[inference]\noutcome = "points"\nsample = "points is not null"\n'


def taste(table: Table, effect: float, *, arm: str = "base", outcome: str = "points", seed: int = 0) -> None:
    """Forty wines under two labels; loud music costs or brings `effect` points."""
    rng = np.random.default_rng(seed)
    for i in range(40):
        own = float(rng.integers(60, 90))
        for label, values in (("music", ("silence", "loud")), ("glass", ("crystal", "plastic", "paper"))):
            for value in values:
                points = own + float(rng.integers(-1, 2)) + effect * (value == "loud")
                table.taste(label, value, f"w{i:02}", points, truth=75.0, arm=arm, outcome=outcome)


def both(folder: Path) -> tuple[Specifications, Specifications]:
    """What is analysed of the points, and the same of the aroma."""
    points = load(specifications(folder, TEXT))
    return points, replace(points, outcome="aroma")


def run(table: Table, specs: Sequence[Specifications] | Specifications, **more: object) -> Analysis:
    return analyze.run(table.database(), specs, audit=False, draws=999, **more)  # type: ignore[arg-type]


def of(analysis: Analysis, name: str, **key: str) -> list[dict[str, object]]:
    return [row for row in analysis.tables[name].to_pylist() if all(row[k] == v for k, v in key.items())]


def without(rows: list[dict[str, object]], *names: str) -> list[dict[str, object]]:
    return [{k: v for k, v in row.items() if k not in (*names, "analysed_at")} for row in rows]


@pytest.mark.parametrize("column", ["arm", "outcome"])
def test_each_is_analysed_as_if_the_other_were_not_there(tmp_path: Path, column: str) -> None:
    points, aroma = both(tmp_path)
    key = {"arm": ("base", "plain"), "outcome": ("points", "aroma")}[column]
    together, alone = Table(), []
    for place, name in enumerate(key):
        taste(together, -5.0 + 8 * place, seed=place, **{column: name})
        single = Table()
        taste(single, -5.0 + 8 * place, seed=place, **{column: name})
        alone.append(single)
    whole = run(together, (points, aroma))
    for name, table in zip(key, alone, strict=True):
        single_run = run(table, aroma if name == "aroma" else points)
        for of_table, rows in single_run.tables.items():
            if of_table == "findings" and column == "outcome":
                continue  # corrected for each other
            expected = without(rows.to_pylist(), "first", "second") if len(rows) else []
            found = without(of(whole, of_table, **{column: name}), "first", "second")
            assert found == expected, of_table
    effects = {
        row[column]: row["coef"]
        for row in of(whole, "estimates", variant="level", label="music")
    }  # fmt: skip
    assert effects[key[0]] < -4 < 2 < effects[key[1]]


def confirmed(connection: object, **key: str) -> list[Finding]:
    return [one for one in read_findings(connection, **key) if one.scope == "label"]  # type: ignore[arg-type]


def test_outcomes_are_one_family_and_arms_are_not(tmp_path: Path) -> None:
    points, aroma = both(tmp_path)
    table = Table()
    for arm in ("base", "plain"):
        for seed, outcome in enumerate(("points", "aroma")):
            taste(table, -5.0, arm=arm, outcome=outcome, seed=seed)
    connection = table.database()
    analyze.run(connection, (points, aroma), audit=False, draws=999)
    for arm in ("base", "plain"):
        rows = confirmed(connection, arm=arm)
        assert {(row.cell.outcome, row.label) for row in rows} == {
            (outcome, label) for outcome in ("points", "aroma") for label in ("music", "glass")
        }
        assert {row.family for row in rows if row.p_within is not None} == {4}
    before = [(one.cell, one.position, one.p_adjusted, one.state) for one in read_findings(connection)]
    # The other outcome's findings stay in the family where one is analysed by itself.
    for specs in (aroma, points):
        analyze.run(connection, specs, audit=False, draws=999)
        after = [(one.cell, one.position, one.p_adjusted, one.state) for one in read_findings(connection)]
        assert after == before
    # An outcome taken alone, in a study without the other, has a family of its own.
    single = Table()
    taste(single, -5.0)
    assert {row["family"] for row in of(run(single, points), "findings", scope="label")} == {2}


def test_one_arm_is_analysed_and_the_others_stay(tmp_path: Path) -> None:
    points, _ = both(tmp_path)
    table = Table()
    for arm in ("base", "plain"):
        taste(table, -5.0, arm=arm)
    connection = table.database()
    analyze.run(connection, points, audit=False, inference=False)
    connection.execute("UPDATE estimates SET note = 'earlier'")
    analysis = analyze.run(connection, points, audit=False, inference=False, arms=["plain"])
    assert {cell.arm for cell in analysis.cells} == {"plain"}
    found = dict(connection.execute("SELECT arm, max(note) FROM estimates GROUP BY arm").fetchall())
    assert found["base"] == "earlier"
    assert found["plain"] != "earlier"
    with pytest.raises(BadInput, match="no answers in an arm 'plane'") as error:
        analyze.run(connection, points, arms=["plane"])
    assert "base, plain" in str(error.value.hint)
    with pytest.raises(BadInput, match="no arm is named"):
        analyze.run(connection, points, arms=[])


def test_specifications_that_cannot_be_told_apart_are_bad_input(tmp_path: Path) -> None:
    points, _ = both(tmp_path)
    with pytest.raises(BadInput, match="both about the outcome 'points'"):
        run(Table(), (points, points))
    with pytest.raises(BadInput, match="no outcome is named"):
        run(Table(), ())


@pytest.mark.parametrize(("given", "name"), [('outcome = "points"', "points"), ("", "outcome")])
def test_the_outcome_has_a_name(tmp_path: Path, given: str, name: str) -> None:
    text = SPECIFICATIONS.replace('outcome = "points"\n', f"{given}\n", 1)
    assert load(specifications(tmp_path, text)).outcome == name


def test_an_outcome_with_an_odd_name_is_bad_input(tmp_path: Path) -> None:
    text = SPECIFICATIONS.replace('outcome = "points"\n', 'outcome = "Points!"\n', 1)
    with pytest.raises(BadInput, match="outcome"):
        load(specifications(tmp_path, text))


@pytest.fixture
def study(tmp_path: Path) -> store.Study:
    """A study whose queries about half of the wines are another arm's."""
    study = cellar.Cellar().open(tmp_path / "cellar.duckdb")
    study.connection.execute(
        "UPDATE queries SET arm = 'plain' WHERE CAST(split_part(doc_id, ' ', 2) AS INTEGER) % 2 = 1"
    )
    path = tmp_path / "specifications.toml"
    path.write_text(cellar.SPECIFICATIONS, encoding="utf-8")
    analyze.run(study, path, engine="numpy", audit=False, draws=999)
    return study


def test_answers_make_the_analysis_of_their_own_arm_old(study: store.Study) -> None:
    assert not staleness.outdated(study.connection)
    study.connection.execute(
        "UPDATE queries SET retired_at = now() WHERE arm = 'plain' AND doc_id = 'wine 1' AND label = 'music'"
    )
    assert {(row.arm, row.more, row.changed) for row in staleness.outdated(study.connection)} == {
        ("plain", -2, True)
    }
    assert not staleness.unanalysed(study.connection)
    study.connection.execute("UPDATE queries SET arm = 'listed' WHERE doc_id = 'wine 3'")
    (one,) = {(row.arm, row.outcome, row.answers) for row in staleness.unanalysed(study.connection)}
    assert one == ("listed", "score", 11)


def test_results_are_lost_only_with_the_answers_of_their_arm(study: store.Study, tmp_path: Path) -> None:
    path = tmp_path / "specifications.toml"
    study.connection.execute("DELETE FROM score_designs WHERE label = 'room'")
    study.connection.execute("DELETE FROM score_values WHERE label = 'room'")
    with pytest.raises(BadInput, match=r"room .*arm plain"):
        analyze.run(study, path, engine="numpy", audit=False, inference=False, arms=["plain"])
    study.connection.execute("UPDATE queries SET retired_at = now() WHERE label = 'room' AND arm = 'plain'")
    analyze.run(study, path, engine="numpy", audit=False, inference=False, arms=["plain"])
    with pytest.raises(BadInput, match="room"):
        analyze.run(study, path, engine="numpy", audit=False, inference=False)
    study.connection.execute("UPDATE queries SET retired_at = now() WHERE arm = 'plain'")
    study.connection.execute("UPDATE queries SET retired_at = now() WHERE label = 'room'")
    removed = analyze.run(study, path, engine="numpy", audit=False, inference=False).removed
    assert {cell.arm for cell in removed} == {"plain"}


def test_the_report_tells_arms_apart_and_counts_each_by_itself(study: store.Study, tmp_path: Path) -> None:
    results = read(study, tmp_path / "specifications.toml")
    assert [(audit.name, audit.arm, audit.documents) for audit in results.audits] == [
        ("Sommelier 7B", "base", 12),
        ("Sommelier 7B, arm plain", "plain", 12),
    ]
    queries = 12 * sum(len(label[5]) for label in cellar.LABELS)
    for audit in results.audits:
        assert (audit.queries, audit.asked, audit.pending) == (queries, queries, 0)
        assert sum(tally.rows for tally in audit.main.tallies) == queries
    page = render(results)
    assert "Sommelier 7B, arm plain" in page
    write_tables(study, tmp_path / "specifications.toml", tmp_path / "csv")
    for name in ("models", "values", "labels", "label_tests"):
        lines = (tmp_path / "csv" / f"{name}.csv").read_text(encoding="utf-8-sig").splitlines()
        assert "arm" in lines[0].split(",")
        assert sum("plain" in line for line in lines[1:]) * 2 == len(lines) - 1
    alone = read(study, tmp_path / "specifications.toml", arms=["plain"])
    assert [audit.arm for audit in alone.audits] == ["plain"]
    path = write_html(study, tmp_path / "specifications.toml", tmp_path / "html", arms=["base"])
    assert ", arm plain" not in path.read_text(encoding="utf-8")
    write_tables(study, tmp_path / "specifications.toml", tmp_path / "one", arms=["plain"])
    assert "base" not in (tmp_path / "one" / "models.csv").read_text(encoding="utf-8-sig")


def test_nothing_is_said_of_arms_where_only_the_base_is_there(tmp_path: Path) -> None:
    study, path = cellar.Cellar().analysed(tmp_path, inference=True)
    with study:
        results = read(study, path)
        assert ", arm" not in render(results)
        write_tables(study, path, tmp_path / "csv")
        for file in (tmp_path / "csv").glob("*.csv"):
            assert "arm" not in file.read_text(encoding="utf-8-sig").splitlines()[0].split(","), file


def test_arms_have_verdicts_of_their_own_and_are_never_ranked(tmp_path: Path) -> None:
    made = cellar.Cellar(models=(("A", "api", 0.0), ("B", "api", 0.0)), wines=60, planted=-9.0)
    study = made.open(tmp_path / "cellar.duckdb")
    study.connection.execute(
        "UPDATE queries SET arm = 'plain' WHERE CAST(split_part(doc_id, ' ', 2) AS INTEGER) % 2 = 1"
    )
    # In the plain arm nothing moves: every answer is that to the reference.
    study.connection.execute(
        "UPDATE predictions SET text = 'I give 80 points' WHERE query_id IN "
        "(SELECT query_id FROM queries WHERE arm = 'plain')"
    )
    path = tmp_path / "specifications.toml"
    path.write_text(cellar.SPECIFICATIONS, encoding="utf-8")
    with study:
        analyze.run(study, path, engine="numpy", audit=False, draws=9_999)
        compared = model_comparison.compare(read(study, path))
        said = " ".join(compared.plain())
        assert not compared.alike
        assert "Arm base: In 2 of 2 models labels are confirmed to change the answers." in said
        assert "Arm plain: In none of the 2 models could anything be tested." in said
        assert "not ranked among each other" in said
        assert (
            "All labels of all models of one arm are corrected for together (arm base: 10; arm plain: 0)."
            in said
        )
        base = model_comparison.compare(read(study, path, arms=["base"]))
        assert "All labels of all models are corrected for together, 10 in all." in " ".join(base.plain())
        one = model_comparison.compare(read(study, path, models=["A"]))
        assert "Arm base: 1 label is confirmed to change the answers." in " ".join(one.plain())
        assert "Models are not independent" not in " ".join(one.plain())
        page = render(read(study, path))
        assert "corrected for 10 labels (of all models together)" in " ".join(
            re.sub("<[^>]*>", "", page).split()
        )


def test_the_report_of_one_outcome_says_that_it_is_corrected_with_the_others(tmp_path: Path) -> None:
    study, path = cellar.Cellar().analysed(tmp_path, inference=True)
    with study:
        study.connection.execute(
            "INSERT INTO findings BY NAME SELECT * REPLACE ('aroma' AS outcome) FROM findings"
        )
        results = read(study, path)
        assert results.outcomes == ("score", "aroma")
        assert [audit.main.findings[0].cell.outcome for audit in results.audits] == ["score"]
        assert results.together(results.audits[0]) == "of all outcomes together"
