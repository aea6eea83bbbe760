"""What a batch brought: each line of its files is an answer, a query given up, or one that is still to ask.

A file can come late, in part, twice, or as something else. What the provider counts and no line tells is
missing: then the files are fetched again, and the batch is not closed.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from runner.batch.api import ApiFault, BatchApi, errors
from runner.batch.requests import read_custom_id
from runner.batch.shared import BatchShared
from runner.lifecycle.failure_policy import left_pending, may_be_charged, of_the_file
from runner.lifecycle.results import cost_of
from runner.providers.schema import Prices
from runner.status.counters import LaneCounters, ModelCounters
from runner.transport.charset import Undecodable
from runner.transport.event_stream import BrokenStream
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import parsed, read
from runner.transport.usage import Usage
from store import batches
from store.batches import Batch, Key
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
    """Lines about a query that is settled, and that an earlier line was about."""
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
        again = any(found.key in one.ours for one in self.contents.values())
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

    def reasons(self, of_all: str = "") -> Counter[str]:
        """Why queries are to be asked again, and how many for each reason; `of_all`: why the batch failed."""
        reasons = Counter(f"{fault.kind}: {fault.message}" for fault in self.left.values())
        if silent := self.silent():
            reasons[of_all or "no result came back"] += silent
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


FILES = ("output_file_id", "error_file_id")
"""By which an ended batch names its files: of answers, and of errors."""
_COUNTS = {"output_file_id": "completed", "error_file_id": "failed"}


def _counts(info: Mapping[str, Any]) -> dict[str, int] | None:
    """How many queries the provider says have ended, by file; None where it does not count."""
    counts = info.get("request_counts")
    counts = counts if isinstance(counts, dict) else {}
    known = {name: value for name, value in counts.items() if type(value) is int and value >= 0}
    ended = {what: known.get(name, 0) for what, name in _COUNTS.items()}
    # A batch that is all done counts something, unless its provider does not count.
    if sum(ended.values()) > 0 or (info.get("status") != "completed" and known.get("total", 0) > 0):
        return ended
    return None


def whole(info: Mapping[str, Any], what: str, ledger: Ledger) -> bool:
    """Whether a file held as many results as the provider counts."""
    counts = _counts(info)
    return counts is not None and what in ledger.contents and len(ledger.contents[what].ours) >= counts[what]


def missing(
    info: Mapping[str, Any], ledger: Ledger, named: Sequence[str], gone: Mapping[str, str]
) -> str | None:
    """What an ended batch has yet to give, going by the provider's own counts; None if all came.

    Args:
        info: what the provider says of it.
        ledger: what came.
        named: which of its files the provider names.
        gone: which of those are not there, and what is said of them.
    """
    silent = ledger.silent()
    if not silent or info.get("status") == "failed":  # a failed batch has asked nothing
        return None
    counts = _counts(info)
    if counts is not None:
        due = min(sum(counts.values()), ledger.asked)
    else:
        seems_whole = info.get("status") != "completed" and named and not gone and not ledger.strange
        due = 0 if seems_whole else ledger.asked
    came = ledger.asked - silent
    if came >= due:
        return None
    if gone:
        return next(iter(gone.values()))
    short = counts or {"output_file_id": 1, "error_file_id": 0}
    parts = [
        one.describe()
        for what, one in ledger.contents.items()
        if what in named and not whole(info, what, ledger)
    ]
    names = {"output_file_id": "answers", "error_file_id": "errors"}
    parts += [
        f"its file of {name} is not there"
        for what, name in names.items()
        if what not in named and short[what]
    ][:1]
    return f"{' and '.join(parts)}; {due - came:,} of {due:,} results are missing"


def most_common(reasons: Counter[str], count: int = 3) -> str:
    """The commonest reasons, with how many queries each has."""
    shown = [f"{number:,} {reason[:160]}" for reason, number in reasons.most_common(count)]
    return "; ".join(shown) + (f"; and {len(reasons) - count} other reasons" if len(reasons) > count else "")


@dataclass(frozen=True, slots=True)
class Harvest:
    """What came of one batch."""

    stored: int
    left: Counter[str]
    """Why queries of it are still to ask."""
    note: str | None
    """What was not as it should be."""
    unpriced: bool
    """Not all that it may have cost is known."""


@dataclass(slots=True)
class _Reading:
    """How far the files of a batch are read."""

    ledger: Ledger
    read: set[tuple[str, str]] = field(default_factory=set)
    """Which files, by the key that names them and their id, held all that they should."""
    gone: dict[str, str] = field(default_factory=dict)
    """What is wrong with a file that is named and not there."""
    unpriced: int = 0


def _not_fetched(file_id: str, fault: Fault) -> str:
    if fault.status in (404, 410):
        return f"its file {file_id} is not there ({fault.reason})"
    if fault.kind is Kind.BAD_BODY:
        return f"its file {file_id} cannot be read: {fault.message}"
    return f"its file {file_id} cannot be fetched ({fault.reason})"


class Harvester:
    """Stores and counts what a model's batches bring: `fetch` until nothing is missing, then `close`."""

    def __init__(
        self, name: str, shared: BatchShared, maker: Maker, counters: ModelCounters, lane: LaneCounters
    ) -> None:
        self._name = name
        self._shared = shared
        self._maker = maker
        self._counters = counters
        self._lane = lane
        self._readings: dict[uuid.UUID, _Reading] = {}

    async def fetch(self, api: BatchApi, batch: Batch, info: Mapping[str, Any]) -> str | None:
        """Read the files of an ended batch, those again that did not hold what they should.

        Returns, when all that they brought is committed, what is missing though it should come: some
        providers call a batch ended before its files can be had, and a download may bring a login page, a
        part of the file or nothing.
        """
        shared = self._shared
        reading = self._readings.get(batch.batch)
        if reading is None:
            wanted = batches.items(shared.study, batch)
            keys = list(wanted)
            ledger = Ledger(
                wanted,
                batches.stored(shared.study, batch, keys),
                batches.charged(shared.study, batch, keys),
                shared.redactor,
            )
            reading = self._readings[batch.batch] = _Reading(ledger)
        named = [(what, info[what]) for what in FILES if isinstance(info.get(what), str) and info[what]]
        for what, file_id in named:
            if (what, file_id) in reading.read:
                continue

            async def read(_: int, what: str = what, file_id: str = file_id) -> None:
                await self._read_file(api, what, file_id, batch, reading)

            try:
                await shared.patiently(self._name, f"results of batch {batch.batch_id}", read, downloads=True)
            except ApiFault as error:
                if not of_the_file(error.fault):
                    raise
                reading.gone[what] = _not_fetched(file_id, error.fault)
            else:
                reading.gone.pop(what, None)
                reading.read.add((what, file_id))
        await shared.writer.flush()
        still = missing(info, reading.ledger, [what for what, _ in named], reading.gone)
        if still is not None:
            reading.read = {one for one in reading.read if whole(info, one[0], reading.ledger)}
        return still

    def close(self, batch: Batch, info: Mapping[str, Any]) -> Harvest:
        """What came of a batch, nothing more being waited for."""
        reading = self._readings.pop(batch.batch)
        ledger = reading.ledger
        of_all = errors(info, self._shared.redactor)
        reasons = ledger.reasons(of_all)
        for fault in ledger.left.values():
            self._lane.failed(fault, time.time())
        notes = [of_all, *reading.gone.values()]
        if ledger.strange:
            notes.append(f"{ledger.strange:,} lines were not about its queries")
        if ledger.repeated:
            notes.append(f"{ledger.repeated:,} lines came twice")
        if reasons:
            notes.append(f"{ledger.unsettled():,} queries are still pending ({most_common(reasons)})")
        # A query without a line, or whose answer came and makes no sense, may have been paid for.
        unheard = ledger.silent() if info.get("status") != "failed" else 0
        senseless = sum(
            may_be_charged(fault) and key not in ledger.charged for key, fault in ledger.left.items()
        )
        return Harvest(
            ledger.settled,
            reasons,
            "; ".join(filter(None, notes)) or None,
            unpriced=bool(reading.unpriced + unheard + senseless),
        )

    async def _read_file(
        self, api: BatchApi, what: str, file_id: str, batch: Batch, reading: _Reading
    ) -> None:
        ledger, shared = reading.ledger, self._shared
        contents = ledger.begin(what)
        async with contextlib.aclosing(api.results(file_id)) as lines:
            async for text in lines:
                line = ledger.take(text, contents)
                if line is None:
                    continue
                if line.key not in ledger.charged and (cost := self._maker.failed_cost(batch.batch, line)):
                    ledger.charged.add(line.key)
                    self._lane.charged(cost)
                    await shared.writer.put(cost)
                if not line.settles:
                    continue
                row = self._maker.row(batch.batch, line)
                await shared.writer.put(row)
                if isinstance(line.result, Answer):
                    self._counters.received += 1
                    known = self._maker.cost(line.result)
                    self._lane.used(line.result, known)
                    reading.unpriced += known is None
                else:
                    self._counters.gave_up(row.outcome, line.result)
                    self._lane.failed(line.result, time.time())
                self._not_fewer()

    def _not_fewer(self) -> None:
        counters = self._counters
        if counters.received > counters.total:  # of an open batch that asked more than is selected now
            counters.total += 1
            counters.selected += 1
