"""What a run counts. The monitor, `evenhand status` and the manifest read these and nothing else."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from runner.transport.finish_reasons import is_explained
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.usage import MOST_USD
from store.rows import UNKNOWN_COST, CostRow, FailureRow

if TYPE_CHECKING:
    from store.writer import Row

_FIRST_S = 0.001
_GROWTH = math.log(1.12)
_BUCKETS = 140  # up to about two hours
_MOST_REASONS = 50
_SHOWN_REASONS = 5
_QUIET_S = 20.0
"""Shorter than this, nothing settled means nothing: commits come once a second, and may be slow."""
_LONG = 4
"""Nothing settled for so many times as long as an answer takes is no slowness any more."""
_APART = 2
"""Nor is it for so many times the longest wait between two lately."""


class Latencies:
    """A histogram of seconds whose buckets grow by 12%: quantiles within 6%, at the same size for any run."""

    __slots__ = ("_buckets", "count")

    def __init__(self) -> None:
        self._buckets = [0] * _BUCKETS
        self.count = 0

    def add(self, seconds: float) -> None:
        """Count one answer."""
        index = int(math.log(seconds / _FIRST_S) / _GROWTH) if seconds > _FIRST_S else 0
        self._buckets[min(index, _BUCKETS - 1)] += 1
        self.count += 1

    def quantile(self, share: float) -> float | None:
        """Seconds that this share of the answers took at most; None before the first."""
        if not self.count:
            return None
        wanted, seen = share * self.count, 0
        for index, count in enumerate(self._buckets):
            seen += count
            if seen >= wanted:
                return _FIRST_S * math.exp((index + 0.5) * _GROWTH)
        return None


class LaneCounters:
    """What went through one lane."""

    __slots__ = (
        "answers",
        "assumed_usd",
        "cached_tokens",
        "completion_tokens",
        "cost_usd",
        "explained",
        "failed_usd",
        "faults",
        "last_error",
        "last_error_at",
        "latencies",
        "prompt_tokens",
        "unexplained",
        "unexplained_as",
        "unpriced",
    )

    def __init__(self) -> None:
        self.faults: Counter[Kind] = Counter()
        self.answers = 0
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.completion_tokens = 0
        self.cost_usd = 0.0
        """Of the answers whose cost is known, and of tries that gave none."""
        self.failed_usd = 0.0
        """Of that, what went to tries that gave no answer, or one that was asked again."""
        self.assumed_usd = 0.0
        """For tries that gave no answer and do not say their cost: the most that it may have been."""
        self.unpriced = 0
        """Answers whose cost is not known: no price, no usage, or a sum that can be none."""
        self.explained = self.unexplained = 0
        """Answers, other than refusals, with a known finish reason; those with another, or none."""
        self.unexplained_as: str | None = None
        """The finish reason of the last of these."""
        self.latencies = Latencies()
        self.last_error: str | None = None
        self.last_error_at = 0.0

    def tries(self) -> dict[str, int]:
        """All tries by kind, answers as "ok"."""
        answers = {"ok": self.answers} if self.answers else {}
        return {**answers, **{kind.value: count for kind, count in dict(self.faults).items()}}

    def answered(self, answer: Answer, latency_s: float, cost_usd: float | None) -> None:
        """Count an answer and what it used."""
        self.latencies.add(latency_s)
        self.used(answer, cost_usd)

    def used(self, answer: Answer, cost_usd: float | None) -> None:
        """Count an answer whose latency says nothing, such as one of a batch."""
        self.answers += 1
        self.prompt_tokens += answer.prompt_tokens or 0
        self.cached_tokens += answer.cached_tokens or 0
        self.completion_tokens += answer.completion_tokens or 0
        if not is_explained(answer.finish_reason):
            self.unexplained += 1
            self.unexplained_as = answer.finish_reason
        elif answer.outcome != "refused":
            self.explained += 1
        if cost_usd is None or not 0.0 <= cost_usd <= MOST_USD:  # not so for NaN either
            self.unpriced += 1
        else:
            self.cost_usd += cost_usd

    def endings(self) -> dict[str, Any]:
        """For a snapshot: the answers without a known finish reason, if no answer has one."""
        count = 0 if self.explained else self.unexplained
        return {"unexplained": count, "unexplained_as": self.unexplained_as if count else None}

    def charged(self, row: CostRow) -> None:
        """Count money that no answer shows."""
        cost = row.cost_usd or 0.0
        self.cost_usd += cost
        self.failed_usd += cost
        if row.kind != UNKNOWN_COST:
            self.assumed_usd += row.assumed_usd or 0.0

    def failed(self, fault: Fault, wall_time: float) -> None:
        """Count a fault."""
        self.faults[fault.kind] += 1
        self.last_error = f"{fault.kind}: {fault.message}"
        self.last_error_at = wall_time


class ModelCounters:
    """What has become of the queries of one model.

    `received` and the reasons are counted when a reply comes, on the loop; `done` and the outcomes when its
    row is committed, in the writer's thread: what is shown as done is on disk.
    """

    __slots__ = (
        "_moves",
        "_reasons",
        "_recent",
        "done",
        "outcomes",
        "received",
        "returned_models",
        "selected",
        "started_at",
        "total",
    )

    def __init__(self, total: int, selected: int, started_at: float) -> None:
        self.total = total
        """Queries (times repeats) that were pending when the run began."""
        self.selected = selected
        """Those of the whole selection, answered before or not."""
        self.received = 0
        """Queries that have their terminal row, stored or on its way to the disk."""
        self.done = 0
        """Those whose row is on disk."""
        self.outcomes: Counter[str] = Counter()
        self.returned_models: Counter[str] = Counter()
        self.started_at = started_at
        self._reasons: dict[tuple[str, str], tuple[str, int]] = {}
        self._recent: deque[tuple[float, int]] = deque([(started_at, 0)], maxlen=31)
        self._moves: deque[tuple[float, int]] = deque([(started_at, 0)], maxlen=31)
        """As `_recent`, of only those ticks that saw more on disk than the one before."""

    def stored(self, outcome: str, count: int) -> None:
        """So many queries have a row of this outcome on disk. Only the writer's thread calls this."""
        self.done += count
        self.outcomes[outcome] += count

    def gave_up(self, outcome: str, fault: Fault) -> None:
        """A query has its terminal row, and it is no answer."""
        self.received += 1
        key, reason = (outcome, fault.alike), fault.reason
        if key not in self._reasons and len(self._reasons) >= _MOST_REASONS:
            key, reason = (outcome, ""), "other reasons"
        self._reasons[key] = (reason, self._reasons.get(key, ("", 0))[1] + 1)

    def given_up(self) -> list[dict[str, Any]]:
        """Why queries were given up, the commonest reasons first: outcome, reason and count."""
        found = [(count, outcome, reason) for (outcome, _), (reason, count) in list(self._reasons.items())]
        found.sort(key=lambda one: -one[0])
        return [
            {"outcome": outcome, "reason": reason, "count": count}
            for count, outcome, reason in found[:_SHOWN_REASONS]
        ]

    def tick(self, now: float) -> None:
        """Note where it stands; called about once a second."""
        self._recent.append((now, self.done))
        self._note_move(now)

    def rate_now(self, now: float) -> float:
        """Queries a second over the last half minute."""
        then, done = self._recent[0]
        return (self.done - done) / (now - then) if now - then > 0.2 else 0.0

    def rate(self, now: float) -> float:
        """Queries a second since the run began."""
        return self.done / (now - self.started_at) if now > self.started_at else 0.0

    def quiet_s(self, now: float, latency_s: float | None = None) -> float | None:
        """Seconds for which nothing has been settled, where that is much longer than usual.

        None while all is as usual: a model with an answer every 90 s is slow, and not quiet. `latency_s` is
        what an answer takes; where few requests may go at a time or in a minute, answers come further apart
        than that, which is as usual too.
        """
        self._note_move(now)
        times = [time for time, _ in list(self._moves)]
        quiet = now - times[-1]
        apart = max((after - before for before, after in pairwise(times)), default=0.0)
        return quiet if quiet > max(_QUIET_S, _LONG * (latency_s or 0.0), _APART * apart) else None

    def eta_s(self, now: float, latency_s: float | None = None) -> float | None:
        """Seconds to the end at the present rate; None while nothing moves.

        The rate is that of the last half minute or, where answers come further apart, of as many as came in
        30 moves: one answer in half a minute tells no rate.
        """
        left = self.total - self.done
        if self.quiet_s(now, latency_s) is not None and left:
            return None
        then, done = self._moves[0]
        rate = (self.done - done) / (now - then) if now > then else 0.0
        return left / rate if rate > 0 else None

    def _note_move(self, now: float) -> None:
        done = self.done
        if done != self._moves[-1][1]:
            self._moves.append((now, done))

    def projected(self, cost: float, unpriced: int = 0) -> float | None:
        """What all will cost if the rest, and the answers of unknown cost, are as those that came for `cost`.

        None before the first of them.
        """
        known = self.received - unpriced
        return cost / known * self.total if known > 0 else None

    def counts(self) -> dict[str, Any]:
        """Outcomes, as a plain dictionary."""
        return dict(self.outcomes)


class Stored:
    """Counts rows for the models of a run as they are committed: the writer's `on_commit`.

    Args:
        counters: by model key.
        paid: called with the US dollars that the rows account for, known or assumed.
    """

    def __init__(
        self, counters: Mapping[str, ModelCounters], paid: Callable[[float], None] | None = None
    ) -> None:
        self._counters = counters
        self._paid = paid

    def __call__(self, rows: Sequence[Row]) -> None:
        """These rows are on disk."""
        found = Counter([(row.model_key, row.outcome) for row in rows if not isinstance(row, CostRow)])
        if self._paid is not None:
            self._paid(sum(map(_paid, rows)))
        for (model_key, outcome), count in found.items():
            self._counters[model_key].stored(outcome, count)


def _paid(row: Row) -> float:
    """US dollars that a row accounts for."""
    if isinstance(row, FailureRow):
        return 0.0
    assumed = row.assumed_usd if isinstance(row, CostRow) else None
    return (row.cost_usd or 0.0) + (assumed or 0.0)
