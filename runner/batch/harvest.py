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
from runner.batch.words import FILES, errors, missing, most_common, whole
from runner.lifecycle.failure_policy import may_be_charged
from runner.status.counters import LaneCounters, ModelCounters
from runner.transport.outcome import Answer
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
                await shared.patiently(f"{self._name}: results of batch {batch.batch_id}", read)
            except ApiFault as error:
                if error.fault.status not in (404, 410):
                    raise
                reading.gone[what] = f"its file {file_id} is not there: {error.fault.message}"
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
        reasons = ledger.reasons()
        for fault in ledger.left.values():
            self._lane.failed(fault, time.time())
        notes = [errors(info, self._shared.redactor), *reading.gone.values()]
        if ledger.strange:
            notes.append(f"{ledger.strange:,} lines were not about its queries")
        if ledger.repeated:
            notes.append(f"{ledger.repeated:,} lines came twice")
        if reasons:
            notes.append(f"{ledger.unsettled():,} are still to ask ({most_common(reasons)})")
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
        async with contextlib.aclosing(api.lines(file_id)) as lines:
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
