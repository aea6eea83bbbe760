"""How many failures of one query chance explains, where a server fails at random.

A query that fails six times in a row while others are answered is itself the trouble where one request in a
hundred fails, and bad luck where every third does: in a run of 177,100 queries 129 would be given up.
"""

from __future__ import annotations

import math

UNLIKELY = 1e-7
"""So improbable must the failures of a query be by chance alone."""
_MEMORY = 0.995
"""About the last 200 answered queries count."""
_HIGHEST = 0.7


class Chance:
    """The share of failing requests among those of queries that were answered in the end.

    Those of queries that never are have no part in it: they say nothing of the server's other requests.
    """

    __slots__ = ("_failed", "_sent")

    def __init__(self) -> None:
        self._failed = 0.0
        self._sent = 0.0

    @property
    def share(self) -> float:
        """Of requests that fail by chance; 0 before any query has been answered."""
        return self._failed / self._sent if self._sent else 0.0

    def answered(self, failures: int) -> None:
        """A query has been answered after so many failures."""
        self._failed = _MEMORY * self._failed + failures
        self._sent = _MEMORY * self._sent + failures + 1

    def tries(self, least: int) -> int:
        """How often a query may fail before it is given up: `least`, or as often as chance explains."""
        share = min(self.share, _HIGHEST)
        if share <= 0.0:
            return least
        return max(least, math.ceil(math.log(UNLIKELY) / math.log(share)))
