"""Reading the answers of a study: every answer without a reading gets one for each outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.audit.outcomes import Ordinal, Outcome, Value
from evenhand.audit.readings import Reading
from store.migrate import quoted
from store.sql import registered

if TYPE_CHECKING:
    import duckdb

    from evenhand.audit.domain import Domain
    from store import Study

CODING = "read"
"""The one way in which a domain without codings of its own reads answers."""

BATCH_ROWS = 20_000
CACHED_TEXTS = 50_000

_TO_READ = """\
SELECT predictions.prediction_id, predictions.outcome, predictions.text
FROM predictions
JOIN queries USING (query_id)
JOIN collections USING (collection)
WHERE collections.domain = $domain
  AND predictions.prediction_id NOT IN (SELECT prediction_id FROM {schema}.readings WHERE coding = $coding)
"""


@dataclass(frozen=True, slots=True)
class Coded:
    """What was read: answers, and the seconds that it took."""

    answers: int
    seconds: float


def code(
    study: Study,
    domain: Domain,
    *,
    rebuild: bool = False,
    on_batch: Callable[[int], None] | None = None,
) -> Coded:
    """Read every answer of the domain's collections that has no reading; with `rebuild`, all of them anew.

    Each batch is committed, so that a run that was stopped goes on where it was.
    """
    started = time.perf_counter()
    schema = quoted(domain.schema)
    reader, writer = study.cursor(), study.cursor()
    known: dict[tuple[str, str], tuple[Reading, ...]] = {}
    done = 0
    try:
        if rebuild:
            writer.execute(f"DELETE FROM {schema}.readings WHERE coding = ?", [CODING])
        rows = reader.sql(
            _TO_READ.replace("{schema}", schema), params={"domain": domain.name, "coding": CODING}
        )
        batches: pa.RecordBatchReader = rows.to_arrow_reader(BATCH_ROWS)
        for batch in batches:
            readings = []
            for outcome, text in zip(
                batch.column("outcome").to_pylist(), batch.column("text").to_pylist(), strict=True
            ):
                found = known.get((outcome, text))
                if found is None:
                    if len(known) >= CACHED_TEXTS:
                        known.clear()
                    found = known[outcome, text] = read_reply(domain, outcome, text)
                readings.append(found)
            _write(writer, domain, schema, batch.column("prediction_id"), readings)
            done += batch.num_rows
            if on_batch is not None:
                on_batch(done)
    finally:
        reader.close()
        writer.close()
    return Coded(done, time.perf_counter() - started)


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


_ROWS = pa.schema(
    {
        "prediction_id": pa.string(),
        "coding": pa.string(),
        "outcome": pa.string(),
        "number": pa.float64(),
        "class": pa.string(),
        "classes": pa.list_(pa.string()),
        "read_as": pa.string(),
        "note": pa.string(),
    }
)


def _write(
    writer: duckdb.DuckDBPyConnection,
    domain: Domain,
    schema: str,
    ids: pa.Array,
    readings: Sequence[tuple[Reading, ...]],
) -> None:
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
    with registered(writer, read_batch=pa.Table.from_pylist(rows, schema=_ROWS)):
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
