"""Storing one file: its documents and queries, then its answers and truths in one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.coding.published import penalty_kind
from evenhand.domains.judifair.importer.layouts import Record
from evenhand.domains.judifair.importer.plan import Present
from evenhand.domains.judifair.importer.report import IMPORTED, FileReport
from evenhand.domains.judifair.importer.scan import Scan
from evenhand.domains.judifair.importer.truth import DocumentFacts
from store import Document, Query, add_documents, add_model, add_queries
from store.identity import import_prediction_id
from store.rows import now, uuid_array
from store.sql import affected, chunks, registered, transaction

if TYPE_CHECKING:
    import duckdb

    from store import Study

CHUNK_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the answers of a file go."""

    collection: str
    run_id: uuid.UUID
    model_key: str


def load(study: Study, file: FileReport, scan: Scan, destination: Destination) -> None:
    """Store a file that was scanned; its report gets what was added.

    All of the file is stored or nothing. `file.label` must be known.
    """
    assert file.label is not None
    collection, label = destination.collection, file.label
    _ask(study, collection, label, scan.questions)
    parameters = {
        "collection": collection,
        "label": label,
        "model_key": destination.model_key,
        "run_id": destination.run_id,
        "now": now(),
        "source_hash": file.source_hash,
    }
    with transaction(study.connection) as connection:
        for chunk in chunks(scan.records(), CHUNK_ROWS):
            table = row_table(chunk, file.source_hash)
            with registered(connection, import_rows=table):
                file.added += affected(connection.execute(_sql("insert_predictions"), parameters))
                connection.execute(_sql("add_truths"), {"collection": collection})
                connection.execute(_sql("add_truth_exceptions"), {"collection": collection})
        remember(connection, file)
        repeats = connection.execute(
            "SELECT count(*) FROM predictions WHERE source_hash = ? AND repeat > 0", [file.source_hash]
        ).fetchall()
    file.repeats = repeats[0][0]
    file.status = IMPORTED


def set_documents(study: Study, collection: str, facts: Iterable[DocumentFacts]) -> int:
    """Store what the documents file says; returns how many of its lines say something new."""
    changed = 0
    with transaction(study.connection) as connection:
        for chunk in chunks(facts, CHUNK_ROWS):
            table = pa.table(
                {
                    "doc_id": pa.array([fact.doc_id for fact in chunk], pa.string()),
                    "case_number": pa.array([fact.case_number for fact in chunk], pa.string()),
                    "year": pa.array([fact.year for fact in chunk], pa.int32()),
                    "charge": pa.array([fact.charge for fact in chunk], pa.string()),
                }
            )
            with registered(connection, import_documents=table):
                changed += affected(connection.execute(_sql("set_documents"), {"collection": collection}))
    return changed


def present(study: Study) -> dict[str, Present]:
    """The files whose answers the study has, by the hash of their content."""
    rows = study.connection.execute(_sql("present")).fetchall()
    return {source: Present(*rest) for source, *rest in rows}


def model_key(study: Study, model: str, temperature: float | None) -> str:
    """The key of an imported model: its name and temperature are all that is known of a published answer."""
    settings = {"model": model, "temperature": temperature, "source": "published predictions"}
    return add_model(study, model=model, kind="imported", temperature=temperature, settings=settings)


def _ask(study: Study, collection: str, label: str, questions: set[tuple[str, str]]) -> None:
    """Add the documents and queries that the collection does not have."""
    pairs = list(questions)
    table = pa.table(
        {
            "doc_id": pa.array([doc_id for doc_id, _ in pairs], pa.string()),
            "value": pa.array([value for _, value in pairs], pa.string()),
        }
    )
    with registered(study.connection, import_questions=table):
        found = study.connection.execute(
            _sql("new_questions"), {"collection": collection, "label": label}
        ).fetchall()
    documents = sorted({doc_id for doc_id, _, is_new in found if is_new}, key=_position)
    if documents:
        add_documents(study, collection, (Document(doc_id, _position(doc_id)) for doc_id in documents))
    if found:
        add_queries(study, collection, _queries(label, ((doc_id, value) for doc_id, value, _ in found)))


def _queries(label: str, questions: Iterable[tuple[str, str]]) -> Iterator[Query]:
    known = catalogue.by_key().get(label)
    places = {} if known is None else {value.zh: value.position for value in known.values}
    column = 999 if known is None else known.position
    for doc_id, value in sorted(questions):
        place = places.get(value, int(float(value)) % 1000 if value.replace(".", "", 1).isdigit() else 999)
        yield Query(doc_id, label, value, ordinal=(_position(doc_id) * 1000 + column) * 1000 + place)


def _position(doc_id: str) -> int:
    """The place of a document: its number; one that is no number comes last."""
    return int(doc_id) if doc_id.isdecimal() and len(doc_id) < 9 else 2**30


def remember(connection: duckdb.DuckDBPyConnection, file: FileReport) -> None:
    """Keep a file's label, and a hash of the truths that it states; within the transaction that stores it."""
    if file.truths_hash:
        connection.execute(
            "INSERT OR REPLACE INTO judifair.imported_files VALUES (?, ?)",
            [file.source_hash, file.truths_hash],
        )
    if file.published_label:
        connection.execute(
            "INSERT OR REPLACE INTO judifair.file_labels VALUES (?, ?)",
            [file.source_hash, file.published_label],
        )


def row_table(chunk: list[tuple[int, Record]], source: str) -> pa.Table:
    """Records, each with its row in the file, as the table `import_rows` of the statements."""
    rows = [record for _, record in chunk]
    truths = [record.truth for record in rows]
    text: Any = pa.string()
    return pa.table(
        {
            "prediction_id": uuid_array([import_prediction_id(source, index) for index, _ in chunk]),
            "source_row": pa.array([index for index, _ in chunk], pa.int32()),
            "doc_id": pa.array([r.doc_id for r in rows], text),
            "value": pa.array([r.value for r in rows], text),
            "outcome": pa.array(["answered" if r.text.strip() else "empty" for r in rows], text),
            "text": pa.array([_storable(r.text) for r in rows], text),
            "finish_reason": pa.array([None if r.flag is None else f"flag {r.flag}" for r in rows], text),
            "true_charge": pa.array([None if t is None else t.charge.strip() for t in truths], text),
            "true_guilty": pa.array([None if t is None else _guilty(t.guilty) for t in truths], pa.bool_()),
            "true_penalty": pa.array(
                [None if t is None else _kind(t.penalty, t.guilty) for t in truths], text
            ),
            "true_penalty_text": pa.array([None if t is None else t.penalty.strip() for t in truths], text),
            "true_months": pa.array([None if t is None else t.months for t in truths], pa.float64()),
        }
    )


def _guilty(text: str) -> bool | None:
    return {"是": True, "否": False}.get(text.strip())


def _kind(penalty: str, guilty: str) -> str | None:
    """The kind of a true penalty; None where the source has a blank, as it has for all but fixed terms."""
    if penalty.strip():
        return penalty_kind(penalty)
    return "acquitted" if _guilty(guilty) is False else None


def _storable(text: str) -> str:
    """The text, with half a surrogate pair (valid JSON, no valid text) replaced."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def _sql(name: str) -> str:
    return (Path(__file__).parent / f"{name}.sql").read_text(encoding="utf-8")
