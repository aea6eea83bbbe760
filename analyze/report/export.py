"""The report's tables as files: CSV, Markdown, LaTeX (booktabs) and a workbook; and everything as JSON.

CSV, JSON and the workbook carry figures in full, Markdown and LaTeX as people read them. A text that a
spreadsheet would take for a formula gets an apostrophe in front of it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analyze.report import agreement, data_flow, extra_tables, minute, model_comparison, numbers, sheets
from analyze.report.data import Connection, read
from analyze.report.latex import document, to_latex
from analyze.report.shapes import Audit, Reading, Results
from analyze.report.sheets import Column, Sheet
from analyze.specification import Specifications
from store.errors import BadInput

FORMATS = ("csv", "md", "latex", "xlsx", "json")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_tables(
    study: Connection,
    specifications: Specifications | Path | str,
    folder: Path | str,
    *,
    format: str = "csv",
    models: Sequence[str] | None = None,
    codings: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    tell: Callable[[str], object] | None = None,
) -> list[Path]:
    """Write every table of the report into `folder`: a file for each, or one workbook for xlsx. Returns the
    paths. `tell` hears what is not up to date.

    Raises BadInput where the format is unknown, nothing has been analysed, or the folder cannot be written.
    """
    if format not in FORMATS:
        raise BadInput(f"there is no format {format!r}", hint=f"There are: {', '.join(FORMATS)}.")
    results = read(study, specifications, models=models, codings=codings, arms=arms)
    if tell is not None:
        for notice in results.of_age():
            tell(notice)
    folder = Path(folder)
    found = [*sheets.all_sheets(results), *extra_tables.sheets(results)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if format == "json":
            path = folder / "report.json"
            path.write_text(
                json.dumps(as_json(results), ensure_ascii=False, indent=1, default=str), encoding="utf-8"
            )
            return [path]
        if format == "xlsx":
            return [_workbook(found, results.notices(), folder / "report.xlsx")]
        write, suffix = _WRITERS[format]
        # A spreadsheet program knows UTF-8 by its mark; without it Chinese turns to noise there.
        encoding = "utf-8-sig" if format == "csv" else "utf-8"
        texts = {f"{sheet.name}.{suffix}": write(sheet, results.notices()) for sheet in found}
        if format == "latex":
            texts["report.tex"] = document(list(texts), list(texts.values()), results.texts.title)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding=encoding, newline="")
        paths = [folder / name for name in texts]
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror or error}",
            hint="Name a folder that you may write to.",
        ) from error
    return paths


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, made harmless; everything else as it is."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def to_csv(sheet: Sheet, notices: Sequence[str] = ()) -> str:
    """Comma-separated, figures in full. A notice becomes a column, so that no row can lose it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    extra = [" ".join(notices)] if notices else []
    writer.writerow([*(column.key for column in sheet.columns), *(["notice"] if extra else [])])
    for row in sheet.rows:
        cells = (_csv_cell(column, v) for column, v in zip(sheet.columns, row, strict=True))
        writer.writerow([*cells, *map(safe_cell, extra)])
    return out.getvalue()


def _csv_cell(column: Column, value: Any) -> Any:
    """A count is a whole number, also where it is a metric and stored as a figure."""
    if value is None:
        return ""
    if column.kind == "count" and isinstance(value, float) and value.is_integer():
        return int(value)
    return safe_cell(value)


