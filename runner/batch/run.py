"""A run by the providers' batch interfaces: cheaper, and up to a day slower, than asking live.

The answers come to the same place by the same rules as those of a live run; while a batch is open, what it
asks is not asked in any other way. See `runner.batch.model` for what happens to one model.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import store
from runner.batch.model import BatchModel
from runner.batch.report import snapshot, summarise
from runner.batch.requests import Allowance
from runner.batch.shared import LATE_S, BatchShared, Stopped
from runner.lifecycle.budget import Limit, binding, check_priced
from runner.lifecycle.manifest import manifest
from runner.lifecycle.options import Asked, RunOptions, RunSummary
from runner.lifecycle.stopping import Signals, Stop
from runner.providers.file import ModelEntry, Providers
from runner.status.counters import ModelCounters, Stored
from runner.status.summary import nothing_to_ask
from runner.transport.address import new_session
from runner.transport.redact import Redactor
from store import batches
from store.costs import Spent
from store.errors import BadInput, EvenhandError, RunFailed

if TYPE_CHECKING:
    from store.pending_queries import PendingQueries, Selection
    from store.study import Study

POLL_S = 30.0
_TICK_S = 1.0


def batch_entry(providers: Providers, model: str) -> ModelEntry:
    """The model with those of its routes that have a batch interface.

    Raises BadInput, naming the providers that have one, when none of its routes does.
    """
    entry = providers.resolve(model)
    able = tuple(route for route in entry.routes if route.batch)
    if able:
        return ModelEntry(entry.model, able)
    offering = [
        f"{name}@{route.provider}"
        for name, other in providers.models().items()
        for route in other.routes
        if route.batch and name == entry.model
    ]
    having = [name for name, table in providers.tables.items() if table.batch]
    hint = f"Take {' or '.join(offering)}. " if offering else ""
    names = [route.provider for route in entry.routes]
    raise BadInput(
        f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} no batch interface for {entry.model}.",
        hint=f"{hint}Providers with a batch interface in {providers.path}: {', '.join(having) or 'none'}. "
        "If yours has one like OpenAI's, set `batch = true` there.",
    )


async def run_batch(
    study: Study,
    asked: Sequence[Asked],
    selection: Selection | None = None,
    options: RunOptions | None = None,
    *,
    poll_s: float = POLL_S,
    late_s: float = LATE_S,
) -> RunSummary:
    """Ask every pending query of the selection by batches, wait for them, and store what comes back.

    Goes on with batches that an earlier run left open. SIGINT and SIGTERM end the waiting, not the batches.
    What a batch could not ask (it expired, a request met a rate limit) stays pending. With `max_cost` or
    `max_total_cost`, open batches and new ones count at their dearest, and no more is submitted than that
    pays for; when they have ended, what they did not use pays for more. `in_flight` and `retry_truncated`
    have no meaning here.

    What a provider owes and does not have yet (the files of a batch that it calls completed), or brings
    unreadable or in part, is looked for again for `late_s`. The batch then stays open, and a later run looks
    again: nothing of it is submitted twice.

    Raises:
        BadInput: a model without a route that takes batches, its key or (with max_cost) its price; an option
            without meaning; a selection that does not exist.
        RunFailed: the database or the files of requests cannot be written.
    """
    options = options or RunOptions()
    _check(asked, options)
    for one in asked:
        store.add_model(study, **one.settings.row())
    plans = [
        await asyncio.to_thread(
            store.pending,
            study,
            one.settings.model_key,
            options.repeats,
            selection,
            tuple(options.retry_outcomes),
        )
        for one in asked
    ]
    for plan in plans:
        plan.close()
    beyond = sum(plan.beyond for plan in plans)
    opened = sum(len(batches.open_batches(study, one.settings.model_key)) for one in asked)
    if not opened and not any(plan.total for plan in plans):
        keys = [one.settings.model_key for one in asked]
        return nothing_to_ask(study, keys, sum(plan.selected for plan in plans), beyond)
    noted = {**manifest(asked, options, selection), "batch": True}
    run_id = store.runs.start_run(study, "run", noted)
    state = "failed"
    started = asyncio.get_running_loop().time()
    counters = [ModelCounters(plan.total + plan.in_batches, plan.selected, started) for plan in plans]
    try:
        whole = _BatchRun(
            study, run_id, asked, selection, options, poll_s=poll_s, late_s=late_s, beyond=beyond
        )
        summary = await whole.go(counters)
        state = summary.state
        return summary
    finally:
        try:
            store.runs.finish_run(study, run_id, state)
        except Exception:
            if state != "failed":
                raise


def _check(asked: Sequence[Asked], options: RunOptions) -> None:
    """What can be wrong before anything is sent."""
    if not asked:
        raise BadInput("No model is named.", hint="`evenhand providers` lists the models.")
    if options.retry_truncated is not None:
        raise BadInput(
            "--retry-truncated cannot be used with --batch.",
            hint="Then run without --batch: `evenhand run MODEL --retry truncated --retry-truncated N`.",
        )
    if options.in_flight is not None:
        raise BadInput("--in-flight cannot be used with --batch.", hint="Leave it out.")
    keys = [one.settings.model_key for one in asked]
    for one, key in zip(asked, keys, strict=True):
        if keys.count(key) > 1:
            raise BadInput(f"{one.settings.model} is named twice with the same settings.")
        route = next((route for route in one.entry.usable() if route.batch), None)
        if route is None:
            raise BadInput(f"No provider of {one.settings.model} whose key is set takes batches.")
        check_priced(route, options)


class _BatchRun:
    """The state of one batch run."""

    def __init__(
        self,
        study: Study,
        run_id: uuid.UUID,
        asked: Sequence[Asked],
        selection: Selection | None,
        options: RunOptions,
        *,
        poll_s: float,
        late_s: float,
        beyond: int,
    ) -> None:
        self.study = study
        self.run_id = run_id
        self.asked = asked
        self.selection = selection
        self.options = options
        self.poll_s = poll_s
        self.late_s = late_s
        self.beyond = beyond
        self.loop = asyncio.get_running_loop()
        self.started_at = self.loop.time()
        self.started_wall = time.time()
        self.stop = Stop(options.drain_s)
        self.models: list[BatchModel] = []
        self.cursors: dict[str, PendingQueries] = {}
        """By model key: of models that have more to ask than may be spent at once."""
        self.state = "running"

    async def go(self, counters: Sequence[ModelCounters]) -> RunSummary:
        keys = [one.settings.model_key for one in self.asked]
        stored = Stored(dict(zip(keys, counters, strict=True)))
        writer = self.writer = store.Writer(self.study, on_commit=stored)
        fatal: EvenhandError | None = None
        variables = [key for one in self.asked for route in one.entry.routes for key in route.keys]
        try:
            with tempfile.TemporaryDirectory(prefix="evenhand-batch-", ignore_cleanup_errors=True) as folder:
                async with new_session() as session:
                    self.shared = BatchShared(
                        study=self.study,
                        run_id=self.run_id,
                        writer=writer,
                        session=session,
                        redactor=Redactor(variables),
                        options=self.options,
                        poll_s=self.poll_s,
                        folder=Path(folder),
                        allowance=Allowance(),
                        tell=self.tell,
                        late_s=self.late_s,
                    )
                    self.models = [
                        BatchModel(one, self.shared, counts)
                        for one, counts in zip(self.asked, counters, strict=True)
                    ]
                    server = (
                        store.live.Server(self.study, status=self.look) if self.options.serve_sql else None
                    )
                    try:
                        if server is not None:
                            server.start()
                        told = Signals(self.stop, lambda _: self._told_to_stop())
                        with told if self.options.handle_signals else nullcontext():
                            await self._supervise()
                    finally:
                        self.state = "ended"
                        if server is not None:
                            await asyncio.to_thread(server.stop)
        except EvenhandError as error:
            fatal = error
        finally:
            try:
                await writer.close()
            except RunFailed as error:
                fatal = fatal or error
        if fatal is not None:
            raise fatal
        summary = self._summary()
        self._note(summary)
        return summary

    async def _supervise(self) -> None:
        """Let the flow go on until it is done, or its time is up."""
        flow = asyncio.create_task(self._flow())
        try:
            while not flow.done():
                changed = asyncio.ensure_future(self.stop.changed.wait())
                await asyncio.wait({flow, changed}, timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
                self.stop.changed.clear()
                for model in self.models:
                    model.counters.tick(self.loop.time())
                hours = self.options.max_hours
                if hours is not None and self.loop.time() - self.started_at >= hours * 3600:
                    self.stop.ask("hours", f"Stopped at --max-hours {hours:g}.")
                if self.stop.reason:
                    self.shared.stopping.set()
                late = self.stop.deadline is not None and self.loop.time() >= self.stop.deadline
                if self.stop.at_once or late:
                    break
            if flow.done():
                await flow
        finally:
            flow.cancel()
            await asyncio.gather(flow, return_exceptions=True)

    async def _flow(self) -> None:
        try:
            await _together(model.resume() for model in self.models)
            self._allow()
            asking = self.models
            while asking:
                for model in asking:
                    await self._submit(model)
                await _together(model.follow() for model in self.models)
                # What ended batches did not use of what was set aside for them is free for more.
                left = self._allow()
                asking = [model for model in self.models if model.affords(left)]
                if self.shared.stopping.is_set():
                    break
                if asking:
                    self.tell(f"${left:,.4g} of {self._limit()} is left for more batches.")
        except Stopped:
            pass
        finally:
            for cursor in self.cursors.values():
                cursor.close()

    def _allow(self) -> float:
        """What is left of the limits for new batches: open ones count at their dearest."""
        limit = self._limit()
        if limit is None:
            return 0.0
        left = self.shared.allowance.left = max(limit.for_this_run - self._spent(), 0.0)
        return left

    def _limit(self) -> Limit | None:
        """The limit that binds now, and what this run may spend of it, with what it has spent so far."""
        limit = self.options.max_total_cost
        # All that this run stored is in the total: counted once, as its own.
        elsewhere = 0.0 if limit is None else store.costs.spent(self.study).total - self._spent()
        return binding(self.options.max_cost, limit, elsewhere)

    def _spent(self) -> float:
        """What this run spent, with what the open batches that it follows may still cost."""
        return sum(model.spent_usd for model in self.models) + self._promised()

    def _promised(self) -> float:
        return sum(
            max((batch.dearest_usd or 0.0) - batches.fetched_usd(self.study, batch), 0.0)
            for model in self.models
            for batch in model.open.values()
            if batch.input_file_id is not None
        )

    async def _submit(self, model: BatchModel) -> None:
        """Submit what a model has pending, or as much as may be spent; the rest waits in its cursor."""
        key = model.settings.model_key
        cursor = self.cursors.pop(key, None)
        if cursor is None:
            cursor = await asyncio.to_thread(
                store.pending,
                self.study,
                key,
                self.options.repeats,
                self.selection,
                tuple(self.options.retry_outcomes),
            )
        try:
            await model.submit(cursor)
        finally:
            if model.too_dear:
                self.cursors[key] = cursor
            else:
                cursor.close()

    # What is told

    def look(self) -> dict[str, Any]:
        """Where the run stands; called from the socket's thread too."""
        now = self.loop.time()
        return snapshot(
            self.models,
            self.writer.counters,
            now=now,
            wall_time=time.time(),
            run_id=str(self.run_id),
            state=self.state,
            batch=True,
            started_at=self.started_wall,
            seconds=now - self.started_at,
            stopping=self.stop.message or None,
            max_cost=self.options.max_cost,
            max_total_cost=self.options.max_total_cost,
            max_hours=self.options.max_hours,
        )

    def _summary(self) -> RunSummary:
        limit = self._limit()
        if limit is not None and limit.option == "--max-total-cost":
            spent = store.costs.spent(self.study)
        else:
            assumed = sum(model.assumed_usd for model in self.models)
            known = sum(model.lane.cost_usd for model in self.models)
            spent = Spent(known, assumed, in_batches=self._promised())
        return summarise(
            self.run_id,
            self.stop,
            self.look(),
            self.models,
            pending=self._pending(),
            beyond=self.beyond,
            limit=limit,
            spent=spent,
            wanted=self.shared.allowance.wanted,
        )

    def _pending(self) -> int:
        """What the selection still lacks, open batches included."""
        if self.options.retry_outcomes:  # asked again in vain is not pending in the database
            return sum(model.counters.total - model.counters.done for model in self.models)
        pending = 0
        for one in self.asked:
            plan = store.pending(self.study, one.settings.model_key, self.options.repeats, self.selection)
            plan.close()
            pending += plan.total + plan.in_batches
        return pending

    def _note(self, summary: RunSummary) -> None:
        """Keep the counts of tries and the last snapshot with the run."""
        attempts = [
            store.runs.Attempts(model.settings.model_key, model.name, kind, count)
            for model in self.models
            for kind, count in model.lane.tries().items()
        ]
        store.runs.add_attempts(self.study, self.run_id, attempts)
        status = {"status": {**summary.status, "state": summary.state}, "message": summary.message}
        store.runs.update_manifest(self.study, self.run_id, status)

    def tell(self, text: str, **parts: Any) -> None:
        """A line of progress."""
        if self.options.monitor == "none":
            return
        line = text
        if self.options.monitor == "json":
            line = json.dumps({"message": text, **parts}, ensure_ascii=False)
        print(line, file=sys.stderr, flush=True)

    def _told_to_stop(self) -> None:
        if self.stop.at_once:
            self.tell("Stopping now. Answers that have arrived are being stored.")
        else:
            self.tell("Stopping. Submitted batches continue at the provider. A second signal stops at once.")


async def _together(parts: Iterable[Coroutine[Any, Any, None]]) -> None:
    """All at once; an error of one ends the others."""
    tasks: list[asyncio.Task[None]] = [asyncio.create_task(part) for part in parts]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
