"""An import from end to end: find, describe, choose, store, report."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.domains.judifair import SCHEMA
from evenhand.domains.judifair.build import write_catalogue
from evenhand.domains.judifair.coding import designs
from evenhand.domains.judifair.importer import plan, report
from evenhand.domains.judifair.importer.load import Destination, load, model_key, present, set_documents
from evenhand.domains.judifair.importer.mapping import read_map
from evenhand.domains.judifair.importer.plan import Planned
from evenhand.domains.judifair.importer.report import FileReport, ImportReport
from evenhand.domains.judifair.importer.restate import restate
from evenhand.domains.judifair.importer.scan import Scan, read, scan
from evenhand.domains.judifair.importer.truth import DocumentFacts, read_documents
from store import add_collection
from store.errors import BadInput
from store.runs import finish_run, start_run

if TYPE_CHECKING:
    from store import Study

COLLECTION = "published"
"""The collection that published answers go into: their document ids are the same in every file."""
DESCRIPTION = "Published answers to Chinese criminal cases (THUYRan/LLM-Fairness)"
DOCUMENTS_NAME = "documents.csv"


def import_published(
    study: Study,
    path: Path | str,
    *,
    model: str | None = None,
    documents: Path | str | None = None,
    mapping: Path | str | None = None,
    collection: str = COLLECTION,
    dry_run: bool = False,
    on_file: Callable[[FileReport], None] | None = None,
) -> ImportReport:
    """Import a file or folder of published predictions; what the study has already is not added again.

    Args:
        study: where the answers go.
        path: one file, the folder of a model, or the folder of all results.
        model: the model, where folders and names do not tell, or tell it wrong.
        documents: a CSV with id, case_number and crime_name; `documents.csv` in `path` is found by itself.
        mapping: a CSV as `ImportReport.map_csv` prints it; what it says goes before what is inferred.
        collection: the collection that the documents belong to.
        dry_run: only find out what would be done.
        on_file: called with each file's report when it is done.

    A file whose answers the study has, but that states other true judgments now, adds no answer; its truths
    take the place of those that it stated before. A broken file is reported, with the place where it breaks,
    and the rest is still imported. Each file is stored whole or not at all, so an import that was stopped
    goes on where it was.

    Raises:
        BadInput: there is nothing at `path`, the CSV or the map is wrong, or a file's model is unknown.
    """
    started = time.perf_counter()
    path = Path(path)
    found = plan.find(path)
    file_map = read_map(None if mapping is None else Path(mapping))
    result = ImportReport(collection, dry_run)
    facts = _facts(result, path, None if documents is None else Path(documents))
    known = present(study)
    planned = [
        plan.describe(file, name, collection=collection, model=model, file_map=file_map, present=known)
        for file, name in found
    ]
    result.files = [item.file for item in planned]
    plan.dispute(planned)
    result.warnings += file_map.unused()
    _check(result, path)
    with _Storing(study, collection, facts, dry_run=dry_run) as storing:
        for group, scans in _one_ahead(plan.groups(planned)):
            _take_one(group, scans, storing)
            if on_file is not None:
                for item in group:
                    on_file(item.file)
    _say_undescribed(study, result, storing.asked, {fact.doc_id for fact in facts})
    result.seconds = time.perf_counter() - started
    return result


def _say_undescribed(study: Study, result: ImportReport, asked: set[str], facts: set[str]) -> None:
    """Warn of documents that no documents file describes: figures that need it would be silently wrong.

    `asked` are the documents of the files that were read, `facts` those of the documents file: a dry run has
    stored neither.
    """
    sql = (Path(__file__).parent / "undescribed.sql").read_text(encoding="utf-8")
    found = study.connection.execute(sql, {"collection": result.collection}).fetchall()
    documents = {doc_id for doc_id, _ in found} | asked
    described = {doc_id for doc_id, is_described in found if is_described} | facts
    undescribed = len(documents - described)
    if undescribed:
        result.warnings.append(
            f"{undescribed:,} of {len(documents):,} documents have no case number, and no charge but what "
            "the answers' files state, as no documents file describes them: post_2014 leaves them out, "
            "crimes are excluded by the stated charge at most, and those without a charge drop out of "
            "crime_clustered. Published figures need --documents documents.csv"
        )


def _facts(result: ImportReport, path: Path, documents: Path | None) -> list[DocumentFacts]:
    """The lines of the documents file: the one named, else one that lies in the folder and is one."""
    found = path / DOCUMENTS_NAME
    if documents is None and not found.is_file():
        return []
    try:
        facts = list(read_documents(documents or found))
    except BadInput as error:
        if documents is not None:
            raise
        result.warnings.append(f"not taken for a documents file: {error.message}")
        return []
    result.documents, result.documents_file = len(facts), documents or found
    return facts


def _check(result: ImportReport, path: Path) -> None:
    """What makes an import pointless or wrong, before anything is stored."""
    if all(file.status == report.FOREIGN for file in result.files):
        raise BadInput(
            f"{path} holds no file of published predictions.",
            hint="Such a file is a JSON list of records with ID, changed_label, label_value and response.",
        )
    homeless = [file for file in result.files if file.status == report.NO_MODEL]
    if homeless and not result.dry_run:
        more = f" and {len(homeless) - 1} more" if len(homeless) > 1 else ""
        raise BadInput(
            f"Nothing says which model answered {homeless[0].name}{more}.",
            hint="Name it with --model, or in a map of the files; a dry run prints the map to start from.",
        )


Scans = dict[str, Scan]
"""What reading the files of a group found, by the files' names."""


