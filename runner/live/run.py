"""A run: several models, each at its own pace, over the pending queries of a study."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import store
from runner.lifecycle.budget import Budget, check_priced
from runner.lifecycle.manifest import manifest
from runner.lifecycle.options import Asked, RunOptions, RunSummary
from runner.lifecycle.results import Rows
from runner.lifecycle.stopping import Signals, Stop
from runner.live.backlog import Backlog
from runner.live.lane import Key, Lane
from runner.live.model_run import ModelRun, Shared
from runner.live.router import Router
from runner.live.snapshot import other_models, snapshot, snapshot_of_model
from runner.providers.urls import place_of
from runner.status.counters import ModelCounters, Stored
from runner.status.monitor import Monitor
from runner.status.summary import answered_by_others, nothing_to_ask, summarise, unexplained
from runner.transport.http import http_transports
from runner.transport.port import OpenTransports, Transports
from runner.transport.redact import Redactor
from store.errors import BadInput, EvenhandError, RunFailed

if TYPE_CHECKING:
    from store.history import Known
    from store.pending_queries import PendingQueries, Selection
    from store.study import Study
    from store.writer import Writer

_TICK_S = 1.0
_SURELY_UNEXPLAINED = 10
"""So many answers without a known finish reason, and none with one, are told of while the run goes on."""
_ROUNDING_USD = 1e-6


async def run(
    study: Study,
    asked: Sequence[Asked],
    selection: Selection | None = None,
    options: RunOptions | None = None,
    transports: OpenTransports | None = None,
) -> RunSummary:
    """Ask every pending query of the selection of each model, and store what comes back.

    Stops on SIGINT and SIGTERM (drains, commits; at once on a second one), at `max_cost` and `max_hours`.
    What was not asked stays pending: the same call goes on.

    Args:
        transports: the way to the models; HTTP unless given.

    Raises:
        BadInput: a model without key, address or (with max_cost) price; a selection that does not exist.
        RunFailed: the database cannot be written any more. What was committed before is safe.
    """
    options = options or RunOptions()
    _check(asked, options)
    with ThreadPoolExecutor(max_workers=max(len(asked), 1), thread_name_prefix="evenhand-read") as executor:
        cursors = await _pending(study, asked, selection, options, executor)
        try:
            in_batches = sum(cursor.in_batches for cursor in cursors)
            waiting = (
                f"{in_batches:,} are in an open batch; `evenhand run MODEL --batch` fetches its answers."
            )
            if not any(cursor.total for cursor in cursors):
                selected = sum(cursor.selected for cursor in cursors)
                if in_batches:
                    return RunSummary(None, "finished", f"Nothing to ask: {waiting}", pending=in_batches)
                beyond = sum(cursor.beyond for cursor in cursors)
                return nothing_to_ask(study, [one.settings.model_key for one in asked], selected, beyond)
            if in_batches and options.monitor != "none":
                print(f"Not asked: {waiting}", file=sys.stderr, flush=True)
            run_id = store.runs.start_run(study, "run", manifest(asked, options, selection))
            state = "failed"
            this = _Run(
                study,
                run_id,
                asked=asked,
                cursors=cursors,
                options=options,
                executor=executor,
                transports=transports or http_transports(_redactor(asked)),
            )
            try:
                summary = await this.go()
                state = summary.state
                return summary
            finally:
                _finish(study, run_id, state, this.budget.unsettled)
        finally:
            for cursor in cursors:
                cursor.close()


def _check(asked: Sequence[Asked], options: RunOptions) -> None:
    """What can be wrong before anything is sent."""
    if not asked:
        raise BadInput("No model is named.", hint="`evenhand providers` lists the models.")
    keys = [one.settings.model_key for one in asked]
    for one, key in zip(asked, keys, strict=True):
        if keys.count(key) > 1:
            raise BadInput(f"{one.settings.model} is named twice with the same settings.")
        for route in one.entry.usable():
            check_priced(route, options)


async def _pending(
    study: Study,
    asked: Sequence[Asked],
    selection: Selection | None,
    options: RunOptions,
    executor: ThreadPoolExecutor,
) -> list[PendingQueries]:
    loop = asyncio.get_running_loop()
    for one in asked:
        store.add_model(study, **one.settings.row())
    return await asyncio.gather(
        *(
            loop.run_in_executor(
                executor,
                store.pending,
                study,
                one.settings.model_key,
                options.repeats,
                selection,
                tuple(options.retry_outcomes),
            )
            for one in asked
        )
    )


def _redactor(asked: Sequence[Asked]) -> Redactor:
    return Redactor(key for one in asked for route in one.entry.routes for key in route.keys)


def _finish(study: Study, run_id: uuid.UUID, state: str, unsettled_usd: float) -> None:
    """Note how the run ended; a database that cannot even take this says so elsewhere."""
    try:
        left = unsettled_usd if unsettled_usd > _ROUNDING_USD else None  # of rows that could not be stored
        store.runs.finish_run(study, run_id, state, unsettled_usd=left)
    except Exception:
        if state != "failed":
            raise


@contextlib.contextmanager
def _rare_collection() -> Iterator[None]:
    """Let the garbage collector leave alone what is there already, and look at the rest less often.

    With DuckDB and Arrow loaded, its full passes stall the loop for tens of ms and cost a tenth of the CPU;
    what a request makes is freed by reference counts.
    """
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


class _Run:
    """The state of one run, from the first request to the last commit."""

    def __init__(
        self,
        study: Study,
        run_id: uuid.UUID,
        *,
        asked: Sequence[Asked],
        cursors: Sequence[PendingQueries],
        options: RunOptions,
        executor: ThreadPoolExecutor,
        transports: OpenTransports,
    ) -> None:
        self.study = study
        self.run_id = run_id
        self.asked = asked
        self.cursors = cursors
        self.options = options
        self.executor = executor
        self.transports = transports
        self.loop = asyncio.get_running_loop()
        self.started_at = self.loop.time()
        self.started_wall = time.time()
        self.stop = Stop(options.drain_s)
        self.models: list[ModelRun] = []
        self.counters = {
            one.settings.model_key: ModelCounters(cursor.total, cursor.selected, self.started_at)
            for one, cursor in zip(asked, cursors, strict=True)
        }
        self.budget = Budget(
            options.max_cost,
            options.max_total_cost,
            before=store.costs.spent(study) if options.max_total_cost is not None else None,
            note_unsettled=self._note_unsettled,
        )
        self.writer: Writer
        self.state = "running"
        self.warned: set[str | tuple[str, str]] = set()

    def _signals(self) -> AbstractContextManager[object]:
        return Signals(self.stop, self._tell) if self.options.handle_signals else nullcontext()

    async def go(self) -> RunSummary:
        self.writer = store.Writer(self.study, on_commit=Stored(self.counters, self.budget.stored))
        fatal: BaseException | None = None
        try:
            async with self.transports as transports:
                self._prepare(transports)
                server = store.live.Server(self.study, status=self.look) if self.options.serve_sql else None
                monitor = Monitor(self.look, self.options.monitor, listener=self.options.on_status)
                try:
                    if server is not None:
                        server.start()
                    monitor.start()
                    with self._signals(), _rare_collection():
                        await self._supervise()
                        await self._end()
                except EvenhandError as error:
                    fatal = error
                finally:
                    self.state = "ended"
                    for model in self.models:
                        await model.close()
                    monitor.stop()
                    if server is not None:
                        await asyncio.to_thread(server.stop)
        finally:
            try:
                await self.writer.close()
            except RunFailed as error:
                fatal = fatal or error
        fatal = fatal or next((model.fatal for model in self.models if model.fatal is not None), None)
        if fatal is not None:
            self._note_error(fatal)
            raise fatal
        last = self.look()
        summary = summarise(self.run_id, self.stop, last, sum(cursor.beyond for cursor in self.cursors))
        self._note(summary)
        return summary

    def _prepare(self, transports: Transports) -> None:
        options = self.options
        keys: dict[tuple[str, str | None], Key] = {}
        shared = Shared(
            writer=self.writer,
            transports=transports,
            budget=self.budget,
            max_tries=options.max_tries,
            retry_truncated=options.retry_truncated,
            on_fatal=lambda: self.stop.now("failure", "The run cannot go on."),
        )
        for one, cursor in zip(self.asked, self.cursors, strict=True):
            known = store.history.answers_of(self.study, one.settings.model_key)
            model = ModelRun(
                settings=one.settings,
                router=Router(self._lanes(one, keys, known)),
                rows=Rows(self.run_id, one.settings.model_key),
                counters=self.counters[one.settings.model_key],
                shared=shared,
                longest_answer=known.longest_answer or 0,
            )
            model.backlog = Backlog(cursor, self.executor, model.dispatch)
            shared.budget.settled.append(model.dispatch)
            self.models.append(model)

    def _lanes(self, one: Asked, keys: dict[tuple[str, str | None], Key], known: Known) -> list[Lane]:
        lanes = []
        for route in one.entry.usable():
            variables = route.keys_set()
            for number, variable in enumerate(variables, start=1):
                key = keys.setdefault((route.provider, variable), Key(route.provider, variable))
                which = f"[{number}]" if len(variables) > 1 else ""
                for server in route.servers():
                    at = f"@{place_of(server.base_url or '')}" if route.replicas else ""
                    lane = Lane(
                        server,
                        key,
                        f"{route.provider}{which}/{route.model_id}{at}",
                        settings=one.settings,
                        options=self.options,
                        now=self.started_at,
                    )
                    lane.remember(answered=lane.name in known.served_by)
                    lanes.append(lane)
        return lanes

    async def _supervise(self) -> None:
        """Keep the models going until all are done or the run is to stop."""
        for model in self.models:
            model.dispatch()
        all_done: asyncio.Future[Any] = asyncio.ensure_future(self._all_done())
        told = False
        try:
            while not all_done.done():
                changed: asyncio.Future[Any] = asyncio.ensure_future(self.stop.changed.wait())
                await asyncio.wait({all_done, changed}, timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
                self.stop.changed.clear()
                self._tick()
                if self.stop.reason and not told:
                    told = True
                    for model in self.models:
                        model.drain()
                late = self.stop.deadline is not None and self.loop.time() >= self.stop.deadline
                if self.stop.at_once or late:
                    break
        finally:
            all_done.cancel()

    async def _all_done(self) -> None:
        for model in self.models:
            await model.done.wait()

    def _tick(self) -> None:
        now = self.loop.time()
        for model in self.models:
            model.counters.tick(now)
            model.dispatch()  # other events wake it; this is for what only another model's lane has learnt
            if model.out_of_money and not self.stop.reason:
                self._ask_cost(model)
        if self.options.max_hours is not None and not self.stop.reason:
            slowest = max((self._typical_latency(model) for model in self.models), default=0.0)
            if now - self.started_at + slowest >= self.options.max_hours * 3600:
                self.stop.ask("hours", f"Stopped at --max-hours {self.options.max_hours:g}.")
        self._watch()
        self._warn()

    def _ask_cost(self, model: ModelRun) -> None:
        why = self.budget.why(model.settings.max_tokens, model.longest_seen)
        # What is to be done to go on is part of why.
        self.stop.ask("failure" if self.budget.never_fits else "cost", why, goes_on=False)

    def _note_unsettled(self, usd: float) -> None:
        """A database that cannot take this takes no answer either: then the writer ends the run."""
        with contextlib.suppress(Exception):
            store.runs.note_unsettled(self.study, self.run_id, usd)

    def _warn(self) -> None:
        """Say once what is not as it should be with a lane (no answer, none that is whole) or a model."""
        for model in self.models:
            for lane in model.router.lanes:
                endings = lane.counters.endings()
                if endings["unexplained"] >= _SURELY_UNEXPLAINED and (lane.name, "ends") not in self.warned:
                    self.warned.add((lane.name, "ends"))
                    self._tell(unexplained(lane.name, endings))
                if lane.name in self.warned:
                    continue
                if lane.unreached:
                    self.warned.add(lane.name)
                    left = max(lane.gives_up_at - self.loop.time(), 0.0)
                    until = "" if lane.parked else f". It is given up in {left:.0f} s unless it answers"
                    self._tell(f"No answer from {lane.name}: {lane.unreached}{until}.")
                elif lane.route.replicas and lane.parked is not None:
                    self.warned.add(lane.name)
                    self._tell(f"Not used any more: {lane.parked}.")
            if model.settings.model_key not in self.warned and other_models(model):
                self.warned.add(model.settings.model_key)
                self._tell(answered_by_others(snapshot_of_model(model, self.loop.time(), time.time())))

    @staticmethod
    def _typical_latency(model: ModelRun) -> float:
        known = [lane.counters.latencies.quantile(0.95) for lane in model.router.lanes]
        return max((latency for latency in known if latency is not None), default=0.0)

    def _watch(self) -> None:
        """Cut off requests that outlived every timeout: a defect that must not hold up a run of days."""
        for model in self.models:
            longest = max(lane.route.timeouts.total for lane in model.router.lanes)
            patience = max(self.options.stall_s, 1.5 * longest)
            if model.in_flight and self.loop.time() - model.last_event > patience:
                count = model.cut_off_stalled()
                self._tell(
                    f"{model.settings.model}: nothing came for {patience:.0f} s; {count} are asked again."
                )

    async def _end(self) -> None:
        """Cut off what is late, and hand over everything that has arrived."""
        for model in self.models:
            await model.close()
        for row in itertools.chain.from_iterable(model.unstored for model in self.models):
            with contextlib.suppress(RunFailed):  # it counts the row as lost; `flush` raises it
                await self.writer.put(row)
        await self.writer.flush()

    def look(self) -> dict[str, Any]:
        """Where the run stands; called from the monitor's and the socket's threads too."""
        now = self.loop.time()
        return snapshot(
            self.models,
            self.writer.counters,
            now=now,
            wall_time=time.time(),
            run_id=str(self.run_id),
            state=self.state,
            started_at=self.started_wall,
            seconds=now - self.started_at,
            stopping=self.stop.message or None,
            max_cost=self.options.max_cost,
            max_total_cost=self.options.max_total_cost,
            max_hours=self.options.max_hours,
        )

    def _note(self, summary: RunSummary) -> None:
        """Keep the counts of tries and the last snapshot with the run."""
        attempts = [
            store.runs.Attempts(model.settings.model_key, lane.name, kind, count)
            for model in self.models
            for lane in model.router.lanes
            for kind, count in lane.counters.tries().items()
        ]
        store.runs.add_attempts(self.study, self.run_id, attempts)
        store.runs.update_manifest(
            self.study,
            self.run_id,
            {"status": {**summary.status, "state": summary.state}, "message": summary.message},
        )

    def _note_error(self, error: BaseException) -> None:
        """Keep why the run broke off, as far as the database still takes it."""
        with contextlib.suppress(Exception):
            status = {**self.look(), "state": "failed"} if self.models else {}
            store.runs.update_manifest(self.study, self.run_id, {"status": status, "message": str(error)})

    def _tell(self, message: str) -> None:
        if self.options.monitor != "none":
            print(message, file=sys.stderr, flush=True)
