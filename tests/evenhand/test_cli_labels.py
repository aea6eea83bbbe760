"""Labels are listed, and named in English where Chinese is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import store
from evenhand.cli.labels import command as labels_command
from evenhand.cli.labels import quadrant
from evenhand.cli.show import command as show_command
from evenhand.domains import judifair
from evenhand.domains.judifair import case_files, catalogue
from evenhand.domains.judifair.build import build
from store.errors import BadInput
from store.readonly import run_sql


def call(command: Any, *arguments: str | Path) -> Result:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def listed(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(call(labels_command, *arguments, "--json").output)
    return found


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labels") / "s.duckdb"
    labels = ["defendant_sex", "judge_age", "open_trial"]
    with store.open_study(path, migrations=[judifair.MIGRATIONS]) as study:
        build(study, cases=case_files.bundled()[:2], labels=labels, placebo=True)
    return path


def test_all_labels_have_names_values_reference_and_quadrant() -> None:
    found = listed()
    assert [one["label"] for one in found] == [label.key for label in catalogue.load()]
    assert len({one["quadrant"] for one in found}) == 4
    for one in found:
        assert one["name_en"]
        assert one["name_zh"]
        (reference,) = [value["value"] for value in one["values"] if value["reference"]]
        assert reference == one["reference"]
        assert all(value["value_en"] for value in one["values"])
    table = call(labels_command).output
    assert "65 labels." in table
    assert "Judge's sex 法官性别" in table
    assert "*男 male; 女 female" in table


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["defendant_sex", "prosecurate_sex"], {"defendant_sex", "prosecutor_sex"}),
        (["--role", "court"], {"court_level", "court_location"}),
        (["--search", "FEMALE", "--role", "judge"], {"judge_sex"}),
        (["--search", "直播"], {"online_broadcast"}),
        (["--search", "prosecurate_sex"], {"prosecutor_sex"}),
    ],
)
def test_labels_are_chosen(arguments: list[str], expected: set[str]) -> None:
    assert {one["label"] for one in listed(*arguments)} >= expected
    assert len(listed(*arguments)) < 65


@pytest.mark.parametrize("dimension", ["substantive", "procedural"])
@pytest.mark.parametrize("demographic", [True, False])
def test_a_quadrant_is_chosen(dimension: str, demographic: bool) -> None:
    found = listed("--dimension", dimension, "--demographic" if demographic else "--not-demographic")
    wanted = [
        label
        for label in catalogue.load()
        if (label.dimension, label.demographic) == (dimension, demographic)
    ]
    assert [one["label"] for one in found] == [label.key for label in wanted]
    assert {one["quadrant"] for one in found} == {quadrant(wanted[0])}


def test_a_choice_of_nothing_and_an_unknown_name_are_told() -> None:
    with pytest.raises(BadInput, match="No label matches"):
        call(labels_command, "--search", "nothing at all")
    with pytest.raises(BadInput, match="defendant_sexx"):
        call(labels_command, "defendant_sexx")


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("theft-ebike:defendant_sex:female", "女"),
        ("theft-ebike:defendant_sex:Non-Binary", "非二元性别"),
        ("theft-ebike:defendant_sex:女", "女"),
        ("theft-ebike:judge_age:55 years", "55"),
        ("theft-ebike:open_trial:no", "否"),
        ("theft-ebike:placebo:defendant_sex:male", "男"),
    ],
)
def test_a_query_is_shown_by_the_english_name_of_its_value(database: Path, query: str, value: str) -> None:
    shown = json.loads(call(show_command, query, "--db", database, "--json").output)
    assert shown["value"] == value
    label = catalogue.by_key()[shown["label"].removeprefix("placebo:")]
    assert shown["label_en"] == label.name_en
    assert shown["value_en"] == label.value(value).en
    assert f"{value} ({label.value(value).en})" in call(show_command, query, "--db", database).output


def test_sql_names_labels_and_values_in_english(database: Path) -> None:
    found = run_sql(
        database, "SELECT DISTINCT label_en(label), value_en(label, value) FROM queries ORDER BY ALL"
    )
    assert found.rows == [
        (catalogue.by_key()[key].name_en, value.en)
        for key in ("defendant_sex", "judge_age", "open_trial")
        for value in sorted(catalogue.by_key()[key].values, key=lambda value: value.en)
    ]
    kept = run_sql(
        database, "SELECT label_en('theirs'), value_en('theirs', 'x'), value_en('open_trial', 'x')"
    )
    assert kept.rows == [("theirs", "x", "x")]
    joined = run_sql(
        database,
        "SELECT label_en, value_en FROM queries JOIN label_names USING (label, value) WHERE value = '女'",
    )
    assert set(joined.rows) == {("Defendant's sex", "female")}
