"""Reads what a batch brought: a line is an answer, a query given up, or one that is still to ask."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from runner.batch.file import read_custom_id
from runner.lifecycle.failure_policy import left_pending
from runner.lifecycle.results import cost_of
from runner.providers.schema import Prices
from runner.transport.charset import Undecodable
from runner.transport.event_stream import BrokenStream
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import parsed, read
from runner.transport.usage import Usage
from store.batches import Key
from store.identity import batch_cost_id, batch_row_id
from store.rows import CostRow, FailureRow, PredictionRow, now

_NO_HEADERS: Mapping[str, str] = {}
_SHOWN = 80


@dataclass(slots=True)
class Line:
    """One line of an output or error file."""

    key: Key
    result: Answer | Fault
    settles: bool = True
    """It becomes a row; else the query is still to ask."""
    is_result: bool = True
    """It says what came of the query, and is not the request itself."""


def read_line(line: bytes, redactor: Redactor) -> Line | None:
    """What a line says; None if it is not JSON, or not about a query of ours. Never raises."""
    try:
        data = parsed(_NO_HEADERS, line).data
    except (Undecodable, BrokenStream):
        return None
    if not isinstance(data, dict) or (key := read_custom_id(data.get("custom_id"))) is None:
        return None
    return Line(key, _result(data, redactor), is_result="response" in data or "error" in data)


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
        why = redactor.clean(f"{code}: {message or 'not executed in time'}")
        return Fault(Kind.TIMEOUT, why, unreached=True)
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


@dataclass(slots=True)
class Contents:
    """What the file that was read last under one name held."""

    lines: int = 0
    ours: set[Key] = field(default_factory=set)
    """Queries of this batch that a line is about."""
    repeated: int = 0
    """Lines about a query that is settled, and that an earlier line of the file was about."""
    strange: int = 0
    """Lines that are not JSON, or not about a query of this batch."""
    requests: int = 0
    """Of those, the requests themselves."""
    of_others: int = 0
    """Of those, lines about a query of another batch."""
    odd: str = ""
    """How the first line begins that is no line of any batch."""
    cut: bool = False
    """The last line is no JSON."""

    def describe(self) -> str:
        """What came, in words."""
        if not self.lines:
            return "an empty file came"
        if self.ours:
            twice = ", some of them twice" if self.repeated else ""
            cut = ", and its last line is cut" if self.cut else ""
            return f"a file with answers to {len(self.ours):,} queries came{twice}{cut}"
        if self.requests:
            return "the requests came, and not their results"
        if self.of_others:
            return "lines of another batch came"
        what = "a web page" if self.odd.lstrip().startswith("<") else "something else"
        return f"{what} came ({self.odd})"


class Ledger:
    """What has become of the queries of one batch: each is settled once, whatever the files repeat."""

    def __init__(self, wanted: set[Key], stored: set[Key], charged: set[Key], redactor: Redactor) -> None:
        self.left: dict[Key, Fault] = {}
        """Queries to be asked again, and why."""
        self.settled = 0
        """Rows made."""
        self.contents: dict[str, Contents] = {}
        """What each file held, as it was read last."""
        self.charged = charged
        """Queries whose failed try has its cost stored."""
        self._wanted = wanted
        self._before = set(stored)
        self._done: set[Key] = set()
        self._redactor = redactor

    def begin(self, what: str) -> Contents:
        """A file is read from its beginning, perhaps once more."""
        if what in self.contents:
            self._before |= self._done
            self._done.clear()
        self.contents[what] = found = Contents()
        return found

    def take(self, line: bytes, contents: Contents) -> Line | None:
        """The line, if it is about a query that had no row yet."""
        contents.lines += 1
        found = read_line(line, self._redactor)
        contents.cut = found is None
        if found is None or found.key not in self._wanted or not found.is_result:
            contents.strange += 1
            if found is not None:
                contents.requests += not found.is_result
                contents.of_others += found.is_result
            if found is None and not contents.odd:
                contents.odd = self._redactor.clean(line[:_SHOWN].decode("utf-8", "replace"))
            return None
        again = found.key in contents.ours
        contents.ours.add(found.key)
        if found.key in self._before or found.key in self._done:
            contents.repeated += again
            return None
        if isinstance(found.result, Fault) and left_pending(found.result):
            self.left[found.key] = found.result
            found.settles = False
            return found
        self.left.pop(found.key, None)
        self._done.add(found.key)
        self.settled += 1
        return found

    @property
    def asked(self) -> int:
        """Queries of the batch."""
        return len(self._wanted)

    @property
    def strange(self) -> int:
        """Lines not about its queries."""
        return sum(one.strange for one in self.contents.values())

    @property
    def repeated(self) -> int:
        """Lines that came twice."""
        return sum(one.repeated for one in self.contents.values())

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

    def cost(self, used: Answer | Usage) -> float | None:
        """US dollars: as the provider states it, else by its prices less the discount."""
        return cost_of(used, self.prices, self.share)

    def failed_cost(self, batch: uuid.UUID, line: Line) -> CostRow | None:
        """What a line without an answer has cost, if it says so."""
        usage = line.result.usage if isinstance(line.result, Fault) else None
        cost = None if usage is None else self.cost(usage)
        if usage is None or not cost:
            return None
        query_id, repeat = line.key
        return CostRow(
            cost_id=batch_cost_id(batch, query_id, repeat),
            run_id=self.run_id,
            model_key=self.model_key,
            served_by=self.served_by,
            kind=line.result.kind.value if isinstance(line.result, Fault) else "",
            created_at=now(),
            query_id=query_id,
            repeat=repeat,
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=usage.cached_tokens,
            completion_tokens=usage.completion_tokens,
            cost_usd=cost,
        )

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
