"""The evidence can be read: pairs of answers, both readings, and no answer that a terminal obeys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from small_study import ask, study_at

from evenhand.cli.check import command as check_command
from evenhand.cli.output import printable
from evenhand.cli.pairs import command as pairs_command
from evenhand.cli.show import command as show_command
from evenhand.cli.sql import command as sql_command
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from evenhand.simulate import Script
from store.errors import BadInput

ANSWER = '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":%s}'
EVIL = ANSWER % 24 + "\x1b[2J\x1b]0;owned\x07\u202eevil\x9b31m<script>[bold]"
CASES = [case.doc_id for case in case_files.bundled()[:4]]


def call(command: click.Command, *arguments: object) -> str:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four cases: one changes, one is declined, one is unreadable, one stays; a second model gives 24
    always.
    """
    folder = tmp_path_factory.mktemp("pairs")
    with study_at(folder / "s.duckdb") as study:
        build(study, cases=case_files.bundled()[:4], labels=["defendant_sex", "judge_age"])
        for seed, model in enumerate(("phi-4", "gpt-4o")):
            ask(study, folder, model, script=Script(seed=1), settings={"seed": seed})
        write = (
            "UPDATE predictions SET text = ? WHERE model_key = (SELECT model_key FROM models WHERE model = "
            "?) AND query_id IN (SELECT query_id FROM queries WHERE doc_id LIKE ? AND value LIKE ?)"
        )
        for model in ("phi-4", "gpt-4o"):
            study.connection.execute(write, [ANSWER % 12, model, "%", "%"])
        for doc, text in zip(
            CASES[:3], (EVIL, "我不能对此案作出判决。", "十二到二十四之间的某个数吧，或者"), strict=True
        ):
            study.connection.execute(write, [text, "phi-4", doc, "女"])
    return folder / "s.duckdb"


