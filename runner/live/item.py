"""A query on its way: what was tried for it, and what is to be done with it next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.live.lane import Lane
    from store.pending_queries import PendingQuery
    from store.rows import PredictionRow

_MOVE_ON_AFTER = 2


class Item:
    """A pending query while it is being asked."""

    __slots__ = (
        "_failures",
        "avoid",
        "chars",
        "gave_up_slow",
        "is_culprit",
        "last_failed_at",
        "max_tokens",
        "probes",
        "query",
        "spare",
        "spare_lane",
        "tries",
    )

    def __init__(self, query: PendingQuery, chars: int) -> None:
        self.query = query
        self.chars = chars
        """Of the prompt."""
        self.tries = 0
        """That it has spent."""
        self.gave_up_slow = False
        """A request of it that took too long was given up, which is done once."""
        self.probes = 0
        """Tries in an outage of the lane, which cost none."""
        self.max_tokens: int | None = None
        """Set when a truncated answer is asked again."""
        self.spare: PredictionRow | None = None
        """The truncated answer, should asking again bring none."""
        self.spare_lane: Lane | None = None
        self.avoid: str | None = None
        """A provider that has failed it twice in a row: the next one in order gets it, if there is one."""
        self.last_failed_at = math.inf
        """When it last failed, on the loop's clock."""
        self.is_culprit = False
        """A query sent after it had failed was answered: the trouble is its own, and not the server's."""
        self._failures: tuple[str, int] = ("", 0)

    def failed_at(self, provider: str) -> None:
        """Note a failure that was the query's own."""
        last, count = self._failures
        self._failures = (provider, count + 1 if provider == last else 1)
        if self._failures[1] >= _MOVE_ON_AFTER:
            self.avoid = provider
