"""A query on its way, and the rows that its replies become."""

from __future__ import annotations

import math
import uuid
from typing import TYPE_CHECKING

from runner.live.lane import Lane
from runner.transport.outcome import Answer, Fault
from runner.transport.usage import Usage
from store.rows import CostRow, FailureRow, PredictionRow, now

if TYPE_CHECKING:
    from runner.providers.schema import Prices
    from store.asking import PendingQuery

_MOVE_ON_AFTER = 2


class Item:
    """A pending query while it is being asked."""

    __slots__ = (
        "_failures",
        "avoid",
        "chars",
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


def cost_of(used: Answer | Usage, prices: Prices | None, share: float = 1.0) -> float | None:
    """US dollars: as the provider states it, else by its prices, of which `share` is to be paid.

    None where neither is known. A stated 0 is no cost where there are prices: gateways state it for what
    another account pays.
    """
    stated = used.cost_usd
    if stated or prices is None:
        return stated
    prompt, completion = used.prompt_tokens, used.completion_tokens
    if prompt is None or completion is None:
        return None
    return share * prices.cost(prompt, used.cached_tokens or 0, completion, used.cache_write_tokens or 0)


class Rows:
    """Makes the rows of one model in one run."""

    def __init__(self, run_id: uuid.UUID, model_key: str) -> None:
        self._run_id = run_id
        self._model_key = model_key

    def prediction(
        self, item: Item, lane: Lane, answer: Answer, latency_s: float, cost_usd: float | None
    ) -> PredictionRow:
        """The row of an answer."""
        query = item.query
        return PredictionRow(  # in order: names would cost as much again
            None,
            query.query_id,
            self._model_key,
            self._run_id,
            query.repeat,
            answer.outcome,
            answer.text,
            now(),
            answer.reasoning,
            answer.finish_reason,
            answer.prompt_tokens,
            answer.cached_tokens,
            answer.completion_tokens,
            cost_usd,
            latency_s,
            lane.name,
            answer.model,
            answer.fingerprint,
        )

    def cost(
        self,
        item: Item,
        lane: Lane,
        kind: str,
        usage: Usage | PredictionRow | None,
        *,
        cost_usd: float | None,
        assumed_usd: float | None = None,
    ) -> CostRow:
        """The row of money that no answer shows."""
        return CostRow(
            cost_id=None,
            run_id=self._run_id,
            model_key=self._model_key,
            served_by=lane.name,
            kind=kind,
            created_at=now(),
            query_id=item.query.query_id,
            repeat=item.query.repeat,
            prompt_tokens=usage.prompt_tokens if usage else None,
            cached_tokens=usage.cached_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
            cost_usd=cost_usd,
            assumed_usd=assumed_usd,
        )

    def failure(self, item: Item, outcome: str, fault: Fault) -> FailureRow:
        """The row of a query that is given up."""
        return FailureRow(
            failure_id=None,
            query_id=item.query.query_id,
            model_key=self._model_key,
            run_id=self._run_id,
            repeat=item.query.repeat,
            outcome=outcome,
            reason=f"{fault.kind}: {fault.message}",
            created_at=now(),
            status=fault.status,
        )
