"""One model's part of a run: a bounded pool of workers over its pending queries and its lanes.

Everything is decided on the event loop, without awaiting: which query is next, which lane takes it, what a
reply means. A worker that comes free takes its next query by itself; `dispatch` wakes or starts others when
something changed (an answer raised a limit, a pause is over, there is more to send).
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.lifecycle.budget import Budget
from runner.lifecycle.results import Item, Rows, cost_of
from runner.lifecycle.retry import Retries
from runner.live.backlog import Backlog
from runner.live.lane import Lane, Permit
from runner.live.router import Router
from runner.providers.settings import ModelSettings
from runner.status.counters import ModelCounters
from runner.transport.completion import Sent, complete
from runner.transport.outcome import PARKING, REQUEUED, TERMINAL, Answer, Fault, Kind
from runner.transport.posting import Poster
from runner.transport.redact import Redactor
from store.errors import EvenhandError

if TYPE_CHECKING:
    import aiohttp

    from store.rows import FailureRow, PredictionRow
    from store.writer import Writer

AFTER_REFUSAL_S = 0.5
"""A query waits so long where the server refused it without a word on when to come back."""
MOST_PROBES = 12
"""Tries of one query in outages of its lane that cost it nothing; beyond, the query itself is the trouble."""
MOST_LAST_PROBES = 3
"""So many where nothing but such queries is left, and the server takes them and fails at them."""


@dataclass(slots=True)
class Shared:
    """What all models of a run use together."""

    writer: Writer
    session: aiohttp.ClientSession
    budget: Budget
    redactor: Redactor
    retries: Retries
    retry_truncated: int | None
    on_fatal: Callable[[], None]
    """Called when the whole run must end: the writer gave up, or a worker failed."""


@dataclass(slots=True)
class ModelRun:
    """Asks one model. `done` is set when nothing is left, or nothing more can be done; `failure` says why."""

    settings: ModelSettings
    router: Router
    rows: Rows
    counters: ModelCounters
    shared: Shared
    backlog: Backlog = field(init=False)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    failure: str | None = None
    fatal: BaseException | None = None
    out_of_money: bool = False
    last_event: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    unstored: list[PredictionRow | FailureRow] = field(default_factory=list)
    """What arrived but was not handed to the writer, as all was stopped."""
    _posters: dict[Lane, Poster] = field(init=False)
    _open: set[Permit] = field(default_factory=set)
    _workers: set[asyncio.Task[None]] = field(default_factory=set)
    _idle: deque[asyncio.Future[Permit]] = field(default_factory=deque)
    _stopping: bool = False
    _timer: asyncio.TimerHandle | None = None
    _timer_due: float = math.inf
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self._posters = {lane: Poster(self.shared.session, lane.address) for lane in self.router.lanes}

    @property
    def in_flight(self) -> int:
        """Requests on their way, and answers not yet handed to the writer."""
        return len(self._open)

    # Stopping

    def drain(self) -> None:
        """Send nothing more; `done` is set when what is on its way has come."""
        self._stopping = True
        self._check_done()

    async def abort(self) -> None:
        """Cut off what is on its way. Its queries stay pending; answers that came are kept."""
        self._stopping = True
        workers = list(self._workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._keep_spares(permit.item for permit in self._open)
        self._open.clear()
        self._check_done()

    async def close(self) -> None:
        """End the idle workers and the reading of queries."""
        self._stopping = True
        if self._timer is not None:
            self._timer.cancel()
        await self.abort()
        self._keep_spares(await self.backlog.close())

    def _keep_spares(self, items: Iterable[Item]) -> None:
        """A truncated answer that was not asked again after all is an answer."""
        for item in items:
            if item.spare is not None:
                self.counters.received += 1
                self.unstored.append(item.spare)

    def cut_off_stalled(self) -> int:
        """Cancel every open request and ask its query again; for the watchdog."""
        stalled = list(self._open)
        self._open.clear()
        self._idle.clear()
        for worker in self._workers:
            worker.cancel()
        for permit in stalled:
            permit.lane.in_flight -= 1
            self.shared.budget.settle(permit.reserved_usd, permit.reserved_usd)
        self.backlog.again(permit.item for permit in stalled)
        self.last_event = self._loop.time()
        self.dispatch()
        return len(stalled)

    # Sending

    def dispatch(self) -> None:
        """Give out as many queries as the lanes take now."""
        while (permit := self._next()) is not None:
            while self._idle:
                waiting = self._idle.popleft()
                if not waiting.done():
                    waiting.set_result(permit)
                    break
            else:
                worker = self._loop.create_task(self._work(permit))
                self._workers.add(worker)
                worker.add_done_callback(self._worker_ended)

    async def _work(self, permit: Permit) -> None:
        shared, still_open = self.shared, self._open
        while True:
            item, lane = permit.item, permit.lane
            try:
                body = lane.bodies.body(item.query, item.max_tokens)
                sent = await complete(self._posters[lane], body, shared.redactor)
                row = self._took(permit, sent)
                if row is not None:
                    await self._store(row)
            finally:
                if permit in still_open:
                    still_open.remove(permit)
                    lane.in_flight -= 1
            self.last_event = self._loop.time()
            following = self._next()
            if following is not None:
                self.dispatch()
            else:
                self._check_done()
                waiting: asyncio.Future[Permit] = self._loop.create_future()
                self._idle.append(waiting)
                following = await waiting
            permit = following

    def _worker_ended(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        if not worker.cancelled() and (error := worker.exception()) is not None:
            self._end_all(error)

    async def _store(self, row: PredictionRow | FailureRow) -> None:
        try:
            await self.shared.writer.put(row)
        except asyncio.CancelledError:
            self.unstored.append(row)
            raise
        except EvenhandError as error:
            self._end_all(error)

    def _next(self) -> Permit | None:
        """The next query with a lane that takes it now; None if there is none, with the timer set."""
        if self._stopping:
            return None
        capacity = self.router.capacity()
        if len(self._open) >= capacity:
            if capacity == 0:
                self.failure = f"No way is left to ask {self.settings.model}: {self.router.why_parked()}"
                self.drain()
            return None
        now = self._loop.time()
        item = self.backlog.peek(now)
        if item is None:
            self._check_done()
            if (due := self.backlog.next_due()) is not None:
                self._wake_at(due)
            return None
        most = self.settings.max_tokens if item.max_tokens is None else item.max_tokens
        lane, prompt_tokens, tokens, wait = self.router.choose(item, most, self.backlog.utf8_per_char, now)
        if lane is None:
            if wait < math.inf:
                self._wake_at(now + wait)
            return None
        dearest = lane.dearest(prompt_tokens, most)
        if not self.shared.budget.reserve(dearest):
            if self.shared.budget.exhausted:
                self.out_of_money = True
                self.drain()
            return None
        self.backlog.pop(item)
        permit = lane.begin(item, prompt_tokens, tokens, dearest, now)
        self._open.add(permit)
        return permit

    def _wake_at(self, when: float) -> None:
        if self._timer is not None:
            if self._timer_due <= when:
                return
            self._timer.cancel()
        # Kept here: uvloop's handle of a time that has passed already does not say when it is due.
        self._timer_due = when
        self._timer = self._loop.call_at(when, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.dispatch()

    # Receiving

    def _took(self, permit: Permit, sent: Sent) -> PredictionRow | FailureRow | None:
        """Count a reply and decide what becomes of its query; the row to store, if that is settled."""
        now = self._loop.time()
        result, lane = sent.result, permit.lane
        lane.heard(sent, now)
        if isinstance(result, Answer):
            return self._answered(permit, result, sent.latency_s, now)
        # What a request that broke off has cost is not known: its prompt is taken to be paid.
        broke_off = result.kind in (Kind.TIMEOUT, Kind.BAD_BODY, Kind.NO_CHOICES)
        lost = lane.of_prompt(permit.prompt_tokens) if broke_off else 0.0
        self.shared.budget.settle(permit.reserved_usd, lost)
        lane.counters.failed(result, time.time())
        return self._faulted(permit, result, now)

    def _answered(self, permit: Permit, answer: Answer, latency_s: float, now: float) -> PredictionRow | None:
        item, lane = permit.item, permit.lane
        cost = cost_of(answer, lane.route.prices)
        self.shared.budget.settle(permit.reserved_usd, permit.reserved_usd if cost is None else cost)
        lane.answered(answer, permit, now)
        if self.backlog.waits_behind and not lane.outage:
            self.backlog.recall()
        lane.counters.answered(answer, latency_s, cost)
        if answer.model:
            self.counters.returned_models[answer.model] += 1
        row = self.rows.prediction(item, lane, answer, latency_s, cost)
        if answer.outcome == "truncated" and self.shared.retry_truncated and item.max_tokens is None:
            item.max_tokens = max(self.shared.retry_truncated, self.settings.max_tokens)
            item.spare = row
            self.backlog.again([item])
            return None
        self.counters.received += 1
        return row

    def _faulted(self, permit: Permit, fault: Fault, now: float) -> PredictionRow | FailureRow | None:
        item, lane = permit.item, permit.lane
        if fault.kind in TERMINAL:
            lane.rejected(fault)
            return self._given_up(item, fault.kind.value, fault)
        if fault.kind in REQUEUED:
            lane.refused(fault, permit, now)
            if lane.paused_until > now:
                self.backlog.again([item])
            else:
                self.backlog.later(item, now + random.uniform(0.5, 1.0) * AFTER_REFUSAL_S)
            return None
        if fault.kind in PARKING:
            lane.refuse_key(fault)
            self.backlog.again([item])
            return None
        lane.failed(fault, permit, now)
        if lane.parked is not None:
            self.backlog.again([item])
            return None
        if lane.outage:  # the lane's fault, not the query's: it costs no try
            lone = self.backlog.nothing_new and fault.at_the_query and lane.has_answered
            if item.probes < (MOST_LAST_PROBES if lone else MOST_PROBES):
                item.probes += 1
                self.backlog.behind(item)
                return None
            if lone:
                return self._given_up(item, "failed", fault)
        item.tries, wait = self.shared.retries.after_failure(item.tries)
        if wait is None:
            return self._given_up(item, "failed", fault)
        item.failed_at(lane.route.provider)
        self.backlog.later(item, now + max(wait, fault.retry_after or 0.0))
        return None

    def _given_up(self, item: Item, outcome: str, fault: Fault) -> PredictionRow | FailureRow:
        if item.spare is not None:  # asked again with more tokens, in vain: the truncated answer stands
            self.counters.received += 1
            return item.spare
        self.counters.gave_up(outcome, fault)
        return self.rows.failure(item, outcome, fault)

    def _check_done(self) -> None:
        if self._open or self.done.is_set():
            return
        if self.backlog.error is not None and not self._stopping:
            self._end_all(self.backlog.error)
        if self._stopping or self.backlog.empty:
            self.done.set()

    def _end_all(self, error: BaseException) -> None:
        if self.fatal is None:
            self.fatal = error
            self._stopping = True
            self.shared.on_fatal()
