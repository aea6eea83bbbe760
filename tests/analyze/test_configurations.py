"""Configurations of one model are told apart by the settings that differ, wherever they are shown."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cellar import SPECIFICATIONS, Cellar
from rich.console import Console

import store
from analyze.between_models.configurations import Configuration, called, several_models
from analyze.plots import plot
from analyze.report import print_summary, summary_json, write_html, write_tables
from analyze.report.data import read
from store.errors import BadInput

MODELS = (("Sommelier 7B", "api", 0.0), ("Sommelier 7B", "api", 0.0))
SETTINGS = ({"reasoning": "on", "max_tokens": 2048}, {"max_tokens": 2048})


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[store.Study, Path]]:
    """One model with reasoning and without, whose answers are not the same."""
    folder = tmp_path_factory.mktemp("twice")
    study, specifications = Cellar(models=MODELS, settings=SETTINGS, wines=12).analysed(folder)
    with study:
        study.connection.execute(
            "UPDATE predictions SET returned_model = CASE WHEN model_key LIKE '%0' THEN 'sommelier-7b' "
            "WHEN query_id IN (SELECT query_id FROM queries WHERE label = 'glass') "
            "THEN 'table-wine-1b' ELSE 'sommelier-7b-2026-01-02' END"
        )
        yield study, specifications


def printed(study: tuple[store.Study, Path], everything: bool = True) -> str:
    out = io.StringIO()
    print_summary(*study, Console(file=out, width=200, highlight=False), everything=everything)
    return out.getvalue()


def test_a_terminal_table_has_the_rows_of_its_own_configuration(twice: tuple[store.Study, Path]) -> None:
    parts = printed(twice).split("Sommelier 7B, reasoning")
    tables = [part for part in parts[1:] if "Light" in part]
    assert len(tables) >= 8, "not a table of labels and one of values for two configurations and two codings"
    for part in tables:
        assert part.count("candles") <= 1
        assert part.count("Light") == 1
    models = next(part for part in printed(twice).split("\n\n") if part.startswith("Models: "))
    assert "reasoning=on" in models
    assert "reasoning not set" in models


def test_everything_that_is_written_tells_them_apart(twice: tuple[store.Study, Path], tmp_path: Path) -> None:
    study, specifications = twice
    paths = write_tables(study, specifications, tmp_path / "csv", format="csv")
    for path in paths:
        rows = list(csv.DictReader(path.open(encoding="utf-8-sig")))
        if "model" not in rows[0]:
            continue  # over all models
        assert {row["settings"] for row in rows} == {"reasoning=on", "reasoning not set"}, path.name
        assert {row["model_key"] for row in rows} == {f"{i:032x}" for i in (0, 1)}, path.name
    for form, suffix in (("md", "md"), ("latex", "tex")):
        write_tables(study, specifications, tmp_path / form, format=form)
        for name in ("values", "labels", "models", "missing"):
            text = (tmp_path / form / f"{name}.{suffix}").read_text(encoding="utf-8")
            assert "reasoning=on" in text
            assert "reasoning not set" in text
    page = write_html(study, specifications, tmp_path / "html").read_text(encoding="utf-8")
    assert page.count("Sommelier 7B, reasoning=on") > 5
    assert "<th>max_tokens</th><th>reasoning</th>" in page
    assert page.count("more than one model answered") == 1
    assert "sommelier-7b-2026-01-02 (96), table-wine-1b (36)" in page
    assert {m["name"] for m in summary_json(study, specifications)["models"]} == {
        "Sommelier 7B, reasoning=on", "Sommelier 7B, reasoning not set",
    }  # fmt: skip
    with pytest.raises(BadInput, match="there are several") as error:
        plot(study, specifications, "coefficients", tmp_path / "c.svg", model="Sommelier 7B")
    assert "Sommelier 7B, reasoning=on (" in str(error.value.hint)
    text = plot(study, specifications, "heatmap", tmp_path / "h.svg").read_text(encoding="utf-8")
    assert "reasoning=on" in text


def test_further_tables_carry_key_and_settings(tmp_path: Path) -> None:
    study, specifications = Cellar(models=MODELS, settings=SETTINGS, wines=8).analysed(
        tmp_path, SPECIFICATIONS, inference=True
    )
    with study:
        write_tables(study, specifications, tmp_path / "csv", format="csv")
    for name in ("label_tests", "flips", "noise"):
        rows = list(csv.DictReader((tmp_path / "csv" / f"{name}.csv").open(encoding="utf-8-sig")))
        assert {row["settings"] for row in rows} == {"reasoning=on", "reasoning not set"}, name
        assert len({row["model_key"] for row in rows}) == 2, name


def test_names_say_no_more_than_is_needed() -> None:
    def names(*given: tuple[str, float | None, str, dict[str, object]]) -> list[str]:
        return [
            found.name
            for found in called(
                [
                    Configuration(where, f"{i}{i}{i}{i}{i}{i}{i}{i}", model, temperature, settings)
                    for i, (model, temperature, where, settings) in enumerate(given)
                ]
            )
        ]

    assert names(("a", 0, "x", {"seed": 7}), ("b", 0, "x", {"seed": 8})) == ["a", "b"]
    assert names(("a", 0, "x", {"seed": 7}), ("a", 1, "x", {"seed": 8})) == ["a, T = 0", "a, T = 1"]
    assert names(("a", 0, "x", {"seed": 7}), ("a", 0, "y", {})) == ["a, x", "a, y"]
    assert names(("a", 0, "x", {"seed": 7}), ("a", 0, "x", {"seed": 8, "top_k": 5})) == [
        "a, seed=7, top_k not set", "a, seed=8, top_k=5",
    ]  # fmt: skip
    assert names(("a", 0, "x", {}), ("a", 0, "x", {}), ("a", 1, "x", {})) == [
        "a, T = 0, 000000", "a, T = 0, 111111", "a, T = 1",
    ]  # fmt: skip
    long = "You are a judge of the people's court, and you "
    assert names(("a", 0, "x", {"system_text": long + "a"}), ("a", 0, "x", {"system_text": long + "b"})) == [
        f"a, system_text={long[:39]}…, 000000", f"a, system_text={long[:39]}…, 111111",
    ]  # fmt: skip


def test_a_dated_name_is_none_of_another_model() -> None:
    assert not several_models(Counter({"gpt-4o-mini": 3, "openai/gpt-4o-mini-2024-07-18": 5}))
    assert several_models(Counter({"gpt-4o-mini": 3, "gpt-4o": 5}))
    assert several_models(Counter({"gpt-4o-2024-05-13": 3, "gpt-4o-2024-08-06": 5}))
    assert not several_models(Counter())


def test_the_settings_in_the_body_are_settings_too(tmp_path: Path) -> None:
    settings = ({"extra_body": {"top_k": 5}}, {"extra_body": {"top_k": 9, "min_p": 0.1}})
    study, specifications = Cellar(models=MODELS, settings=settings, wines=4).analysed(tmp_path)
    with study:
        assert [audit.name for audit in read(study, specifications).audits] == [
            "Sommelier 7B, top_k=5, min_p not set", "Sommelier 7B, top_k=9, min_p=0.1",
        ]  # fmt: skip
