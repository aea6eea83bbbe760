"""A strict server's limits are filled and hardly passed, from the first second on. Minutes long: soak."""

from __future__ import annotations

import asyncio

import pytest
from runner_world import fill_study, providers

from evenhand.simulate import Latency, PromptBook, Script
from tests.servers.faults import FaultPlan
from tests.servers.limits import ServerLimits
from tests.servers.process import JudgeProcess

MINUTES = 3


@pytest.mark.soak
@pytest.mark.parametrize(
    ("what", "limits", "queries"),
    [
        ("requests", ServerLimits(requests=3_000), 9_600),
        ("requests, few", ServerLimits(requests=60), 400),
        ("tokens reserved", ServerLimits(tokens=600_000, counts="reserved"), 7_000),
        ("tokens used", ServerLimits(tokens=120_000, counts="used"), 9_000),
    ],
)
async def test_a_strict_limit_is_filled_for_minutes_and_not_passed(study, ask, what, limits, queries):
    fill_study(study, documents=queries // 20, values=20)
    script = Script(plain=True, latency=Latency(0.4, spread=0.5))
    with JudgeProcess(script, PromptBook.of_study(study), FaultPlan(limits=limits)) as judge:
        own = {"requests_per_minute": limits.requests, "tokens_per_minute": limits.tokens}
        table = {"counts": limits.counts, **{name: value for name, value in own.items() if value}}
        summary = await ask(
            providers(a={"base_url": judge.base_url, "limits": table}),
            settings={"max_tokens": 256},
            within_s=60 * MINUTES + 60,
            max_hours=(60 * MINUTES + 2) / 3600,
        )
        kinds = (await asyncio.to_thread(judge.accounts))["kinds"]
    assert summary.stopped_by == "hours", "too few queries to fill three minutes"
    model = summary.status["models"][0]
    refused = kinds.get("limit_requests", 0) + kinds.get("limit_tokens", 0)
    answered = kinds["answered"]
    if limits.requests:
        used, limit = answered, limits.requests
    elif limits.counts == "used":
        used, limit = model["prompt_tokens"] + model["completion_tokens"], limits.tokens
    else:
        used, limit = model["prompt_tokens"] + 256 * answered, limits.tokens
    share = used / (limit * summary.seconds / 60)
    print(
        f"\n{what}: {share:.1%} of {limit:,} a minute used over {summary.seconds:.0f} s, "
        f"{refused} of {answered + refused:,} requests refused ({refused / (answered + refused):.2%})"
    )
    assert share >= 0.97
    assert refused / (answered + refused) < 0.005