def _one_ahead(groups: Sequence[Sequence[Planned]]) -> Iterator[tuple[Sequence[Planned], Scans]]:
    """Each group with its scans. While one is stored, which is the database's work, the next one is read."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="import-scan") as reader:
        ahead = [reader.submit(_scan_group, group) for group in groups[:1]]
        for place, group in enumerate(groups):
            scans = ahead.pop().result()
            ahead = [reader.submit(_scan_group, following) for following in groups[place + 1 : place + 2]]
            yield group, scans


def _scan_group(group: Sequence[Planned]) -> Scans:
    """Read the files of one model, temperature and label that are new, or may state new truths."""
    found = {item.file.name: scan(item) for item in group if item.file.status == report.NEW}
    found |= {item.file.name: read(item.file.path) for item in group if item.may_restate}
    return {name: it for name, it in found.items() if it is not None}


def _take_one(group: Sequence[Planned], scans: Scans, storing: _Storing) -> None:
    """Choose among the files of a group and store the one to take; take over truths that were corrected."""
    file = plan.choose(group)
    for item in group:
        if item.may_restate and item.file.name in scans:
            storing.restate(item, scans[item.file.name])
    if file is not None and file.status == report.NEW and plan.is_mislabelled(file):
        file.warnings.append(
            f"the corrected coding counts its answers under {file.label}: where this model was asked the "
            f"same in a file of that label's own, they are further repeats of {file.label}"
        )
    if file is None or file.status != report.NEW:
        return
    if file.temperature is None:
        file.warnings.append("neither its folders nor its name say the temperature: left open")
    storing.store(file, scans[file.name])


class _Storing:
    """The run that an import is. It starts with the first file to store: importing again leaves no trace."""

    def __init__(self, study: Study, collection: str, facts: list[DocumentFacts], *, dry_run: bool) -> None:
        self._study, self._collection, self._facts, self._dry_run = study, collection, facts, dry_run
        self._run_id: uuid.UUID | None = None
        self._keys: dict[tuple[str, float | None], str] = {}
        self.asked: set[str] = set()

    def __enter__(self) -> _Storing:
        if self._facts and not self._dry_run:
            self._prepare()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._run_id is not None:
            finish_run(self._study, self._run_id, "finished" if kind is None else "interrupted")

    def store(self, file: FileReport, found: Scan) -> None:
        """Store one file and complete its report."""
        self.asked.update(doc_id for doc_id, _ in found.questions)
        if self._dry_run:
            file.added = found.rows
            return
        load(self._study, file, found, Destination(self._collection, self._run(), self._key(file)))
        if file.repeats:
            file.warnings.append(
                f"{file.repeats} of its {file.added} rows ask what this model was asked before "
                "(the same document and value): stored as repeats"
            )

    def restate(self, item: Planned, found: Scan) -> None:
        """Take over the truths of a file whose answers the study has, and say so."""
        assert item.known is not None
        result = restate(self._study, item.file, found, item.known, dry_run=self._dry_run)
        if not result.documents:
            return
        verb = "would be" if self._dry_run else "are"
        item.file.warnings.append(
            f"its answers were imported before, and it states other true judgments of {result.documents:,} "
            f"documents now: they {verb} taken over. Errors change, and what goes by them: analyze again"
        )
        if result.kept_by_others:
            item.file.warnings.append(
                f"{result.kept_by_others:,} answers of other files go by the old true judgments of these "
                "documents under the published coding, until those files are saved again and imported too"
            )

    def _run(self) -> uuid.UUID:
        if self._run_id is None:
            self._prepare()
            self._run_id = start_run(self._study, "import", {"collection": self._collection})
        return self._run_id

    def _key(self, file: FileReport) -> str:
        assert file.model is not None
        name = (file.model, file.temperature)
        if name not in self._keys:
            self._keys[name] = model_key(self._study, *name)
        return self._keys[name]

    def _prepare(self) -> None:
        designs.ensure(self._study)
        write_catalogue(self._study)
        add_collection(self._study, self._collection, kind="imported", description=DESCRIPTION, domain=SCHEMA)
        set_documents(self._study, self._collection, self._facts)
        self._facts = []
