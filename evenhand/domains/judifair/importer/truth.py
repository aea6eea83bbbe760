"""What is known of the documents besides the answers: case number and first charge, from a CSV."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from store.errors import BadInput

COLUMNS = {
    "doc_id": ("id", "doc_id"),
    "case_number": ("case_number",),
    "charge": ("crime_name", "charge", "crime"),
}

_BRACKETED = r"[(\[〔【]\s*((?:19|20)\d\d)\s*[)\]〕】]"
_HALF_BRACKETED = r"^((?:19|20)\d\d)\s*[)\]〕】]|^[(\[〔【]\s*((?:19|20)\d\d)"
_YEAR = re.compile(f"{_BRACKETED}|{_HALF_BRACKETED}")


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A line of the CSV. `charge` is the whole first charge; a text is empty where the source has none."""

    doc_id: str
    case_number: str
    charge: str
    year: int | None


def read_documents(path: Path) -> Iterator[DocumentFacts]:
    """The lines of a documents file with the columns id, case_number and crime_name, in UTF-8.

    Raises `BadInput` that names the file, and the line where there is one, for what is no such file.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file)
            names = _columns(path, lines.fieldnames or ())
            seen: set[str] = set()
            for row in lines:
                doc_id = (row[names["doc_id"]] or "").strip()
                if not doc_id:
                    raise BadInput(f"{path}: line {lines.line_num} has no id")
                if doc_id in seen:
                    raise BadInput(f"{path}: line {lines.line_num} has the id {doc_id} for the second time")
                seen.add(doc_id)
                case_number = (row[names["case_number"]] or "").strip()
                charge = (row[names["charge"]] or "").strip()
                yield DocumentFacts(doc_id, case_number, charge, year_of(case_number))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path} is no CSV in UTF-8: {error}") from error


def year_of(case_number: str) -> int | None:
    """The year of a case number: four digits in brackets; at its head, one of the two may be missing.

    The running number, which may hold such digits too (刑初20037号), is not looked at.
    """
    found = _YEAR.search(unicodedata.normalize("NFKC", case_number).strip())
    return int(next(filter(None, found.groups()))) if found else None


def _columns(path: Path, present: Sequence[str]) -> dict[str, str]:
    by_lower = {name.strip().lower(): name for name in present}
    found = {}
    for column, names in COLUMNS.items():
        name = next((by_lower[name] for name in names if name in by_lower), None)
        if name is None:
            raise BadInput(
                f"{path} has no column {names[0]}.",
                hint="It needs a header line with id, case_number and crime_name.",
            )
        found[column] = name
    return found
