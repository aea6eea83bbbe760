"""How a batch run ended, in sentences: what is missing, why, what goes on at the providers."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from runner.batch.model import BatchModel
from runner.batch.words import most_common
from runner.lifecycle.budget import never_fits
from runner.lifecycle.options import RunSummary
from runner.lifecycle.stopping import Reason, Stop
from runner.status.summary import GO_ON, State, all_asked, counts, given_up, in_vain, warnings
from store.batches import Batch

_SHOWN_BATCHES = 5


def summarise(
    run_id: uuid.UUID,
    stop: Stop,
    last: Mapping[str, Any],
    models: Sequence[BatchModel],
    *,
    pending: int,
    beyond: int,
    limit: float | None,
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
        limit: --max-cost, in US dollars.
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
    if failures:
        state, stopped_by, message = "failed", stopped_by or "failure", " ".join(failures)
    elif stopped_by:
        state, message = "interrupted", stop.message
    elif limit is not None and any(model.too_dear for model in models):
        state, goes_on = "interrupted", wanted <= limit
        stopped_by = "cost" if goes_on else "failure"
        message = f"Stopped at --max-cost {limit:g}: more could cost more than that."
        if not goes_on:
            message = never_fits(limit, wanted, max(model.settings.max_tokens for model in models))
    elif pending:
        state, stopped_by, message = "failed", "failure", f"{pending:,} are still to ask."
    else:
        message = all_asked(beyond)
    if left and pending:
        message += f" Not answered: {most_common(left)}."
    if going_on:
        message += _at_the_providers(going_on)
    elif state != "finished" and goes_on:
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


def _at_the_providers(batches: Sequence[Batch]) -> str:
    names = ", ".join(f"{batch.provider} {batch.batch_id}" for batch in batches[:_SHOWN_BATCHES])
    left = len(batches) - _SHOWN_BATCHES
    more = f" and {left} others" if left > 0 else ""
    return f" At the providers {names}{more} goes on; the same command fetches what it brings."
