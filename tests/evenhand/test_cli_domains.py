"""Every command for a domain in a folder, by the command line, and what a domain cannot do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.cli.main import main

DOMAINS = Path(__file__).parents[1] / "domains"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "study.duckdb"
    for words in (
        ["build", "--domain", str(DOMAINS / "parole")],
        ["run", "scripted-judge", "--monitor", "none"],
        ["analyze"],
    ):
        assert ended(*words, "--db", str(path)) == 0
    return path


def ended(*words: str) -> int:
    """The exit code of a command."""
    try:
        main(list(words))
    except SystemExit as error:
        return int(error.code or 0)
    return 0


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert ended(*words) == 0
    return capsys.readouterr().out


def test_the_report_says_what_was_found(db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "report", "--db", str(db), "--out", str(tmp_path / "report"))
    assert "scripted-judge" in out
    assert "index.html" in out


def test_analyze_gives_json_for_each_outcome(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(said(capsys, "analyze", "--db", str(db), "--json"))
    outcomes = document.get("outcomes", [document])
    assert all(one["models"] for one in outcomes)


def test_check_lists_what_could_not_be_read(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Every answer could be read." in said(capsys, "check", "--db", str(db))


def test_labels_are_those_of_the_domain(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "labels", "--domain", str(DOMAINS / "parole"), "--json"))
    assert "sex" in {one["label"] for one in found}
    assert "* marks the reference" in said(capsys, "labels", "--domain", str(DOMAINS / "parole"))


def test_pairs_are_those_of_the_domain(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "pairs", "--db", str(db), "--label", "sex")
    assert "12 pairs." in told
    assert "female: " in told


def test_a_prompt_is_shown_beside_its_reference(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(
        said(capsys, "sql", "SELECT doc_id FROM queries WHERE label = 'sex'", "--db", str(db), "--json")
    )
    found = json.loads(said(capsys, "show", f"{rows[0]['doc_id']}:sex:female", "--db", str(db), "--json"))
    assert (found["label"], found["value"], found["counterpart_value"]) == ("sex", "female", "male")
    assert found["user_text"] != found["counterpart_text"]
    assert found["difference"]["here"] in found["user_text"]


def test_a_domain_limits_a_run(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", "scripted-judge", "--db", str(db), "--domain", "parole", "--monitor", "none")
    assert "Nothing to ask" in said(capsys, *words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pairs", "--label", "sexx"], "no label 'sexx'"),
        (["show", "nonsuch"], "no query 'nonsuch'"),
        (["show", "nonsuch", "--answers"], "does not work for the domain 'parole'"),
        (["compare-published"], "does not work for the domain 'parole'"),
        (["run", "scripted-judge", "--domain", "judifair"], "no cases of the domain 'judifair'"),
        (["build", "--domain", "nonsuch"], "no domain 'nonsuch'"),
        (["build", "--domain", str(DOMAINS / "parole"), "--sample"], "cannot be sampled"),
        (["analyze", "--coding", "corrected"], "no coding 'corrected'"),
        (
            ["labels", "--domain", str(DOMAINS / "parole"), "--role", "judge"],
            "only for the labels of judifair",
        ),
    ],
)
def test_what_cannot_be_done_exits_with_2(
    db: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    study = [] if words[0] == "labels" else ["--db", str(db)]
    assert ended(*words, *study) == 2
    assert told in capsys.readouterr().err
