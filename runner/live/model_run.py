"""One model's part of a run: a bounded pool of workers over its pending queries and its lanes.

Everything is decided on the event loop, without awaiting: which query is next, which lane takes it, what a
reply means. A worker that comes free takes its next query by itself; `dispatch` wakes or starts others when
something changed (an answer raised a limit, a pause is over, there is more to send).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.lifecycle import failure_policy
from runner.lifecycle.budget import Budget, Dearest
from runner.lifecycle.failure_policy import FAIL_OVER_AFTER_S, AskAgain, ForLane, GiveUp, Situation
from runner.lifecycle.results import Rows, cost_of
from runner.lifecycle.tries import Chance
from runner.live.backlog import Backlog
from runner.live.item import Item
from runner.live.lane import Lane, Permit
from runner.live.router import Router
from runner.live.shares import Shares
from runner.live.siblings import Siblings
from runner.providers.settings import ModelSettings
from runner.status.counters import ModelCounters
from runner.transport.address import address_of
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.port import Sent, Transport, Transports
from runner.transport.request import Bodies
from runner.transport.usage import Usage
from store.errors import EvenhandError
from store.rows import UNKNOWN_COST

if TYPE_CHECKING:
    from store.rows import FailureRow, PredictionRow
    from store.writer import Row, Writer

LOOK_AT_SLOW_S = 0.25
CUT_OFF = "cut_off"
"""The kind of a try that we broke off: it may have been charged."""


@dataclass(slots=True)
class Shared:
    """What all models of a run use together."""

    writer: Writer
    transports: Transports
    budget: Budget
    max_tries: int
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
    longest_answer: int = 0
    """In tokens, as the study knows it."""
    backlog: Backlog = field(init=False)
    shares: Shares | None = field(init=False, default=None)
    """What waits for each replica, where the provider has such."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    failure: str | None = None
    fatal: BaseException | None = None
    out_of_money: bool = False
    last_event: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    unstored: list[Row] = field(default_factory=list)
    """What arrived but was not handed to the writer, as all was stopped."""
    _chance: Chance = field(default_factory=Chance)
    _siblings: Siblings = field(default_factory=Siblings)
    _transports: dict[Lane, Transport] = field(init=False)
    _bodies: dict[Lane, Bodies] = field(init=False)
    _dearest: dict[Lane, Dearest] = field(init=False)
    _open: set[Permit] = field(default_factory=set)
    _workers: set[asyncio.Task[None]] = field(default_factory=set)
    _idle: deque[asyncio.Future[Permit]] = field(default_factory=deque)
    _stopping: bool = False
    _timer: asyncio.TimerHandle | None = None
    _timer_due: float = math.inf
    _slow_timer: asyncio.TimerHandle = field(init=False)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self._transports = {
            lane: self.shared.transports(address_of(lane.route, lane.key.variable))
            for lane in self.router.lanes
        }
        self._bodies = {lane: Bodies(self.settings, lane.route) for lane in self.router.lanes}
        self._dearest = {
            lane: Dearest(lane.route.prices, longest_answer=self.longest_answer) for lane in self.router.lanes
        }
        self._slow_timer = self._loop.call_later(LOOK_AT_SLOW_S, self._look_at_slow)
        if self.router.replicas:
            self.shares = Shares(self.router.replicas, lambda lane, now: lane.is_up(now, FAIL_OVER_AFTER_S))

    @property
    def _shared_out(self) -> int:
        """Queries that wait for a replica."""
        return 0 if self.shares is None else len(self.shares)

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
        self._check_done()

    async def close(self) -> None:
        """End the idle workers and the reading of queries."""
        self._stopping = True
        if self._timer is not None:
            self._timer.cancel()
        self._slow_timer.cancel()
        await self.abort()
        if self.shares is not None:
            self.shares.give_all_back(self.backlog)
        self._keep_spares(await self.backlog.close())
        for transport in self._transports.values():
            await transport.close()

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
            permit.lane.left_alone(permit, self._loop.time())
            self.unstored += self._charge(permit, CUT_OFF, None, may_be_charged=True)
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

    def _look_at_slow(self) -> None:
        """Ask those queries again, each once, whose requests take so long that they probably hang."""
        if self._stopping:
            return
        self._slow_timer = self._loop.call_later(LOOK_AT_SLOW_S, self._look_at_slow)
        now = self._loop.time()
        limits = {lane: lane.patience_s() for lane in self.router.lanes}
        if min(limits.values()) == math.inf:
            return
        for permit in self._open:
            slow = now - permit.sent_at > limits[permit.lane] and not permit.item.gave_up_slow
            if slow and permit.worker is not None and not permit.is_late:
                permit.is_late = True
                permit.worker.cancel()

    async def _work(self, permit: Permit) -> None:
        transports, still_open = self._transports, self._open
        worker = asyncio.current_task()
        assert worker is not None, "a worker is a task"
        while True:
            item, lane = permit.item, permit.lane
            try:
                body = self._bodies[lane].body(item.query, item.max_tokens)
                permit.worker = worker
                try:
                    sent = await transports[lane].ask(body)
                except asyncio.CancelledError:
                    if permit.is_late and worker.uncancel() == 0:
                        sent = self._too_slow(permit)
                    else:
                        if permit in still_open:
                            self.unstored += self._charge(permit, CUT_OFF, None, may_be_charged=True)
                            self._keep_spares([item])
                        raise
                permit.worker = None
                if rows := self._took(permit, sent):
                    await self._store(rows)
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

    async def _store(self, rows: Sequence[Row]) -> None:
        for at, row in enumerate(rows):
            try:
                await self.shared.writer.put(row)
            except asyncio.CancelledError:
                self.unstored += rows[at:]
                raise
            except EvenhandError as error:
                self._end_all(error)

    def _next(self) -> Permit | None:
        """The next query with a lane that takes it now; None if there is none, with the timer set."""
        if self._stopping:
            return None
        if self.router.is_full:
            if self.router.is_closed:
                self.failure = f"{self.settings.model} cannot be asked any more: {self.router.why_parked()}"
                self.drain()
            return None
        now = self._loop.time()
        shared_out = self.shares is not None and self.shares.any_is_up(now)
        chosen = self._for_a_replica(now) if shared_out else self._in_order(now)
        if chosen is None:
            return None
        item, lane, prompt_tokens, tokens = chosen
        most = self._most_tokens(item)
        dearest = self._dearest[lane].of(item.chars, self.backlog.utf8_per_char, most)
        if not self.shared.budget.reserve(dearest):
            if self.shared.budget.exhausted:
                self.out_of_money = True
                self.drain()
            return None
        if shared_out and self.shares is not None:
            self.shares.pop(lane)
        else:
            self.backlog.pop(item)
        permit = lane.begin(item, prompt_tokens, tokens, dearest, now)
        self._open.add(permit)
        return permit

    def _in_order(self, now: float) -> tuple[Item, Lane, float, float] | None:
        """The query whose turn it is and a lane that takes it, with the tokens of prompt and limit."""
        if self.shares is not None:
            self.shares.give_all_back(self.backlog)
        item = self.backlog.peek(now)
        if item is None:
            self._nothing_now()
            return None
        lane, prompt_tokens, tokens, wait = self.router.choose(
            item, self._most_tokens(item), self.backlog.utf8_per_char, now
        )
        if lane is None:
            if wait < math.inf:
                self._wake_at(now + wait)
            return None
        return item, lane, prompt_tokens, tokens

    def _for_a_replica(self, now: float) -> tuple[Item, Lane, float, float] | None:
        """A replica that takes a query now, the least busy first, and the next one of its cases."""
        assert self.shares is not None
        soonest = math.inf
        for lane in sorted(self.router.replicas, key=lambda one: one.in_flight):
            if (wait := lane.ready_in(0.0, now)) > 0:
                soonest = min(soonest, wait)
                continue
            item = self.shares.peek(lane, self.backlog, now)
            if item is None:
                continue
            prompt = lane.prompt_tokens(item.chars, self.backlog.utf8_per_char)
            tokens = prompt + lane.completion_tokens(self._most_tokens(item))
            if (wait := lane.ready_in(tokens, now)) <= 0:
                return item, lane, prompt, tokens
            soonest = min(soonest, wait)
        if soonest < math.inf:
            self._wake_at(now + soonest)
        if not len(self.shares):
            self._nothing_now()
        return None

    def _nothing_now(self) -> None:
        self._check_done()
        if (due := self.backlog.next_due()) is not None:
            self._wake_at(due)

    def _most_tokens(self, item: Item) -> int:
        return self.settings.max_tokens if item.max_tokens is None else item.max_tokens

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

    def _too_slow(self, permit: Permit) -> Sent:
        took = self._loop.time() - permit.sent_at
        usual = permit.lane.counters.latencies.quantile(0.99) or 0.0
        message = f"given up after {took:.1f} s: 99% of the answers took {usual:.1f} s at most"
        return Sent(Fault(Kind.TIMEOUT, message), took)

    def _took(self, permit: Permit, sent: Sent) -> list[Row]:
        """Count a reply and decide what becomes of its query; the rows to store, if any."""
        now = self._loop.time()
        result, lane = sent.result, permit.lane
        lane.heard(sent, now)
        if isinstance(result, Answer) and lane.route.replicas:
            result = self._of_one_model(lane, result)
        if isinstance(result, Answer):
            return self._answered(permit, result, sent.latency_s, now)
        lane.counters.failed(result, time.time())
        paid = self._charge(
            permit, result.kind.value, result.usage, may_be_charged=failure_policy.may_be_charged(result)
        )
        row = self._faulted(permit, result, now)
        return paid if row is None else [row, *paid]

    def _of_one_model(self, lane: Lane, answer: Answer) -> Answer | Fault:
        """The answer; a fault, and the replica is left, if it is of another model than its siblings'."""
        why = self._siblings.differs(lane, answer)
        if why is None:
            return answer
        lane.park(why)
        usage = Usage(
            answer.prompt_tokens,
            answer.cached_tokens,
            answer.cache_write_tokens,
            answer.completion_tokens,
            answer.cost_usd,
        )
        return Fault(Kind.BAD_BODY, why, usage=usage)

    def _answered(self, permit: Permit, answer: Answer, latency_s: float, now: float) -> list[Row]:
        item, lane = permit.item, permit.lane
        cost = cost_of(answer, lane.route.prices)
        self._dearest[lane].learn(item.chars, answer.prompt_tokens, answer.completion_tokens)
        lane.answered(answer, permit, now)
        self._chance.answered(item.tries)
        if self.backlog.waits_behind and not lane.outage:
            self.backlog.recall()
        lane.counters.answered(answer, latency_s, cost)
        if answer.model:
            self.counters.returned_models[answer.model] += 1
        row = self.rows.prediction(item.query, lane.name, answer, latency_s, cost)
        rows: list[Row] = []
        if cost is not None:
            self.shared.budget.settle(permit.reserved_usd, cost)
        else:
            rows = self._charge(permit, UNKNOWN_COST, None, may_be_charged=True)
        if answer.outcome == "truncated" and self.shared.retry_truncated and item.max_tokens is None:
            item.max_tokens = max(self.shared.retry_truncated, self.settings.max_tokens)
            item.spare = row
            item.spare_lane = lane
            self.backlog.again([item])
            return rows
        self.counters.received += 1
        rows.append(row)
        spare = item.spare
        if spare is not None and spare.cost_usd:  # paid, and not the answer that is stored
            assert item.spare_lane is not None
            old = self.rows.cost(
                item.query, item.spare_lane.name, "truncated", spare, cost_usd=spare.cost_usd
            )
            item.spare_lane.counters.failed_usd += spare.cost_usd
            rows.append(old)
        return rows

    def _charge(self, permit: Permit, kind: str, usage: Usage | None, *, may_be_charged: bool) -> list[Row]:
        """Settle what was reserved for a try whose cost no answer shows; its row, if it may have cost."""
        item, lane, reserved = permit.item, permit.lane, permit.reserved_usd
        cost = None if usage is None else cost_of(usage, lane.route.prices)
        assumed = reserved if cost is None and may_be_charged else None
        if usage is not None:
            self._dearest[lane].learn(item.chars, usage.prompt_tokens, usage.completion_tokens)
        self.shared.budget.settle(reserved, cost or 0.0, assumed or 0.0)
        if not cost and not assumed:
            return []
        row = self.rows.cost(item.query, lane.name, kind, usage, cost_usd=cost, assumed_usd=assumed)
        lane.counters.charged(row)
        return [row]

    def _faulted(self, permit: Permit, fault: Fault, now: float) -> PredictionRow | FailureRow | None:
        """By the failure policy: what lane and key learn of a fault, and what becomes of the query."""
        item, lane = permit.item, permit.lane
        if permit.is_late and not item.gave_up_slow:  # it costs no try: the query may be as good as any
            lane.gave_up(permit, now)
            self.backlog.again([item])
            return None
        rule = failure_policy.RULES[fault.kind]
        no_answer_since = lane.answered_sent_at < item.last_failed_at < math.inf
        match rule.lane:
            case ForLane.TOO_MUCH:
                lane.refused(fault, permit, now)
            case ForLane.FAILED:
                lane.failed(fault, permit, now)
            case ForLane.REJECTED:
                lane.rejected(fault, permit, now)
            case ForLane.NOTHING:
                lane.left_alone(permit, now)
        if rule.key_is_spent:
            lane.refuse_key(fault)
        decision = failure_policy.decide(
            fault,
            Situation(
                tries=item.tries + 1,
                max_tries=self._chance.tries(self.shared.max_tries),
                probes=item.probes,
                lane_is_gone=lane.parked is not None,
                lane_is_paused=lane.away_until > now,
                lane_is_out=lane.outage,
                out_for_s=lane.out_for(now),
                no_answer_since=no_answer_since,
                another_lane_is_up=self.router.another_is_up(lane, now),
                lane_has_answered=lane.has_answered,
                only_failed_are_left=self.backlog.nothing_new and not self._shared_out,
            ),
        )
        if isinstance(decision, GiveUp):
            return self._given_up(item, decision.outcome, fault)
        self._ask_again(item, lane, decision, now)
        return None

    def _ask_again(self, item: Item, lane: Lane, how: AskAgain, now: float) -> None:
        item.probes += how.is_probe
        if how.elsewhere:
            item.avoid = lane.route.provider
        if how.spends_try:
            item.tries += 1
            lane.spent_try(item)
            item.failed_at(lane.route.provider)
        if how.behind:
            self.backlog.behind(item)
        elif how.after_s > 0:
            self.backlog.later(item, now + how.after_s)
        else:
            self.backlog.again([item])

    def _given_up(self, item: Item, outcome: str, fault: Fault) -> PredictionRow | FailureRow:
        if item.spare is not None:  # asked again with more tokens, in vain: the truncated answer stands
            self.counters.received += 1
            return item.spare
        self.counters.gave_up(outcome, fault)
        return self.rows.failure(item.query, outcome, fault)

    @property
    def longest_seen(self) -> int:
        """The longest answer that the model has written, in tokens."""
        return max((one.longest_answer for one in self._dearest.values()), default=0)

    def _check_done(self) -> None:
        if self._open or self.done.is_set():
            return
        if self.backlog.error is not None and not self._stopping:
            self._end_all(self.backlog.error)
        if self._stopping or (self.backlog.empty and not self._shared_out):
            self.done.set()

    def _end_all(self, error: BaseException) -> None:
        if self.fatal is None:
            self.fatal = error
            self._stopping = True
            self.shared.on_fatal()
