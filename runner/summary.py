"""How a run ended, in a sentence that says how to go on."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from runner.options import RunSummary
from runner.stopping import Stop

_GO_ON = "The same command goes on where it stopped."


def summarise(run_id: uuid.UUID, stop: Stop, last: Mapping[str, Any]) -> RunSummary:
    """The summary of a run whose last snapshot is `last`."""
    counts: Counter[str] = Counter()
    for model in last["models"]:
        counts.update(model["outcomes"])
    pending = sum(model["total"] - model["done"] for model in last["models"])
    failures = [model["failure"] for model in last["models"] if model["failure"]]
    state: Literal["finished", "interrupted", "failed"] = "finished"
    stopped_by = stop.reason
    if failures:
        state, stopped_by = "failed", stopped_by or "failure"
        message = " ".join(f"{failure}." for failure in failures) + f" {_GO_ON}"
    elif stop.reason:
        state, message = "interrupted", f"{stop.message} {_GO_ON}"
    elif pending:
        state, stopped_by, message = "failed", "failure", f"{pending:,} were not asked. {_GO_ON}"
    else:
        message = "All is asked."
        if given_up := counts["failed"]:
            message += f" {given_up:,} failed; --retry failed asks them again."
    return RunSummary(
        run_id=run_id,
        state=state,
        message=message,
        counts=dict(counts),
        pending=pending,
        seconds=last["seconds"],
        cost_usd=last["cost_usd"],
        status=last,
        stopped_by=stopped_by,
    )
