"""A lane: one provider, one key, one model. It knows when a request may go, and how the server takes it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.lifecycle.options import RunOptions
from runner.limits.headers import allowance, speaks_of_limits
from runner.limits.rate_limit import Pace, Slot
from runner.limits.slots import PROBE, Slots
from runner.live.first_answer import FirstPatience
from runner.providers.file import Route
from runner.providers.settings import ModelSettings
from runner.status.counters import LaneCounters
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.port import Sent

if TYPE_CHECKING:
    from runner.live.item import Item

OUTAGE_AFTER = 10
"""Where the server takes queries and fails at them, fewer of them may be the trouble themselves."""
_SURELY_CULPRIT = 2
"""A query that failed so often while others were answered says nothing of the server's load any more."""
_SAME_REJECTION = 25
_LAST_TRY_S = 0.1
_LEARN = 0.05
_SLOW_AFTER = 100
_SLOW_TIMES, _SLOW_S = 3.0, 5.0
"""After so many answers, slow is what takes so many times as long as 99% of them, and so many seconds."""
_YEAR_S = 365 * 86_400.0


@dataclass(slots=True)
class Key:
    """A key by the name of its variable, shared by the lanes of all models; parked when it is of no use."""

    provider: str
    variable: str | None
    parked: str | None = None


@dataclass(slots=True, eq=False)
class Permit:
    """One open request: its query, its lane, and what it took of the lane's limits."""

    item: Item
    lane: Lane
    sent_at: float
    prompt_tokens: float
    tokens: float
    slot: Slot | None
    """Of the token limit's ledger."""
    number: int
    """Of the slot among those that may be open."""
    reserved_usd: float
    worker: asyncio.Task[None] | None = None
    """That waits for the reply."""
    is_late: bool = False
    """It took too long, and is given up."""


