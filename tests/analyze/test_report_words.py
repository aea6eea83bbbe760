"""What the tables of tests say of themselves: ups and downs, flags, what a test can reject, and what not."""

from __future__ import annotations

from pathlib import Path

import pytest
from cellar import LABELS, Cellar
from pages import Node, parse

from analyze.report import write_html

MODELS = tuple((f"Taster {i}", "api", 0.0) for i in range(5))
MANY = (*LABELS, *((f"{LABELS[1][0]}{i}", *LABELS[1][1:]) for i in range(16)))
"""Enough labels that a count of values says more than single values do."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Node]:
    folder: Path = tmp_path_factory.mktemp("words")
    study, specifications = Cellar(models=MODELS, labels=MANY).analysed(folder, inference=True)
    with study:
        page = parse(write_html(study, specifications, folder / "report").read_text(encoding="utf-8"))
    found = {}
    for figure in page.find("figure"):
        for table in figure.find("table", data_t="further"):
            found.setdefault(table["data-name"], figure)
    return found


def headings(figure: Node) -> list[str]:
    return [heading.text for heading in figure.find("thead")[0].find("th")]


def words(figure: Node) -> str:
    return " ".join(figure.find("figcaption")[0].text.split())


def test_values_say_how_many_went_up_and_down_and_when_no_p_can_be_small(tables: dict[str, Node]) -> None:
    assert {"Up", "Down", "Exact", "Least p", "p, flips", "p, clustered"} <= set(headings(tables["flips"]))
    said = words(tables["flips"])
    assert "fewer than 5, 6 and 8 wines that change, no test can bring p under 0.1, 0.05 and 0.01" in said
    assert "skewed" in said
    assert "fewer than 30 wines change" in said
    assert "Exact: every wine has the reference and the value, once each" in said


def test_count_tests_reject_the_global_null_only(tables: dict[str, Node]) -> None:
    assert "neither says which label does" in words(tables["global"])
    assert "rejects only that nothing matters at all, in no model" in words(tables["global_models"])
    assert "can reject only that nothing matters at all" in words(tables["counts_over_models"])
    # Values and labels at three thresholds.
    assert len(tables["global_models"].find("tbody")[0].find("tr")) == 6


def test_correlations_show_their_interval_and_mark_the_mechanical(tables: dict[str, Node]) -> None:
    assert {"95% from", "to", "Orders", "Holm", "Mechanical"} <= set(headings(tables["correlations"]))
    assert "go together by construction" in words(tables["correlations"])
    rows = tables["correlations"].find("tbody")[0].find("tr")
    marked = [row for row in rows if row.find("td", data_c="mechanical") or "yes" in row.text]
    assert len(rows) == 10
    assert 0 < len(marked) < 10


def test_noise_floors_stand_beside_the_inconsistency(tables: dict[str, Node]) -> None:
    rows = tables["noise"].find("tbody")[0].find("tr")
    assert [row.find("td")[0].text for row in rows] == ["Repeats", "Placebos", "Reference answers"]
    assert "Placebos count as no label and no value anywhere" in words(tables["noise"])


def test_draws_and_strata_stand_beside_their_p(tables: dict[str, Node]) -> None:
    for name, wanted in (
        ("global", {"Draws"}),
        ("label_tests", {"Sign patterns"}),
        ("flips", {"Sign patterns"}),
        ("structure", {"Permuted within"}),
        ("correlations", {"Orders"}),
    ):
        assert wanted <= set(headings(tables[name])), name
