"""A model asked at one temperature, and at another some other day: the two are held against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from small_study import BIAS, ask, rows, study_at

import store
from evenhand.cli.run import _temperatures, command
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from evenhand.services.analysis import analyze_study
from evenhand.services.runs import run_each
from evenhand.simulate import Script
from runner import RunOptions, load_providers
from runner.providers.file import Providers

LABELS = ("defendant_religion", "defendant_sex")
PAIRS = "SELECT * EXCLUDE (p, draws) FROM temperature_tests WHERE model = 'phi-4' ORDER BY ALL"


def test_two_runs_at_two_temperatures_are_compared_whenever_they_were_analysed(tmp_path: Path) -> None:
    with study_at(tmp_path / "study.duckdb") as study:
        build(study, cases=case_files.bundled()[:15], labels=LABELS)
        ask(study, tmp_path, "phi-4", script=Script(seed=1, jitter=0.1))
        ask(study, tmp_path, "gpt-4o", script=Script(seed=1, jitter=0.1), settings={"seed": 8})
        analyze_study(study)
        assert rows(study, "SELECT count(*) FROM temperature_tests") == [(0,)]
        # The next day, at temperature 1, the model has a bias.
        script = Script(seed=1, jitter=0.1, biases=(BIAS,))
        ask(study, tmp_path, "phi-4", script=script, settings={"temperature": 1.0})
        analyze_study(study, models=("phi-4",))
        pairs = rows(study, PAIRS)
        assert pairs
        whole = rows(
            study, "SELECT temperature, other, p, documents FROM temperature_tests WHERE label = '' "
            "AND measure = 'effect'",
        )  # fmt: skip
        assert [row[:2] for row in whole] == [(0.0, 1.0)]
        assert whole[0][2] < 0.01
        assert whole[0][3] == 15
        ((found,),) = rows(
            study, "SELECT difference FROM temperature_tests WHERE label = ? AND value = ?",
            [BIAS.label, BIAS.value],
        )  # fmt: skip
        assert found > 0
        # One of the two temperatures by itself, then another model by itself: the pair stays.
        ((later,),) = rows(study, "SELECT model_key FROM models WHERE temperature = 1")
        for chosen in (later, "gpt-4o"):
            analyze_study(study, models=(chosen,))
            assert rows(study, PAIRS) == pairs
            assert rows(study, "SELECT count(DISTINCT model_key) FROM estimates") == [(3,)]


def providers(folder: Path, *, takes_temperature: bool = True) -> Providers:
    path = folder / "providers.toml"
    path.write_text(
        "[providers.simulated]\nkind = 'simulated'\n"
        + ("" if takes_temperature else "style = { temperature = false }\n")
        + "[providers.simulated.models.\"judge\"]\nid = 'scripted-judge'\n"
        "prices = { input = 1000.0, output = 2000.0 }\n",
        encoding="utf-8",
    )
    return load_providers(path)


def run_both(
    study: store.Study, known: Providers, **options: Any
) -> tuple[list[float], list[str], list[float]]:
    """The temperatures asked, how each ended, and those not begun."""
    done, not_begun = run_each(
        study,
        known,
        ("judge",),
        store.Selection(),
        settings=[{"temperature": 0.0, "max_tokens": 64}, {"temperature": 1.0, "max_tokens": 64}],
        options=RunOptions(monitor="none", serve_sql=False, **options),
        script=Script(seed=1),
    )
    return (
        [one["temperature"] for one, _ in done],
        [summary.stopped_by or summary.state for _, summary in done],
        [one["temperature"] for one in not_begun],
    )


def test_two_temperatures_are_two_models_asked_one_after_the_other(tmp_path: Path) -> None:
    with study_at(tmp_path / "s.duckdb") as study:
        build(study, cases=case_files.bundled()[:4], labels=LABELS[1:])
        assert run_both(study, providers(tmp_path)) == ([0.0, 1.0], ["finished", "finished"], [])
        asked = rows(
            study,
            "SELECT temperature, count(*), min(predictions.created_at), max(predictions.created_at) "
            "FROM predictions JOIN models USING (model_key) GROUP BY 1 ORDER BY 1",
        )
        assert [row[:2] for row in asked] == [(0.0, 12), (1.0, 12)]
        assert asked[0][3] <= asked[1][2]
        analyze_study(study)
        assert rows(study, "SELECT count(*) FROM temperature_tests")[0][0] > 0


def test_a_limit_of_the_run_is_for_all_temperatures_together(tmp_path: Path) -> None:
    with study_at(tmp_path / "s.duckdb") as study:
        build(study, cases=case_files.bundled()[:4], labels=LABELS[1:])
        known = providers(tmp_path)
        run_both(study, known)
        both = rows(study, "SELECT sum(cost_usd) FROM predictions")[0][0]
        study.connection.execute("DELETE FROM predictions")
        # Enough for the first temperature and some of the second: each alone would fit.
        asked, ended, _ = run_both(study, known, max_cost=0.75 * both)
        assert asked == [0.0, 1.0]
        assert ended == ["finished", "cost"]
        assert rows(study, "SELECT sum(cost_usd) FROM predictions")[0][0] <= 0.75 * both


def test_what_ends_the_first_leaves_the_second_for_the_same_command(tmp_path: Path) -> None:
    with study_at(tmp_path / "s.duckdb") as study:
        build(study, cases=case_files.bundled()[:4], labels=LABELS[1:])
        asked, ended, not_begun = run_both(study, providers(tmp_path), max_cost=1e-9)
        assert (asked, not_begun) == ([0.0], [1.0])
        assert ended[0] in ("cost", "failure")


def test_a_model_that_takes_no_temperature_is_asked_once(tmp_path: Path) -> None:
    with study_at(tmp_path / "s.duckdb") as study:
        build(study, cases=case_files.bundled()[:2], labels=LABELS[1:])
        assert run_both(study, providers(tmp_path, takes_temperature=False)) == ([0.0], ["finished"], [])
        assert rows(study, "SELECT count(*) FROM predictions") == [(6,)]


@pytest.mark.parametrize(("given", "found"), [("0", (0.0,)), ("0,1", (0.0, 1.0)), (" 0.7 , 2 ", (0.7, 2.0))])
def test_temperatures_are_typed_with_commas(given: str, found: tuple[float, ...]) -> None:
    assert _temperatures(click.Context(command), command, given) == found  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["", "0,", "hot", "-1", "2.1", "nan", "inf", "0;1", "1,1", "0,0.0"])
def test_what_is_no_temperature_is_told(given: str) -> None:
    with pytest.raises(click.BadParameter):
        _temperatures(click.Context(command), command, given)  # type: ignore[arg-type]
