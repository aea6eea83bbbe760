"""The queries of one model still to be sent: new ones from the store, and those to be asked again."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from runner.live.item import Item

if TYPE_CHECKING:
    from store.pending_queries import PendingQuery

BATCH = 256
LOW = 128
MOST_DELAYED = 2_000
"""With so many queries waiting for their next try, no new ones are begun: memory stays bounded."""


class Backlog:
    """A queue that refills itself from a lazy cursor, in a thread, so that reading never stalls the loop.

    `changed` is called when there is more to send, or the end is reached.
    """

    def __init__(
        self,
        cursor: Iterator[PendingQuery],
        executor: Executor,
        changed: Callable[[], None],
        batch: int = BATCH,
    ) -> None:
        self.error: BaseException | None = None
        self.utf8_per_char = 3.0
        """Of the prompts read last; for a first guess at their tokens."""
        self._cursor = cursor
        self._executor = executor
        self._changed = changed
        self._batch = batch
        self._new: deque[Item] = deque()
        self._again: deque[Item] = deque()
        self._behind: deque[Item] = deque()
        self._later: list[tuple[float, int, Item]] = []
        self._order = itertools.count()
        self._filling: asyncio.Future[list[Item]] | None = None
        self._at_end = False

    @property
    def empty(self) -> bool:
        """Nothing is left, and nothing will come."""
        return self._at_end and not (self._new or self._again or self._later or self._behind)

    @property
    def nothing_new(self) -> bool:
        """Every query that is left has been asked before."""
        return self._at_end and not self._new

    @property
    def waits_behind(self) -> bool:
        """Whether `recall` would bring any."""
        return bool(self._behind)

    @property
    def to_retry(self) -> int:
        """Queries that wait to be asked again."""
        return len(self._again) + len(self._later) + len(self._behind)

    def peek(self, now: float) -> Item | None:
        """Whose turn it is: one to be asked again, one whose wait is over, the next new one; or none now."""
        if self._again:
            return self._again[0]
        if self._later and (self._later[0][0] <= now or len(self._later) >= MOST_DELAYED):
            return self._later[0][2] if self._later[0][0] <= now else None
        self._refill()
        if self._new:
            return self._new[0]
        return self._behind[0] if self._behind and self._at_end else None

    def next_due(self) -> float | None:
        """When the first of the waiting queries is due."""
        return self._later[0][0] if self._later else None

    def pop(self, item: Item) -> None:
        """Take out what `peek` gave."""
        if self._again and self._again[0] is item:
            self._again.popleft()
        elif self._later and self._later[0][2] is item:
            heapq.heappop(self._later)
        elif self._behind and self._behind[0] is item:
            self._behind.popleft()
        else:
            self._new.popleft()

    def again(self, items: Iterable[Item]) -> None:
        """Ask these again, before any new one."""
        self._again.extend(items)

    def behind(self, item: Item) -> None:
        """Ask this, and all that have failed before, after all new ones.

        Only a query that never failed tells when an outage ends.
        """
        self._behind.append(item)
        self._behind.extend(self._again)
        self._behind.extend(item for _, _, item in sorted(self._later))
        self._again.clear()
        self._later.clear()

    def recall(self) -> None:
        """The outage is over: what was put behind is asked again now."""
        self._again.extend(self._behind)
        self._behind.clear()

    def later(self, item: Item, when: float) -> None:
        """Ask this again, not before `when`."""
        heapq.heappush(self._later, (when, next(self._order), item))

    async def close(self) -> list[Item]:
        """Read no more, wait for the thread to leave the cursor, and give back what was to be asked again."""
        self._at_end = True
        if self._filling is not None:
            await asyncio.wait([self._filling])
        left = [*self._again, *self._behind, *(item for _, _, item in self._later)]
        self._new.clear()
        self._again.clear()
        self._behind.clear()
        self._later.clear()
        return left

    def _refill(self) -> None:
        if self._filling is None and not self._at_end and len(self._new) < LOW:
            self._filling = asyncio.get_running_loop().run_in_executor(self._executor, self._read)
            self._filling.add_done_callback(self._filled)

    def _read(self) -> list[Item]:
        return [Item(query, query.chars) for query in itertools.islice(self._cursor, self._batch)]

    def _filled(self, filling: asyncio.Future[list[Item]]) -> None:
        self._filling = None
        if filling.cancelled():
            self._at_end = True
        elif (error := filling.exception()) is not None:
            self.error = error
            self._at_end = True
        elif not self._at_end:
            batch = filling.result()
            self._at_end = len(batch) < self._batch
            if batch:
                prompt = batch[0].query.user_text
                self.utf8_per_char = len(prompt.encode()) / max(len(prompt), 1)
            self._new.extend(batch)
        self._changed()
