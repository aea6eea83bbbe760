"""The summary in a terminal: Chinese stands in line, nothing is too wide, and pipes get plain text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from cellar import Cellar
from rich.cells import cell_len
from rich.console import Console

import store
from analyze.report import print_summary
from analyze.report.sheets import ESSENTIAL, SPARE, Column, Sheet
from analyze.report.terminal import fitted, show, squeezed
from store.errors import BadInput

MODELS = (("Sommelier 7B", "simulated", 0.0),)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[store.Study, Path]]:
    opened, specifications = Cellar(models=MODELS).analysed(tmp_path_factory.mktemp("terminal"))
    with opened:
        yield opened, specifications


def printed(
    study: tuple[store.Study, Path], *, width: int, terminal: bool = True, everything: bool = False
) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, highlight=False, legacy_windows=False)
    if terminal:
        console._color_system = None
    print_summary(*study, console, everything=everything)
    return out.getvalue()


@pytest.mark.parametrize("width", [50, 64, 80, 100, 120, 200])
def test_nothing_is_wider_than_the_screen(study: tuple[store.Study, Path], width: int) -> None:
    for line in printed(study, width=width).splitlines():
        assert cell_len(line) <= width, line


@pytest.mark.parametrize("width", [64, 80, 100, 200])
def test_figures_are_never_folded(study: tuple[store.Study, Path], width: int) -> None:
    lines = printed(study, width=width).splitlines()
    row = next(line for line in lines if "plastic" in line and "Glass" in line)
    p = (
        study[0]
        .connection.execute(
            "SELECT p FROM estimates WHERE coding = 'careful' AND variant = 'main' AND value = '塑料'"
        )
        .fetchall()[0][0]
    )
    assert p < 0.001
    assert "<0.001" in row


def test_columns_after_chinese_stand_in_line(study: tuple[store.Study, Path]) -> None:
    lines = printed(study, width=200, everything=True).splitlines()
    rows = [
        line.rstrip()
        for line in lines
        if line.strip().startswith(("Glass", "Bottle", "Music", "Light", "Room"))
    ]
    chinese = [row for row in rows if any(ord(c) > 0x2E7F for c in row)]
    assert len(chinese) >= 10
    for kind in (chinese[:5], chinese[5:]):
        starts = set()
        for row in kind:
            first = next(i for i, c in enumerate(row) if ord(c) > 0x2E7F)
            starts.add(cell_len(row[:first]))
        assert len(starts) == 1, "Chinese names do not begin in one column"


def test_what_did_not_fit_is_said(study: tuple[store.Study, Path]) -> None:
    narrow = printed(study, width=64)
    assert "Columns hidden, as the terminal is too narrow:" in narrow
    assert "Left out" not in printed(study, width=600)


def test_a_pipe_gets_plain_text_in_whole_lines(study: tuple[store.Study, Path]) -> None:
    text = printed(study, width=80, terminal=False)
    assert "\x1b" not in text
    assert not set(text) & set("─│┃━┏")
    row = next(line for line in text.splitlines() if "plastic" in line and "Glass" in line)
    for part in ("Glass", "plastic", "塑料", "<0.001"):
        assert part in row
    minute = next(line for line in text.splitlines() if "no confirmatory test was made" in line)
    assert minute.endswith("coding."), "a sentence is one line where nobody looks at a screen"
    assert "…" not in text


def test_the_notice_comes_first(study: tuple[store.Study, Path]) -> None:
    assert printed(study, width=100).startswith("Simulated: a scripted taster with a planted preference.")


def test_only_what_moved_is_listed_unless_all_is_asked_for(study: tuple[store.Study, Path]) -> None:
    short, full = printed(study, width=300), printed(study, width=300, everything=True)
    assert "candles" not in short
    assert "candles" in full
    assert "NOT confirmed, as no confirmatory test was made (uncorrected p < 0.1)" in short


def test_a_study_where_nothing_moved_says_so(tmp_path: Path) -> None:
    opened, specifications = Cellar(planted=0, seed=3, wines=6).analysed(tmp_path)
    with opened:
        opened.connection.execute("UPDATE estimates SET p = 0.5")
        assert "no value has an uncorrected p < 0.1 (6 tested)" in printed(
            (opened, specifications), width=100
        )


def test_a_study_where_nothing_could_be_estimated_says_why(tmp_path: Path) -> None:
    opened, specifications = Cellar(planted=0, seed=3, wines=6).analysed(tmp_path)
    with opened:
        opened.connection.execute("UPDATE estimates SET p = NULL, note = 'no answer changes'")
        said = printed((opened, specifications), width=100)
        assert "nothing was estimated (6 values), because no answer changes." in said
        opened.connection.execute("UPDATE predictions SET outcome = 'refused'")
        said = printed((opened, specifications), width=100, terminal=False)
        assert "because no query was answered (" in said
        assert "refused by the model or its provider: " in said


def test_nothing_analysed_is_an_error_for_people(tmp_path: Path) -> None:
    opened, specifications = Cellar(wines=3).analysed(tmp_path)
    with opened:
        opened.connection.execute("DELETE FROM label_metrics")
        with pytest.raises(BadInput, match="nothing to report"):
            printed((opened, specifications), width=100)


def sheet() -> Sheet:
    columns = (
        Column("name", "Name", rank=0),
        Column("p", "p", "p", rank=0),
        Column("mae", "Mean error", "number", 1, rank=1),
        Column("note", "Note", rank=2),
    )
    return Sheet(
        "s",
        "A table",
        columns,
        (("罪名很长很长很长很长很长" * 2, 0.02, 12.5, "a long note " * 9), ("b", 0.5, 1.0, None)),
    )


def test_columns_go_by_rank_from_the_right() -> None:
    assert [c.key for c in fitted(sheet(), 120)[0].columns] == ["name", "p", "mae", "note"]
    shown, gone = fitted(sheet(), 60)
    assert [c.key for c in shown.columns] == ["name", "p", "mae"]
    assert [c.key for c in gone] == ["note"]
    shown, gone = fitted(sheet(), 48)
    assert [c.key for c in shown.columns] == ["name", "p"]
    assert [c.key for c in gone] == ["mae", "note"]


def test_texts_are_folded_before_anything_breaks() -> None:
    shown, _ = fitted(sheet(), 30)
    assert squeezed(shown, [34, 5], 30) == [19, 5]
    out = io.StringIO()
    show(Console(file=out, width=30, force_terminal=True, color_system=None, legacy_windows=False), sheet())
    lines = out.getvalue().splitlines()
    assert all(cell_len(line) <= 30 for line in lines)
    assert sum("罪" in line or "很" in line for line in lines) >= 3


def test_a_model_with_markup_in_its_name_is_printed_as_it_is(tmp_path: Path) -> None:
    opened, specifications = Cellar(models=(("[red]M[/red] [/]", "api", 0.0),), wines=4).analysed(tmp_path)
    with opened:
        assert "[red]M[/red] [/]" in printed((opened, specifications), width=200)


@pytest.mark.parametrize("width", range(40, 130, 3))
def test_no_interval_is_shown_by_half(width: int) -> None:
    columns = (
        Column("label", "Label", rank=ESSENTIAL),
        Column("ci_low", "Interval from", "signed", 2),
        Column("ci_high", "to", "signed", 2, ends="ci_low"),
        Column("ups", "Up", "count"),
        Column("downs", "Down", "count", ends="ups"),
        Column("note", "Note", "note", rank=SPARE),
    )
    rows = (("Defendant's religion", -1.25, 13.5, 19, 0, "a note that is somewhat longer"),)
    shown, gone = fitted(Sheet("s", "Caption", columns, rows), width)
    keys = {column.key for column in shown.columns}
    assert ("ci_low" in keys) == ("ci_high" in keys)
    assert ("ups" in keys) == ("downs" in keys)
    assert {*keys, *(column.key for column in gone)} == {column.key for column in columns}
    assert len(shown.columns) + len(gone) == len(columns)
