"""Batches at providers: what was handed over, what it asks, and which of it is already stored."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from store.columns import INT, UUID, table
from store.identity import batch_row_id
from store.rows import now
from store.sql import registered, statement, transaction
from store.study import Study

Key = tuple[uuid.UUID, int]
"""A query and which repeat of it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One row of `batches`; it is open until `ended_at` is set."""

    batch: uuid.UUID
    run_id: uuid.UUID
    model_key: str
    provider: str
    model_id: str
    base_url: str
    key_variable: str | None
    requests: int
    dearest_usd: float | None = None
    state: str = "written"
    input_file_id: str | None = None
    batch_id: str | None = None
    note: str | None = None
    prepared_at: dt.datetime | None = None
    submitted_at: dt.datetime | None = None
    ended_at: dt.datetime | None = None


_COLUMNS = tuple(field.name for field in fields(Batch))


def add_batch(study: Study, batch: Batch, items: Sequence[Key]) -> Batch:
    """Note a batch before anything of it is sent: what it asks is no longer pending."""
    noted = replace(batch, prepared_at=now())
    rows = table(
        batch=([noted.batch] * len(items), UUID),
        query_id=([query for query, _ in items], UUID),
        repeat=([repeat for _, repeat in items], INT),
    )
    places = ", ".join("?" * len(_COLUMNS))
    with transaction(study.connection) as connection:
        connection.execute(
            f"INSERT INTO batches ({', '.join(_COLUMNS)}) VALUES ({places})", list(astuple(noted))
        )
        with registered(connection, new_items=rows):
            connection.execute("INSERT INTO batch_items BY NAME FROM new_items")
    return noted


def change(study: Study, batch: Batch, **columns: Any) -> Batch:
    """Set columns of a batch, committed when this returns."""
    changed = replace(batch, **columns)
    settings = ", ".join(f"{name} = ?" for name in columns)
    study.connection.execute(
        f"UPDATE batches SET {settings} WHERE batch = ?", [*columns.values(), batch.batch]
    )
    return changed


def forget(study: Study, batch: Batch) -> None:
    """Take back a batch that was never handed over: what it asks is pending again."""
    with transaction(study.connection) as connection:
        connection.execute("DELETE FROM batch_items WHERE batch = ?", [batch.batch])
        connection.execute("DELETE FROM batches WHERE batch = ?", [batch.batch])


def open_batches(study: Study, model_key: str | None = None, *, aside: bool = False) -> list[Batch]:
    """Those of which something may still come, the oldest first; of one model, or of all.

    With `aside`, instead, those of runs that are set aside: nothing is fetched of them, and what they ask is
    pending, unless the run counts again.
    """
    rows = study.connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM batches "
        "WHERE ended_at IS NULL AND ($1 IS NULL OR model_key = $1) "
        "AND (run_id IN (SELECT run_id FROM runs WHERE set_aside_at IS NOT NULL)) = $2 "
        "ORDER BY prepared_at, batch",
        [model_key, aside],
    ).fetchall()
    return [Batch(*row) for row in rows]


def items(study: Study, batch: Batch) -> set[Key]:
    """What a batch asks."""
    rows = study.connection.execute(
        "SELECT query_id, repeat FROM batch_items WHERE batch = ?", [batch.batch]
    ).fetchall()
    return {(query, repeat) for query, repeat in rows}


def stored(study: Study, batch: Batch, keys: Sequence[Key]) -> set[Key]:
    """Those of `keys` whose row from this very batch is in the study already."""
    by_id = {batch_row_id(batch.batch, query, repeat): (query, repeat) for query, repeat in keys}
    with registered(study.connection, wanted=table(row_id=(list(by_id), UUID))):
        rows = study.connection.execute(statement("stored_of_batch")).fetchall()
    return {by_id[row[0]] for row in rows}