class Lane:
    """Times are seconds of the event loop's clock, given by the caller."""

    def __init__(
        self, route: Route, key: Key, name: str, *, settings: ModelSettings, options: RunOptions, now: float
    ) -> None:
        limits = route.limits
        most = limits.in_flight if options.in_flight is None else min(limits.in_flight, options.in_flight)
        start = limits.start_in_flight
        if limits.requests_per_minute is not None:
            # The pace protects the server, so the start need not be slower than the limit: a second's worth.
            start = max(start, min(math.ceil(limits.requests_per_minute / 60), 64))
        self.name = name
        self.route = route
        self.key = key
        self.in_flight = 0
        self.slots = Slots(most, start, now)
        self.requests = None if limits.requests_per_minute is None else Pace(limits.requests_per_minute, now)
        self.tokens = None if limits.tokens_per_minute is None else Pace(limits.tokens_per_minute, now)
        self.counters = LaneCounters()
        self.paused_until = 0.0
        self._parked: str | None = None
        self._options = options
        self._max_tokens = settings.max_tokens
        self._counts_used = limits.counts == "used"
        self._per_char: float | None = None
        self._completion: float | None = None
        self.answered_sent_at = -math.inf
        """When the last request was sent that has been answered."""
        self._answered_before = False
        self._first_patience = FirstPatience(route.timeouts, route.base_url or "")
        self.unreached: str | None = None
        """Where no connection was ever made: the address, and why."""
        self.gives_up_at = math.inf
        """When such a lane is parked."""
        self._trouble_since: float | None = None
        self._spent: list[Item] = []
        """Queries that spent a try since the last answer: an outage gives it back to them."""
        self._failing: set[Item] = set()
        """Since the last answer."""
        self.refusing = False
        """The last failure was a refusal: the server is there, and has too much."""
        self._rejection = ("", 0)

        prices = route.prices
        is_free = (
            route.kind != "api" if prices is None else not any(prices.model_dump(exclude_none=True).values())
        )
        self._gives_up_slow = options.give_up_slow or is_free

    def remember(self, *, answered: bool) -> None:
        """What the study knows: if this lane ever answered."""
        self._answered_before = answered

    # What may be sent

    @property
    def has_answered(self) -> bool:
        """This lane has given an answer, in this run or before."""
        return self.counters.answers > 0 or self._answered_before

    @property
    def outage(self) -> bool:
        """The server is gone, or refuses everything: one request at a time asks if it is back."""
        return self.slots.outage

    def out_for(self, now: float) -> float:
        """Seconds for which it has been in an outage."""
        return now - self.slots.shut_at if self.slots.outage else 0.0

    @property
    def away_until(self) -> float:
        """When a request may go again, where that is known."""
        return max(self.paused_until, self.slots.away_until)

    @property
    def parked(self) -> str | None:
        """Why this lane takes part no more, if so."""
        return self._parked or self.key.parked

    def prompt_tokens(self, chars: int, utf8_per_char: float) -> float:
        """An estimate, from what earlier prompts came to; before the first, a token for three bytes."""
        return chars * (self._per_char if self._per_char is not None else utf8_per_char / 3)

    def completion_tokens(self, max_tokens: int) -> float:
        """What the token limit counts for the answer before it is there."""
        if self._counts_used and self._completion is not None:
            return min(self._completion, max_tokens)
        return max_tokens

    def ready_in(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens may go.

        0 for now; infinity where time alone changes nothing, as the lane is full or parked.
        """
        if self.in_flight >= self.slots.most or self.parked is not None:
            return math.inf
        wait = self.slots.wait(now)
        wait = max(wait, self.paused_until - now)
        if self.requests is not None and (paced := self.requests.wait(1.0, now)) > wait:
            wait = paced
        if self.tokens is not None and (paced := self.tokens.wait(tokens, now)) > wait:
            wait = paced
        return wait if wait > 0 else 0.0

    @property
    def is_full(self) -> bool:
        """It takes no request before one of its own has come to an end: a cheap look, which may miss it."""
        return self.in_flight >= self.slots.most or self.slots.is_full

    def patience_s(self) -> float:
        """Seconds after which a request probably hangs; infinity while that is not known."""
        latencies = self.counters.latencies
        if not self._gives_up_slow or latencies.count < _SLOW_AFTER:
            return math.inf
        return max(_SLOW_TIMES * (latencies.quantile(0.99) or 0.0), _SLOW_S)

    def is_up(self, now: float, patience_s: float) -> bool:
        """Worth waiting for rather than failing over: not parked, in an outage, or sent away for long."""
        if self.parked is not None or (self.outage and not self.refusing):
            return False
        return self.away_until - now < patience_s

    def begin(
        self, item: Item, prompt_tokens: float, tokens: float, reserved_usd: float, now: float
    ) -> Permit:
        """A request goes out now."""
        self.in_flight += 1
        if self.requests is not None:
            self.requests.take(1.0, now)
        slot = None if self.tokens is None else self.tokens.take(tokens, now)
        number = self.slots.send(now)
        return Permit(item, self, now, prompt_tokens, tokens, slot, number, reserved_usd)

    # What came of it

    def heard(self, sent: Sent, now: float) -> None:
        """Follow what the server says about its limits in any reply."""
        if not sent.headers:
            return
        self.unreached = None
        if not speaks_of_limits(sent.headers):
            return
        for what in ("requests", "tokens"):
            told = allowance(sent.headers, what)
            if told is None:
                continue
            pace: Pace | None = getattr(self, what)
            if (per_minute := told.per_minute) is not None:
                if pace is None:
                    setattr(self, what, Pace(per_minute, now))
                elif per_minute < pace.per_minute:
                    pace.follow(per_minute)
            if (pause_s := told.pause_s) is not None:
                self._pause(pause_s, now)

    def answered(self, answer: Answer, permit: Permit, now: float) -> None:
        """An answer came."""
        self.slots.succeeded(permit.number, permit.sent_at, now)
        self.answered_sent_at = max(self.answered_sent_at, permit.sent_at)
        if self._trouble_since is not None:
            self._trouble_since = None
            self.refusing = False
        if self._failing:
            self._failing.clear()
            self._spent.clear()
        prompt, completion = answer.prompt_tokens, answer.completion_tokens
        if prompt is not None and permit.item.chars:
            self._per_char = _blend(self._per_char, prompt / permit.item.chars)
        if completion is not None:
            self._completion = _blend(self._completion, completion)
        if self.tokens is not None and permit.slot is not None and prompt is not None:
            counted = prompt + (completion or 0) if self._counts_used else prompt + self._max_tokens
            self.tokens.settle(permit.slot, counted - permit.tokens)

    def refused(self, fault: Fault, permit: Permit, now: float) -> None:
        """429 or 529: the server has too much, or we are too fast; if one of a few, that is chance."""
        self._trouble(now)
        if self._fail(fault, permit, now) and fault.kind is Kind.RATE_LIMITED:
            for pace in (self.requests, self.tokens):
                if pace is not None:
                    pace.refused(now)
        self.refusing = True
        self._lose_patience(fault, self._options.outage_s, now)

    def failed(self, fault: Fault, permit: Permit, now: float) -> None:
        """The server failed, or was not reached, or has no such model.

        A query at which the server fails while others, sent later, are answered is itself the trouble, and no
        sign of an outage; but nobody is to blame for a connection that is refused or breaks.
        """
        item = permit.item
        if item.last_failed_at < self.answered_sent_at:
            item.is_culprit = True
        item.last_failed_at = now
        at_query = fault.at_the_query or (fault.kind is Kind.TIMEOUT and not fault.unreached)
        if len(self._failing) < OUTAGE_AFTER:
            self._failing.add(item)
        is_culprit = item.is_culprit and at_query
        one_of_few = at_query and self.has_answered and (self.outage or len(self._failing) < OUTAGE_AFTER)
        if is_culprit and item.tries >= _SURELY_CULPRIT and not self.outage:
            self.slots.abandoned(permit.number, now)
        else:
            self._fail(fault, permit, now, of_the_query=is_culprit or one_of_few)
        self.refusing = False
        if is_culprit and not self.outage:
            return
        self._trouble(now)
        never = not self.has_answered
        left = self._first_patience.left(fault, permit.sent_at, now) if never else math.inf
        self.unreached, self.gives_up_at = (fault.message if never and fault.unreached else None), now + left
        if fault.kind in (Kind.NO_MODEL, Kind.REDIRECTED) or (never and fault.unreached):
            self._shut(now)
        if self.outage:
            self.slots.probe_by(now + max(left, 0.0) + _LAST_TRY_S)
            self._lose_patience(fault, self._options.outage_s, now)
        if left <= 0:
            self.park(f"{self.name}: {self._first_patience.why(fault, now)}")

    def gave_up(self, permit: Permit, now: float) -> None:
        """A request took so long that its query is asked again."""
        permit.item.gave_up_slow = True
        self.slots.failed(permit.number, permit.sent_at, now, spoke=False)

    def spent_try(self, item: Item) -> None:
        """A query has spent one of its tries here."""
        self._spent.append(item)

    def left_alone(self, permit: Permit, now: float) -> None:
        """A request came to nothing that says anything of the server."""
        self.slots.abandoned(permit.number, now)

    def rejected(self, fault: Fault, permit: Permit, now: float) -> None:
        """A query was refused as it is. If every one is, for the same reason, the reason is ours."""
        self.slots.replied(permit.number, now)
        alike, count = self._rejection
        count = count + 1 if alike == fault.alike else 1
        self._rejection = (fault.alike, count)
        if count >= _SAME_REJECTION and not self.counters.answers:
            self.park(f"{self.name} rejects every request ({fault.status}): {fault.message}")

    def refuse_key(self, fault: Fault) -> None:
        """The key is invalid, or has no money left: no lane uses it again."""
        if self.key.parked is None:
            what = "has no money or quota left" if fault.kind is Kind.NO_MONEY else "was refused"
            name = f"its key in {self.key.variable}" if self.key.variable else "it needs a key, or access"
            self.key.parked = f"{self.key.provider}: {name} {what} ({fault.status}): {fault.message}"

    def park(self, message: str) -> None:
        """Use this lane no more in this run."""
        if self._parked is None:
            self._parked = message

    def _fail(self, fault: Fault, permit: Permit, now: float, *, of_the_query: bool = False) -> bool:
        """Tell the slots; True if they see an outage, or are sent away, from now on."""
        was_out = self.outage
        self.slots.failed(
            permit.number,
            permit.sent_at,
            now,
            spoke=fault.status is not None,
            retry_after=fault.retry_after,
            of_the_query=of_the_query,
        )
        if not self.outage:
            return False
        if fault.retry_after is not None and (not was_out or permit.number == PROBE):
            if self._trouble_since is not None:
                self._trouble_since += fault.retry_after  # waiting as told is no trouble
            self._check_pause(self.slots.away_until - now)
        if was_out:
            return False
        self._give_back()
        return True

    def _shut(self, now: float) -> None:
        if not self.outage:
            self.slots.shut(now)
            self._give_back()

    def _give_back(self) -> None:
        for item in self._spent:
            item.tries = max(item.tries - 1, 0)
        self._spent.clear()

    def _trouble(self, now: float) -> None:
        if self._trouble_since is None:
            self._trouble_since = now

    def _lose_patience(self, fault: Fault, patience_s: float, now: float) -> None:
        since = now if self._trouble_since is None else self._trouble_since
        if now - since > patience_s:
            self.park(
                f"{self.name} gave nothing but errors for {now - since:.0f} s, at last: {fault.message}"
            )

    def _pause(self, seconds: float, now: float) -> None:
        self._check_pause(seconds)
        self.paused_until = max(self.paused_until, now + seconds)

    def _check_pause(self, seconds: float) -> None:
        if seconds > self._options.longest_pause_s:
            hours = f"{seconds / 3600:.1f} hours" if seconds < _YEAR_S else "more than a year"
            self.park(f"{self.name} asks to stay away for {hours}")


def _blend(old: float | None, new: float) -> float:
    return new if old is None else old + _LEARN * (new - old)
