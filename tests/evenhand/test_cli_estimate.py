"""`evenhand estimate` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.cli.estimate import AS_IN_RUN
from evenhand.cli.estimate import command as estimate_command
from evenhand.cli.main import main
from evenhand.cli.run import command as run_command

PROVIDERS = """
[providers.far]
base_url = "https://far.invalid/v1"
keys = ["FAR_KEY"]
batch = true
limits = { requests_per_minute = 600 }
[providers.far.models.judge]
id = "judge-1"
prices = { input = 1.0, cached = 0.1, output = 4.0 }
[providers.far.models.free]
id = "free-1"
prices = { input = 0, output = 0 }
"""


@pytest.fixture
def evenhand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAR_KEY", raising=False)
    (tmp_path / "providers.toml").write_text(PROVIDERS)

    def call(*arguments: str, code: int = 0) -> tuple[str, str]:
        capfd.readouterr()
        ended = 0
        try:
            main(arguments)
        except SystemExit as stop:
            ended = stop.code if isinstance(stop.code, int) else 0
        out, err = capfd.readouterr()
        assert ended == code, f"exit {ended}\n{out}\n{err}"
        return out, err

    call("build", "--labels", "defendant_sex,judge_age")
    return call


def test_the_options_are_those_of_run():
    mine = {option.name: option for option in estimate_command.params}
    for option in run_command.params:
        if option.name in AS_IN_RUN:
            assert mine[option.name] is option
    # What else `run` has changes neither what is asked nor how fast.
    others = {option.name for option in run_command.params} - set(mine)
    assert others <= {
        "retry_truncated",
        "give_up_slow",
        "max_cost",
        "max_total_cost",
        "max_hours",
        "monitor",
        "poll_s",
    }


def test_models_stand_side_by_side_without_a_key_and_say_how_they_were_got(evenhand):
    out, _ = evenhand("estimate", "judge", "free", "--repeat", "2")
    assert "judge @ far" in out
    assert "free @ far" in out
    assert "all, side by side" in out
    assert "by rule: 0.8 tokens a Chinese character" in out
    assert "No key is set (FAR_KEY)" in out
    assert out.rstrip().endswith("Nothing was sent.")


def test_json_is_one_document_and_a_batch_is_cheaper(evenhand):
    whole = json.loads(evenhand("estimate", "judge", "free", "--json")[0])
    judge, free = whole["models"]
    assert judge["pending"] == free["pending"] > 0
    assert whole["total"]["pending"] == 2 * judge["pending"]
    assert whole["total"]["cost_usd"] == pytest.approx(judge["cost_usd"]["expected"])
    assert judge["cost_usd"]["expected"] > 0
    for name in ("tokens_in", "tokens_out", "cost_usd", "seconds"):
        figure = judge[name]
        assert figure["low"] <= figure["expected"] <= figure["high"]
        assert figure["how"]
    batch = json.loads(evenhand("estimate", "judge", "--batch", "--json")[0])["models"][0]
    assert batch["cost_usd"]["expected"] == pytest.approx(judge["cost_usd"]["expected"] / 2)


def test_the_selection_counts(evenhand):
    one = json.loads(evenhand("estimate", "judge", "--labels", "defendant_sex", "--json")[0])["models"][0]
    two = json.loads(evenhand("estimate", "judge", "--json")[0])["models"][0]
    few = json.loads(evenhand("estimate", "judge", "--limit", "9", "--json")[0])["models"][0]
    assert few["pending"] <= 9 < one["pending"] < two["pending"]
    assert few["model_key"] == two["model_key"]


def test_what_is_answered_is_not_estimated_again(evenhand, tmp_path):
    (tmp_path / "providers.toml").write_text(
        PROVIDERS
        + '[providers.simulated]\nkind = "simulated"\n[providers.simulated.models.script]\nid = "script"\n'
    )
    evenhand("run", "script", "--labels", "defendant_sex", "--monitor", "none")
    out, _ = evenhand("estimate", "script", "--labels", "defendant_sex")
    assert "Nothing is pending: every query of the selection is settled." in out
    rest = json.loads(evenhand("estimate", "script", "--json")[0])["models"][0]
    assert 0 < rest["pending"] < rest["selected"]
    assert "stored answers of this model" in rest["tokens_out"]["how"]


def test_mistakes_are_told(evenhand):
    assert "offers no model 'jugde'" in evenhand("estimate", "jugde", code=2)[1]
    assert "Did you mean judge" in evenhand("estimate", "jugde", code=2)[1]
    assert "no label" in evenhand("estimate", "judge", "--labels", "defendant_wings", code=2)[1]
    assert "no study" in evenhand("estimate", "judge", "--db", "none.duckdb", code=2)[1]


def test_two_temperatures_are_two_rows_and_add_up(evenhand) -> None:
    one = json.loads(evenhand("estimate", "judge", "--providers", "providers.toml", "--json")[0])
    both = json.loads(
        evenhand("estimate", "judge", "--providers", "providers.toml", "--temperature", "0,1", "--json")[0]
    )
    assert [model["temperature"] for model in both["models"]] == [0.0, 1.0]
    assert len({model["model_key"] for model in both["models"]}) == 2
    for name in ("pending", "cost_usd", "seconds"):
        assert both["total"][name] == pytest.approx(2 * one["total"][name])
    table, _ = evenhand("estimate", "judge", "--providers", "providers.toml", "--temperature", "0,1")
    assert "judge, temperature 0 @ far" in table
    assert "all, one temperature after the other" in table
    batches, _ = evenhand(
        "estimate", "judge", "--providers", "providers.toml", "--temperature", "0,1", "--batch"
    )
    assert "all, side by side" in batches
    assert "given twice" in evenhand("estimate", "judge", "--temperature", "1,1", code=2)[1]
