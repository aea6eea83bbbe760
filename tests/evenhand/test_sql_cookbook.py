"""The SQL cookbook: each query is run as it is printed, and finds what is there to be found."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from small_study import ask, study_at

from evenhand.cli.sql import command as sql_command
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from evenhand.services.analysis import analyze_study
from evenhand.simulate import Bias, Script

COOKBOOK = Path(__file__).parents[2] / "docs" / "sql.md"
LABELS = ("defendant_religion", "defendant_sex", "online_broadcast", "defendant_age")
SCRIPT = Script(
    seed=5,
    jitter=0.3,
    biases=(
        Bias("defendant_religion", "伊斯兰教", probability=0.9, steps=3),
        Bias("online_broadcast", "是", probability=0.9, steps=3),
    ),
)


def printed() -> dict[str, list[str]]:
    """The commands of the page, by the comment above each."""
    page = COOKBOOK.read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    found = {}
    for part in block.strip().split("\n\n"):
        comment, _, command = part.partition("\n")
        assert comment.startswith("# "), part
        found[comment.removeprefix("# ")] = shlex.split(command)
    for inline in re.findall(r"`(evenhand sql [^`]+)`", page):
        found[inline] = shlex.split(inline)
    return found


COMMANDS = printed()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models asked twice, a third asked in part, two answers that nobody can read."""
    folder = tmp_path_factory.mktemp("asked")
    with study_at(folder / "study.duckdb") as study:
        cases = [case for case in case_files.bundled() if case.doc_id == "theft-ebike"]
        cases += [case for case in case_files.bundled() if case not in cases][:14]
        build(study, cases=cases, labels=LABELS, placebo=True)
        for seed, model in enumerate(("phi-4", "gpt-4o-mini")):
            ask(study, folder, model, script=SCRIPT, repeats=2, settings={"seed": 100 * seed})
        ask(study, folder, "mistral-nemo", script=SCRIPT, limit=30)
        ask(study, folder, "mistral-nemo", script=SCRIPT, limit=10, repeats=2)
        # The same name, temperature and repeats, other settings.
        ask(study, folder, "phi-4", script=SCRIPT, repeats=2, limit=40, settings={"seed": 7})
        study.connection.execute(
            "UPDATE predictions SET text = '对不起，我不能回答这个问题。' WHERE prediction_id IN "
            "(SELECT prediction_id FROM predictions JOIN queries USING (query_id) "
            "QUALIFY row_number() OVER "
            "(PARTITION BY starts_with(label, 'placebo:') ORDER BY prediction_id) < 3)"
        )
        analyze_study(study, codings=("corrected", "published"))
        # A value that moved every document alike has an effect and no p.
        study.connection.execute(
            "UPDATE estimates SET coef = 99, p = NULL, note = 'no spread' "
            "WHERE value = '伊斯兰教' AND variant = 'level_outcome'"
        )
    return folder / "study.duckdb"


def asked(command: list[str], database: Path) -> list[dict[str, Any]]:
    assert command[:2] == ["evenhand", "sql"]
    done = CliRunner().invoke(sql_command, [*command[2:], "--db", str(database), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_there_are_ten_that_a_shell_takes_as_they_are() -> None:
    assert len(COMMANDS) == 11  # and the one that lists what there is
    for command in COMMANDS.values():
        assert len(command) == 3
        # In double quotes a shell would replace these.
        assert not re.search(r"[$`!\\]", command[2])


@pytest.mark.parametrize("question", COMMANDS)
def test_every_one_runs_and_finds_something(question: str, database: Path) -> None:
    rows = asked(COMMANDS[question], database)
    assert rows, question


def test_they_find_what_is_there(database: Path) -> None:
    found = {question: asked(command, database) for question, command in COMMANDS.items()}
    by = {question.split()[0] + " " + question.split()[1]: rows for question, rows in found.items()}
    moved = by["Which facts"]
    assert {row["value"] for row in moved[:2]} <= {"伊斯兰教", "是"}
    assert (moved[0]["months"], moved[0]["p"], moved[0]["note"]) == (99, None, "no spread")
    assert "ln(age)" not in {row["value"] for row in moved}
    ended = [row for row in by["How did"] if row["model"] == "gpt-4o-mini"]
    assert sum(row["with_repeats"] for row in ended) == 2 * sum(row["queries"] for row in ended)
    for row in by["One case:"]:
        assert not row["label"].startswith("placebo:")
        told = row["months"].split("; ")
        assert len({one.partition(": ")[0] for one in told}) == len(told), "two answers bear one name"
        assert "nan" not in row["months"]
    assert abs(moved[0]["months"]) >= abs(moved[-1]["months"])
    assert all("phi-4 " in row["months"] for row in by["One case:"])
    assert len(by["Answers that"]) == 2
    assert all(row["usd"] > 0 for row in by["Tokens and"])
    assert {row["returned_model"] for row in by["Who answered,"]} == {"scripted-judge"}
    assert all(len(set(row["months"])) == 2 for row in by["The very"])
    assert "defendant_religion" in {row["label"] for row in by["Labels that"]}
    assert not [row for row in by["The very"] if row["label"].startswith("placebo:")]
    assert {len(row["months"]) for row in by["The very"]} == {2}, "two configurations are taken for one"
    pending = {(row["model"], row["repeat"]): row["pending"] for row in by["What is"]}
    # Of the models asked in part, the second repeat is outstanding as well, and more of it.
    assert set(pending) == {(model, repeat) for model in ("mistral-nemo", "phi-4") for repeat in (0, 1)}
    settled = (
        "SELECT repeat, (SELECT count(*) FROM queries) - count(*) AS left FROM latest "
        "JOIN models USING (model_key) WHERE model = 'mistral-nemo' GROUP BY repeat"
    )
    for row in asked(["evenhand", "sql", settled], database):
        assert pending["mistral-nemo", row["repeat"]] == row["left"]
    assert pending["mistral-nemo", 1] > pending["mistral-nemo", 0] > 0
