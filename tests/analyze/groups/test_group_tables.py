"""How the tables of groups are written: by the report's own rules of figures and cells."""

from __future__ import annotations

import pytest

from analyze.groups.report import grids
from analyze.groups.report.grids import Grid, decimals
from analyze.groups.report.write import _csv
from analyze.report.numbers import p_value, percent


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (p_value(0.0498), "0.0498"),
        (p_value(0.0502), "0.050"),
        (p_value(0.0004), "<0.001"),
        (percent(-0.0123), "−1.2"),
        (percent(float("nan")), "–"),
        (decimals(0.12345), "0.123"),
        (decimals(None), "–"),
        (grids.interval(0.1, 0.25), "10.0 to 25.0"),
        (grids.interval(None, 0.25), "–"),
    ],
)
def test_a_figure_says_on_which_side_of_a_level_it_lies(written: str, expected: str) -> None:
    assert written == expected


def test_a_csv_holds_figures_for_programs_and_no_formulas() -> None:
    table = Grid("t", "T", ("group", "gap"), (("=HYPERLINK(1)", percent(-0.0123)), ("18-34", "<0.001")))
    assert _csv(table).splitlines() == ["group,gap", "'=HYPERLINK(1),-1.2", "18-34,<0.001"]
