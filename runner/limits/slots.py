"""How many requests to keep open, found by trying. No status means load; what counts is what happens next.

A lane has as many slots as it may have requests open. Each slot carries one request at a time: any query
that is due, not one of its own. Random failures seldom hit one slot several times in a row. A full server
refuses the same surplus slot again and again, while the slots that have a place keep it. So the run of
failures of a slot tells load from chance:

- A slot is at rest, on trial, or sure. A sure slot rests when its run of failures is too unlikely by the
  share of requests that fails anyway; a slot on trial rests at its first failure.
- Each answer earns a fiftieth of a trial, so a full server refuses about 2% of the requests (half as much
  where trials end in a spree of refusals, as with what a small rate limit has saved up). A trial that
  ends well makes its slot sure and calls up two more: with room, the slots more than double each round
  trip.
- A run of failures over all slots, with no answer between and too unlikely by chance, is an outage. So is a
  shorter run of replies that each say when to come back. All slots rest, one request at a time asks if the
  server is back, and the first answer calls up half of the former slots.

A rate limit refuses all slots alike, and some servers only grow slower: then no slot is singled out. For
these, `runner.limits.level` caps the slots in play.

Related: Chiu and Jain 1989 (why cutting at each failure is stable, and slow where failures are random); BBR
(2016) and PCC Vivace (NSDI 2018), which measure what the load does; Netflix's concurrency-limits.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from enum import IntEnum

from runner.limits.level import Level

TRUST = 0.001
"""A slot rests once its run of failures is less likely than this: 2 in a row at 5%, 3 at 14%, 5 at 30%."""
TRIAL_EVERY = 50
"""Answers for each trial."""
RAREST_TRIAL = 100
SPREE = 3
"""A trial that called up more slots than this, of which none was left soon after, makes the next ones as rare
as that: what let them by was not places, but what a rate limit had saved up."""
CALLED_UP = 2
"""Slots that a good trial calls up. With one, growth would die where a third of the requests fail."""
REUSE = 0.5
"""A slot that failed at once waits until so much of a usual answer's time is over, which spreads refusals."""
OUTAGE_RUN = 10
OUTAGE_CHANCE = 1e-8
"""So many failures in a row at least, and no likelier than this, are an outage."""
SENT_AWAY_CHANCE = 1e-5
"""The same, where each of them said when to come back."""
IN_USE = 0.7
"""The share of the slots in play that must be used for outcomes to tell something of their number."""
FIRST_PROBE_S = 0.25
LONGEST_PROBE_S = 2.0
PROBE_SHARE = 1 / 16
"""In a long outage the time between two probes grows with it: at most this share of it is lost at its end."""
RARELY_S = 30.0
"""The longest time between two probes."""
RATE_LIMIT_S = 5.0
OFTEN, OFTEN_S = 6, 60.0
"""A server has a rate limit if it refuses everything for longer than so many seconds, twice; or so often
within so many seconds."""
TELLING = 5
"""Answers between two recoveries, at least, that tell a rate. One alone would all but stop the lane."""
_LOWEST_BASE, _HIGHEST_BASE = 0.03, 0.7
_BASE_WEIGHT = 0.005
_LATENCY_WEIGHT = 0.05
_NO_TIME_S = 1e-6


class State(IntEnum):
    """Of a slot."""

    REST = 0
    TRIAL = 1
    SURE = 2


PROBE = -1
"""The slot of a request that asks if the server is back."""


