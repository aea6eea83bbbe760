"""What a run is told, and what it tells at its end."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from runner.providers.file import ModelEntry
from runner.providers.settings import ModelSettings

MonitorKind = Literal["auto", "live", "lines", "json", "none"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A model to put the queries to: what is asked of it, and by which routes."""

    settings: ModelSettings
    entry: ModelEntry


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run behaves. None of this changes an answer, and none of it is part of a model's key."""

    repeats: int = 1
    retry_outcomes: Sequence[str] = ()
    """Ask those again whose newest outcome is one of these (failed, empty, refused, truncated, ...)."""
    max_cost: float | None = None
    """US dollars over all models of this run; what is in flight is reserved at its dearest."""
    max_total_cost: float | None = None
    """US dollars over all runs of the study, live and by batch, with what failed tries cost."""
    max_hours: float | None = None
    retry_truncated: int | None = None
    """Ask a truncated answer once more with this max_tokens."""
    max_tries: int = 6
    """Tries that a query may spend; more where requests fail by chance so often that as many failures in a
    row mean nothing. 429 and 529 spend none, nor does an outage of the whole lane."""
    give_up_slow: bool = False
    """Give up requests that take much longer than all others where that may cost money too."""
    drain_s: float = 30.0
    """After a stop: how long answers on their way are waited for."""
    longest_pause_s: float = 3600.0
    """A lane that a provider sends away for longer than this is given up for this run."""
    outage_s: float = 1800.0
    """A lane that has had nothing but errors for this long is given up for this run."""
    stall_s: float = 600.0
    """With requests in flight and no event for this long, they are cut off and asked again."""
    in_flight: int | None = None
    """An upper bound on the open requests of each lane, below that of the file."""
    monitor: MonitorKind = "auto"
    serve_sql: bool = True
    """Answer read-only SQL on the study's socket while running."""
    handle_signals: bool = True
    """Stop in good order at SIGINT, SIGTERM and SIGHUP. Off where a program has handlers of its own."""
    on_status: Callable[[Mapping[str, Any]], None] | None = None
    """Hears where the run stands, about twice a second, in a thread of its own; see `runner.status.typed`."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did."""

    run_id: uuid.UUID | None
    state: Literal["finished", "interrupted", "failed"]
    message: str
    """Why it ended, in a sentence, and how to go on."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Stored rows by outcome, over all models."""
    pending: int = 0
    """What the selection still lacks."""
    beyond: int = 0
    """What is still to ask beyond the selection's limit."""
    seconds: float = 0.0
    cost_usd: float = 0.0
    status: Mapping[str, Any] = field(default_factory=dict)
    """The last snapshot of the monitor."""
    warnings: Sequence[str] = ()
    """What is stored and yet may not be what was wanted."""

    stopped_by: Literal["", "signal", "cost", "hours", "failure"] = ""
    """What ended it before all was asked."""

    @property
    def exit_code(self) -> int:
        """0 when all was asked or the user's limit ended it, 1 when it could not go on, 130 after Ctrl-C."""
        return {"failure": 1, "signal": 130}.get(self.stopped_by, 0)
