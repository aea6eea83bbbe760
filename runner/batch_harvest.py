"""Fetches what an ended batch brought: each line becomes a row, is counted, or is left to be asked again."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.batch_api import ApiFault, BatchApi
from runner.batch_lines import Ledger, Maker
from runner.batch_shared import BatchShared
from runner.batch_words import errors, most_common
from runner.counters import LaneCounters, ModelCounters
from runner.outcome import Answer
from store import batches
from store.batches import Batch


@dataclass(frozen=True, slots=True)
class Harvest:
    """What came of one batch."""

    stored: int
    left: Counter[str]
    """Why queries of it are still to ask."""
    note: str | None
    """What was not as it should be."""


class Harvester:
    """Stores and counts what the batches of one model bring."""

    def __init__(
        self, name: str, shared: BatchShared, maker: Maker, counters: ModelCounters, lane: LaneCounters
    ) -> None:
        self._name = name
        self._shared = shared
        self._maker = maker
        self._counters = counters
        self._lane = lane

    async def fetch(self, api: BatchApi, batch: Batch, info: Mapping[str, Any]) -> Harvest:
        """Read both files of a batch; returns when all that they brought is committed."""
        shared = self._shared
        wanted = batches.items(shared.study, batch)
        ledger = Ledger(wanted, batches.stored(shared.study, batch, list(wanted)), shared.redactor)
        lost = []
        for what in ("output_file_id", "error_file_id"):
            file_id = info.get(what)
            if not isinstance(file_id, str) or not file_id:
                continue

            async def read(number: int, file_id: str = file_id) -> None:
                if number:
                    ledger.again()
                await self._read_file(api, file_id, batch, ledger)

            try:
                await shared.patiently(f"{self._name}: results of batch {batch.batch_id}", read)
            except ApiFault as error:
                if error.fault.status not in (404, 410):
                    raise
                lost.append(f"its file {file_id} is gone: {error.fault.message}")
        await shared.writer.flush()
        reasons = ledger.reasons()
        for fault in ledger.left.values():
            self._lane.failed(fault, time.time())
        notes = [errors(info, shared.redactor), *lost]
        if ledger.strange:
            notes.append(f"{ledger.strange:,} lines were not about its queries")
        if ledger.repeated:
            notes.append(f"{ledger.repeated:,} lines came twice")
        if reasons:
            notes.append(f"{ledger.unsettled():,} are still to ask ({most_common(reasons)})")
        return Harvest(ledger.settled, reasons, "; ".join(filter(None, notes)) or None)

    async def _read_file(self, api: BatchApi, file_id: str, batch: Batch, ledger: Ledger) -> None:
        async with contextlib.aclosing(api.lines(file_id)) as lines:
            async for text in lines:
                line = ledger.take(text)
                if line is None:
                    continue
                row = self._maker.row(batch.batch, line)
                await self._shared.writer.put(row)
                if isinstance(line.result, Answer):
                    self._counters.received += 1
                    self._count(line.result, self._maker.cost(line.result))
                else:
                    self._counters.gave_up(row.outcome, line.result)
                    self._lane.failed(line.result, time.time())
                self._not_fewer()

    def _not_fewer(self) -> None:
        counters = self._counters
        if counters.received > counters.total:  # of an open batch that asked more than is selected now
            counters.total += 1
            counters.selected += 1

    def _count(self, answer: Answer, cost: float | None) -> None:
        lane = self._lane
        lane.answers += 1
        lane.prompt_tokens += answer.prompt_tokens or 0
        lane.cached_tokens += answer.cached_tokens or 0
        lane.completion_tokens += answer.completion_tokens or 0
        lane.cost_usd += cost or 0.0
