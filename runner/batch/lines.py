"""Reads what a batch brought: a line is an answer, a query given up, or one that is still to ask."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from runner.batch.file import read_custom_id
from runner.lifecycle.results import cost_of
from runner.providers.schema import Prices
from runner.transport.charset import Undecodable
from runner.transport.event_stream import BrokenStream
from runner.transport.outcome import TERMINAL, Answer, Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import parsed, read
from store.batches import Key
from store.identity import batch_row_id
from store.rows import FailureRow, PredictionRow, now

_NO_HEADERS: Mapping[str, str] = {}


@dataclass(slots=True)
class Line:
    """One line of an output or error file."""

    key: Key
    result: Answer | Fault


def read_line(line: bytes, redactor: Redactor) -> Line | None:
    """What a line says; None if it is not JSON, or not about a query of ours. Never raises."""
    try:
        data = parsed(_NO_HEADERS, line).data
    except (Undecodable, BrokenStream):
        return None
    if not isinstance(data, dict) or (key := read_custom_id(data.get("custom_id"))) is None:
        return None
    return Line(key, _result(data, redactor))


def _result(data: dict[str, Any], redactor: Redactor) -> Answer | Fault:
    response, error = data.get("response"), data.get("error")
    if isinstance(response, dict):
        status = _status(response.get("status_code"))
        body = response.get("body")
        sent = body.encode("utf-8", "replace") if isinstance(body, str) else orjson.dumps(body)
        if body is not None or error is None:
            return read(status, _NO_HEADERS, sent, redactor)
    code = error.get("code") if isinstance(error, dict) else None
    if code in ("batch_expired", "batch_cancelled"):
        message = error.get("message") if isinstance(error, dict) else None
        return Fault(Kind.TIMEOUT, redactor.clean(f"{code}: {message or 'not executed in time'}"))
    if error:
        return read(500, _NO_HEADERS, orjson.dumps({"error": error}), redactor)
    return Fault(Kind.BAD_BODY, "a line with neither response nor error")


def _status(code: object) -> int:
    """An HTTP status; some providers write it as a text, or leave it out where all is well."""
    if code is None:
        return 200
    try:
        status = int(code)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return 500
    return status if 100 <= status <= 599 else 500


class Ledger:
    """What has become of the queries of one batch: each is settled once, whatever the files repeat."""

    def __init__(self, wanted: set[Key], stored: set[Key], redactor: Redactor) -> None:
        self.left: dict[Key, Fault] = {}
        """Queries to be asked again, and why."""
        self.repeated = 0
        """Lines about a query that an earlier line had settled."""
        self.strange = 0
        """Lines that are not JSON, or not about a query of this batch."""
        self.settled = 0
        """Rows made."""
        self._wanted = wanted
        self._before = set(stored)
        self._done: set[Key] = set()
        self._redactor = redactor

    def again(self) -> None:
        """The file is read once more from its beginning."""
        self._before |= self._done
        self._done.clear()
        self.repeated = self.strange = 0

    def take(self, line: bytes) -> Line | None:
        """The line, if it settles a query that had no row yet."""
        found = read_line(line, self._redactor)
        if found is None or found.key not in self._wanted:
            self.strange += 1
            return None
        if found.key in self._before:
            return None
        if found.key in self._done:
            self.repeated += 1
            return None
        if isinstance(found.result, Fault) and found.result.kind not in TERMINAL:
            self.left[found.key] = found.result
            return None
        self.left.pop(found.key, None)
        self._done.add(found.key)
        self.settled += 1
        return found

    def unsettled(self) -> int:
        """Queries without a row, the files read."""
        return len(self._wanted - self._before - self._done)

    def silent(self) -> int:
        """Queries of which no line said anything."""
        return self.unsettled() - len(self.left)

    def reasons(self) -> Counter[str]:
        """Why queries are to be asked again, and how many for each reason."""
        reasons = Counter(f"{fault.kind}: {fault.message}" for fault in self.left.values())
        if silent := self.silent():
            reasons["no line came back"] += silent
        return reasons


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the rows of one model's batches in one run."""

    run_id: uuid.UUID
    model_key: str
    served_by: str
    prices: Prices | None
    share: float
    """Of the price that a batch costs."""
    returned_models: Counter[str] = field(default_factory=Counter)

    def cost(self, answer: Answer) -> float | None:
        """US dollars: as the provider states it, else by its prices less the discount."""
        return cost_of(answer, self.prices, self.share)

    def row(self, batch: uuid.UUID, line: Line) -> PredictionRow | FailureRow:
        """The row of a line. Its id follows from batch and query, so that it can be told from a new one."""
        query_id, repeat = line.key
        row_id = batch_row_id(batch, query_id, repeat)
        result = line.result
        if isinstance(result, Fault):
            return FailureRow(
                failure_id=row_id,
                query_id=query_id,
                model_key=self.model_key,
                run_id=self.run_id,
                repeat=repeat,
                outcome=result.kind.value,
                reason=f"{result.kind}: {result.message}",
                created_at=now(),
                status=result.status,
            )
        if result.model:
            self.returned_models[result.model] += 1
        return PredictionRow(
            prediction_id=row_id,
            query_id=query_id,
            model_key=self.model_key,
            run_id=self.run_id,
            repeat=repeat,
            outcome=result.outcome,
            text=result.text,
            created_at=now(),
            reasoning=result.reasoning,
            finish_reason=result.finish_reason,
            prompt_tokens=result.prompt_tokens,
            cached_tokens=result.cached_tokens,
            completion_tokens=result.completion_tokens,
            cost_usd=self.cost(result),
            served_by=self.served_by,
            returned_model=result.model,
            fingerprint=result.fingerprint,
        )
