"""A lane: one provider, one key, one model. It knows when a request may go, and how the server takes it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.lifecycle.options import RunOptions
from runner.limits.concurrency import InFlight
from runner.limits.headers import allowance, speaks_of_limits
from runner.limits.rate_limit import Pace, Slot
from runner.live.first_answer import FirstPatience
from runner.providers.file import Route
from runner.providers.settings import ModelSettings
from runner.status.counters import LaneCounters
from runner.transport.address import Address, address_of
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.port import Sent
from runner.transport.request import Bodies

if TYPE_CHECKING:
    from runner.live.item import Item

OUTAGE_AFTER = 10
"""So many queries failed with no answer in between look like the server's fault, and not theirs."""
_SAME_REJECTION = 25
_ISOLATED = 0.1
_BACKOFF_S = 0.25
_LONGEST_BACKOFF_S = 60.0
_LONGEST_BACKOFF_AT_QUERIES_S = 2.0
"""Where a server that has answered takes queries and fails at them: it may be they that are the trouble."""
_LAST_TRY_S = 0.1
_LEARN = 0.05
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
    reserved_usd: float


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
        self.address: Address = address_of(route, key.variable)
        self.bodies = Bodies(settings, route)
        self.in_flight = 0
        self.limit = InFlight(most, start)
        self.requests = None if limits.requests_per_minute is None else Pace(limits.requests_per_minute, now)
        self.tokens = None if limits.tokens_per_minute is None else Pace(limits.tokens_per_minute, now)
        self.counters = LaneCounters()
        self.paused_until = 0.0
        self.outage = False
        self._parked: str | None = None
        self._options = options
        self._max_tokens = settings.max_tokens
        self._counts_used = limits.counts == "used"
        self._per_char: float | None = None
        self._completion: float | None = None
        self._answered_sent_at = -math.inf
        self._answered_before = False
        self._first_patience = FirstPatience(route.timeouts)
        self.unreached: str | None = None
        """Where no connection was ever made: the address, and why."""
        self.gives_up_at = math.inf
        """When such a lane is parked."""
        self._trouble_since: float | None = None
        self._failing: set[Item] = set()
        self._backoffs = 0
        self._backed_off_at = -1e9
        self._rejection = ("", 0)

    def remember(self, *, answered: bool) -> None:
        """What the study knows: if this lane ever answered."""
        self._answered_before = answered

    # What may be sent

    @property
    def has_answered(self) -> bool:
        """This lane has given an answer, in this run or before."""
        return self.counters.answers > 0 or self._answered_before

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
        if self.in_flight >= self.limit.limit or self.parked is not None:
            return math.inf
        wait = self.paused_until - now
        if self.requests is not None and (paced := self.requests.wait(1.0, now)) > wait:
            wait = paced
        if self.tokens is not None and (paced := self.tokens.wait(tokens, now)) > wait:
            wait = paced
        return wait if wait > 0 else 0.0

    def is_up(self, now: float, patience_s: float) -> bool:
        """Worth waiting for rather than failing over: not parked, in an outage, or sent away for long."""
        return self.parked is None and not self.outage and self.paused_until - now < patience_s

    def begin(
        self, item: Item, prompt_tokens: float, tokens: float, reserved_usd: float, now: float
    ) -> Permit:
        """A request goes out now."""
        self.in_flight += 1
        if self.requests is not None:
            self.requests.take(1.0, now)
        slot = None if self.tokens is None else self.tokens.take(tokens, now)
        return Permit(item, self, now, prompt_tokens, tokens, slot, reserved_usd)

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
        self.limit.succeeded(self.in_flight, permit.sent_at, now)
        self._answered_sent_at = max(self._answered_sent_at, permit.sent_at)
        if self._trouble_since is not None:
            self._trouble_since = None
            self._failing.clear()
            if permit.sent_at >= self._backed_off_at:
                self._backoffs = 0
                self.outage = False
        prompt, completion = answer.prompt_tokens, answer.completion_tokens
        if prompt is not None and permit.item.chars:
            self._per_char = _blend(self._per_char, prompt / permit.item.chars)
        if completion is not None:
            self._completion = _blend(self._completion, completion)
        if self.tokens is not None and permit.slot is not None and prompt is not None:
            counted = prompt + (completion or 0) if self._counts_used else prompt + self._max_tokens
            self.tokens.settle(permit.slot, counted - permit.tokens)

    def refused(self, fault: Fault, permit: Permit, now: float) -> None:
        """429 or 529: the server has too much, or we are too fast."""
        self._trouble(now)
        isolated = self.limit.refused_share < _ISOLATED
        began = self.limit.overloaded(permit.sent_at, now)
        if began and fault.kind is Kind.RATE_LIMITED:
            for pace in (self.requests, self.tokens):
                if pace is not None:
                    pace.refused(now)
        if fault.retry_after is not None:
            self._pause(fault.retry_after, now)
            if began and self._trouble_since is not None:
                self._trouble_since += fault.retry_after  # waiting as told is no trouble
        elif began and not isolated:
            self._back_off(now)
        self._lose_patience(fault, self._options.outage_s, now)

    def failed(self, fault: Fault, permit: Permit, now: float) -> None:
        """The server failed, or was not reached, or has no such model.

        A query at which the server fails while others, sent later, are answered is itself the trouble, and no
        sign of an outage; but nobody is to blame for a connection that is refused or breaks.
        """
        item = permit.item
        if item.last_failed_at < self._answered_sent_at:
            item.is_culprit = True
        item.last_failed_at = now
        if fault.kind is Kind.TIMEOUT:
            self.limit.overloaded(permit.sent_at, now)
        if fault.retry_after is not None:
            self._pause(fault.retry_after, now)
        at_query = fault.at_the_query or (fault.kind is Kind.TIMEOUT and not fault.unreached)
        if item.is_culprit and at_query and not self.outage:
            return
        self._trouble(now)
        if len(self._failing) < OUTAGE_AFTER:
            self._failing.add(item)
        never = not self.has_answered
        left = self._first_patience.left(fault, permit.sent_at, now) if never else math.inf
        self.unreached, self.gives_up_at = (fault.message if never and fault.unreached else None), now + left
        absent = fault.kind in (Kind.NO_MODEL, Kind.REDIRECTED) or (never and fault.unreached)
        if absent or len(self._failing) >= OUTAGE_AFTER:
            self.outage = True
            self.limit.probe()
            if permit.sent_at > self._backed_off_at:
                soon = fault.at_the_query and not never
                self._back_off(now, left, _LONGEST_BACKOFF_AT_QUERIES_S if soon else _LONGEST_BACKOFF_S)
            self._lose_patience(fault, self._options.outage_s, now)
        if left <= 0:
            self.park(f"{self.name}: {self._first_patience.why(fault, now)}")

    def rejected(self, fault: Fault) -> None:
        """A query was refused as it is. If every one is, for the same reason, the reason is ours."""
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

    def _trouble(self, now: float) -> None:
        if self._trouble_since is None:
            self._trouble_since = now

    def _lose_patience(self, fault: Fault, patience_s: float, now: float) -> None:
        since = now if self._trouble_since is None else self._trouble_since
        if now - since > patience_s:
            self.park(
                f"{self.name} gave nothing but errors for {now - since:.0f} s, at last: {fault.message}"
            )

    def _back_off(self, now: float, left: float = math.inf, most: float = _LONGEST_BACKOFF_S) -> None:
        """Pause, longer each time up to `most`, but not beyond a last try when patience ends in `left` s."""
        longest = min(_BACKOFF_S * 2 ** min(self._backoffs, 20), most)
        self._backoffs += 1
        self._backed_off_at = now
        self._pause(min(longest * random.uniform(0.5, 1.0), max(left, 0.0) + _LAST_TRY_S), now)

    def _pause(self, seconds: float, now: float) -> None:
        if seconds > self._options.longest_pause_s:
            hours = f"{seconds / 3600:.1f} hours" if seconds < _YEAR_S else "more than a year"
            self.park(f"{self.name} asks to stay away for {hours}")
        self.paused_until = max(self.paused_until, now + seconds)


def _blend(old: float | None, new: float) -> float:
    return new if old is None else old + _LEARN * (new - old)
