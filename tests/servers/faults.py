"""What can go wrong at a provider, scripted and seeded; `fault_replies` says how it looks on the wire.

Whether a try fails is drawn from a hash of (seed, prompt, faults it met before), so that faults are the same
whatever order the requests come in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

from tests.servers.ledger import Ledger
from tests.servers.limits import Charge, ServerLimits, Window

EVERY_KIND: Mapping[str, float] = {
    "rate_limited": 2.0,
    "rate_limited_wait": 2.0,
    "error_500": 2.0,
    "error_502": 1.0,
    "error_503": 2.0,
    "error_529": 1.0,
    "reset_before": 1.0,
    "reset_during": 1.0,
    "hang": 0.2,
    "drip": 0.5,
    "cut_body": 1.0,
    "not_json": 1.0,
    "html": 0.5,
    "empty_body": 0.5,
    "no_choices": 0.5,
    "wrong_content_type": 0.5,
}
"""Faults of a single try and how often each comes, relative to the others."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A while in which the model is not there (404) or all is down (503); seconds after the first request."""

    start_s: float
    end_s: float
    kind: Literal["model_gone", "error_503"] = "model_gone"
    model: str | None = None
    """Of this model only."""


@dataclass(frozen=True, slots=True)
class DeadKey:
    """A key that is refused after so many requests were admitted with it."""

    key: str
    after: int
    form: Literal["invalid", "forbidden", "no_quota", "no_balance"] = "invalid"


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """What goes wrong.

    Args:
        seed: of all draws.
        rate: the share of tries that meet a fault of `kinds`.
        kinds: relative frequencies.
        worst: the most such faults that one prompt meets; afterwards it is served, so that every run can end.
        content_filter, empty, truncated: shares of prompts that always get this reply.
        context_tokens: prompt + max_tokens beyond it are refused as too long.
        limits: for each key and model.
        outages: periods in which nothing works.
        dead_keys: keys that die.
        wait_s: what a 429 with Retry-After asks for.
        hang_s: a hanging request is dropped after so long, if the client does not leave before.
        drip_s: how long a slow reply takes.
        echo_key: put the API key into the text of errors, as some providers do.
    """

    seed: int = 0
    rate: float = 0.0
    kinds: Mapping[str, float] = field(default_factory=lambda: dict(EVERY_KIND))
    worst: int = 3
    content_filter: float = 0.0
    empty: float = 0.0
    truncated: float = 0.0
    context_tokens: int | None = None
    limits: ServerLimits | None = None
    outages: tuple[Outage, ...] = ()
    dead_keys: tuple[DeadKey, ...] = ()
    wait_s: float = 1.0
    hang_s: float = 3600.0
    drip_s: float = 2.0
    echo_key: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to one try: the kind of reply, and the headers that belong to it."""

    kind: str
    headers: Mapping[str, str] = field(default_factory=dict)
    charge: Charge | None = None
    form: str = ""
    """Which death a dead key died."""


class Faults:
    """A plan at work: remembers what was admitted."""

    def __init__(self, plan: FaultPlan, ledger: Ledger) -> None:
        self.plan = plan
        self.windows: dict[tuple[str, str], Window] = {}
        self._ledger = ledger
        self._names = list(plan.kinds)
        total = sum(plan.kinds.values()) or 1.0
        self._edges = [edge / total for edge in accumulate(plan.kinds.values())]
        self._first: float | None = None
        self._dead = {dead.key: dead for dead in plan.dead_keys}
        self._uses: dict[str, int] = {}

    def judge(
        self, key: int, api_key: str, model: str, prompt_tokens: int, max_tokens: int, now: float
    ) -> Verdict:
        """What happens to this try. `now`: seconds of a steady clock."""
        plan = self.plan
        if self._first is None:
            self._first = now
        dead = self._dead.get(api_key)
        if dead is not None and self._uses.get(api_key, 0) >= dead.after:
            return Verdict("key_dead", form=dead.form)
        for outage in plan.outages:
            if outage.model in (None, model) and outage.start_s <= now - self._first < outage.end_s:
                return Verdict(outage.kind)
        charge: Charge | None = None
        headers: Mapping[str, str] = {}
        if plan.limits is not None:
            window = self.windows.setdefault((api_key, model), Window(plan.limits))
            admitted = window.admit(now, prompt_tokens, max_tokens)
            if not isinstance(admitted, Charge):
                return Verdict(f"limit_{admitted}", window.retry_headers(now, admitted))
            charge = admitted
            headers = window.headers(now)
        self._uses[api_key] = self._uses.get(api_key, 0) + 1
        if plan.context_tokens is not None and prompt_tokens + max_tokens > plan.context_tokens:
            return Verdict("context_overflow", headers, charge)
        return Verdict(self._kind(key), headers, charge)

    def settle(self, api_key: str, model: str, charge: Charge | None, used: int, now: float) -> None:
        """Tell the limits what a request really used."""
        if charge is not None:
            self.windows[api_key, model].settle(charge, used, now)

    def _kind(self, key: int) -> str:
        plan = self.plan
        met = self._ledger.faults(key)
        if plan.rate > 0 and met < plan.worst:
            chance = _uniform(plan.seed, key, met)
            if chance < plan.rate:
                share = chance / plan.rate
                return next(name for name, edge in zip(self._names, self._edges, strict=True) if share < edge)
        chance = _uniform(plan.seed, key, -1)
        for name, share in (
            ("content_filter", plan.content_filter),
            ("empty", plan.empty),
            ("truncated", plan.truncated),
        ):
            chance -= share
            if chance < 0:
                return name
        return "answered"


def _uniform(seed: int, key: int, number: int) -> float:
    word = hashlib.blake2b(f"{seed},{key},{number}".encode(), digest_size=6).digest()
    return int.from_bytes(word) * 2.0**-48
