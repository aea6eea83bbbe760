"""Arms on the command line: built, run and analyzed each by itself, and side by side in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.main import main

DB = "study.duckdb"
LABELS = "defendant_religion,judge_age"


class Typed:
    """Commands as they are typed, in a folder with a scripted judge."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def call(self, *arguments: str) -> tuple[int, str, str]:
        """The exit code, and what was printed on either stream."""
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = self.capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    def said(self, *arguments: str) -> Any:
        """The JSON document of a command that succeeds."""
        code, out, err = self.call(*arguments, "--db", DB, "--json")
        assert code == 0, err
        return json.loads(out)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    monkeypatch.chdir(tmp_path)
    Path("providers.toml").write_text(
        "[providers.simulated]\nkind = 'simulated'\n[providers.simulated.models.judge]\n"
        "id = 'scripted-judge'\nprices = { input = 0.0, output = 0.0 }\n",
        encoding="utf-8",
    )
    return Typed(capsys)


def test_arms_from_build_to_report(typed: Typed) -> None:
    sizes = {}
    for arm in ("base", "plain"):
        built = typed.said("build", "--labels", LABELS, "--arm", arm)
        assert (built["arm"], built["retired"]) == (arm, 0)
        sizes[arm] = built["queries"]
    assert sizes["base"] == sizes["plain"]

    def run(*more: str) -> None:
        judge = ("judge", "--db", DB, "--providers", "providers.toml", "--monitor", "none")
        code, _, err = typed.call("run", *judge, *more)
        assert code == 0, err

    run("--arm", "plain")
    counted = typed.said(
        "sql", "SELECT arm, count(*) AS n FROM latest JOIN queries USING (query_id) GROUP BY arm"
    )
    assert counted == [{"arm": "plain", "n": sizes["plain"]}]
    code, _, err = typed.call("analyze", "--db", DB, "--arm", "base")
    assert code == 2
    assert "no answers in an arm 'base'" in err
    run()
    typed.said("analyze", "--arm", "base")
    assert typed.said("sql", "SELECT DISTINCT arm, outcome FROM estimates") == [
        {"arm": "base", "outcome": "sentence"}
    ]
    summary = typed.said("analyze")
    assert [(model["name"], model["arm"]) for model in summary["models"]] == [
        ("judge", "base"), ("judge, arm plain", "plain"),
    ]  # fmt: skip
    families = typed.said(
        "sql", "SELECT DISTINCT arm, family FROM findings WHERE family IS NOT NULL ORDER BY arm"
    )
    assert [(row["arm"], row["family"]) for row in families] == [("base", 2), ("plain", 2)]
    _, out, _ = typed.call("analyze", "--db", DB)
    assert "judge, arm plain" in out
    pairs = typed.said("pairs", "--label", "judge_age", "--arm", "plain")
    assert {pair["arm"] for pair in pairs} == {"plain"}
    # The scripted judge answers by case, label and value alone: both arms have the same effects.
    same = typed.said(
        "sql",
        "SELECT label, value, variant FROM estimates GROUP BY ALL HAVING count(DISTINCT coef) > 1",
    )
    assert same == []


@pytest.mark.parametrize("command", ["run", "analyze"])
def test_an_arm_that_is_not_there_is_bad_input(typed: Typed, command: str) -> None:
    typed.said("build", "--labels", "judge_age")
    more = ("judge", "--providers", "providers.toml") if command == "run" else ()
    code, _, err = typed.call(command, *more, "--db", DB, "--arm", "nope")
    assert code == 2
    assert "'nope'" in err
    code, _, err = typed.call(command, *more, "--db", DB, "--arm", "")
    assert code == 2
    assert "--arm names no arm" in err
