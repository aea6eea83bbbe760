"""Where a run stands, as types: the same for the terminal, `--json`, the socket of a run, and Python.

Counts are rows unless a name says otherwise; `_s` are seconds, `_usd` US dollars. What is None while a run
goes on may be missing in a snapshot that was stored.
"""

from __future__ import annotations

from typing import TypedDict


class LaneStatus(TypedDict, total=False):
    """One provider, key and model."""

    lane: str
    in_flight: int
    limit: int
    p50_s: float | None
    p95_s: float | None
    refused: int
    """Replies with status 429."""
    errors: dict[str, int]
    outage: bool
    paused_s: float
    parked: str | None
    """Why it is not used any more."""
    unreached: str | None
    last_error: str | None
    last_error_age_s: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    is_replica: bool


class ModelStatus(TypedDict, total=False):
    """One model of a run."""

    model: str
    model_key: str
    selected: int
    total: int
    done: int
    outcomes: dict[str, int]
    rate: float
    """Rows a second over the run."""
    rate_now: float
    eta_s: float | None
    quiet_s: float | None
    """Since when nothing was settled, where that is long."""
    to_retry: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cost_usd: float | None
    projected_cost_usd: float | None
    failed_usd: float
    assumed_usd: float
    unpriced: int
    failure: str | None
    lanes: list[LaneStatus]


class WriterStatus(TypedDict, total=False):
    """The writer of the study."""

    backlog: int
    committed: int
    commits: int
    last_commit_s: float
    longest_commit_s: float
    error: str | None


class Status(TypedDict, total=False):
    """A run."""

    run_id: str
    state: str
    started_at: float
    seconds: float
    stopping: str | None
    max_cost: float | None
    max_total_cost: float | None
    max_hours: float | None
    models: list[ModelStatus]
    cost_usd: float | None
    failed_usd: float
    assumed_usd: float
    unpriced: int
    writer: WriterStatus
