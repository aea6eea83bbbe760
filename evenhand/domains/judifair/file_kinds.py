"""Which format a file of cases is in, so that one of another format is told what cases are.

A CSV read as JSONL is wrong in every line, and none of these messages says what is wrong.
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path

from store.errors import BadInput

FORM = (
    "Cases are JSONL (one JSON object a line, .jsonl) or TOML (a table [[case]] for each, .toml); "
    "the cases' README.md shows the form."
)
_HEADS: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "a Parquet file"),
    (b"\x1f\x8b", "compressed (gzip)"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd)"),
    (b"BZh", "compressed (bzip2)"),
    (b"\xfd7zXZ", "compressed (xz)"),
    (b"%PDF", "a PDF"),
    (b"\xd0\xcf\x11\xe0", "an old Office file (.xls or .doc)"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow (Feather) file"),
    (b"{\\rtf", "a text of a word processor (RTF)"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
)
_CONTENTS = (
    ("xl/", "an Excel workbook"),
    ("word/", "a Word document"),
    ("content.xml", "an OpenDocument file"),
)
_TOML = re.compile(r"\s*(#.*\n\s*)*(\[\[?\s*case\s*\]\]?|[A-Za-z_]+\s*=)")
_CONVERT = "Make of each row one JSON object with at least id, facts and defendant. "


def read(path: Path) -> str:
    """The text of a file of cases.

    Raises:
        BadInput: it cannot be read, is not UTF-8, or is neither JSONL nor TOML; the message names the format.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"The cases in {path} cannot be read: {error.strerror}.", hint="Check the path and its rights."
        ) from error
    if (kind := _binary(path, content)) is not None:
        raise BadInput(f"{path} is {kind}, not a file of cases.", hint=_CONVERT + FORM)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not UTF-8 (byte {error.start}).", hint=f"Save it as UTF-8 and try again. {FORM}"
        ) from error
    if (other := _other_text(path, text)) is not None:
        what, hint = other
        raise BadInput(f"{path} is {what}, not {'TOML' if path.suffix == '.toml' else 'JSONL'}.", hint=hint)
    return text


def _binary(path: Path, content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "saved as UTF-16"
    for head, kind in _HEADS:
        if content.startswith(head):
            return kind
    if content.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(path) as file:
                names = file.namelist()
        except (OSError, zipfile.BadZipFile):
            names = []
        return next(
            (kind for part, kind in _CONTENTS if any(n.startswith(part) for n in names)), "a zip archive"
        )
    if content[8:12] == b"DUCK":
        return "a DuckDB database (a study, perhaps: then give it with --db)"
    return "a binary file" if b"\0" in content[:4096] else None


def _other_text(path: Path, text: str) -> tuple[str, str] | None:
    """What a text file is that is not what its name says, and what to do; None where it may be right."""
    toml = path.suffix == ".toml"
    begins = text.lstrip()[:1]
    if not begins:
        return None
    if not toml and _TOML.match(text):
        return "TOML by its content", f"Name it {path.stem}.toml. {FORM}"
    if begins in "[{" and (document := _json(text)) is not None:
        return _of_json(path, document, text, toml=toml)
    if begins == "<":
        return "HTML or XML", _CONVERT + FORM
    if text.lstrip().startswith("---") or (not toml and re.match(r"- ?\w+:", text.lstrip())):
        return "YAML", _CONVERT + FORM
    if begins not in "[{" and (table := _table(path, text, toml=toml)) is not None:
        return table, _CONVERT + FORM
    if not toml and begins not in "[{":
        return "no JSON at its beginning", FORM
    if toml and begins == "{":
        return "JSON by its content", f"Name it {path.stem}.jsonl. {FORM}"
    return None


def _json(text: str) -> object | None:
    try:
        document: object = json.loads(text)
    except ValueError:
        return None
    return document


def _of_json(path: Path, document: object, text: str, *, toml: bool) -> tuple[str, str] | None:
    """A whole file that is one JSON document: an array, or one object over several lines."""
    several = len(text.strip().splitlines()) > 1
    if isinstance(document, list) and (several or any(isinstance(one, dict) for one in document)):
        return (
            "one JSON array",
            f"Put each of its objects on a line of its own, without the brackets and commas: "
            f"jq -c '.[]' {path.name} > {path.stem}.jsonl. {FORM}",
        )
    if isinstance(document, dict) and toml:
        return "JSON by its content", f"Name it {path.stem}.jsonl. {FORM}"
    if isinstance(document, dict) and several:
        inner = next((key for key, value in document.items() if isinstance(value, list)), None)
        path_in = "." if inner is None else f".{inner}[]"
        return (
            "one JSON document over several lines",
            f"Put each case on one line: jq -c '{path_in}' {path.name} > {path.stem}.jsonl. {FORM}",
        )
    return None


def _table(path: Path, text: str, *, toml: bool) -> str | None:
    """CSV or TSV: by its name, or as its first lines have equally many cells."""
    if path.suffix.lower() in (".csv", ".tsv", ".tab"):
        return "TSV" if path.suffix.lower() != ".csv" else "CSV"
    if toml and "=" in text:
        return None
    for separator, name in ((",", "CSV"), ("\t", "TSV"), (";", "CSV")):
        rows = list(csv.reader(text.splitlines()[:5], delimiter=separator))
        if len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows[:2]):
            return f"{name} by its content"
    return None
