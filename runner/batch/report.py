"""What a person sees of a batch run: where it stands, as of any run, and in sentences how it ended."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.batch.model import BatchModel
from runner.batch.results import most_common
from runner.lifecycle.budget import Limit, never_fits, reached
from runner.lifecycle.options import RunSummary
from runner.lifecycle.stopping import Reason, Stop
from runner.providers.model_names import others
from runner.status.snapshot import costs, whole_run
from runner.status.summary import GO_ON, State, all_asked, counts, given_up, in_vain, warnings
from store.batches import Batch
from store.costs import Spent

if TYPE_CHECKING:
    from store.writer import Counters as WriterCounters

_SHOWN_BATCHES = 5


def summarise(
    run_id: uuid.UUID,
    stop: Stop,
    last: Mapping[str, Any],
    models: Sequence[BatchModel],
    *,
    pending: int,
    beyond: int,
    limit: Limit | None,
    spent: Spent,
    wanted: float,
) -> RunSummary:
    """The summary of a batch run whose last snapshot is `last`.

    Args:
        run_id: of the run.
        stop: whether it was to stop, and why.
        last: the last snapshot.
        models: what has become of each model.
        pending: what the selection still lacks, open batches included.
        beyond: what is still to ask beyond the selection's limit.
        limit: the limit of money that binds, if any.
        spent: what counts towards that limit: of this run, or of all runs.
        wanted: what the last query that the limit did not pay for might have cost.
    """
    left: Counter[str] = Counter()
    for model in models:
        left.update(model.left)
    going_on = [batch for model in models for batch in model.submitted()]
    failures = [f"{model.failure}." for model in models if model.failure]
    state: State = "finished"
    stopped_by: Reason = stop.reason
    goes_on = True
    unfetched = [
        _unfetched(model, batch, came) for model in models for batch, came in model.unfetched.items()
    ]
    if failures or unfetched:
        state, stopped_by, message = "failed", stopped_by or "failure", " ".join([*failures, *unfetched])
        goes_on = bool(failures)
    elif stopped_by:
        state, message = "interrupted", stop.message
    elif limit is not None and any(model.too_dear for model in models):
        state, goes_on = "interrupted", False
        if wanted > limit.usd:
            stopped_by = "failure"
            message = never_fits(limit, wanted, max(model.settings.max_tokens for model in models))
        else:
            stopped_by = "cost"
            message = reached(limit, spent, wanted)
    elif pending:
        state, stopped_by, message = "failed", "failure", f"{pending:,} queries are pending."
    else:
        message = all_asked(beyond, last["models"])
    if left and pending:
        message += f" Not answered: {most_common(left)}."
    if going_on:
        message += _at_the_providers(going_on)
    if stopped_by and (waits := [f"{model.name}: {one}" for model in models for one in model.waits_for()]):
        message += f" Not received yet: {'; '.join(waits[:_SHOWN_BATCHES])}."
    if not going_on and state != "finished" and goes_on:
        message += f" {GO_ON}"
    if stopped_by != "signal" and not going_on and any(map(in_vain, last["models"])):
        state, stopped_by = "failed", "failure"
    return RunSummary(
        run_id=run_id,
        state=state,
        message=" ".join([message, *given_up(last["models"])]),
        counts=counts(last["models"]),
        pending=pending,
        beyond=beyond,
        seconds=last["seconds"],
        cost_usd=last["cost_usd"] or 0.0,
        status=last,
        stopped_by=stopped_by,
        warnings=warnings(last["models"]),
    )


def _unfetched(model: BatchModel, batch: uuid.UUID, came: str) -> str:
    batch_id = model.open[batch].batch_id
    return (
        f"{model.name}: the results of batch {batch_id} could not be read: {came.rstrip('.')}. The batch "
        "stays open, so its queries are not sent, or paid for, twice. Run the same command again to fetch "
        f"the results. If the provider no longer has them, `evenhand runs --give-up-batch {batch_id}` closes "
        "the batch; its missing queries are then sent and charged again."
    )


def _at_the_providers(batches: Sequence[Batch]) -> str:
    names = ", ".join(f"{batch.provider} {batch.batch_id}" for batch in batches[:_SHOWN_BATCHES])
    left = len(batches) - _SHOWN_BATCHES
    more = f" and {left} others" if left > 0 else ""
    several = len(batches) > 1
    return (
        f" {'Batches' if several else 'A batch'} still open at the provider: {names}{more}. Run the same "
        f"command again to fetch {'their' if several else 'its'} results."
    )


def snapshot(
    models: Sequence[BatchModel], writer: WriterCounters, *, now: float, wall_time: float, **about: Any
) -> dict[str, Any]:
    """The whole run. `in_flight` is what open batches ask; what has to do with a pace is empty."""
    shown = [_model(model, now, wall_time) for model in models]
    return whole_run(shown, writer, about)


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
        **lane.endings(),
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
