"""`evenhand analyze` from the command line: several models of one study, and what is known of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_study import ask, rows, study_at

from evenhand.cli.analyze import command as analyze_command
from evenhand.cli.plot import command as plot_command
from evenhand.cli.report import command as report_command
from evenhand.domains.judifair import case_files
from evenhand.domains.judifair.build import build
from store.errors import BadInput

MODELS = ("phi-4", "gpt-4o", "mistral-nemo", "qwen2.5-72b", "llama-3.3-70b", "somebody-elses")
LABELS = ("defendant_religion", "defendant_sex", "online_broadcast", "defendant_age")


def evenhand(command: object, *arguments: str | Path) -> str:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])  # type: ignore[arg-type]
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    with study_at(folder / "study.duckdb") as study:
        build(study, cases=case_files.bundled()[:12], labels=LABELS)
        for seed, model in enumerate(MODELS):
            ask(study, folder, model, settings={"seed": 100 * seed})
    return folder / "study.duckdb"


def test_bundled_attributes_reach_the_models_and_the_report(database: Path, tmp_path: Path) -> None:
    evenhand(analyze_command, "--db", database)
    with study_at(database) as study:
        known = set(rows(study, "SELECT model, listed FROM model_attributes"))
        tests = rows(study, "SELECT attribute, metric, models, method, note FROM attribute_tests")
    assert known == {
        ("phi-4", "Phi 4"),
        ("gpt-4o", "gpt-4o"),
        ("mistral-nemo", "Mistral Nemo"),
        ("qwen2.5-72b", "Qwen2.5 72B"),
        ("llama-3.3-70b", "Llama 3.3"),
    }
    by = {(attribute, metric): row for attribute, metric, *row in tests}
    # The size of one of the five is not known.
    assert by["parameters", "inconsistency"][0] == 4
    assert by["parameters", "inconsistency"][1] == "Spearman's rank correlation; all 24 orders"
    assert by["released", "inconsistency"][0] == 5
    evenhand(report_command, "--db", database, "--out", tmp_path / "html")
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "Attributes of the models" in page
    assert "Spearman&#39;s rank correlation; all 24 orders" in page
    assert "What is known of the models" in page
    assert "a scripted judge answered, not a language model" in page
    assert "planted bias" not in page, "whether one was planted is not known"


def test_other_attributes_take_their_place(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("".join(f'[model."{m}"]\nlayers = {i}\n' for i, m in enumerate(MODELS)), encoding="utf-8")
    evenhand(analyze_command, "--db", database, "--attributes", file)
    with study_at(database) as study:
        found = set(rows(study, "SELECT attribute, models FROM attribute_tests"))
    assert found == {("layers", 6)}
    file.write_text("[model.a]\nlayers = [1]\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.toml"):
        evenhand(analyze_command, "--db", database, "--attributes", file)


def test_the_effect_of_an_age_has_a_name_also_in_a_study_from_before_it_had(
    database: Path, tmp_path: Path
) -> None:
    """Such a study opens and reports as it is; analysing any of its models gives all the new name."""
    count = "SELECT count(*) FROM {} WHERE label = 'defendant_age' AND value = ?"
    evenhand(analyze_command, "--db", database)
    with study_at(database) as study:
        for table in ("estimates", "value_tests"):
            assert rows(study, count.format(table), ["dose"]) == [(0,)]
            assert rows(study, count.format(table), ["ln(age)"])[0][0] >= len(MODELS)
            study.connection.execute(f"UPDATE {table} SET value = 'dose' WHERE value = 'ln(age)'")
    for folder, name in (("before", "dose"), ("after", "ln(age)")):
        evenhand(report_command, "--db", database, "--out", tmp_path / folder)
        page = (tmp_path / folder / "index.html").read_text(encoding="utf-8")
        assert f'data-label="defendant_age" data-value="{name}"' in page
        assert "<td>per unit of ln(age)" in page
        assert not re.search(r">\s*dose\s*<", page)
        evenhand(report_command, "--db", database, "--format", "csv", "--out", tmp_path / folder)
        assert "per unit of ln(age)" in (tmp_path / folder / "values.csv").read_text(encoding="utf-8")
        evenhand(analyze_command, "--db", database, "--models", MODELS[0])
    with study_at(database) as study:
        assert rows(study, "SELECT DISTINCT value FROM estimates WHERE label = 'defendant_age'") == [
            ("ln(age)",)
        ]
        assert rows(study, "SELECT count(DISTINCT model_key) FROM estimates") == [(len(MODELS),)]


def test_json_holds_everything_of_every_model(database: Path) -> None:
    found = json.loads(evenhand(analyze_command, "--db", database, "--json"))
    assert [one["model"] for one in found["models"]] == sorted(MODELS)


def test_what_is_not_up_to_date_is_said_where_the_command_was_typed(tmp_path: Path) -> None:
    path = tmp_path / "study.duckdb"
    with study_at(path) as study:
        build(study, cases=case_files.bundled()[:6], labels=LABELS[:1])
        ask(study, tmp_path, "phi-4")
        ask(study, tmp_path, "gpt-4o", settings={"seed": 100})
    evenhand(analyze_command, "--db", path, "--models", "phi-4")
    page, table = tmp_path / "page", tmp_path / "tables"
    for command, arguments in (
        (report_command, ["--out", page]),
        (report_command, ["--format", "csv", "--out", table]),
        (plot_command, ["inconsistency", tmp_path / "i.svg"]),
    ):
        done = CliRunner().invoke(command, [str(a) for a in ("--db", path, *arguments)])
        assert done.exit_code == 0, done.output
        assert "Not analysed: gpt-4o" in done.stderr
        assert "Not analysed" not in done.stdout
