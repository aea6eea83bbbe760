"""Results of a SELECT as a file: Parquet, CSV or Excel, from a study's file or from the run that has it open.

A file appears whole or not at all, and is written batch by batch in bounded memory.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import decimal
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from store import reach, readonly, values
from store.errors import BadInput
from store.readonly import Reading
from store.study import Study

FORMATS = (".parquet", ".csv", ".xlsx")
TIMEOUT_S = 3600.0
EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_CELL = 1_048_576, 16_384, 32_767
EXCEL_CUT = " ...[cut: Excel holds 32,767 characters]"

_FORMULA = re.compile(r"[=+\-@\t\r]")
_HARMLESS = re.compile(
    r"[+-]?\d+(\.\d+)?"  # a number
    r"|-inf(inity)?"
    r"|(-?\d+ (years?|months?|days?) ?)*(-?\d{2,}:\d\d:\d\d(\.\d+)?)?"  # a duration
)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. `live`: a running process gave it."""

    path: Path
    rows: int
    live: bool
    guarded: int = 0
    """Cells of a CSV that got a leading apostrophe (see `export`)."""
    cut: int = 0
    """Cells that were longer than Excel allows; they end with a note that says so."""


def export(
    source: Study | str | os.PathLike[str],
    sql: str,
    out: str | os.PathLike[str],
    *,
    timeout_s: float = TIMEOUT_S,
    overwrite: bool = False,
    formula_safe: bool = True,
) -> Exported:
    """Write the result of one read-only statement to `out`; its ending says the format.

    A model's answer may begin with =, +, - or @, which a spreadsheet would run as a formula. In Excel files
    such cells are marked as text. In CSV they get a leading apostrophe, unless `formula_safe` is False (for
    programs that read it) or the cell is a plain number.

    Raises:
        BadInput: the statement is not allowed or fails, the ending is unknown, the file exists and
            `overwrite` is False, its folder cannot be written, or the result is too large for Excel.
        RunFailed: the running process ended on the way.
    """
    path = Path(out).expanduser().resolve()
    write = _writer(path, formula_safe)
    if path.exists() and not overwrite:
        raise BadInput(f"{path} exists", hint="Delete it, name another file, or allow overwriting.")
    opened = (
        readonly.reading(source, sql, timeout_s=timeout_s)
        if isinstance(source, Study)
        else reach.reading(source, sql, timeout_s=timeout_s)
    )
    with opened as result, _whole(path) as unfinished:
        try:
            rows, guarded, cut = write(result, unfinished)
        except pa.ArrowNotImplementedError as error:
            raise BadInput(
                f"a column has a type that {path.suffix} cannot hold: {error}",
                hint="Cast it: column::VARCHAR.",
            ) from None
    return Exported(path, rows, result.live, guarded, cut)


Write = Callable[[Reading, Path], tuple[int, int, int]]


def _writer(path: Path, formula_safe: bool) -> Write:
    """The function that writes a result, and gives (rows, guarded cells, cut cells)."""
    match path.suffix.lower():
        case ".parquet":
            return _parquet
        case ".csv":
            return lambda result, out: _csv(result, out, formula_safe=formula_safe)
        case ".xlsx":
            return _excel
        case other:
            raise BadInput(
                f"'{other or path.name}' is no format to export to",
                hint=f"End the name with {', '.join(FORMATS)}.",
            )


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its name at the end of the block, or vanishes."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
    except OSError as error:
        raise BadInput(
            f"{path.parent} cannot be written: {error.strerror}", hint="Name another folder."
        ) from None
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)  # mkstemp makes files that only the user can read
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _parquet(result: Reading, out: Path) -> tuple[int, int, int]:
    import pyarrow.parquet as pq  # noqa: PLC0415  (heavy)

    rows = 0
    with pq.ParquetWriter(out, result.schema, compression="zstd") as writer:
        for batch in result.batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows, 0, 0


def _csv(result: Reading, out: Path, *, formula_safe: bool) -> tuple[int, int, int]:
    rows = guarded = 0

    def cell(value: Any) -> Any:
        nonlocal guarded
        text = (
            values.as_text(value) if not isinstance(value, int | float) or isinstance(value, bool) else value
        )
        if formula_safe and isinstance(text, str) and _is_formula(text):
            guarded += 1
            return "'" + text
        return text

    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(cell(name) for name in result.schema.names)
        for batch in result.batches:
            for row in values.rows(batch):
                writer.writerow(cell(value) for value in row)
            rows += batch.num_rows
    return rows, guarded, 0


def _excel(result: Reading, out: Path) -> tuple[int, int, int]:
    import xlsxwriter  # noqa: PLC0415  (only here)

    if len(result.schema.names) > EXCEL_COLUMNS:
        raise BadInput(
            f"Excel holds {EXCEL_COLUMNS:,} columns", hint="Select fewer, or export to .parquet or .csv."
        )
    rows = cut = 0
    # Rows go to the file as they come (constant_memory); nothing is ever taken for a formula or a link.
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(str(out), options) as book:
        sheet = book.add_worksheet("result")
        bold = book.add_format({"bold": True})
        quoted = book.add_format({"quote_prefix": True})
        dates = book.add_format({"num_format": "yyyy-mm-dd"})
        times = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        clock = book.add_format({"num_format": "hh:mm:ss"})
        sheet.freeze_panes(1, 0)
        for place, name in enumerate(result.schema.names):
            sheet.write_string(0, place, name, bold)
        for batch in result.batches:
            if 1 + rows + batch.num_rows > EXCEL_ROWS:
                raise BadInput(
                    f"the result has more than the {EXCEL_ROWS - 1:,} rows that Excel holds",
                    hint="Narrow it, or export to .parquet or .csv.",
                )
            for row in values.rows(batch):
                rows += 1
                for place, value in enumerate(row):
                    if value is None:
                        continue
                    if isinstance(value, decimal.Decimal) and values.fits_double(value):
                        sheet.write_number(rows, place, float(value))
                    elif isinstance(value, bool):
                        sheet.write_boolean(rows, place, value)
                    elif isinstance(value, int | float) and math.isfinite(value) and abs(value) < 2**53:
                        sheet.write_number(rows, place, value)
                    elif isinstance(value, dt.time):
                        sheet.write_datetime(rows, place, value, clock)
                    elif isinstance(value, dt.date) and value.year >= 1900 and _zoneless(value):
                        has_time = isinstance(value, dt.datetime)
                        sheet.write_datetime(rows, place, value, times if has_time else dates)
                    else:
                        text = values.as_text(value)
                        if len(text) > EXCEL_CELL:
                            text, cut = text[: EXCEL_CELL - len(EXCEL_CUT)] + EXCEL_CUT, cut + 1
                        sheet.write_string(rows, place, text, quoted if _is_formula(text) else None)
    return rows, 0, cut


def _zoneless(value: dt.date) -> bool:
    return not isinstance(value, dt.datetime) or value.tzinfo is None


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _HARMLESS.fullmatch(text) is None
