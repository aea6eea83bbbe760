"""Where a run stands, as one plain dictionary: for the monitor, `evenhand status` and the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.lifecycle.failure_policy import RULES, ForLane
from runner.live.lane import Lane
from runner.live.model_run import ModelRun
from runner.providers.model_names import others
from runner.status.snapshot import costs, whole_run

if TYPE_CHECKING:
    from store.writer import Counters as WriterCounters

_REFUSED = [kind for kind, rule in RULES.items() if rule.lane is ForLane.TOO_MUCH]
_NO_ERRORS = {"ok", *_REFUSED}


def snapshot_of_lane(
    lane: Lane, now: float, wall_time: float, request_tokens: float | None = None
) -> dict[str, Any]:
    """One lane: its limits now, and what went through it."""
    counters = lane.counters
    tries = counters.tries()
    return {
        "lane": lane.name,
        "in_flight": lane.in_flight,
        "limit": lane.slots.limit,
        "paused_s": max(lane.away_until - now, 0.0),
        "outage": lane.outage and not lane.refusing,
        "parked": lane.parked,
        "is_replica": bool(lane.route.replicas),
        "unreached": lane.unreached,
        "gives_up_s": max(lane.gives_up_at - now, 0.0) if lane.unreached and not lane.parked else None,
        "requests_per_minute": lane.requests.per_minute if lane.requests else None,
        "tokens_per_minute": lane.tokens.per_minute if lane.tokens else None,
        "request_tokens": request_tokens if lane.tokens else None,
        "p50_s": counters.latencies.quantile(0.5),
        "p95_s": counters.latencies.quantile(0.95),
        "prompt_tokens": counters.prompt_tokens,
        "cached_tokens": counters.cached_tokens,
        "completion_tokens": counters.completion_tokens,
        "cost_usd": counters.cost_usd,
        "failed_usd": counters.failed_usd,
        "assumed_usd": counters.assumed_usd,
        "unpriced": counters.unpriced,
        **counters.endings(),
        "tries": tries,
        "refused": sum(tries.get(kind, 0) for kind in _REFUSED),
        "errors": {kind: count for kind, count in tries.items() if kind not in _NO_ERRORS},
        "last_error": counters.last_error,
        "last_error_age_s": wall_time - counters.last_error_at if counters.last_error else None,
    }


def request_tokens(run: ModelRun, lane: Lane) -> float:
    """About what a lane's token limit counts for a request, from the answers so far.

    Before the first of them that is the most of an answer alone, so it is never too much.
    """
    counted = [one.counters for one in run.router.lanes]
    answers = sum(one.answers for one in counted)
    prompt = sum(one.prompt_tokens for one in counted) / answers if answers else 0.0
    return prompt + lane.completion_tokens(run.settings.max_tokens)


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
    lanes = [snapshot_of_lane(lane, now, wall_time, request_tokens(run, lane)) for lane in run.router.lanes]
    latency = max((lane["p95_s"] for lane in lanes if lane["p95_s"] is not None), default=None)
    ended = run.done.is_set()
    left = counters.total - counters.done
    cost, unknown = costs([(lane.counters, lane.route.prices is not None) for lane in run.router.lanes])
    return {
        "model": run.settings.model,
        "model_key": run.settings.model_key,
        "total": counters.total,
        "selected": counters.selected,
        "done": counters.done,
        "outcomes": counters.counts(),
        "rate_now": counters.rate_now(now),
        "rate": counters.rate(now),
        "eta_s": None if ended and left else counters.eta_s(now, latency),
        "quiet_s": None if ended or not left else counters.quiet_s(now, latency),
        "in_flight": run.in_flight,
        "to_retry": run.backlog.to_retry,
        "prompt_tokens": sum(lane["prompt_tokens"] for lane in lanes),
        "cached_tokens": sum(lane["cached_tokens"] for lane in lanes),
        "completion_tokens": sum(lane["completion_tokens"] for lane in lanes),
        "cost_usd": cost,
        "failed_usd": sum(lane["failed_usd"] for lane in lanes),
        "assumed_usd": sum(lane["assumed_usd"] for lane in lanes),
        "unpriced": unknown,
        "projected_cost_usd": None if cost is None else counters.projected(cost, unknown),
        "asked_as": asked_as(run),
        "returned_models": dict(counters.returned_models),
        "other_models": other_models(run),
        "given_up": counters.given_up(),
        "ended": ended,
        "failure": run.failure,
        "lanes": lanes,
    }


def snapshot(
    runs: Sequence[ModelRun], writer: WriterCounters, *, now: float, wall_time: float, **about: Any
) -> dict[str, Any]:
    """The whole run. `about` is what the caller knows of it: its id, state, start, limits."""
    models = [snapshot_of_model(run, now, wall_time) for run in runs]
    return whole_run(models, writer, about)
