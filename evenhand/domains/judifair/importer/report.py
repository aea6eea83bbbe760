"""What an import found and did, and the map of its files, which can be printed, changed and given back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

NEW = "new"
IMPORTED = "imported"
PRESENT = "present"
RESTATED = "truths"
TWIN = "twin"
COPY = "copy"
SKIPPED = "skipped"
BROKEN = "broken"
NO_MODEL = "no model"
NO_LABEL = "no label"
FOREIGN = "no predictions"

STATUSES = {
    NEW: "would be imported",
    IMPORTED: "imported now",
    PRESENT: "imported before, nothing to add",
    RESTATED: "imported before; it states other true judgments now, which are taken over",
    TWIN: "left out: another file has the same model, temperature and label",
    COPY: "left out: another file has the same content",
    SKIPPED: "left out, as the map says",
    BROKEN: "not imported: cut off or no valid JSON",
    NO_MODEL: "not imported: nothing says which model answered",
    NO_LABEL: "not imported: nothing says which label was varied",
    FOREIGN: "no file of predictions",
}
"""What can become of a file."""

MAP_COLUMNS = ("file", "model", "temperature", "label", "published_label", "import")


@dataclass(slots=True)
class FileReport:
    """One file. `published_label` is the published key of its name, `label` ours of its values.

    `rows` are the records in it, `added` the answers stored now, `repeats` those among them that answer a
    question which this model had answered already (duplicate rows, or the rows of a mislabelled file).
    `truths` are the documents whose true judgment it states otherwise than when its answers were imported. A
    dry run has in `added` and `truths` what would be stored; it does not look for repeats.
    """

    path: Path
    name: str
    status: str = NEW
    model: str | None = None
    temperature: float | None = None
    published_label: str | None = None
    label: str | None = None
    layout: str = ""
    source_hash: str = ""
    truths_hash: str = ""
    rows: int = 0
    added: int = 0
    repeats: int = 0
    truths: int = 0
    reason: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ImportReport:
    """All files of an import, in order, and the seconds it took. `documents`: lines of the documents file."""

    collection: str
    dry_run: bool
    files: list[FileReport] = field(default_factory=list)
    documents: int = 0
    documents_file: Path | None = None
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)

    @property
    def added(self) -> int:
        """Answers stored by this import, or that would be."""
        return sum(file.added for file in self.files)

    @property
    def truths(self) -> int:
        """Documents whose true judgment was corrected, counted file by file, or would be."""
        return sum(file.truths for file in self.files)

    @property
    def broken(self) -> list[FileReport]:
        """Files that could not be read to their end."""
        return [file for file in self.files if file.status == BROKEN]

    def counts(self) -> dict[str, int]:
        """How many files became what, in the order of `STATUSES`."""
        found = {status: sum(file.status == status for file in self.files) for status in STATUSES}
        return {status: n for status, n in found.items() if n}

    def all_warnings(self) -> Iterator[tuple[str, str]]:
        """Every warning with the name of the file it is about ("" for those about the whole import)."""
        for text in self.warnings:
            yield "", text
        for file in self.files:
            if file.status in (BROKEN, NO_MODEL, NO_LABEL, TWIN, COPY) and file.reason:
                yield file.name, file.reason
            for text in file.warnings:
                yield file.name, text

    def map_csv(self) -> str:
        """The inferred map as CSV, one line a file of predictions; `mapping=` takes the same form."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(MAP_COLUMNS)
        for file in self.files:
            if file.status == FOREIGN:
                continue
            temperature = "" if file.temperature is None else f"{file.temperature:g}"
            take = "no" if file.status in (TWIN, COPY, SKIPPED, BROKEN) else "yes"
            writer.writerow(
                [file.name, file.model or "", temperature, file.label or "", file.published_label or "", take]
            )
        return out.getvalue()