class Slots:
    """Of one lane. Times are seconds of any monotonic clock, given by the caller.

    Args:
        most: requests that may be open at once.
        start: how many to begin with.
        now: the time.
        chance: spreads probes of many clients.
    """

    def __init__(self, most: int, start: int, now: float, chance: random.Random | None = None) -> None:
        start = min(start, most)
        self.most = most
        self.in_play = start
        """Slots on trial or sure: how many requests are kept open."""
        self.outage = False
        self.base = 0.1
        """The share of requests that fails, by slots whose last request did not."""
        self.level = Level(most, start, now)
        self._chance = chance or random.Random()
        self._state = [State.TRIAL] * start + [State.REST] * (most - start)
        self._failures = [0] * most
        """The run of each slot."""
        self._free = list(range(start))
        self._resting = list(range(start, most))
        self._cooling: list[tuple[float, int]] = []
        """Slots that failed at once, and when they may be used again."""
        self._used = 0
        """Slots that carry a request or cool down."""
        self._latency = 0.5
        self._answers = 0
        self._trials = 0.0
        """Owed."""
        self._trial_every = TRIAL_EVERY
        self._tried: tuple[int, int] | None = None
        """Slots in play before the last trial, and after how many answers it is seen what it brought."""
        self._highest = 0
        """Slots in play since then."""
        self._credit = 0.0
        """Seconds of a slot that the cap allowed and that were not used; below zero where more were used."""
        self._averaged_at = now
        self._run = 0
        self._told: float | None = None
        """When to come back, where each failure of the run said so."""
        self._sent_away = False
        """The outage began with replies that each said when to come back."""
        self._before = start
        self.shut_at = now
        """When the last outage began."""
        self._probe_at = 0.0
        self._probe_s = FIRST_PROBE_S
        self._refused_probes = 0
        self._recoveries: deque[tuple[float, int, bool]] = deque(maxlen=OFTEN)
        """When, and after how many answers, it answered that had refused everything; and if that was long."""

    @property
    def open(self) -> int:
        """Requests on their way."""
        return self._used - len(self._cooling)

    @property
    def is_full(self) -> bool:
        """`wait` would say infinity: a cheap look, which may miss it."""
        return not (self._free or self._cooling or self.outage or (self._trials >= 1.0 and self._resting))

    @property
    def limit(self) -> int:
        """Requests that may be open at once now."""
        return 1 if self.outage else max(1, min(self.in_play, math.ceil(self.level.cap)))

    @property
    def away_until(self) -> float:
        """In an outage: when the next request may ask if the server is back."""
        return self._probe_at if self.outage else 0.0

    def wait(self, now: float) -> float:
        """Seconds until a request may be sent: 0 for now, infinity where an outcome must come first."""
        while self._cooling and self._cooling[0][0] <= now:
            self._release(heapq.heappop(self._cooling)[1], now)
        if self.outage:
            return max(0.0, self._probe_at - now)
        cap = self.level.cap
        if self._trials >= 1.0:
            self._call_up(cap)
        later = self._cooling[0][0] - now if self._cooling else math.inf
        if not self._free or self._used >= max(cap, 1.0):
            return later
        if self._used + 1 > cap:  # a cap of 2.5, or of 0.1: it holds on average
            self._average(now)
            if self._credit < -_NO_TIME_S:
                return min(later, -self._credit / (cap - self._used))
        return 0.0

    def send(self, now: float) -> int:
        """A request goes out, as `wait` allowed. Its slot, to be given back with its outcome."""
        self._average(now)
        self._used += 1
        if self.outage:  # the next probe, should this one hang
            self._probe_at = now + max(LONGEST_PROBE_S, 3 * self._latency)
            return PROBE
        return heapq.heappop(self._free)

    def succeeded(self, slot: int, sent_at: float, now: float) -> None:
        """The server answered."""
        took = now - sent_at
        self._latency += (_LATENCY_WEIGHT if self._answers else 1.0) * (took - self._latency)
        self._run, self._told = 0, None
        self._answers += 1
        self._trials += 1 / self._trial_every
        if self._tried is not None and self._answers >= self._tried[1]:
            self._judge_trial(self._tried[0])
        if self.outage and sent_at >= self.shut_at:
            self._recover(now)
        if slot != PROBE:
            state = self._state[slot]
            if state is State.TRIAL:
                self._trials += CALLED_UP
            elif state is State.REST:  # sent before an outage, of whose end it says nothing
                self.in_play += 1
            elif not self._failures[slot]:
                self.base -= _BASE_WEIGHT * self.base
            self._state[slot] = State.SURE
            self._failures[slot] = 0
            self._count(True, took, now)
        self._release(slot, now)

    def failed(
        self,
        slot: int,
        sent_at: float,
        now: float,
        *,
        spoke: bool = True,
        retry_after: float | None = None,
        of_the_query: bool = False,
    ) -> None:
        """The server did not answer the query.

        Args:
            slot: what `send` gave.
            sent_at: the time of `send`.
            now: the time.
            spoke: the server replied; False where it was not reached, broke off or stayed silent.
            retry_after: seconds, where it said when to come back.
            of_the_query: the query itself may be the trouble, so this is no sign of an outage.
        """
        told = None if retry_after is None else now + retry_after
        if slot == PROBE:
            self._probe_failed(now, spoke, told, of_the_query)
            self._release(slot, now)
            return
        if not of_the_query:
            if self._run == 0:
                self._told = told
            elif self._told is not None:
                self._told = None if told is None else max(self._told, told)
            self._run += 1
        self._failures[slot] += 1
        base = min(_HIGHEST_BASE, max(_LOWEST_BASE, self.base))
        state = self._state[slot]
        if state is State.SURE:
            if self._failures[slot] == 1:
                self.base += _BASE_WEIGHT * (1 - self.base)
            self._count(False, 0.0, now)
        rests = state is State.TRIAL or (state is State.SURE and base ** self._failures[slot] < TRUST)
        if rests and not (of_the_query and self.in_play == 1):  # the last one asks on
            self._state[slot] = State.REST
            self.in_play -= 1
        free_at = sent_at + REUSE * self._latency
        if free_at > now:
            heapq.heappush(self._cooling, (free_at, slot))
        else:
            self._release(slot, now)
        if not self.outage and (not self.in_play or self._unlikely(base)):
            self.shut(now)

    def replied(self, slot: int, now: float) -> None:
        """The server refused the query as it is: it is there, and this says nothing of its load."""
        self._run, self._told = 0, None
        if self.outage and slot == PROBE:
            self._recover(now)
        self._release(slot, now)

    def abandoned(self, slot: int, now: float) -> None:
        """A request came to no outcome that says anything of the server."""
        self._release(slot, now)

    def shut(self, now: float) -> None:
        """The server is gone, or refuses everything: ask one request at a time if it is back."""
        if self.outage:
            return
        self.outage = True
        self._before, self.shut_at, self.in_play = max(1, self.in_play), now, 0
        self._refused_probes = 0
        self._sent_away = self._told is not None and self._told - now > FIRST_PROBE_S
        self._probe_s = min(FIRST_PROBE_S, LONGEST_PROBE_S)
        self._probe_at = now + self._probe_s if self._told is None else max(self._told, now)
        self._state = [State.REST] * self.most
        self._resting = sorted(self._resting + self._free)
        self._free = []
        self.level.drop(now)

    def _count(self, answered: bool, took: float, now: float) -> None:
        """Only while the slots are in use: what a lack of queries or a pace holds back tells nothing."""
        if self._used >= IN_USE * min(self.in_play, self.level.cap):
            self.level.count(answered, took, self.in_play, now)

    def probe_by(self, when: float) -> None:
        """In an outage: ask no later than then."""
        self._probe_at = min(self._probe_at, when)

    def _unlikely(self, base: float) -> bool:
        chance = base**self._run
        if self._told is not None and chance < SENT_AWAY_CHANCE:
            return True
        return chance < OUTAGE_CHANCE and self._run >= max(OUTAGE_RUN, self.in_play / 2)

    def _judge_trial(self, before: int) -> None:
        """Was it worth it? If it only led to a spree of refusals, the next one comes later."""
        self._tried = None
        if self.in_play > before:
            self._trial_every = TRIAL_EVERY
        elif self._highest > before + SPREE:
            self._trial_every = min(2 * self._trial_every, RAREST_TRIAL)

    def _call_up(self, cap: float) -> None:
        most = math.ceil(cap)
        if self._tried is None:
            self._tried, self._highest = (self.in_play, self._answers + TRIAL_EVERY), 0
        while self._trials >= 1.0 and self._resting and self.in_play < most:
            slot = heapq.heappop(self._resting)
            self._state[slot], self._failures[slot] = State.TRIAL, 0
            self.in_play += 1
            self._trials -= 1.0
            heapq.heappush(self._free, slot)
        self._highest = max(self._highest, self.in_play)
        self._trials = min(self._trials, 1.0)  # what finds no room is not saved up

    def _average(self, now: float) -> None:
        cap = self.level.cap
        if cap < self.most:
            credit = self._credit + (cap - self._used) * (now - self._averaged_at)
            self._credit = max(min(credit, 0.0), -max(cap, 1.0) * self._latency)
        self._averaged_at = now

    def _release(self, slot: int, now: float) -> None:
        self._average(now)
        self._used -= 1
        if slot != PROBE:
            heapq.heappush(self._resting if self._state[slot] is State.REST else self._free, slot)

    def _probe_failed(self, now: float, spoke: bool, told: float | None, of_the_query: bool) -> None:
        self._refused_probes += spoke
        if not self.outage:  # an older request has been answered since
            return
        longest = LONGEST_PROBE_S
        if not of_the_query:  # of those, each must be tried before it is given up
            longest = max(longest, min(RARELY_S, PROBE_SHARE * (now - self.shut_at)))
        self._probe_s = min(2 * self._probe_s, longest)
        self._probe_at = now + self._probe_s * self._chance.uniform(0.5, 1.0)
        if told is not None:
            self._probe_at = max(self._probe_at, told)

    def _recover(self, now: float) -> None:
        self.outage = False
        self._trials = float(max(1, self._before // 2))
        if self._refused_probes or self._sent_away:
            long = (self._refused_probes >= 3 or self._sent_away) and now - self.shut_at > RATE_LIMIT_S
            self._recoveries.append((now, self._answers, long))
            self._learn_rate(now)
        self.level.begin(now, self._latency, self._before)

    def _learn_rate(self, now: float) -> None:
        """Refusing everything again and again is a rate limit: how many it lets through is known then."""
        often = len(self._recoveries) == OFTEN and now - self._recoveries[0][0] < OFTEN_S
        last = self._recoveries[0] if often else None
        if not often and len(self._recoveries) >= 2 and self._recoveries[-1][2] and self._recoveries[-2][2]:
            last = self._recoveries[-2]
        if last is not None and self._answers - last[1] >= TELLING:
            rate = (self._answers - last[1]) / (now - last[0])
            self.level.limit(rate * self._latency, now)
            self._trials = float(math.ceil(self.level.cap))
