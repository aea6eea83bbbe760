"""Replicas of one model share its work by cases.

All queries of a case go to one replica, its home: they begin with the same words, which a server that caches
prefixes then reads once. A replica that has nothing left takes the next case; where there is none, it takes
whole cases from the replica that has most waiting. One that is down, or left for good, gives back what waits
for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.live.backlog import Backlog
    from runner.live.item import Item
    from runner.live.lane import Lane

Case = tuple[str, str]
"""Collection and document."""


def case_of(item: Item) -> Case:
    """Whose queries stay together."""
    return (item.query.collection, item.query.doc_id)


class Shares:
    """What waits for each replica.

    Args:
        lanes: the replicas' lanes.
        is_up: whether a lane takes queries, were it not for its limits (seconds of the loop's clock).
    """

    def __init__(self, lanes: Sequence[Lane], is_up: Callable[[Lane, float], bool]) -> None:
        self._waiting: dict[Lane, deque[Item]] = {lane: deque() for lane in lanes}
        self._homes: dict[Case, Lane] = {}
        self._is_up = is_up

    def __len__(self) -> int:
        """Queries that wait for a replica."""
        return sum(map(len, self._waiting.values()))

    def any_is_up(self, now: float) -> bool:
        """Whether any replica takes queries."""
        return any(self._is_up(lane, now) for lane in self._waiting)

    def peek(self, lane: Lane, backlog: Backlog, now: float) -> Item | None:
        """The next query for a replica that can take one; None where there is nothing for it.

        Queries are drawn from the backlog until one is for this replica: those of other homes wait there. One
        that is down gets a single query, to ask whether it is back.
        """
        self._give_back(backlog, now)
        mine = self._waiting[lane]
        while not mine:
            item = backlog.peek(now)
            if item is None:
                if self._is_up(lane, now):
                    self._take_over(lane)
                break
            backlog.pop(item)
            home = self._homes.setdefault(case_of(item), lane)
            self._waiting[home].append(item)
        return mine[0] if mine else None

    def pop(self, lane: Lane) -> Item:
        """Take out what `peek` gave."""
        return self._waiting[lane].popleft()

    def give_all_back(self, backlog: Backlog) -> None:
        """Put everything back into the backlog: no replica is up, or the run ends."""
        for lane in self._waiting:
            self._release(lane, backlog)

    def _give_back(self, backlog: Backlog, now: float) -> None:
        for lane, waiting in self._waiting.items():
            if waiting and not self._is_up(lane, now):
                self._release(lane, backlog)

    def _release(self, lane: Lane, backlog: Backlog) -> None:
        waiting = self._waiting[lane]
        if waiting:
            backlog.again(list(waiting))
            waiting.clear()
        for case in [case for case, home in self._homes.items() if home is lane]:
            del self._homes[case]

    def _take_over(self, lane: Lane) -> None:
        """Take half of the cases, whole ones, from the replica that has most waiting; at least its last."""
        richest = max(self._waiting, key=lambda one: len(self._waiting[one]))
        theirs = self._waiting[richest]
        cases = list(dict.fromkeys(case_of(item) for item in theirs))
        if richest is lane or not cases:
            return
        if len(cases) == 1 and len(theirs) < 2:
            return  # its only query: it would not be sooner here
        taken = set(cases[len(cases) // 2 :] if len(cases) > 1 else cases)
        if len(cases) == 1:
            # The last case of all is divided: an idle replica is worth more than one prefix.
            half = len(theirs) // 2
            moved = [theirs.pop() for _ in range(half)][::-1]
        else:
            moved = [item for item in theirs if case_of(item) in taken]
            kept = [item for item in theirs if case_of(item) not in taken]
            theirs.clear()
            theirs.extend(kept)
            for case in taken:
                self._homes[case] = lane
        self._waiting[lane].extend(moved)
