"""Reading the answers of a study: every answer without a reading gets one for each outcome."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.audit import study as tables
from evenhand.audit.outcomes import Ordinal, Outcome, Value
from evenhand.audit.readings import Reading
from store.migrate import quoted

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from evenhand.audit.domain import Domain
    from store import Study

CODING = "read"
"""The one way in which a domain without codings of its own reads answers."""

BATCH_ROWS = 20_000
CACHED_TEXTS = 50_000

VERSION = 1
"""Of the reader: raised where it makes another thing of some answer, so that stored answers are read anew."""

_HERE = Path(__file__).parent
_UNREAD = (_HERE / "unread.sql").read_text(encoding="utf-8")
_MISSING = (_HERE / "missing.sql").read_text(encoding="utf-8")
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Read:
    """What was read: answers, and the seconds that it took."""

    answers: int
    seconds: float


def read(
    study: Study,
    domain: Domain,
    *,
    rebuild: bool = False,
    on_batch: Callable[[int], None] | None = None,
) -> Read:
    """Read every answer of the domain's collections that has no reading; with `rebuild`, all of them anew.

    Answers that were read by an older version of the reader, or when the domain's outcomes, answer fields or
    refusals were others, are always read anew. Each batch is committed, so that a run that was stopped goes
    on where it was; what is read anew is committed together, and the old readings stay until then. After each
    batch, `on_batch(answers so far)` is called.
    """
    from store.sql import transaction  # noqa: PLC0415  (keeps the import of this package light)

    started = time.perf_counter()
    tables.describe(study, domain)
    schema = quoted(domain.schema)
    reader, writer = study.cursor(), study.cursor()
    read_one = _Remembering(domain)
    done = 0
    try:
        anew = rebuild or _is_outdated(reader, domain)
        with transaction(writer) if anew else nullcontext():
            if anew:
                writer.execute(f"DELETE FROM {schema}.readings WHERE coding = ?", [CODING])
            writer.execute(
                f"INSERT OR REPLACE INTO {schema}.codings VALUES (?, ?)", [CODING, version_of(domain)]
            )
            rows = reader.sql(
                _UNREAD.format(schema=schema),
                params={"domain": domain.name, "coding": None if anew else CODING},
            )
            batches: pa.RecordBatchReader = rows.to_arrow_reader(BATCH_ROWS)
            for batch in batches:
                replies = batch.column("outcome").to_pylist()
                readings = [
                    read_one(reply, text)
                    for reply, text in zip(replies, batch.column("text").to_pylist(), strict=True)
                ]
                _write(writer, domain, schema, batch.column("prediction_id"), readings)
                done += batch.num_rows
                if on_batch is not None:
                    on_batch(done)
    finally:
        reader.close()
        writer.close()
    return Read(done, time.perf_counter() - started)


def outdated(study: Study, domain: Domain) -> bool:
    """Whether the study has readings of another version of the reader or of the domain's files."""
    connection = study.cursor()
    try:
        return tables.is_described(connection, domain) and _is_outdated(connection, domain)
    finally:
        connection.close()


def version_of(domain: Domain) -> str:
    """What readings depend on: the reader, and what the domain says of its answers."""
    said = {
        "outcomes": [outcome.model_dump(exclude={"title", "description"}) for outcome in domain.outcomes],
        "form": [asdict(field) for field in domain.form.fields],
        "refusals": list(domain.refusals),
    }
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=dict).encode()).hexdigest()
    return f"{VERSION}:{digest[:16]}"


def _is_outdated(connection: duckdb.DuckDBPyConnection, domain: Domain) -> bool:
    schema = quoted(domain.schema)
    row = connection.execute(
        f"SELECT coalesce((SELECT version FROM {schema}.codings WHERE coding = $coding), '') <> $version "
        f"AND EXISTS (SELECT 1 FROM {schema}.readings WHERE coding = $coding)",
        {"coding": CODING, "version": version_of(domain)},
    ).fetchall()
    return bool(row[0][0])


@dataclass(frozen=True, slots=True)
class Missing:
    """The answers of a model that have no value of an outcome, for one reason."""

    collection: str
    model: str
    outcome: str
    reason: str
    """One of `MISSING`."""
    answers: int
    of: int
    """Answers of the model in the collection, missing or not."""
    examples: tuple[str, ...]
    """The beginnings of some of their texts, the most frequent first."""


def missing(study: Study, domain: Domain) -> list[Missing]:
    """What could not be read, by reason, the most frequent first. Answers without a reading yet are not
    counted."""
    connection = study.cursor()
    try:
        if not tables.is_described(connection, domain):
            return []
        rows = connection.execute(
            _MISSING.format(schema=quoted(domain.schema)), {"coding": CODING, "examples": _EXAMPLES}
        ).fetchall()
    finally:
        connection.close()
    return [
        Missing(collection, model, outcome, reason, answers, of, tuple(examples or ()))
        for collection, model, outcome, reason, answers, of, examples in rows
    ]


class _Remembering:
    """Reads with a bounded memory of the texts that were read: answers repeat."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._known: dict[tuple[str, str], tuple[Reading, ...]] = {}

    def __call__(self, reply: str, text: str) -> tuple[Reading, ...]:
        key = (reply, text)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= CACHED_TEXTS:
                self._known.clear()
            found = self._known[key] = read_reply(self._domain, reply, text)
        return found


def read_reply(domain: Domain, reply: str, text: str) -> tuple[Reading, ...]:
    """The readings of a stored answer. A reply that the provider withheld, or that has no text, is not
    read.
    """
    if reply in ("refused", "empty"):
        note = "the provider withheld the answer" if reply == "refused" else None
        return tuple(
            Reading(outcome.name, None, "refused" if reply == "refused" else "empty", note)
            for outcome in domain.outcomes
        )
    return domain.read(text)


def _write(
    writer: duckdb.DuckDBPyConnection,
    domain: Domain,
    schema: str,
    ids: pa.Array,
    readings: Sequence[tuple[Reading, ...]],
) -> None:
    import pyarrow as pa  # noqa: PLC0415

    from store.sql import registered  # noqa: PLC0415

    columns = {
        "prediction_id": pa.string(),
        "coding": pa.string(),
        "outcome": pa.string(),
        "number": pa.float64(),
        "class": pa.string(),
        "classes": pa.list_(pa.string()),
        "read_as": pa.string(),
        "note": pa.string(),
    }
    rows = [
        {
            "prediction_id": str(prediction_id),
            "coding": CODING,
            "outcome": reading.outcome,
            "read_as": reading.read_as,
            "note": reading.note,
            **_columns(domain.outcome(reading.outcome), reading.value),
        }
        for prediction_id, of_answer in zip(ids.to_pylist(), readings, strict=True)
        for reading in of_answer
    ]
    with registered(writer, read_batch=pa.Table.from_pylist(rows, schema=pa.schema(columns))):
        writer.execute(
            f"INSERT INTO {schema}.readings BY NAME "
            "SELECT * REPLACE (prediction_id::UUID AS prediction_id) FROM read_batch"
        )


def _columns(outcome: Outcome, value: Value | None) -> dict[str, Any]:
    """A value as the table holds it: numbers, names and lists in columns of their own."""
    match value:
        case None:
            return {}
        case str():
            place = float(outcome.names().index(value)) if isinstance(outcome, Ordinal) else None
            return {"class": value, "number": place}
        case tuple():
            return {"classes": list(value)}
        case _:
            return {"number": float(value)}