def to_markdown(sheet: Sheet, notices: Sequence[str] = ()) -> str:
    """A pipe table, figures rounded."""

    def cell(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
        return escaped.replace("*", "\\*").replace("_", "\\_")

    lines = [f"**{sheet.caption}**", ""]
    lines += [f"> {cell(notice)}\n" for notice in notices]
    lines.append("| " + " | ".join(cell(c.heading) for c in sheet.columns) + " |")
    lines.append("|" + "|".join(" :-- " if c.is_text else " --: " for c in sheet.columns) + "|")
    lines += ["| " + " | ".join(cell(text) for text in row) + " |" for row in sheet.shown()]
    return "\n".join(lines) + "\n"


_WRITERS: Mapping[str, tuple[Callable[[Sheet, Sequence[str]], str], str]] = {
    "csv": (to_csv, "csv"),
    "md": (to_markdown, "md"),
    "latex": (to_latex, "tex"),
}


def _workbook(found: Sequence[Sheet], notices: Sequence[str], path: Path) -> Path:
    import xlsxwriter  # noqa: PLC0415  (only here)

    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(str(path), options) as book:
        bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1})
        warning = book.add_format({"bold": True})
        for sheet in found:
            page = book.add_worksheet(sheet.name)
            top = 0
            for notice in notices:
                page.write_string(top, 0, str(safe_cell(notice)), warning)
                top += 1
            for at, column in enumerate(sheet.columns):
                page.write_string(top, at, str(safe_cell(column.heading)), bold)
                page.set_column(at, at, 24 if column.is_text else 11, book.add_format(_number_format(column)))
            for line, row in enumerate(sheet.rows, top + 1):
                for at, value in enumerate(row):
                    _write_cell(page, line, at, value)
            page.freeze_panes(top + 1, 0)
            page.autofilter(top, 0, top + len(sheet.rows), len(sheet.columns) - 1)
            page.set_landscape()
            page.repeat_rows(0, top)
    return path


def _write_cell(page: Any, line: int, at: int, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        page.write_boolean(line, at, value)
    elif numbers.is_number(value):
        page.write_number(line, at, value)
    else:
        page.write_string(line, at, str(safe_cell(value)))


def _number_format(column: Column) -> dict[str, str]:
    formats = {
        "count": "#,##0", "number": f"0.{'0' * column.places}" if column.places else "0",
        "signed": f"+0.{'0' * column.places};-0.{'0' * column.places};0", "share": "0.0%", "p": "0.000",
        "tiny": "0.0E+00",
    }  # fmt: skip
    return {"num_format": formats[column.kind]} if column.kind in formats else {}


def summary_json(
    study: Connection,
    specifications: Specifications | Path | str,
    *,
    models: Sequence[str] | None = None,
    codings: Sequence[str] | None = None,
) -> dict[str, Any]:
    """All that the report shows, as one JSON-ready dict with figures in full."""
    return as_json(read(study, specifications, models=models, codings=codings))


def as_json(results: Results) -> dict[str, Any]:
    """`summary_json` of results already read."""
    return {
        "study": {"id": results.study_id, "file": results.study_name},
        "unit": results.unit,
        "outcome": results.specs.outcome,
        "primary": results.specs.frame.primary,
        "level": results.specs.frame.level,
        "notices": list(results.notices()),
        "comparison": list(model_comparison.compare(results).plain()) if len(results.audits) > 1 else [],
        "models": [_audit_json(results, audit) for audit in results.audits],
    }


def _audit_json(results: Results, audit: Audit) -> dict[str, Any]:
    return {
        "collection": audit.collection,
        "model_key": audit.model_key,
        "model": audit.model,
        "name": audit.name,
        "temperature": audit.temperature,
        "arm": audit.arm,
        "kind": audit.kind,
        "settings": dict(audit.settings),
        "returned_models": dict(audit.returned),
        "documents": audit.documents,
        "queries": audit.queries,
        "asked": audit.asked,
        "repeats": audit.repeats,
        "outcomes": data_flow.outcome_counts(audit),
        "codings": [_reading_json(results, audit, reading) for reading in audit.readings],
    }


def _expectations_json(results: Results, reading: Reading) -> dict[str, Any] | None:
    found = agreement.of(results, reading)
    if found is None:
        return None
    return {
        "sentence": found.sentence,
        "shown": found.shown,
        "agreeing": found.agreeing,
        "probability_by_chance": found.by_chance,
        "values": [{**one.expected.model_dump(), "comparison": one.said} for one in found.compared],
    }


def _reading_json(results: Results, audit: Audit, reading: Reading) -> dict[str, Any]:
    return {
        "coding": reading.coding,
        "minute": list(minute.of(results, audit, reading).plain()),
        "findings": [asdict(row) for row in reading.findings],
        "expectations": _expectations_json(results, reading),
        "metrics": [asdict(metric) for metric in reading.metrics],
        "labels": [asdict(row) for row in reading.labels],
        "estimates": [asdict(row) for row in reading.estimates],
        "steps": [asdict(step) for step in data_flow.steps(results, audit, reading)],
        "read_as": [
            {"read_as": name, "rows": rows, "usable": usable}
            for name, rows, usable in data_flow.read_as_counts(reading)
        ],
    }
