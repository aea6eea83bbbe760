"""Where a batch run stands, in the form that the monitor and `evenhand status` show of any run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.batch.model import BatchModel
from runner.live.snapshot import all_costs, costs
from runner.providers.model_names import others

if TYPE_CHECKING:
    from store.writer import Counters as WriterCounters


def snapshot(
    models: Sequence[BatchModel], writer: WriterCounters, *, now: float, wall_time: float, **about: Any
) -> dict[str, Any]:
    """The whole run. `in_flight` is what open batches ask; what has to do with a pace is empty."""
    shown = [_model(model, now, wall_time) for model in models]
    return {
        **about,
        "models": shown,
        **all_costs(shown),
        "writer": {
            "backlog": writer.backlog,
            "committed": writer.committed,
            "commits": writer.commits,
            "last_commit_s": writer.last_commit_s,
            "longest_commit_s": writer.longest_commit_s,
            "error": writer.error,
        },
    }


def _model(model: BatchModel, now: float, wall_time: float) -> dict[str, Any]:
    counters, lane = model.counters, model.lane
    open_batches = list(model.open.values())
    asked = sum(batch.requests for batch in open_batches)
    tokens = {
        "prompt_tokens": lane.prompt_tokens,
        "cached_tokens": lane.cached_tokens,
        "completion_tokens": lane.completion_tokens,
    }
    tries = lane.tries()
    shown_lane = {
        "lane": model.name,
        "in_flight": asked,
        "limit": asked,
        "ceiling": None,
        "paused_s": 0.0,
        "outage": False,
        "parked": model.failure,
        "requests_per_minute": None,
        "tokens_per_minute": None,
        "p50_s": None,
        "p95_s": None,
        **tokens,
        "cost_usd": lane.cost_usd,
        "failed_usd": lane.failed_usd,
        "assumed_usd": lane.assumed_usd,
        "unpriced": lane.unpriced,
        "tries": tries,
        "refused": 0,
        "errors": {kind: count for kind, count in tries.items() if kind != "ok"},
        "last_error": lane.last_error,
        "last_error_age_s": wall_time - lane.last_error_at if lane.last_error else None,
    }
    cost, unknown = costs([(lane, model.route.prices is not None)])
    return {
        "model": model.settings.model,
        "model_key": model.settings.model_key,
        "total": counters.total,
        "selected": counters.selected,
        "done": counters.done,
        "outcomes": counters.counts(),
        "rate_now": counters.rate_now(now),
        "rate": counters.rate(now),
        "eta_s": None,
        "in_flight": asked,
        "to_retry": 0,
        **tokens,
        "cost_usd": cost,
        "failed_usd": lane.failed_usd,
        "assumed_usd": lane.assumed_usd,
        "unpriced": unknown,
        "projected_cost_usd": None if cost is None else counters.projected(cost, unknown),
        "asked_as": [model.route.model_id],
        "returned_models": dict(counters.returned_models),
        "other_models": others(counters.returned_models, [model.route.model_id]),
        "given_up": counters.given_up(),
        "ended": not open_batches,
        "failure": model.failure,
        "lanes": [shown_lane],
        "batches": [
            {"batch_id": batch.batch_id, "state": batch.state, "requests": batch.requests}
            for batch in open_batches
        ],
    }
