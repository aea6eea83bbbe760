"""`evenhand pairs` shows the answers behind an effect for any domain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_domains import studied

import analyze
import store
from evenhand.audit import find
from evenhand.cli.pairs import command
from store.errors import BadInput

DOMAINS = Path(__file__).parents[1] / "domains"


def judge(query) -> str:
    """Says yes to women in every second case, and nothing that can be read in the third."""
    number = int(query.doc_id.split("-")[1])
    if number == 3:
        return "Well."
    yes = query.value == "female" and number % 2 == 0
    return json.dumps({"reasons": "x", "release": "yes" if yes else "no", "risk": "high" if yes else "low"})


@pytest.fixture
async def database(tmp_path) -> Path:
    with store.open_study(tmp_path / "s.duckdb", migrations=[analyze.MIGRATIONS]) as study:
        await studied(study, find(str(DOMAINS / "parole")), judge)
    return tmp_path / "s.duckdb"


def call(database: Path, *arguments: str) -> str:
    done = CliRunner().invoke(
        command, ["--db", str(database), "--domain", str(DOMAINS / "parole"), "--label", "sex", *arguments]
    )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_pairs_of_a_general_domain_are_told_in_its_words(database):
    told = call(database, "--changed")
    assert told.count("female: yes") == told.count("male: no") == 6
    assert "6 pairs." in told
    assert "months" not in told
    risk = call(database, "--changed", "--outcome", "risk", "--value", "Female", "--limit", "1")
    assert "female: high" in risk
    assert "male: low" in risk
    assert "1 pair; there are more" in risk
    assert "female: not read: unreadable" in call(database, "--unreadable")
    rows = json.loads(call(database, "--json"))
    assert len(rows) == 12
    assert {row["outcome"] for row in rows} == {"released"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--value", "male"), "is the reference"),
        (("--value", "child"), "is no value"),
        (("--outcome", "parole"), "no outcome 'parole'"),
        (("--coding", "corrected"), "no coding 'corrected'"),
    ],
)
def test_what_is_not_there_is_told(database, arguments, said):
    with pytest.raises(BadInput, match=said):
        call(database, *arguments)
