"""Which lane takes a query: the first provider that is up, and of its keys the one that can soonest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from runner.lane import Lane
from runner.results import Item

FAIL_OVER_AFTER_S = 5.0
"""A provider that sends us away for longer than this is not waited for while another is up."""


@dataclass(slots=True)
class Choice:
    """A lane that takes the query now, and what its limits will count; or how long to wait."""

    lane: Lane | None
    prompt_tokens: float = 0.0
    tokens: float = 0.0
    wait_s: float = math.inf
    """Infinity: until something happens."""


class Router:
    """The lanes of one model, by provider in the order of failover."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        by_provider = itertools.groupby(lanes, lambda lane: lane.route.provider)
        self.lanes = list(lanes)
        self._groups = [list(group) for _, group in by_provider]

    def parked(self) -> list[str] | None:
        """Why no lane is left, reason by reason; None while one is."""
        reasons = [lane.parked for lane in self.lanes]
        return None if None in reasons else list(dict.fromkeys(str(reason) for reason in reasons))

    def choose(self, item: Item, max_tokens: int, utf8_per_char: float, now: float) -> Choice:
        """The lane for this query. One that is busy or paced is waited for, one that is down is not."""
        groups = self._groups
        if item.avoid is not None and len(groups) > 1:
            groups = sorted(groups, key=lambda group: group[0].route.provider == item.avoid)
        soonest = math.inf
        for group in groups:
            best: Choice | None = None
            busy = 0
            up = False
            for lane in group:
                if lane.parked is not None:
                    continue
                up = up or lane.is_up(now, FAIL_OVER_AFTER_S)
                prompt = lane.prompt_tokens(item.chars, utf8_per_char)
                tokens = prompt + lane.completion_tokens(max_tokens)
                wait = lane.ready_in(tokens, now)
                if best is None or (wait, lane.in_flight) < (best.wait_s, busy):
                    best, busy = Choice(lane, prompt, tokens, wait), lane.in_flight
            if best is not None:
                if best.wait_s <= 0:
                    return best
                soonest = min(soonest, best.wait_s)
                if up:
                    break
        return Choice(None, wait_s=soonest)
