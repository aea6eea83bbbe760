"""Reading a file once: what its records are, of which label, and the records themselves if they are few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.importer import labels, report
from evenhand.domains.judifair.importer.layouts import BadRecord, Reader, Record
from evenhand.domains.judifair.importer.plan import Planned
from evenhand.domains.judifair.importer.records import BrokenFile, NotAnArray, records

MOST_BAD_RECORDS = 5
MOST_KEPT = 20_000
"""The records of a file with at most so many are kept for storing; a larger file is read a second time."""


@dataclass(slots=True)
class Scan:
    """What one reading of a file finds. `kept` is None where the file is too large to keep."""

    path: Path
    rows: int = 0
    values: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    questions: set[tuple[str, str]] = field(default_factory=set)
    bad: list[str] = field(default_factory=list)
    bad_rows: int = 0
    kept: list[tuple[int, Record]] | None = field(default_factory=list)

    def records(self) -> Iterator[tuple[int, Record]]:
        """The readable records, each with its row in the file."""
        return iter(self.kept) if self.kept is not None else _numbered(self.path)


def scan(planned: Planned) -> Scan | None:
    """Read a planned file and complete its report; None if it holds no predictions or is broken."""
    file = planned.file
    try:
        found = read(file.path)
    except NotAnArray:
        found = None
    except BrokenFile as error:
        whole = f"after {error.records} whole records"
        file.status = report.BROKEN
        file.reason = f"line {error.line}, column {error.column} ({whole}): {error.why}"
        return None
    if found is None:
        file.status = report.FOREIGN
        return None
    file.rows = found.rows
    file.layout = " + ".join(shape for shape, _ in found.shapes.most_common())
    _name_label(planned, found)
    extracts = found.shapes.get("text with extract", 0)
    if extracts:
        file.warnings.append(
            f"{extracts:,} rows have the whole text (response) beside an extract (response_full): "
            "the text is imported, and the published coding drops it where prose stands beside the "
            "object. Which of the two the authors parsed is not known"
        )
    if found.bad_rows:
        file.warnings.append(f"{found.bad_rows} records are left out: {'; '.join(found.bad)}")
    return found


def read(path: Path) -> Scan | None:
    """Read a file from end to end; None if it holds no prediction.

    Raises:
        NotAnArray, BrokenFile: as `records`.
    """
    found = Scan(path)
    reader = Reader()
    for index, raw in enumerate(records(path)):
        try:
            record = reader(raw)
        except BadRecord as error:
            found.bad_rows += 1
            if len(found.bad) < MOST_BAD_RECORDS:
                found.bad.append(f"record {index} {error}")
            continue
        found.rows += 1
        found.values[record.value] += 1
        found.changed[record.changed_label] += 1
        found.shapes[record.shape] += 1
        found.questions.add((record.doc_id, record.value))
        if found.kept is not None:
            if found.rows > MOST_KEPT:
                found.kept = None
            else:
                found.kept.append((index, record))
    return found if found.rows else None


def _numbered(path: Path) -> Iterator[tuple[int, Record]]:
    reader = Reader()
    for index, raw in enumerate(records(path)):
        try:
            yield index, reader(raw)
        except BadRecord:
            continue  # counted and reported by `read`


def _published(label: str | None) -> str | None:
    known = catalogue.by_key().get(label or "")
    return label if known is None else known.published_key


def _name_label(planned: Planned, found: Scan) -> None:
    """The file's two labels: what the map says, then what its name, text and values say."""
    file, override = planned.file, planned.override
    said = None if override is None else override.label
    inferred = labels.infer(file.published_label, found.changed, found.values)
    file.published_label = file.published_label or inferred.published_label or _published(said)
    file.label = said or inferred.label
    if said is None:
        file.warnings += inferred.warnings
    if file.label is None:
        file.status = report.NO_LABEL
        file.reason = "neither its name nor its content says which label was varied"
