"""`evenhand analyze` takes nothing away that it cannot compute anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from small_study import ask, rows, study_at

import analyze
import store
from evenhand.cli.analyze import command as analyze_command
from evenhand.cli.options import specifications_path
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.coding import run as coding_run
from evenhand.services.analysis import analyze_study
from store import runs
from store.errors import BadInput, EvenhandError, RunFailed

RESULTS = (
    "estimates", "label_metrics", "model_metrics", "label_tests", "value_tests", "global_tests", "analyses",
    "structure_tests", "counts_over_models", "model_attributes", "findings",
)  # fmt: skip
Study = store.Study


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, three labels, analysed."""
    folder = tmp_path_factory.mktemp("keeps")
    with study_at(folder / "s.duckdb") as study:
        build(
            study, cases=case_files.bundled()[:6], labels=["defendant_sex", "judge_age", "defendant_religion"]
        )
        ask(study, folder, "phi-4")
        ask(study, folder, "gpt-4o", settings={"seed": 100})
        analyze_study(study, codings=("corrected", "published"))
    return folder / "s.duckdb"


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Any:
    (tmp_path / "s.duckdb").write_bytes(made.read_bytes())
    with study_at(tmp_path / "s.duckdb") as opened:
        yield opened


def results(study: Study) -> dict[str, list[tuple[Any, ...]]]:
    return {table: rows(study, f"SELECT * FROM {table} ORDER BY ALL") for table in RESULTS}


def refused(study: Study, kind: type[EvenhandError] = BadInput, **options: Any) -> str:
    """What `analyze` says, having changed nothing."""
    before = results(study)
    assert all(before[table] for table in ("estimates", "label_metrics", "analyses"))
    with pytest.raises(kind) as told:
        analyze_study(study, **options)
    assert results(study) == before
    return str(told.value)


def rename(study: Study, old: str, new: str) -> None:
    """As an installation asked it that has another label."""
    for table in ("estimates", "label_metrics", "label_tests", "value_tests", "queries"):
        study.connection.execute(f"UPDATE {table} SET label = ? WHERE label = ?", [new, old])


@pytest.mark.parametrize("labels", [["defendant_sex"], ["defendant_sex", "judge_age", "defendant_religion"]])
def test_a_label_that_is_not_known_here_is_named_and_nothing_goes(study: Study, labels: list[str]) -> None:
    for label in labels:
        rename(study, label, f"{label}_of_theirs")
    told = refused(study)
    for label in labels:
        assert f"{label}_of_theirs" in told
    assert "the version of Evenhand that asked them" in told
    assert "--retire-missing" in told


def test_the_command_ends_with_2_and_a_sentence(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    path.write_bytes(made.read_bytes())
    with study_at(path) as study:
        rename(study, "defendant_sex", "defendant_height")
        before = results(study)
    done = CliRunner().invoke(analyze_command, ["--db", str(path)])
    assert isinstance(done.exception, BadInput)
    assert done.exception.exit_code == 2
    with study_at(path) as study:
        assert results(study) == before


@pytest.mark.parametrize(
    ("label", "value", "other"),
    [
        ("defendant_sex", "女", "跨性别"),
        ("defendant_religion", "伊斯兰教", "某教"),
        ("judge_age", "30", "三十"),
    ],
)
def test_a_value_that_a_known_label_does_not_have_is_named(
    study: Study, label: str, value: str, other: str
) -> None:
    changed = rows(
        study,
        "UPDATE queries SET value = ? WHERE label = ? AND value = "
        "(SELECT coalesce(max(value) FILTER (value = ?), min(value)) FROM queries WHERE label = ?)",
        [other, label, value, label],
    )
    assert changed[0][0]
    assert f"{label} = {other}" in refused(study)


def test_a_placebo_of_an_unknown_label_is_unknown(study: Study) -> None:
    study.connection.execute("UPDATE queries SET label = 'placebo:theirs' WHERE label = 'judge_age'")
    assert "placebo:theirs" in refused(study)


def test_a_label_of_another_model_does_not_hinder_the_models_named(study: Study) -> None:
    study.connection.execute(
        "UPDATE queries SET label = 'theirs' WHERE label = 'judge_age' AND query_id IN "
        "(SELECT query_id FROM predictions)"
    )
    study.connection.execute(
        "DELETE FROM predictions WHERE query_id IN (SELECT query_id FROM queries WHERE label = 'theirs') "
        "AND model_key = (SELECT model_key FROM models WHERE model = 'gpt-4o')"
    )
    study.connection.execute("DELETE FROM estimates WHERE label = 'judge_age'")
    study.connection.execute("DELETE FROM label_metrics WHERE label = 'judge_age'")
    assert "theirs" in refused(study)
    analyze_study(study, models=("gpt-4o",))


def test_queries_that_were_retired_do_not_hinder(study: Study) -> None:
    study.connection.execute(
        "UPDATE queries SET label = 'theirs', retired_at = now() WHERE label = 'judge_age'"
    )
    analyze_study(study)
    assert rows(
        study, "SELECT count(*) FROM estimates WHERE label = 'judge_age' AND coding = 'corrected'"
    ) == [(0,)]


def test_an_imported_label_beyond_the_catalogue_is_told_and_hinders_nothing(study: Study) -> None:
    study.connection.execute(
        "INSERT INTO queries BY NAME SELECT uuid() AS query_id, collection, doc_id, 'victim_race' AS label, "
        "value, ordinal, arm FROM queries WHERE label = 'defendant_sex'"
    )
    study.connection.execute(
        "INSERT INTO predictions SELECT p.* REPLACE (uuid() AS prediction_id, q.query_id AS query_id) "
        "FROM predictions AS p JOIN queries AS o USING (query_id) JOIN queries AS q "
        "ON q.label = 'victim_race' AND q.doc_id = o.doc_id AND q.value = o.value"
    )
    ((notice,),) = (report.notices for report in analyze_study(study))
    assert "victim_race (" in notice
    assert "came with an import" in notice


def test_earlier_results_of_an_imported_label_are_not_lost(study: Study) -> None:
    """Whoever knew the label analysed it; here it is not known."""
    rename(study, "defendant_sex", "theirs")
    study.connection.execute("UPDATE queries SET template_hash = NULL WHERE label = 'theirs'")
    told = refused(study)
    assert "would remove results that it cannot compute anew: theirs (" in told
    assert "theirs = 女" not in told, "the label says it"


def test_a_coding_that_is_left_out_stays(study: Study) -> None:
    count = "SELECT count(*) FROM estimates WHERE coding = 'published'"
    before = rows(study, count)
    analyze_study(study, codings=("corrected",))
    assert rows(study, count) == before


def test_a_coding_whose_readings_are_gone_stays(study: Study) -> None:
    before = rows(study, "SELECT * FROM estimates WHERE coding = 'published' ORDER BY ALL")
    study.connection.execute("DELETE FROM judifair.verdicts WHERE coding = 'published'")
    study.connection.execute("DELETE FROM failures")
    analyze.run(study, specifications_path())
    assert rows(study, "SELECT * FROM estimates WHERE coding = 'published' ORDER BY ALL") == before


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"models": ("nobody",)}, BadInput, "nobody"),
        ({"models": ()}, BadInput, "names no model"),
        ({"models": ("phi-4", "nobody")}, BadInput, "nobody"),
        ({"codings": ()}, BadInput, "no coding"),
        ({"codings": ("theirs",)}, BadInput, "theirs"),
    ],
)
def test_a_choice_that_yields_nothing_takes_nothing(
    study: Study, options: dict[str, Any], kind: type[EvenhandError], told: str
) -> None:
    assert told in refused(study, kind, **options)


