"""Batches at providers: what was handed over, what it asks, and which of it is already stored."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from store.columns import INT, UUID, table
from store.errors import BadInput
from store.identity import batch_cost_id, batch_row_id
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


def close(study: Study, batch: Batch, *, assumed_usd: float = 0.0, **columns: Any) -> Batch:
    """End a batch: nothing more is waited for. What it asks and has no row is pending again.

    `assumed_usd` is the most that it may have cost beyond what its rows say; it counts as spent by the run
    that submitted it.
    """
    with transaction(study.connection):
        changed = change(study, batch, ended_at=now(), **columns)
        if assumed_usd > 0:
            study.connection.execute(
                statement("add_batch_cost"),
                {
                    "cost_id": batch_cost_id(batch.batch, None, None),
                    "run_id": batch.run_id,
                    "model_key": batch.model_key,
                    "served_by": f"{batch.provider}/batch/{batch.model_id}",
                    "assumed_usd": assumed_usd,
                    "created_at": now(),
                },
            )
    return changed


def give_up(study: Study, batch_id: str) -> Batch:
    """End an open batch of which the provider brings no more: what is missing of it is pending again.

    All that it may have cost beyond what it brought counts as spent. `batch_id` is the provider's id.

    Raises:
        BadInput: no open batch, or more than one, has this id.
    """
    found = [
        one for aside in (False, True) for one in open_batches(study, aside=aside) if one.batch_id == batch_id
    ]
    if len(found) != 1:
        raise BadInput(
            f"{'No open batch has' if not found else f'{len(found)} open batches have'} the id '{batch_id}'.",
            hint='`evenhand sql "SELECT batch_id, provider, state FROM batches WHERE ended_at IS NULL"` '
            "lists the open ones.",
        )
    batch = found[0]
    assumed = max((batch.dearest_usd or 0.0) - fetched_usd(study, batch), 0.0)
    return close(study, batch, assumed_usd=assumed, state="given up", note="given up by hand")


def fetched_usd(study: Study, batch: Batch) -> float:
    """US dollars that the stored rows of a batch account for."""
    return float(study.connection.execute(statement("fetched_of_batch"), [batch.batch]).fetchall()[0][0])


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


def charged(study: Study, batch: Batch, keys: Sequence[Key]) -> set[Key]:
    """Those of `keys` whose failed try in this very batch has its cost in the study already."""
    by_id = {batch_cost_id(batch.batch, query, repeat): (query, repeat) for query, repeat in keys}
    with registered(study.connection, wanted=table(cost_id=(list(by_id), UUID))):
        rows = study.connection.execute(
            "SELECT cost_id::UUID FROM wanted WHERE cost_id::UUID IN (SELECT cost_id FROM other_costs)"
        ).fetchall()
    return {by_id[row[0]] for row in rows}


def stored(study: Study, batch: Batch, keys: Sequence[Key]) -> set[Key]:
    """Those of `keys` whose row from this very batch is in the study already."""
    by_id = {batch_row_id(batch.batch, query, repeat): (query, repeat) for query, repeat in keys}
    with registered(study.connection, wanted=table(row_id=(list(by_id), UUID))):
        rows = study.connection.execute(statement("stored_of_batch")).fetchall()
    return {by_id[row[0]] for row in rows}
