"""The group report as files: a page, or tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analyze.groups.report import grids, papers
from analyze.groups.report.disparities import Disparity, disparities
from analyze.groups.report.plot import GroupPoint, group_plot
from analyze.groups.report.words import sentences
from analyze.report import numbers
from analyze.report.export import safe_cell
from store.errors import BadInput

FORMATS = ("html", "latex", "csv", "json")
_HERE = Path(__file__).parent
_STYLE = _HERE.parents[1] / "report" / "templates" / "report.css"


@dataclass(frozen=True, slots=True)
class Section:
    """What the page shows of one model and attribute."""

    title: str
    figure: Markup
    tables: Sequence[grids.Grid]


def write(
    connection: duckdb.DuckDBPyConnection, folder: Path, *, format: str, page: str = "index.html"
) -> list[Path]:
    """Write the group report into `folder`; returns the paths.

    Args:
        connection: of the study.
        folder: made where it is missing.
        format: html (one page), latex (Tables 2 to 4 of FairLex's layout), csv or json.
        page: the name of the page.

    Raises:
        BadInput: the format is not among them, or the folder cannot be written.
    """
    if format not in FORMATS:
        raise BadInput(
            f"The group report is not written as {format}.",
            hint=f"It is written as {', '.join(FORMATS)}; `evenhand export` writes any table to Excel.",
        )
    if format == "html":
        files = {page: render(connection)}
    elif format == "latex":
        files = {f"groups-{table.name}.tex": papers.to_latex(table) for table in papers.tables(connection)}
    elif format == "csv":
        tables = [grids.overview(connection), *papers.tables(connection), *grids.of_data(connection)]
        files = {f"groups-{table.name}.csv": _csv(table) for table in tables}
    else:
        document = {
            "findings": sentences(connection),
            "group_disparities": [row.as_dict() for row in disparities(connection)],
        }
        files = {"groups.json": json.dumps(document, ensure_ascii=False, indent=1)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror or error}",
            hint="Name a folder that you may write to.",
        ) from error
    return [folder / name for name in files]


def render(connection: duckdb.DuckDBPyConnection) -> str:
    """The page."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("groups.html.j2").render(
        style=Markup(_STYLE.read_text(encoding="utf-8")),
        written=datetime.now(UTC),
        sentences=sentences(connection),
        overview=grids.overview(connection),
        sections=[
            _section(connection, row, number) for number, row in enumerate(disparities(connection), start=1)
        ],
        tables=grids.of_data(connection),
    )


def _section(connection: duckdb.DuckDBPyConnection, row: Disparity, number: int) -> Section:
    rows = connection.execute(
        "SELECT group_name, n, score, ci_low, ci_high, compared FROM group_scores WHERE collection = ? "
        "AND outcome = ? AND arm = ? AND coding = ? AND model = ? AND attribute = ? AND seed IS NULL "
        "AND variant = 'all' AND is_default ORDER BY group_code",
        [row.collection, row.outcome, row.arm, row.coding, row.model, row.attribute],
    ).fetchall()
    arm = "" if row.arm == "base" else f", {row.arm}"
    title = f"{row.collection}, {row.model}{arm}: {row.attribute}"
    figure = group_plot(
        [GroupPoint(*one) for one in rows], row.mean_score, row.gd_floor, title=title, salt=f"g{number}"
    )
    tables = grids.of_attribute(connection, row.collection, row.outcome, row.arm, row.model, row.attribute)
    return Section(title, Markup(figure), tables)


def _csv(table: grids.Grid) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_cell(cell) for cell in row] for row in table.rows)
    return out.getvalue()


def _cell(text: str) -> str:
    """A figure with a minus that programs read; anything else so that no spreadsheet runs it."""
    plain = text.replace(numbers.MINUS, "-")
    return plain if plain.lstrip("-")[:1].isdigit() else safe_cell(text)