@pytest.mark.parametrize(
    "chosen", [{"collections": ["none"]}, {"collections": []}, {"models": []}, {"codings": []}]
)
def test_the_function_takes_nothing_for_an_empty_choice(study: Study, chosen: dict[str, Any]) -> None:
    before = results(study)
    with pytest.raises(BadInput):
        analyze.run(study, specifications_path(), **chosen)
    assert results(study) == before


def test_a_study_whose_runs_are_all_set_aside_keeps_its_results(study: Study) -> None:
    study.connection.execute("UPDATE runs SET set_aside_at = now() AT TIME ZONE 'UTC'")
    assert "Earlier results, if there are any, stay" in refused(study, RunFailed)


def test_a_model_whose_runs_are_set_aside_goes_and_is_named(study: Study) -> None:
    (run,) = [run for run in runs.list_runs(study) if "gpt-4o" in run.models]
    runs.set_aside(study, str(run.run_id))
    (notices,) = (list(report.notices) for report in analyze_study(study))
    assert notices == [
        "Removed: the results of gpt-4o (judifair, corrected coding), as none of its answers counts any "
        "more. `evenhand runs` lists runs that were set aside."
    ]
    models = "SELECT DISTINCT model FROM estimates WHERE coding = '{}' ORDER BY 1"
    assert rows(study, models.format("corrected")) == [("phi-4",)]
    assert rows(study, models.format("published")) == [("gpt-4o",), ("phi-4",)]


def failing(*_: object, **__: object) -> None:
    raise RuntimeError("half-way")


@pytest.mark.parametrize(
    "place",
    [
        "analyze.analysis.across",
        "analyze.analysis.tables.rename_doses",
        "analyze.analysis.families.renew",
        "analyze.analysis.label_metrics",
        "analyze.analysis.inferences.infer",
    ],
)
def test_an_analysis_that_fails_half_way_changes_nothing(
    study: Study, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    before = results(study)
    monkeypatch.setattr(place, failing)
    with pytest.raises(RuntimeError, match="half-way"):
        analyze_study(study)
    assert results(study) == before


def test_reading_anew_that_fails_half_way_keeps_the_old_readings(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(study, "SELECT * FROM judifair.verdicts ORDER BY ALL")
    real: Callable[..., None] = coding_run._write
    written = []

    def once(*given: Any) -> None:
        if written:
            failing()
        written.append(real(*given))

    monkeypatch.setattr(coding_run, "BATCH_ROWS", 50)
    monkeypatch.setattr(coding_run, "_write", once)
    with pytest.raises(RuntimeError, match="half-way"):
        code(study, ("corrected",), rebuild=True)
    assert written
    assert rows(study, "SELECT * FROM judifair.verdicts ORDER BY ALL") == before
    monkeypatch.undo()
    assert code(study, ("corrected",), rebuild=True).verdicts["corrected"] == len(before) // 2
    assert rows(study, "SELECT * FROM judifair.verdicts ORDER BY ALL") == before
