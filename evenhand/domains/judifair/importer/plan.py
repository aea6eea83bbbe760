"""The plan of an import: which files there are and, by place and name, whose answers each of them holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.importer import labels, models, report
from evenhand.domains.judifair.importer.layouts import BadRecord, Reader, Truth, is_prediction
from evenhand.domains.judifair.importer.mapping import Mapping as FileMap
from evenhand.domains.judifair.importer.mapping import Override
from evenhand.domains.judifair.importer.records import BrokenFile, NotAnArray, records
from evenhand.domains.judifair.importer.report import FileReport
from store.errors import BadInput

STATISTICS = ("df_dict.json", "result.json")
"""Files below `result/` that hold statistics, not answers."""

LOOKED_AT = 5
"""Elements of a file that are looked at to tell whether it holds predictions."""


@dataclass(frozen=True, slots=True)
class Present:
    """A file whose answers the study has."""

    collection: str
    model: str
    temperature: float | None
    published_label: str | None
    label: str
    rows: int
    truths_hash: str | None
    """Of what it says of the true judgments; None where that was not kept."""


@dataclass(slots=True)
class Planned:
    """A file, what the map says of it, and what the study knows of it if it has its answers."""

    file: FileReport
    override: Override | None
    known: Present | None = None
    is_disputed: bool = False
    """Whether another file has the same answers and states other true judgments."""

    @property
    def may_restate(self) -> bool:
        """Whether a file whose answers the study has may say something else of the true judgments."""
        if self.file.status != report.PRESENT or self.known is None or not self.file.truths_hash:
            return False
        return not self.is_disputed and self.file.truths_hash != self.known.truths_hash


def find(path: Path) -> list[tuple[Path, str]]:
    """The JSON files at `path` (itself, or all below it), in order, each with its name below `path`.

    Raises `BadInput` where there is nothing.
    """
    if not path.exists():
        raise BadInput(f"There is no file or folder {path}.")
    if path.is_file():
        return [(path, path.name)]
    found = sorted(file for file in path.rglob("*.json") if file.is_file())
    if not found:
        raise BadInput(f"{path} holds no JSON file.", hint="Give the folder of a model, or of all results.")
    return [(file, file.relative_to(path).as_posix()) for file in found]


def describe(
    path: Path,
    name: str,
    *,
    collection: str,
    model: str | None,
    file_map: FileMap,
    present: Mapping[str, Present],
) -> Planned:
    """Whose answers a file holds, by its place, its name and the map; its content is hashed."""
    file = FileReport(path, name)
    planned = Planned(file, file_map.of(name))
    if path.name in STATISTICS:
        file.status = report.FOREIGN
        return planned
    key, suffix = labels.split_name(path.stem)
    origin = models.origin(path.absolute().parts[1:-1], suffix, model)
    file.model, file.temperature, file.published_label = origin.model, origin.temperature, key
    override = planned.override
    if override is not None:
        file.model = override.model or file.model
        file.temperature = file.temperature if override.temperature is None else override.temperature
        file.published_label = override.published_label or file.published_label
        if override.take is False:
            file.status = report.SKIPPED
            return planned
    try:
        if not _may_hold_predictions(path):
            file.status = report.FOREIGN
            return planned
        # A study made before content was compared knows the file by its bytes.
        file.source_hash = bytes_hash(path)
        if file.source_hash not in present and (hashes := content_hashes(path)) is not None:
            file.source_hash, file.truths_hash = hashes
    except OSError as error:
        file.status, file.reason = report.BROKEN, f"cannot be read: {error.strerror or error}"
        return planned
    planned.known = present.get(file.source_hash)
    if planned.known is not None:
        _as_present(file, planned.known, collection)
    elif file.model is None:
        file.status = report.NO_MODEL
        file.reason = "neither its folders nor its name say which model answered"
    return planned


def dispute(planned: Iterable[Planned]) -> None:
    """Mark files of which others have the same answers and other true judgments: nobody knows whose count."""
    same: dict[str, list[Planned]] = {}
    for item in planned:
        if item.file.status == report.PRESENT and item.file.truths_hash:
            same.setdefault(item.file.source_hash, []).append(item)
    for items in same.values():
        if len({item.file.truths_hash for item in items}) == 1:
            continue
        for item in items:
            item.is_disputed = True
            other = next(o for o in items if o.file.truths_hash != item.file.truths_hash)
            item.file.warnings.append(
                f"{other.file.name} has the same answers and states other true judgments: those that the "
                "study has stay. Leave one of the files out, by moving it or by a map"
            )


def groups(planned: Iterable[Planned]) -> list[list[Planned]]:
    """The files that may be taken, those with one model, temperature and label in name together."""
    found: dict[tuple[object, ...], list[Planned]] = {}
    for item in planned:
        file = item.file
        if file.status in (report.NEW, report.PRESENT):
            key = (file.model, file.temperature, file.published_label or file.name)
            found.setdefault(key, []).append(item)
    return list(found.values())


def choose(group: Sequence[Planned]) -> FileReport | None:
    """Of a group that was read, the file to take: raw before cleaned, then larger, then later. None if none.

    A file whose answers the study has stays the one that is taken. The others are marked as left out.
    """
    rest = [item.file for item in group if item.file.status in (report.NEW, report.PRESENT)]
    if not rest:
        return None
    first = max(rest, key=_rank)
    for file in rest:
        if file is not first and file.status == report.NEW:
            if file.source_hash == first.source_hash:
                file.status, file.reason = report.COPY, f"has the same content as {first.name}"
                if file.truths_hash != first.truths_hash:
                    file.reason = f"has the same answers as {first.name}, whose true judgments are taken"
            else:
                layout = first.layout or "imported before"
                file.status, file.reason = report.TWIN, f"{first.name} ({layout}) is taken instead"
                if file.rows != first.rows:
                    file.reason += f"; this one has {file.rows:,} rows, that one {first.rows:,}"
    return first


def is_mislabelled(file: FileReport) -> bool:
    """Whether a file's name says another label of the catalogue than its values."""
    known = catalogue.by_key().get(file.label or "")
    return known is not None and file.published_label not in (None, known.published_key)


