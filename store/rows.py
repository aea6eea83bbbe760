"""The rows that a run brings back, and their way into Arrow, by which they enter the database."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from store.columns import INT, REAL, TEXT, TIME, UUID, column, uuids
from store.columns import uuid_array as uuid_array  # noqa: PLC0414  (others take it from here)
from store.identity import new_prediction_ids

_EPOCH = dt.datetime(1970, 1, 1)


def now() -> dt.datetime:
    """The present in UTC without a zone, as every time of a study is stored."""
    return _EPOCH + dt.timedelta(0, time.time())


# Rows are tuples: the cheapest to make (one is made for every answer) and to turn into columns.


class PredictionRow(NamedTuple):
    """One answer, as in table `predictions`. Times are UTC without a zone, `latency_s` seconds, cost in
    USD. Without an id it gets a new one as it is stored."""

    prediction_id: uuid.UUID | None
    query_id: uuid.UUID
    model_key: str
    run_id: uuid.UUID
    repeat: int
    outcome: str
    text: str
    created_at: dt.datetime
    reasoning: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    served_by: str | None = None
    returned_model: str | None = None
    fingerprint: str | None = None
    source_hash: str | None = None
    source_row: int | None = None


class FailureRow(NamedTuple):
    """One query given up, as in table `failures`; `reason` is redacted by whoever writes it. Without an id it
    gets a new one as it is stored."""

    failure_id: uuid.UUID | None
    query_id: uuid.UUID
    model_key: str
    run_id: uuid.UUID
    repeat: int
    outcome: str
    reason: str
    created_at: dt.datetime
    status: int | None = None


class CostRow(NamedTuple):
    """Money that no answer shows, as in table `other_costs`: US dollars known, or assumed where they are not.
    Without an id it gets a new one as it is stored."""

    cost_id: uuid.UUID | None
    run_id: uuid.UUID
    model_key: str
    served_by: str
    kind: str
    created_at: dt.datetime
    query_id: uuid.UUID
    repeat: int
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    assumed_usd: float | None = None


UNKNOWN_COST = "unknown_cost"
"""The kind of a cost row that belongs to an answer whose cost is not known."""

PREDICTION_OUTCOMES = ("answered", "refused", "empty", "truncated")
"""What a provider can say; the outcome of a prediction."""

FAILURE_OUTCOMES = ("context_overflow", "rejected", "failed")
"""Why a query is given up; the outcome of a failure."""

PREDICTIONS = {
    "prediction_id": UUID,
    "query_id": UUID,
    "model_key": TEXT,
    "run_id": UUID,
    "repeat": INT,
    "outcome": TEXT,
    "text": TEXT,
    "created_at": TIME,
    "reasoning": TEXT,
    "finish_reason": TEXT,
    "prompt_tokens": INT,
    "cached_tokens": INT,
    "completion_tokens": INT,
    "cost_usd": REAL,
    "latency_s": REAL,
    "served_by": TEXT,
    "returned_model": TEXT,
    "fingerprint": TEXT,
    "source_hash": TEXT,
    "source_row": INT,
}
FAILURES = {
    "failure_id": UUID,
    "query_id": UUID,
    "model_key": TEXT,
    "run_id": UUID,
    "repeat": INT,
    "outcome": TEXT,
    "reason": TEXT,
    "created_at": TIME,
    "status": INT,
}
COSTS = {
    "cost_id": UUID,
    "run_id": UUID,
    "model_key": TEXT,
    "served_by": TEXT,
    "kind": TEXT,
    "created_at": TIME,
    "query_id": UUID,
    "repeat": INT,
    "prompt_tokens": INT,
    "cached_tokens": INT,
    "completion_tokens": INT,
    "cost_usd": REAL,
    "assumed_usd": REAL,
}
assert tuple(PREDICTIONS) == PredictionRow._fields
assert tuple(FAILURES) == FailureRow._fields
assert tuple(COSTS) == CostRow._fields


def predictions_table(rows: Sequence[PredictionRow]) -> pa.Table:
    """The rows as Arrow, columns as in `PREDICTIONS`."""
    return _table(rows, PREDICTIONS)


def failures_table(rows: Sequence[FailureRow]) -> pa.Table:
    """The rows as Arrow, columns as in `FAILURES`."""
    return _table(rows, FAILURES)


def costs_table(rows: Sequence[CostRow]) -> pa.Table:
    """The rows as Arrow, columns as in `COSTS`."""
    return _table(rows, COSTS)


def _table(rows: Sequence[Sequence[Any]], kinds: Mapping[str, pa.DataType]) -> pa.Table:
    ids, *columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    arrays = [_ids(ids)]
    arrays += [column(values, kind) for values, kind in zip(columns, list(kinds.values())[1:], strict=True)]
    return pa.Table.from_arrays(arrays, names=list(kinds))


def _ids(given: Sequence[uuid.UUID | None]) -> pa.Array:
    if None not in given:
        return column(given, UUID)
    new = new_prediction_ids(len(given))
    return uuids(
        b"".join([new[16 * at : 16 * at + 16] if one is None else one.bytes for at, one in enumerate(given)])
    )
