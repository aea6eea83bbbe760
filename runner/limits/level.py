"""The second part of finding how many requests to keep open: a cap on the slots in play, by experiment.

A rate limit refuses by lot, and an overloaded server may only grow slower: no slot of `runner.limits.slots`
is singled out. There, what tells load from chance is what fewer slots bring:

- Outcomes are counted in epochs. Two epochs in a row are suspicious if significantly more requests fail, or
  answers take longer, than at fewer slots. (One alone may be bad by chance, and all compare well with it.)
- Then fewer slots are tried for an epoch: a little below what Little's law says is served (open requests =
  answers a second x seconds an answer). The lower cap is kept if the slots taken away had brought little.
- A cap that was found is tried higher again: the first time at once and all the way, since the server may
  have had a bad moment; later in steps, after a hold that doubles each time that it was in vain. A step that
  is clearly too high is undone at once.

Where failures are random all this costs some 2%.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

EPOCH = 48
"""Outcomes at least, and two for each slot: answers a second are known to some 6% then."""
TOGETHER = 8
"""Epochs at one level, whose failures count together: what is a little too much shows in the long run."""
SIGMAS = 3.0
MORE_FAILS = 0.04
SLOWER = 1.25
"""Suspicious: so significant, and so much more of all requests failing or so many times slower."""
UNKNOWN = 0.08
"""A share of failures above this that was never tried at fewer slots is tried at half as many, once."""
BELOW = 0.93
"""Of Little's law: at the level itself a lottery still refuses some."""
WORTH = 0.35
"""Slots that bring less than this part of what the others bring are taken away."""
WORTH_IF_LOADED = 0.6
"""The same, where fewer slots had significantly fewer failures."""
RAISE = 1.25
ROOM = 1.4
"""A cap found that is so much higher than the last one shows that there was room."""
HOLD_S = 5.0
LONGEST_HOLD_S = 120.0
QUICKLY = 4
SURELY = 4.0
FAR = 0.4
"""A cap that was tried higher is left at once after so many failures that are so significant; where no rate
limit is known, only if so much more of all requests fail."""
SPARE = 0.97
"""Of a rate limit: so much is used of it, as some seconds see more answers than others."""
LEAST_CAP = 0.001


@dataclass(slots=True)
class Measured:
    """What an epoch came to."""

    level: float
    """Slots in play."""
    failing: float
    """The share that failed."""
    count: int
    latency: float


@dataclass(slots=True)
class Experiment:
    """Fewer slots are tried than before."""

    cap: float
    """Before."""
    level: float
    rate: float
    """Answers a second (outcomes, where only the latency is suspicious)."""
    failing: float
    by_share: bool
    """The share of failures is suspicious."""


