"""Results say when they are no longer of the answers that the study has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cellar import SPECIFICATIONS, Cellar

import analyze
import store
from analyze.report import data_flow
from analyze.report.data import read
from analyze.report.data_flow import SINCE
from analyze.stored.staleness import outdated, unanalysed

MODELS = (("Sommelier 7B", "api", 0.0), ("Taster XL", "api", 0.0))


@pytest.fixture
def analysed(tmp_path: Path) -> Iterator[tuple[store.Study, Path]]:
    study, specifications = Cellar(models=MODELS, wines=8).analysed(tmp_path)
    with study:
        yield study, specifications


def again(study: store.Study, specifications: Path, models: tuple[str, ...] | None = None) -> None:
    analyze.run(study, specifications, models=models, audit=False, inference=False)


def answer(study: store.Study, model: str, repeat: int = 1) -> None:
    """One more answer of a model."""
    study.connection.execute(
        "INSERT INTO predictions SELECT p.* REPLACE (uuid() AS prediction_id, ? AS repeat) "
        "FROM predictions AS p WHERE model_key = (SELECT model_key FROM models WHERE model = ?) LIMIT 1",
        [repeat, model],
    )


def told(study: store.Study, specifications: Path) -> str:
    return " ".join(read(study, specifications).notices())


def test_an_analysis_of_what_is_there_is_not_called_old(analysed: tuple[store.Study, Path]) -> None:
    study, specifications = analysed
    assert outdated(study.connection) == []
    assert read(study, specifications).notices() == ()


def test_answers_that_came_later_are_told_of_their_model_alone(analysed: tuple[store.Study, Path]) -> None:
    study, specifications = analysed
    answer(study, "Taster XL")
    rows = outdated(study.connection)
    assert {(row.coding, row.more, row.changed) for row in rows} == {("careful", 1, True), ("hasty", 1, True)}
    notice = told(study, specifications)
    assert "Taster XL (analysed" in notice
    assert "1 more answers since" in notice
    assert "Sommelier" not in notice
    again(study, specifications, ("Taster XL",))
    assert outdated(study.connection) == []


def test_an_answer_in_the_place_of_another_is_told(analysed: tuple[store.Study, Path]) -> None:
    study, specifications = analysed
    study.connection.execute(
        "UPDATE predictions SET prediction_id = uuid() "
        "WHERE prediction_id = (SELECT prediction_id FROM predictions LIMIT 1)"
    )
    assert [row.more for row in outdated(study.connection)] == [0, 0]
    assert "other answers since" in told(study, specifications)


def test_a_run_set_aside_is_told(analysed: tuple[store.Study, Path]) -> None:
    study, _ = analysed
    study.connection.execute("UPDATE runs SET set_aside_at = now() AT TIME ZONE 'UTC'")
    rows = outdated(study.connection)
    assert len(rows) == 4
    assert all(row.more < 0 and row.changed for row in rows)
    study.connection.execute("UPDATE runs SET set_aside_at = NULL")
    assert outdated(study.connection) == []


def test_an_import_into_the_collection_may_have_corrected_true_judgments(
    analysed: tuple[store.Study, Path],
) -> None:
    study, specifications = analysed
    run = (
        "INSERT INTO runs (run_id, kind, state, started_at, manifest) VALUES (uuid(), 'import', 'finished', "
        "now() AT TIME ZONE 'UTC' + INTERVAL 1 HOUR, json_object('collection', ?::VARCHAR))"
    )
    study.connection.execute(run, ["another"])
    assert outdated(study.connection) == []
    study.connection.execute(run, ["cellar"])
    assert "an import since" in told(study, specifications)


def test_a_model_that_was_never_analysed_is_told(tmp_path: Path) -> None:
    cellar = Cellar(models=MODELS, wines=6)
    path = tmp_path / "specifications.toml"
    path.write_text(SPECIFICATIONS, encoding="utf-8")
    with cellar.open() as study:
        again(study, path, ("Sommelier 7B",))
        assert {(row.model, row.coding, row.answers) for row in unanalysed(study.connection)} == {
            ("Taster XL", "careful", 66), ("Taster XL", "hasty", 66),
        }  # fmt: skip
        notice = told(study, path)
        assert "Not analysed: Taster XL (66 answers) under the careful and the hasty coding." in notice
        assert "Not up to date" not in notice
        assert read(study, path, models=["Sommelier 7B"]).notices() == ()
        analyze.run(study, path, codings=["careful"], audit=False, inference=False)
        assert "Taster XL (66 answers) under the hasty coding" in told(study, path)
        again(study, path)
        assert read(study, path).notices() == ()


def test_the_account_says_of_newer_answers_that_they_are_newer(analysed: tuple[store.Study, Path]) -> None:
    study, specifications = analysed
    answer(study, "Taster XL")
    results = read(study, specifications)
    audit = next(audit for audit in results.audits if audit.model == "Taster XL")
    losses = [loss for step in data_flow.steps(results, audit, audit.main) for loss in step.losses]
    assert (SINCE, 1) in [(loss.reason, loss.rows) for loss in losses]


def test_a_model_of_which_no_answer_counts_any_more_goes_at_the_next_analysis(
    analysed: tuple[store.Study, Path],
) -> None:
    study, specifications = analysed
    study.connection.execute(
        "INSERT INTO runs SELECT * REPLACE (uuid() AS run_id, now() AT TIME ZONE 'UTC' AS set_aside_at) "
        "FROM runs"
    )
    study.connection.execute(
        "UPDATE predictions SET run_id = (SELECT run_id FROM runs WHERE set_aside_at IS NOT NULL) "
        "WHERE model_key = (SELECT model_key FROM models WHERE model = 'Taster XL')"
    )
    assert [audit.model for audit in read(study, specifications).audits] == ["Sommelier 7B"]
    study.connection.execute(
        "DELETE FROM predictions WHERE run_id IN (SELECT run_id FROM runs WHERE set_aside_at IS NOT NULL)"
    )
    analyze.run(study, specifications, codings=("careful", "hasty"), audit=False, inference=False)
    left = study.connection.execute("SELECT DISTINCT model FROM label_metrics").fetchall()
    assert left == [("Sommelier 7B",)]
    assert outdated(study.connection) == []