def _may_hold_predictions(path: Path) -> bool:
    """False where none of the first elements is one; a file that breaks at once may hold some."""
    elements = records(path)
    try:
        return any(is_prediction(element) for element in islice(elements, LOOKED_AT))
    except NotAnArray:
        return False
    except BrokenFile:
        return True
    finally:
        elements.close()


def bytes_hash(path: Path) -> str:
    """32 hex digits of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def content_hashes(path: Path) -> tuple[str, str] | None:
    """32 hex digits each of what a file says: its documents, labels, values and answers in order; its truths.

    A file that was saved again (with other line ends, indents, a byte order mark, or corrected truths) is
    known by the first when it is imported again. None for a broken file, which is told when it is read.
    """
    digest, truths, read = hashlib.sha256(), hashlib.sha256(), Reader()
    last: Truth | str | None = ""
    try:
        for index, raw in enumerate(records(path)):
            try:
                record = read(raw)
            except BadRecord:
                continue
            said = (index, record.doc_id, record.changed_label, record.value, record.text)
            digest.update(repr(said).encode("utf-8", "backslashreplace"))
            # The rows of a document have its truth in common.
            if record.truth != last:
                last = record.truth
                truths.update(repr((index, last)).encode("utf-8", "backslashreplace"))
    except (BrokenFile, NotAnArray):
        return None
    return digest.hexdigest()[:32], truths.hexdigest()[:32]


def _rank(file: FileReport) -> tuple[bool, bool, int, str]:
    return (file.status == report.PRESENT, "object" not in file.layout, file.rows, file.name)


def _as_present(file: FileReport, known: Present, collection: str) -> None:
    if known.collection != collection:
        file.warnings.append(f"its answers are in the study already, in the collection {known.collection}")
    if file.model is not None and (file.model, file.temperature) != (known.model, known.temperature):
        file.warnings.append(
            f"its answers are in the study as those of {_named(known.model, known.temperature)}, "
            f"not {_named(file.model, file.temperature)}"
        )
    file.status, file.rows = report.PRESENT, known.rows
    file.model, file.temperature = known.model, known.temperature
    file.published_label, file.label = known.published_label, known.label


def _named(model: str, temperature: float | None) -> str:
    return f"{model} (temperature {'unknown' if temperature is None else f'{temperature:g}'})"
