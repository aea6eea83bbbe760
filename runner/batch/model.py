"""One model's part of a batch run: go on with its open batches, submit what is pending, fetch what comes.

Everything that matters is in the database before the next step: a batch is noted before its file is sent,
its file before it is submitted, its end after all that it brought is committed. Whoever comes after a
process that died goes on from there; where it is not known whether a batch was submitted, the provider is
asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import store
from runner.batch.api import ENDED, ApiFault, BatchApi, errors, too_much_queued
from runner.batch.requests import Piece, Pieces, endpoint
from runner.batch.results import Harvester, Maker
from runner.batch.shared import BatchShared, Stopped, Vain
from runner.lifecycle.failure_policy import turned_away
from runner.lifecycle.options import Asked
from runner.status.counters import LaneCounters, ModelCounters
from runner.status.summary import unexplained
from runner.transport.outcome import Fault
from store import batches
from store.batches import Batch
from store.errors import BadInput, RunFailed
from store.rows import now

if TYPE_CHECKING:
    from store.pending_queries import PendingQueries


class BatchModel:
    """Asks one model by batches. `failure` says why it could not go on, `left` why queries are left."""

    def __init__(self, asked: Asked, shared: BatchShared, counters: ModelCounters) -> None:
        self.settings = asked.settings
        self.counters = counters
        self.lane = LaneCounters()
        self.failure: str | None = None
        self.left: Counter[str] = Counter()
        self.too_dear = False
        self.open: dict[uuid.UUID, Batch] = {}
        self.ended = False
        self.route = next(route for route in asked.entry.usable() if route.batch)
        self.name = f"{self.route.provider}/batch/{self.route.model_id}"
        self._entry = asked.entry
        self._shared = shared
        self._apis: dict[tuple[str, str, str | None], BatchApi] = {}
        self._waiting: set[uuid.UUID] = set()
        self._one_ended = asyncio.Event()
        self._shown: dict[uuid.UUID, tuple[Any, ...]] = {}
        self._vain = Vain(shared.late_s)
        self._room_at = now()
        """When a batch last ended; at first, as others may have ended before, the start of the run."""
        self._unknown: set[uuid.UUID] = set()
        self.assumed_usd = 0.0
        """What ended batches may have cost beyond what is known."""
        self.unfetched: dict[uuid.UUID, str] = {}
        """Open batches whose results did not come in this run, and what came instead."""
        self._missing: dict[uuid.UUID, str] = {}
        """Ended batches that lack something that may still come, and what it is."""
        self._longest_answer = (
            store.history.answers_of(shared.study, self.settings.model_key).longest_answer or 0
        )
        self._pieces: Pieces | None = None
        self._told_of_endings = False
        maker = Maker(
            shared.run_id,
            self.settings.model_key,
            self.name,
            self.route.prices,
            1 - self.route.batch_discount,
            counters.returned_models,
        )
        self._harvester = Harvester(self.name, shared, maker, counters, self.lane)

    # The steps of a run, in order

    async def resume(self) -> None:
        """Go on with batches that an earlier run left open; fetch those that have ended meanwhile."""
        study = self._shared.study
        for batch in batches.open_batches(study, self.settings.model_key, aside=True):
            self._shared.tell(
                f"{self.name}: batch {batch.batch_id or batch.batch} is not fetched, because its run was set "
                "aside. Its queries are sent again. To use the batch after all: "
                f"`evenhand runs --count-again {batch.run_id}`."
            )
        found = batches.open_batches(study, self.settings.model_key)
        for batch in found:
            self._api(batch)  # says early what is missing
        for batch in found:
            if batch.input_file_id is None:
                batches.forget(study, batch)  # nothing was submitted
                continue
            self.open[batch.batch] = batch
            where = f"batch {batch.batch_id}" if batch.batch_id else "a batch that may have been submitted"
            self._shared.tell(f"{self.name}: resuming {where} ({batch.requests:,} requests)")
        for batch in list(self.open.values()):
            with self._caught(batch):
                if not batch.batch_id:
                    await self._submit(batch, known=False)
                while not await self._look(self.open[batch.batch], room=False):
                    if batch.batch not in self._unknown:
                        break
                    # What it asks may be pending again soon, and then is part of what is submitted next.
                    await self._shared.wait(self._shared.poll_s)

    async def submit(self, cursor: PendingQueries) -> None:
        """Write, upload and submit files of all that is pending, or as much as may be spent.

        Called again with the same cursor it goes on where it stopped: nothing is asked twice in a run.
        """
        shared = self._shared
        if self._pieces is None:
            self._pieces = Pieces(
                cursor,
                self.settings,
                self.route,
                allowance=shared.allowance,
                longest_answer=self._longest_answer,
            )
        pieces = self._pieces
        key = self.route.keys_set()[0]
        while self.failure is None:
            if shared.stopping.is_set():
                raise Stopped
            batch = Batch(
                batch=uuid.uuid4(),
                run_id=shared.run_id,
                model_key=self.settings.model_key,
                provider=self.route.provider,
                model_id=self.route.model_id,
                base_url=str(self.route.base_url),
                key_variable=key,
                requests=0,
            )
            path = shared.folder / f"{batch.batch}.jsonl"
            try:
                piece = await self._write(pieces, path)
                self.too_dear = pieces.too_dear
                if not piece.items:
                    return
                dearest = piece.dearest_usd if self.route.prices else None
                batch = replace(batch, requests=len(piece.items), dearest_usd=dearest)
                batch = batches.add_batch(shared.study, batch, piece.items)
                self.open[batch.batch] = batch
                with self._caught(batch):
                    shared.tell(
                        f"{self.name}: uploading {batch.requests:,} requests ({piece.size / 1e6:,.1f} MB)"
                    )
                    file_id = await self._upload(batch, path)
                    batch = self._change(batch, input_file_id=file_id, state="uploaded")
                    await self._submit(batch, known=True)
            except OSError as error:
                raise RunFailed(
                    f"The file of a batch could not be written to {path.parent}: {error.strerror}.",
                    hint="Make room there, or set TMPDIR to another folder; the same command goes on.",
                ) from error
            finally:
                path.unlink(missing_ok=True)

    @staticmethod
    async def _write(pieces: Pieces, path: Path) -> Piece:
        writing = asyncio.ensure_future(asyncio.to_thread(pieces.write, path))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            pieces.halt = True  # the thread must have left the cursor before that is closed
            await asyncio.wait([writing])
            raise

    async def follow(self) -> None:
        """Look after every open batch until it has ended and what it brought is stored."""
        tasks = [asyncio.create_task(self._follow(batch)) for batch in self.submitted()]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # One batch

    async def _follow(self, batch: Batch) -> None:
        with self._caught(batch), contextlib.suppress(Stopped):
            while not await self._look(self.open[batch.batch]):
                await self._shared.wait(self._shared.poll_s * random.uniform(0.9, 1.1))

    async def _upload(self, batch: Batch, path: Path) -> str:
        api = self._api(batch)
        name = f"evenhand-{batch.batch}.jsonl"
        try:
            return await self._shared.patiently(self.name, "upload", lambda _: api.upload(path, name))
        except BaseException:
            batches.forget(self._shared.study, batch)  # nothing was submitted: its queries are pending
            self.open.pop(batch.batch, None)
            raise

    async def _submit(self, batch: Batch, *, known: bool) -> Batch:
        """Submit an uploaded file, unless the provider has a batch of it. `known`: it has none yet."""
        api, file_id = self._api(batch), batch.input_file_id
        assert file_id is not None
        metadata = {"evenhand_batch": str(batch.batch), "evenhand_study": self._shared.study.study_id}
        no = ""

        async def attempt(number: int) -> dict[str, Any]:
            nonlocal no
            no = ""
            # A try whose reply was lost may have been heard.
            if (number or not known) and (found := await self._find(api, file_id)):
                return found
            try:
                return await api.submit(file_id, endpoint(self.route), metadata)
            except ApiFault as error:
                no = f"not submitted: {error.fault.message}" if turned_away(error.fault) else ""
                raise

        try:
            info = await self._shared.patiently(self.name, "submission", attempt)
        except ApiFault:
            if no:
                self._close(batch, state="rejected", note=no)
            raise
        state = str(info.get("status") or "validating")
        batch = self._change(batch, batch_id=info["id"], state=state, submitted_at=now())
        self._shared.tell(f"{self.name}: batch {batch.batch_id} is submitted ({batch.requests:,} requests)")
        return batch

    async def _find(self, api: BatchApi, file_id: str) -> dict[str, Any] | None:
        try:
            found = await api.of_file(file_id)
        except ApiFault as error:
            if error.fault.status not in (404, 405, 501):
                raise
            self._shared.tell(
                f"{self.name}: the provider does not list its batches, so the batch is submitted again"
            )
            return None
        # One that failed has asked nothing.
        return next((info for info in found if info.get("id") and info.get("status") != "failed"), None)

    async def _look(self, batch: Batch, *, room: bool = True) -> bool:
        """Ask how it is; True when it has ended and is dealt with. `room`: it may wait for others to end."""
        api, batch_id = self._api(batch), batch.batch_id
        assert batch_id is not None
        try:
            info = await self._shared.patiently(self.name, f"batch {batch_id}", lambda _: api.look(batch_id))
        except ApiFault as error:
            if error.fault.status != 404:
                raise
            key = f" to the key in {batch.key_variable}" if batch.key_variable else ""
            reason = f"the provider knows no batch {batch_id}{key}: {error.fault.message}"
            self._unknown.add(batch.batch)
            if self._may_come(batch, reason):
                return False
            self._lost(batch, "lost", reason)
            return True
        if batch.batch in self._unknown:
            self._unknown.discard(batch.batch)
            self._vain.found(batch.batch)
            self._missing.pop(batch.batch, None)
        status = info["status"]
        if status != batch.state:
            batch = self._change(batch, state=status)
        self._show(batch, info)
        if status not in ENDED:
            return False
        if status == "failed" and too_much_queued(info):
            return room and await self._wait_for_room(batch, info)
        async with self._shared.harvests:
            return await self._harvest(batch, info)

    async def _wait_for_room(self, batch: Batch, info: Mapping[str, Any]) -> bool:
        """The account may not have so much waiting at once: submit it again when another has ended."""
        others = set(self.open) - self._waiting - {batch.batch}
        room = batch.submitted_at is not None and batch.submitted_at < self._room_at
        if not others and not room:
            hint = "Submit fewer queries at a time: first with --limit 1000, then --limit 2000, and so on."
            self._lost(batch, "failed", f"{errors(info, self._shared.redactor)} {hint}")
            return True
        if not room:
            self._shared.tell(
                f"{self.name}: the provider's queue is full; batch {batch.batch_id} waits for another to end"
            )
            self._waiting.add(batch.batch)
            try:
                ended, stopping = self._one_ended, self._shared.stopping
                waits = [asyncio.ensure_future(event.wait()) for event in (ended, stopping)]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for one in waits:
                    one.cancel()
            finally:
                self._waiting.discard(batch.batch)
        if self._shared.stopping.is_set():
            raise Stopped
        batch = self._change(batch, batch_id=None, state="uploaded", submitted_at=None)
        await self._submit(batch, known=True)
        return False

    async def _harvest(self, batch: Batch, info: Mapping[str, Any]) -> bool:
        """Store what an ended batch brought; it is closed only when all of that is committed.

        False while something is missing that may still come. What does not come in this call leaves the batch
        open for the next: closing it would let what was paid for be asked, and paid for, again.
        """
        missing = await self._harvester.fetch(self._api(batch), batch, info)
        if missing is not None:
            if self._may_come(batch, missing):
                return False
            self.unfetched[batch.batch] = missing
            self._change(batch, note=missing)
            self._shared.tell(f"{self.name}: batch {batch.batch_id} stays open: {missing}.")
            return True
        brought = self._harvester.close(batch, info)
        assumed = 0.0
        if brought.unpriced:
            fetched = batches.fetched_usd(self._shared.study, batch)
            assumed = max((batch.dearest_usd or 0.0) - fetched, 0.0)
        self.left.update(brought.left)
        self._close(batch, state=str(info["status"]), note=brought.note, assumed_usd=assumed)
        self._shared.tell(
            f"{self.name}: batch {batch.batch_id} {info['status']}, {brought.stored:,} stored"
            + (f"; {brought.note}" if brought.note else "")
        )
        if (endings := self.lane.endings())["unexplained"] and not self._told_of_endings:
            self._told_of_endings = True
            self._shared.tell(unexplained(self.name, endings))
        return True

    # Keeping account

    @property
    def spent_usd(self) -> float:
        """What this run's ended batches cost; one of which that is not all known counts at its dearest."""
        return self.lane.cost_usd + self.assumed_usd

    def affords(self, left: float) -> bool:
        """Whether so many US dollars pay for the next of the queries that were too dear before."""
        wanted = self._pieces.wanted if self._pieces is not None else 0.0
        return self.too_dear and self.failure is None and wanted <= left

    def _may_come(self, batch: Batch, missing: str) -> bool:
        """Note a look in vain. False when there were enough of them in this call."""
        if batch.batch not in self._vain:
            self._shared.tell(
                f"{self.name}: batch {batch.batch_id} {batch.state}, but {missing}. Looking again."
            )
        self._missing[batch.batch] = missing
        return self._vain.again(batch.batch)

    def waits_for(self) -> list[str]:
        """What has not come yet in this run, and why."""
        calls = [
            f"{what} ({why.rstrip('.')})"
            for (name, what), why in self._shared.failing.items()
            if name == self.name
        ]
        late = [
            f"results of batch {self.open[batch].batch_id} ({missing})"
            for batch, missing in self._missing.items()
            if batch in self.open and batch not in self.unfetched
        ]
        return [*late, *calls]

    def _change(self, batch: Batch, **columns: Any) -> Batch:
        changed = batches.change(self._shared.study, batch, **columns)
        self.open[batch.batch] = changed
        return changed

    def _close(self, batch: Batch, *, assumed_usd: float = 0.0, **columns: Any) -> None:
        """Nothing more is waited for; `assumed_usd` may have been charged beyond what is known."""
        batches.close(self._shared.study, batch, assumed_usd=assumed_usd, **columns)
        self.assumed_usd += assumed_usd
        self.lane.assumed_usd += assumed_usd
        self.open.pop(batch.batch, None)
        self._room_at = now()
        self._one_ended.set()
        self._one_ended = asyncio.Event()

    def _lost(self, batch: Batch, state: str, reason: str) -> None:
        """Nothing will come of it: what it asks is pending again."""
        assumed = (batch.dearest_usd or 0.0) if state == "lost" else 0.0
        self._close(batch, state=state, note=reason, assumed_usd=assumed)
        self.left[reason] += batch.requests
        self._shared.tell(f"{self.name}: {reason}")

    @contextlib.contextmanager
    def _caught(self, batch: Batch) -> Iterator[None]:
        """An error that will not pass ends this model's part with a message; its batches stay as they are."""
        try:
            yield
        except ApiFault as error:
            self.failure = self.failure or _failure(self.name, batch.key_variable, error.fault)

    def _api(self, batch: Batch) -> BatchApi:
        """How to reach a batch: as it was submitted, with the same key."""
        where = (batch.provider, batch.base_url, batch.key_variable)
        if where not in self._apis:
            route = next((route for route in self._entry.routes if route.provider == batch.provider), None)
            which = f"batch {batch.batch_id or batch.batch}"
            if route is None:
                raise BadInput(
                    f"This run does not use {batch.provider}, which holds the open {which}.",
                    hint=f"Name the model without @PROVIDER, or correct {batch.provider} in providers.toml.",
                )
            if batch.key_variable is not None and batch.key_variable not in route.keys_set():
                raise BadInput(
                    f"The key of the open {which} is missing: {batch.key_variable} is not set.",
                    hint=f"Set it (`export {batch.key_variable}=...`), and put it under `keys` of "
                    f"{batch.provider} in providers.toml.",
                )
            at = replace(route, base_url=batch.base_url)
            self._apis[where] = BatchApi(self._shared.session, at, batch.key_variable, self._shared.redactor)
        return self._apis[where]

    def _show(self, batch: Batch, info: Mapping[str, Any]) -> None:
        counts = info.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        done, failed = counts.get("completed") or 0, counts.get("failed") or 0
        if self._shown.get(batch.batch) == (batch.state, done, failed):
            return
        self._shown[batch.batch] = (batch.state, done, failed)
        how_far = f"{done} of {batch.requests} done, {failed} failed"
        self._shared.tell(
            f"{self.name}: batch {batch.batch_id} {batch.state}, {how_far}",
            model=self.settings.model,
            batch=batch.batch_id,
            state=batch.state,
            requests=batch.requests,
            done=done,
            failed=failed,
        )

    def submitted(self) -> list[Batch]:
        """The batches that go on at the provider."""
        return [batch for batch in self.open.values() if batch.batch_id and batch.batch not in self.unfetched]


def _failure(name: str, variable: str | None, fault: Fault) -> str:
    """Why a model's part of the run cannot go on."""
    status = f" ({fault.status})" if fault.status else ""
    key = f" with the key in {variable}" if variable else ""
    return f"{name}{key}: {fault.kind}{status}: {fault.message}"