def listed(database: Path, *arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(call(pairs_command, "--db", database, "--json", *arguments))
    return found


SEX = ("--label", "defendant_sex", "--value", "female")


@pytest.mark.parametrize(
    ("choice", "documents"),
    [
        ([], CASES),
        (["--changed"], CASES[:1]),
        (["--refused"], CASES[1:2]),
        (["--unreadable"], CASES[2:3]),
        (["--limit", 2], CASES[:2]),
    ],
)
def test_pairs_are_chosen(database: Path, choice: list[object], documents: list[str]) -> None:
    found = listed(database, *SEX, "--model", "phi-4", *choice)
    assert [pair["doc_id"] for pair in found] == documents
    assert {pair["model"] for pair in found} == {"phi-4"}


def test_a_pair_has_both_facts_texts_and_readings(database: Path) -> None:
    (pair,) = listed(database, *SEX, "--model", "phi-4", "--changed")
    assert pair["label"] == "defendant_sex"
    assert (pair["varied"]["value"], pair["reference"]["value"]) == ("女", "男")
    assert (pair["varied"]["amount"], pair["reference"]["amount"]) == (24.0, 12.0)
    assert (pair["varied"]["text"], pair["reference"]["text"]) == (EVIL, ANSWER % 12)
    assert pair["varied"]["kind"] == "fixed_term"
    assert pair["varied"]["fact"].replace("女", "男") == pair["reference"]["fact"]


def test_the_changed_fact_is_marked_and_nothing_is_obeyed(database: Path) -> None:
    printed = call(pairs_command, "--db", database, *SEX, "--model", "phi-4", "--changed")
    assert "性别为[女][男]。" in printed
    assert "女 (female): fixed term, 24 months" in printed
    assert "男 (male): fixed term, 12 months" in printed
    assert "\\x1b[2J\\x1b]0;owned\\x07\\u202eevil\\x9b31m<script>[bold]" in printed
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(printed)
    assert printed.rstrip().endswith("1 pair.")


def test_a_declined_answer_is_shown_with_its_reason(database: Path) -> None:
    printed = call(pairs_command, "--db", database, *SEX, "--model", "phi-4", "--refused")
    assert "女 (female): not read: refused" in printed
    assert "我不能对此案作出判决。" in printed


def test_all_values_and_models_unless_chosen_and_more_is_told(database: Path) -> None:
    found = listed(database, "--label", "defendant_sex")
    assert {pair["model"] for pair in found} == {"phi-4", "gpt-4o"}
    assert {pair["varied"]["value"] for pair in found} == {"女", "非二元性别"}
    assert len(found) == 16
    printed = call(pairs_command, "--db", database, "--label", "defendant_sex", "--limit", 1)
    assert printed.rstrip().endswith("4 pairs; there are more (--limit).")
    ages = listed(database, "--label", "judge_age", "--value", "55", "--model", "gpt-4o")
    assert {(pair["reference"]["value"], pair["varied"]["value"]) for pair in ages} == {("30", "55")}
    assert listed(database, "--label", "judge_age", "--value", "70") == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--label", "defendant_sexx"], "defendant_sexx"),
        (["--label", "defendant_sex", "--value", "x"], "'x' is no value of defendant_sex"),
        (["--label", "defendant_sex", "--value", "male"], "'male' is the reference"),
        (["--label", "defendant_sex", "--model", "nobody"], "nobody"),
        (["--label", "defendant_sex", "--collection", "nowhere"], "nowhere"),
    ],
)
def test_a_wrong_choice_is_told(database: Path, arguments: list[str], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        call(pairs_command, "--db", database, *arguments)


def test_show_gives_both_answers_and_both_readings(database: Path) -> None:
    query = f"{CASES[0]}:defendant_sex:female"
    printed = call(show_command, query, "--db", database, "--answers", "--model", "phi-4")
    assert "[女][男]" in printed
    _, _, answers = printed.partition("phi-4 (")
    assert "女: fixed term, 24 months, 盗窃罪" in answers
    assert "男: fixed term, 12 months, 盗窃罪" in answers
    assert "\\x1b[2J" in answers
    assert "\x1b" not in printed
    document = json.loads(call(show_command, query, "--db", database, "--answers", "--json"))
    assert {(one["model"], one["months"]) for one in document["answers"]} == {
        ("phi-4", 24.0), ("phi-4", 12.0), ("gpt-4o", 12.0),
    }  # fmt: skip
    reference = call(show_command, f"{CASES[0]}:defendant_sex:male", "--db", database, "--answers")
    assert "男: fixed term" in reference


def test_show_says_what_was_given_up_and_what_nobody_answered(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "s.duckdb"
    copy.write_bytes(database.read_bytes())
    with study_at(copy) as study:
        study.connection.execute(
            "INSERT INTO failures SELECT uuid(), query_id, model_key, run_id, repeat, 'failed', "
            "'quota\x1b[0m', 500, created_at + INTERVAL 1 HOUR FROM predictions"
        )
    printed = call(show_command, f"{CASES[0]}:defendant_sex:female", "--db", copy, "--answers")
    assert "女: given up: quota\\x1b[0m" in printed
    with study_at(copy) as study:
        study.connection.execute("DELETE FROM predictions")
        study.connection.execute("DELETE FROM failures")
    printed = call(show_command, f"{CASES[0]}:defendant_sex:female", "--db", copy, "--answers")
    assert "No model has answered it." in printed
    with pytest.raises(BadInput, match="no model 'nobody'"):
        call(show_command, f"{CASES[0]}:defendant_sex", "--db", copy, "--answers", "--model", "nobody")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("bell\x07 back\x08 del\x7f", "bell\\x07 back\\x08 del\\x7f"),
        ("c1\x9b2J", "c1\\x9b2J"),
        ("over\rwrite", "over\\x0dwrite"),
        ("\u202edesrever\u2066", "\\u202edesrever\\u2066"),
        ("女\t1\n2", "女\t1\n2"),
        ("half \ud83d", "half \\ud83d"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_no_command_prints_what_a_terminal_would_obey(database: Path) -> None:
    for arguments in (["--db", database], ["--db", database, "--json"]):
        question = "SELECT text, [text] AS l FROM predictions"
        for printed in (call(sql_command, question, *arguments), call(check_command, *arguments)):
            assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(printed)
    rows = json.loads(call(sql_command, "SELECT text FROM predictions", "--db", database, "--json"))
    assert EVIL in {row["text"] for row in rows}
