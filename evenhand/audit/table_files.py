"""The rows of a file, each with its line: JSON lines, plain or gzipped, Parquet or CSV."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from store.errors import BadInput

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet", ".csv")
_BATCH_ROWS = 4_096
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file."""

    number: int
    """From 0: how many rows stand before it."""
    source: str
    """File and line, for messages."""
    values: dict[str, Any]
    is_text: bool = False
    """Every value is a text, as in CSV: digits may be a number."""


def ending(path: Path) -> str | None:
    """Which of `ENDINGS` a file has; None where it has another."""
    return next((one for one in ENDINGS if path.name.lower().endswith(one)), None)


def read_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a file, in bounded memory.

    Raises:
        BadInput: the file cannot be read, or a line is no row; the message names file and line.
    """
    if not path.is_file():
        raise BadInput(f"There is no file {path}.")
    try:
        match ending(path):
            case ".jsonl":
                with path.open("rb") as file:
                    yield from _json_rows(path, file)
            case ".jsonl.gz":
                with gzip.open(path, "rb") as file:
                    yield from _json_rows(path, file)
            case ".parquet":
                yield from _parquet_rows(path)
            case ".csv":
                with path.open(encoding="utf-8-sig", newline="") as text:
                    yield from _csv_rows(path, text)
            case _:
                raise BadInput(
                    f"{path}: files of this kind cannot be read.",
                    hint=f"It must end in one of {', '.join(ENDINGS)}.",
                )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(
            f"{path} is no whole gzip file: {error}.", hint="Fetch or compress it again."
        ) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None


def _json_rows(path: Path, file: Any) -> Iterator[FileRow]:
    blank = None
    number = 0
    for line_number, raw in enumerate(file, start=1):
        source = f"{path}: line {line_number}"
        line = raw.removeprefix(_BOM).strip() if line_number == 1 else raw.strip()
        if not line:
            blank = blank or source
            continue
        if blank is not None:
            # Rows are known by their place: a gap would move all that follow.
            raise BadInput(f"{blank} is empty, and rows follow it.", hint="Remove the empty line.")
        try:
            values = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(f"{source} is not valid JSON: {error}.") from None
        if not isinstance(values, dict):
            raise BadInput(f"{source}: each line must be a JSON object.")
        yield FileRow(number, source, values)
        number += 1


def _parquet_rows(path: Path) -> Iterator[FileRow]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH_ROWS):
                for values in batch.to_pylist():
                    yield FileRow(number, f"{path}: row {number + 1}", values)
                    number += 1
    except pa.ArrowException as error:
        raise BadInput(f"{path} cannot be read as Parquet: {error}.") from None


def _csv_rows(path: Path, text: io.TextIOBase) -> Iterator[FileRow]:
    csv.field_size_limit(1 << 30)
    reader = csv.DictReader(text, strict=True)
    try:
        names = reader.fieldnames or []
        if not names or len(set(names)) < len(names):
            raise BadInput(f"{path}: line 1 must name the columns, each once.")
        for number, record in enumerate(reader):
            source = f"{path}: line {reader.line_num}"
            if None in record or None in record.values():
                raise BadInput(f"{source} does not have {len(names)} cells, as line 1 has.")
            yield FileRow(number, source, {name: cell or None for name, cell in record.items()}, is_text=True)
    except csv.Error as error:
        raise BadInput(f"{path}: line {reader.line_num} is not valid CSV: {error}.") from None
