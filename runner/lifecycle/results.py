"""The rows that replies become, and what they cost."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from runner.transport.outcome import Answer, Fault
from runner.transport.usage import Usage
from store.rows import CostRow, FailureRow, PredictionRow, now

if TYPE_CHECKING:
    from runner.providers.schema import Prices
    from store.pending_queries import PendingQuery


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
        self, query: PendingQuery, served_by: str, answer: Answer, latency_s: float, cost_usd: float | None
    ) -> PredictionRow:
        """The row of an answer."""
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
            served_by,
            answer.model,
            answer.fingerprint,
        )

    def cost(
        self,
        query: PendingQuery,
        served_by: str,
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
            served_by=served_by,
            kind=kind,
            created_at=now(),
            query_id=query.query_id,
            repeat=query.repeat,
            prompt_tokens=usage.prompt_tokens if usage else None,
            cached_tokens=usage.cached_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
            cost_usd=cost_usd,
            assumed_usd=assumed_usd,
        )

    def failure(self, query: PendingQuery, outcome: str, fault: Fault) -> FailureRow:
        """The row of a query that is given up."""
        return FailureRow(
            failure_id=None,
            query_id=query.query_id,
            model_key=self._model_key,
            run_id=self._run_id,
            repeat=query.repeat,
            outcome=outcome,
            reason=f"{fault.kind}: {fault.message}",
            created_at=now(),
            status=fault.status,
        )
