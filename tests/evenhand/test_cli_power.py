"""`evenhand power`: from a pilot, from assumptions, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_study import ask, study_at

from evenhand.cli.main import main
from evenhand.cli.power import command
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.coding import code
from evenhand.simulate import Script

ASSUMED = ("--changing", "0.2", "--jump", "6")


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pilot")
    with study_at(folder / "pilot.duckdb") as study:
        build(study, labels=("defendant_sex", "online_broadcast"))
        ask(study, folder, "phi-4", script=Script(seed=3, jitter=0.3))
        code(study, ("corrected",))
    return folder / "pilot.duckdb"


def answered(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(command, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    document: dict[str, object] = json.loads(result.stdout)
    return document


def test_a_pilot_says_how_answers_vary(pilot: Path) -> None:
    found = answered("--effect", "6", "--db", str(pilot), "--labels", "2")
    assert "pairs of answers, of which" in str(found["noise"])
    needed = found["cases_needed"]
    assert isinstance(needed, int)
    assert 10 < needed < 400
    assert found["level"] == pytest.approx(0.05 * 0.8 / 2)
    more = answered("--effect", "2", "--db", str(pilot), "--labels", "2")["cases_needed"]
    assert isinstance(more, int)
    assert more > needed


def test_assumptions_do_as_well_and_are_printed() -> None:
    result = CliRunner().invoke(command, ["--cases", "30", *ASSUMED])
    assert result.exit_code == 0
    assert "30 cases confirm an average effect of" in result.output
    assert "assumed: 20% of the pairs change by 6" in result.output
    assert "0.05 corrected for 65 labels" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (ASSUMED, "either --effect"),
        (("--effect", "3", "--cases", "30", *ASSUMED), "either --effect"),
        (("--effect", "3"), "either a pilot"),
        (("--effect", "3", "--jump", "6"), "either a pilot"),
        (("--effect", "3", "--db", "none.duckdb"), "no study at none.duckdb"),
        (("--effect", "0", *ASSUMED), "--effect"),
    ],
)
def test_what_cannot_be_answered_exits_with_2(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["power", *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_model_without_answers_is_named(pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["power", "--effect", "3", "--db", str(pilot), "--model", "nobody"])
    assert ended.value.code == 2
    assert "no pairs of answers of nobody" in capsys.readouterr().err
