"""Which lane takes a query: the first provider that is up, and of its keys the one that can soonest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from runner.lifecycle.failure_policy import FAIL_OVER_AFTER_S
from runner.live.item import Item
from runner.live.lane import Lane

Choice = tuple[Lane | None, float, float, float]
"""A lane that takes the query now, the tokens of the prompt and those that its limit will count, 0; or None
and, last, the seconds to wait (infinity: until something happens)."""


class Router:
    """The lanes of one model, by provider in the order of failover."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        by_provider = itertools.groupby(lanes, lambda lane: lane.route.provider)
        self.lanes = list(lanes)
        self._groups = [list(group) for _, group in by_provider]

    @property
    def replicas(self) -> Sequence[Lane]:
        """The lanes of the first provider, if it names replicas."""
        first = self._groups[0] if self._groups else []
        return first if first and first[0].route.replicas else []

    @property
    def is_full(self) -> bool:
        """No lane that is left takes a request before another has come to its end."""
        for lane in self.lanes:  # noqa: SIM110 - for each answer: `all` would cost as much again
            if not lane.is_full and lane.parked is None:
                return False
        return True

    @property
    def is_closed(self) -> bool:
        """No lane is left."""
        return all(lane.parked is not None for lane in self.lanes)

    def another_is_up(self, lane: Lane, now: float) -> bool:
        """Whether another provider could take a query at once that this lane does not."""
        return any(
            other.route.provider != lane.route.provider and other.is_up(now, FAIL_OVER_AFTER_S)
            for other in self.lanes
        )

    def why_parked(self) -> str:
        """Why lanes take part no more, each reason once."""
        return "; ".join(dict.fromkeys(lane.parked for lane in self.lanes if lane.parked is not None))

    def choose(self, item: Item, max_tokens: int, utf8_per_char: float, now: float) -> Choice:
        """The lane for this query. One that is busy or paced is waited for, one that is down is not."""
        groups = self._groups
        if item.avoid is not None and len(groups) > 1:
            groups = sorted(groups, key=lambda group: group[0].route.provider == item.avoid)
        soonest = math.inf
        for group in groups:
            best: tuple[float, int, Lane, float, float] | None = None
            for lane in group:
                if lane.parked is not None:
                    continue
                prompt = lane.prompt_tokens(item.chars, utf8_per_char)
                tokens = prompt + lane.completion_tokens(max_tokens)
                wait = lane.ready_in(tokens, now)
                if best is None or (wait, lane.in_flight) < best[:2]:
                    best = (wait, lane.in_flight, lane, prompt, tokens)
            if best is not None:
                if best[0] <= 0:
                    return best[2], best[3], best[4], 0.0
                soonest = min(soonest, best[0])
                if any(lane.is_up(now, FAIL_OVER_AFTER_S) for lane in group):
                    break
        return None, 0.0, 0.0, soonest