class Level:
    """The cap. Times are seconds of any monotonic clock, given by the caller."""

    def __init__(self, most: int, start: int, now: float) -> None:
        self.most = most
        self.cap = float(most)
        self._usual: Measured | None = None
        self._own: float | None = None
        """The share of failures that fewer slots have too."""
        self._experiment: Experiment | None = None
        self._doubted = self._confirmed = False
        self._back_to = 0.0
        self._here: deque[tuple[int, float]] = deque(maxlen=TOGETHER)
        """Outcomes and failures of the last epochs at this level."""
        self._hold_s = HOLD_S
        self._kept = self.cap
        """The cap that was found last."""
        self._raise_at = math.inf
        self._raised = self._by_the_minute = False
        self.begin(now, 0.0, start)

    def begin(self, now: float, settle_s: float, in_play: int) -> None:
        """A new epoch, which counts what comes after a while."""
        self._since = now + settle_s
        if settle_s > 0.0:
            self._here.clear()
        self._from_level = max(LEAST_CAP, min(in_play, self.cap))
        self._answered = self._failed = 0
        self._seconds = self._squares = self._levels = 0.0

    def drop(self, now: float) -> None:
        """An outage says nothing of an experiment, but it does of a rate limit that was tried higher."""
        if self._experiment is not None:
            self.cap, self._experiment = self._experiment.cap, None
        if self._by_the_minute and self._raised:
            self._fall_back(now)

    def limit(self, cap: float, now: float) -> None:
        """So many slots are known to use a rate limit up. It is tried higher only after a minute."""
        self._by_the_minute = True
        self._hold_s = max(self._hold_s, LONGEST_HOLD_S / 2)
        self.cap = max(LEAST_CAP, min(self.cap, SPARE * cap))
        self._raise_at, self._raised, self._kept = now + self._hold_s, False, self.cap

    def count(self, answered: bool, took: float, in_play: int, now: float) -> None:
        """An outcome of a slot that was sure, or became so."""
        if now < self._since:
            return
        if answered:
            self._answered += 1
            self._seconds += took
            self._squares += took * took
        else:
            self._failed += 1
        here = min(float(in_play), self.cap)
        self._levels += here
        count = self._answered + self._failed
        if not answered and self._usual is not None and self._far_too_many(self._usual):
            self._fall_back(now)
            self.begin(now, 1.5 * self._usual.latency, in_play)
            return
        if self._usual is None:
            if count >= 16 and self._answered >= 4:
                self._usual = self._measured(count)
            return
        if self._experiment is None and not 0.6 < here / self._from_level < 1.3:  # not settled yet
            self.begin(now, self._seconds / max(1, self._answered) / 2, in_play)
            return
        if count < self._needed(count) or self._answered < 8:
            return
        found = self._measured(count)
        if now - self._since < 1.5 * found.latency:
            return
        rate = count / (now - self._since)
        error = math.sqrt(max(0.0, self._squares / self._answered - found.latency**2) / self._answered)
        if self._experiment is not None:
            self._decide(found, self._experiment, self._usual, rate, now)
            changed = True
        else:
            changed = self._suspect(found, self._usual, rate, error, now)
            if not changed and not self._doubted:
                changed = self._try_higher(now)
        self.begin(now, 1.5 * found.latency if changed else 0.0, in_play)

    def _far_too_many(self, usual: Measured) -> bool:
        """Whether a cap that was tried higher is so much too high that no whole epoch is needed to see it.

        At a limit of 60 a minute, an epoch takes most of a minute, and two would be needed.
        """
        if self._experiment is not None or not self._raised:
            return False
        count = self._answered + self._failed
        expected = max(usual.failing, MORE_FAILS)
        noise = SURELY * math.sqrt(expected * (1 - expected) / count)
        least = 0.0 if self._by_the_minute else FAR
        return self._failed >= QUICKLY and self._failed / count > expected + max(noise, least)

    def _measured(self, count: int) -> Measured:
        return Measured(
            self._levels / count, self._failed / count, count, self._seconds / max(1, self._answered)
        )

    def _needed(self, count: int) -> float:
        """Outcomes of an epoch: the smaller the step, the longer it takes to see what it does."""
        step = 0.6 if self._experiment is None else self.cap / self._experiment.level
        if step <= 0.55:
            return EPOCH
        return max(EPOCH, 2 * self._levels / count) * (3 if step > 0.7 else 1)

    def _decide(self, found: Measured, tried: Experiment, usual: Measured, rate: float, now: float) -> None:
        """Fewer slots were in play: what did it cost?"""
        self._experiment = None
        if tried.by_share:
            self._own = found.failing
            rate *= 1 - found.failing
        noise = SIGMAS * math.sqrt(tried.failing / found.count)
        loaded = tried.by_share and tried.failing - found.failing > max(MORE_FAILS, noise)
        share = WORTH_IF_LOADED if loaded else WORTH
        worth = rate < tried.rate * (1 - share * (1 - self.cap / tried.level))
        if not worth:  # what still fails here is load too
            found.latency = min(found.latency, usual.latency)
            found.failing = min(found.failing, usual.failing)
        self._usual = found
        if worth:
            self.cap = min(tried.cap, max(LEAST_CAP, tried.level)) if loaded else tried.cap
        if not worth or loaded:
            in_vain = self._raised and self.cap < ROOM * self._kept
            self._hold_s = min(2 * self._hold_s, LONGEST_HOLD_S) if in_vain else self._hold_s
            self._raise_at, self._raised, self._kept = now + self._hold_s, False, self.cap
            if (
                tried.by_share and not self._confirmed
            ):  # the time may have made it, and not the slots: back, to see
                self._confirmed, self._back_to, self._raise_at = True, tried.level, now

    def _suspect(self, found: Measured, usual: Measured, rate: float, error: float, now: float) -> bool:
        """Whether this level looks like too much, so that fewer slots are tried from now on."""
        self._here.append((found.count, found.failing * found.count))
        count, level = found.count, found.level
        in_all = sum(one[0] for one in self._here)
        failing = sum(one[1] for one in self._here) / in_all
        pooled = (failing * in_all + usual.failing * usual.count) / (in_all + usual.count)
        share_noise = math.sqrt(pooled * (1 - pooled) * (1 / in_all + 1 / usual.count))
        jump = max(MORE_FAILS, SIGMAS * share_noise)
        more = failing - usual.failing > jump
        unknown = failing > UNKNOWN and (self._own is None or failing - self._own > jump)
        answers = rate * (1 - found.failing)
        fewer = level
        if more:
            fewer = BELOW * answers * found.latency / (1 - usual.failing)
        elif unknown:
            fewer = min(level / 2, BELOW * answers * found.latency)
        noise = SIGMAS * error * math.sqrt(1 + count / usual.count)
        if found.latency > max(SLOWER * usual.latency, usual.latency + noise):
            fewer = min(fewer, level * SLOWER * usual.latency / found.latency)
        if fewer < 0.95 * level and not self._doubted:
            self._doubted = True  # an epoch that looks bad by chance brings little: ask a fresh one
            return False
        if fewer < 0.95 * level:
            self._doubted = False
            if self._by_the_minute and self._raised:
                self._fall_back(now)
                return True
            by_share = more or unknown
            self._experiment = Experiment(
                self.cap, level, answers if by_share else rate, found.failing, by_share
            )
            self.cap = max(LEAST_CAP, fewer)
            return True
        self._doubted = False
        if level < 0.9 * usual.level:
            self._usual = found
        elif abs(failing - usual.failing) < share_noise:  # the same share still: known the better
            weight = min(count, usual.count)
            usual.failing = (usual.failing * usual.count + found.failing * weight) / (usual.count + weight)
            usual.count = min(usual.count + weight, 2000)
            usual.latency = min(found.latency, usual.latency)
        return False

    def _fall_back(self, now: float) -> None:
        """To the cap that was found before."""
        self.cap, self._raised = self._kept, False
        self._hold_s = min(2 * self._hold_s, LONGEST_HOLD_S)
        self._raise_at = now + self._hold_s

    def _try_higher(self, now: float) -> bool:
        if now < self._raise_at:
            return False
        if self._raised and self._by_the_minute:
            self._kept = self.cap
        self.cap, self._raised = min(float(self.most), max(self.cap * RAISE, self._back_to)), True
        self._back_to = 0.0
        if self.cap > ROOM**2 * self._kept:
            self._hold_s = HOLD_S
        if self.cap >= self.most:
            self._raise_at = math.inf
            self._confirmed = False
        elif self._by_the_minute:
            self._raise_at = now + self._hold_s
        return True
