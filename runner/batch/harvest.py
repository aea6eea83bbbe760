"""Fetches what an ended batch brought: each line becomes a row, is counted, or is left to be asked again."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.batch.api import ApiFault, BatchApi
from runner.batch.lines import Ledger, Maker
from runner.batch.shared import BatchShared
from runner.batch.words import errors, missing, most_common
from runner.status.counters import LaneCounters, ModelCounters
from runner.transport.outcome import Answer
from store import batches
from store.batches import Batch

_FILES = ("output_file_id", "error_file_id")


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
    cost_usd: float
    """What is known of its cost."""


@dataclass(slots=True)
class _Reading:
    """How far the files of a batch are read."""

    ledger: Ledger
    read: set[str] = field(default_factory=set)
    """Which of the two files."""
    gone: dict[str, str] = field(default_factory=dict)
    """What is wrong with a file that is named and not there."""
    midway: bool = False
    """A file was begun and not read to its end."""
    unpriced: int = 0
    cost_usd: float = 0.0


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
        """Read the files of an ended batch that are there and were not read before.

        Returns, when all that they brought is committed, what is missing though it should come: some
        providers call a batch ended before its files can be had.
        """
        shared = self._shared
        reading = self._readings.get(batch.batch)
        if reading is None:
            wanted = batches.items(shared.study, batch)
            ledger = Ledger(wanted, batches.stored(shared.study, batch, list(wanted)), shared.redactor)
            reading = self._readings[batch.batch] = _Reading(ledger)
        for what in _FILES:
            file_id = info.get(what)
            if what in reading.read or not isinstance(file_id, str) or not file_id:
                continue

            async def read(_: int, file_id: str = file_id, reading: _Reading = reading) -> None:
                await self._read_file(api, file_id, batch, reading)

            try:
                await shared.patiently(f"{self._name}: results of batch {batch.batch_id}", read)
            except ApiFault as error:
                if error.fault.status not in (404, 410):
                    raise
                reading.gone[what] = f"its file {file_id} is gone: {error.fault.message}"
            else:
                reading.read.add(what)
                reading.gone.pop(what, None)
        await shared.writer.flush()
        return missing(info, reading.read, reading.gone) if reading.ledger.silent() else None

    def close(self, batch: Batch, info: Mapping[str, Any], still_missing: str | None) -> Harvest:
        """What came of a batch, nothing more being waited for."""
        reading = self._readings.pop(batch.batch)
        ledger = reading.ledger
        reasons = ledger.reasons()
        for fault in ledger.left.values():
            self._lane.failed(fault, time.time())
        notes = [errors(info, self._shared.redactor), *reading.gone.values()]
        if still_missing and not reading.gone:
            notes.append(still_missing)
        if ledger.strange:
            notes.append(f"{ledger.strange:,} lines were not about its queries")
        if ledger.repeated:
            notes.append(f"{ledger.repeated:,} lines came twice")
        if reasons:
            notes.append(f"{ledger.unsettled():,} are still to ask ({most_common(reasons)})")
        # A query without a line, or whose answer came and makes no sense, may have been paid for.
        unheard = ledger.silent() if info.get("status") != "failed" else 0
        senseless = sum(fault.status == 200 for fault in ledger.left.values())
        return Harvest(
            ledger.settled,
            reasons,
            "; ".join(filter(None, notes)) or None,
            unpriced=bool(reading.unpriced + unheard + senseless),
            cost_usd=reading.cost_usd,
        )

    async def _read_file(self, api: BatchApi, file_id: str, batch: Batch, reading: _Reading) -> None:
        ledger = reading.ledger
        if reading.midway:
            ledger.again()
            reading.midway = False
        async with contextlib.aclosing(api.lines(file_id)) as lines:
            async for text in lines:
                reading.midway = True
                line = ledger.take(text)
                if line is None:
                    continue
                row = self._maker.row(batch.batch, line)
                await self._shared.writer.put(row)
                if isinstance(line.result, Answer):
                    self._counters.received += 1
                    cost = self._maker.cost(line.result)
                    self._lane.used(line.result, cost)
                    reading.cost_usd += cost or 0.0
                    reading.unpriced += cost is None
                else:
                    self._counters.gave_up(row.outcome, line.result)
                    self._lane.failed(line.result, time.time())
                self._not_fewer()
        reading.midway = False

    def _not_fewer(self) -> None:
        counters = self._counters
        if counters.received > counters.total:  # of an open batch that asked more than is selected now
            counters.total += 1
            counters.selected += 1
