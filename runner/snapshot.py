"""Where a run stands, as one plain dictionary: for the monitor, `evenhand status` and the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.lane import Lane
from runner.model_names import others
from runner.model_run import ModelRun
from runner.outcome import REQUEUED

if TYPE_CHECKING:
    from store.writer import Counters as WriterCounters

_NO_ERRORS = {"ok", *REQUEUED}


def snapshot_of_lane(lane: Lane, now: float, wall_time: float) -> dict[str, Any]:
    """One lane: its limits now, and what went through it."""
    counters = lane.counters
    tries = counters.tries()
    return {
        "lane": lane.name,
        "in_flight": lane.in_flight,
        "limit": lane.limit.limit,
        "ceiling": lane.limit.ceiling,
        "paused_s": max(lane.paused_until - now, 0.0),
        "outage": lane.outage,
        "parked": lane.parked,
        "requests_per_minute": lane.requests.per_minute if lane.requests else None,
        "tokens_per_minute": lane.tokens.per_minute if lane.tokens else None,
        "p50_s": counters.latencies.quantile(0.5),
        "p95_s": counters.latencies.quantile(0.95),
        "prompt_tokens": counters.prompt_tokens,
        "cached_tokens": counters.cached_tokens,
        "completion_tokens": counters.completion_tokens,
        "cost_usd": counters.cost_usd,
        "tries": tries,
        "refused": sum(tries.get(kind, 0) for kind in REQUEUED),
        "errors": {kind: count for kind, count in tries.items() if kind not in _NO_ERRORS},
        "last_error": counters.last_error,
        "last_error_age_s": wall_time - counters.last_error_at if counters.last_error else None,
    }


def asked_as(run: ModelRun) -> list[str]:
    """The model's names at its providers. A server that we started ourselves has no other model."""
    routes = [lane.route for lane in run.router.lanes if lane.route.kind in ("api", "vllm")]
    return list(dict.fromkeys(route.model_id for route in routes))


def other_models(run: ModelRun) -> dict[str, int]:
    """Models that answered in the place of the one that was asked, with how often."""
    asked = asked_as(run)
    return others(run.counters.returned_models, asked) if asked else {}


def snapshot_of_model(run: ModelRun, now: float, wall_time: float) -> dict[str, Any]:
    """One model: how far it is, how fast, at what cost."""
    counters = run.counters
    lanes = [snapshot_of_lane(lane, now, wall_time) for lane in run.router.lanes]
    cost = sum(lane["cost_usd"] for lane in lanes)
    priced = all(lane.route.prices is not None for lane in run.router.lanes)
    return {
        "model": run.settings.model,
        "model_key": run.settings.model_key,
        "total": counters.total,
        "selected": counters.selected,
        "done": counters.done,
        "outcomes": counters.counts(),
        "rate_now": counters.rate_now(now),
        "rate": counters.rate(now),
        "eta_s": counters.eta_s(now),
        "in_flight": run.in_flight,
        "to_retry": run.backlog.to_retry,
        "prompt_tokens": sum(lane["prompt_tokens"] for lane in lanes),
        "cached_tokens": sum(lane["cached_tokens"] for lane in lanes),
        "completion_tokens": sum(lane["completion_tokens"] for lane in lanes),
        "cost_usd": cost if priced else None,
        "projected_cost_usd": counters.projected(cost) if priced else None,
        "asked_as": asked_as(run),
        "returned_models": dict(counters.returned_models),
        "other_models": other_models(run),
        "given_up": counters.given_up(),
        "ended": run.done.is_set(),
        "failure": run.failure,
        "lanes": lanes,
    }


def snapshot(
    runs: Sequence[ModelRun], writer: WriterCounters, *, now: float, wall_time: float, **about: Any
) -> dict[str, Any]:
    """The whole run. `about` is what the caller knows of it: its id, state, start, limits."""
    models = [snapshot_of_model(run, now, wall_time) for run in runs]
    return {
        **about,
        "models": models,
        "cost_usd": sum(model["cost_usd"] or 0.0 for model in models),
        "writer": {
            "backlog": writer.backlog,
            "committed": writer.committed,
            "commits": writer.commits,
            "last_commit_s": writer.last_commit_s,
            "longest_commit_s": writer.longest_commit_s,
            "error": writer.error,
        },
    }
