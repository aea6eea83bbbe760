"""The rows that a run brings back, and their way into Arrow, by which they enter the database."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


def now() -> dt.datetime:
    """The present in UTC without a zone, as every time of a study is stored."""
    return dt.datetime.now(dt.UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One answer, as in table `predictions`. Times are UTC without a zone, `latency_s` seconds, cost in
    USD."""

    prediction_id: uuid.UUID
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
    published_label: str | None = None
    source_hash: str | None = None
    source_row: int | None = None


@dataclass(frozen=True, slots=True)
class FailureRow:
    """One query given up, as in table `failures`; `reason` is redacted by whoever writes it."""

    failure_id: uuid.UUID
    query_id: uuid.UUID
    model_key: str
    run_id: uuid.UUID
    repeat: int
    outcome: str
    reason: str
    created_at: dt.datetime
    status: int | None = None


PREDICTION_OUTCOMES = ("answered", "refused", "empty", "truncated")
"""What a provider can say; the outcome of a prediction."""

FAILURE_OUTCOMES = ("context_overflow", "rejected", "failed")
"""Why a query is given up; the outcome of a failure."""

_INT32 = range(-(2**31), 2**31)
_UUID, _TEXT, _INT, _REAL, _TIME = pa.uuid(), pa.string(), pa.int32(), pa.float64(), pa.timestamp("us")

PREDICTIONS = pa.schema(
    {
        "prediction_id": _UUID,
        "query_id": _UUID,
        "model_key": _TEXT,
        "run_id": _UUID,
        "repeat": _INT,
        "outcome": _TEXT,
        "text": _TEXT,
        "created_at": _TIME,
        "reasoning": _TEXT,
        "finish_reason": _TEXT,
        "prompt_tokens": _INT,
        "cached_tokens": _INT,
        "completion_tokens": _INT,
        "cost_usd": _REAL,
        "latency_s": _REAL,
        "served_by": _TEXT,
        "returned_model": _TEXT,
        "fingerprint": _TEXT,
        "published_label": _TEXT,
        "source_hash": _TEXT,
        "source_row": _INT,
    }
)
FAILURES = pa.schema(
    {
        "failure_id": _UUID,
        "query_id": _UUID,
        "model_key": _TEXT,
        "run_id": _UUID,
        "repeat": _INT,
        "outcome": _TEXT,
        "reason": _TEXT,
        "created_at": _TIME,
        "status": _INT,
    }
)
assert PREDICTIONS.names == [field.name for field in dataclasses.fields(PredictionRow)]
assert FAILURES.names == [field.name for field in dataclasses.fields(FailureRow)]


def predictions_table(rows: Sequence[PredictionRow]) -> pa.Table:
    """The rows as Arrow, columns as in `PREDICTIONS`."""
    return _table(rows, PREDICTIONS)


def failures_table(rows: Sequence[FailureRow]) -> pa.Table:
    """The rows as Arrow, columns as in `FAILURES`."""
    return _table(rows, FAILURES)


def uuid_array(ids: Sequence[uuid.UUID]) -> pa.Array:
    """UUIDs as an Arrow array that DuckDB reads as UUID."""
    return pa.ExtensionArray.from_storage(_UUID, pa.array([i.bytes for i in ids], pa.binary(16)))


def _table(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    columns = [_column([getattr(row, field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if kind == _UUID:
        return uuid_array(values)
    try:
        return pa.array(values, kind)
    except (UnicodeEncodeError, pa.ArrowInvalid, OverflowError):
        # A provider's JSON may hold half a surrogate pair ("\ud83d") or an absurd token count. Neither may
        # stop a batch from being stored: the half becomes U+FFFD, the count unknown.
        return pa.array([_storable(value, kind) for value in values], kind)


def _storable(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if kind == _INT and value not in _INT32:
        return None
    return value
