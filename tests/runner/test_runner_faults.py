"""Through a server on which all goes wrong, every query comes to one end, and none is answered twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runner_world import fill_study, providers, rows

import store
from evenhand.simulate import PromptBook, Script
from evenhand.simulate.prompts import digest
from tests.servers.faults import DeadKey, FaultPlan, Outage
from tests.servers.ledger import prompt_key
from tests.servers.limits import ServerLimits
from tests.servers.process import JudgeProcess

KEYS = {"FAULT_KEY_A": "planted-aaaa", "FAULT_KEY_B": "planted-bbbb"}


def plan(queries: int) -> FaultPlan:
    """All faults at once; strict limits; the model gone for a while; one of two keys dying on the way."""
    return FaultPlan(
        seed=11,
        rate=0.15,
        content_filter=0.01,
        empty=0.01,
        truncated=0.01,
        wait_s=0.05,
        hang_s=30.0,
        drip_s=0.4,
        limits=ServerLimits(requests=60_000, tokens=40_000_000),
        outages=(Outage(1.0, 3.0, "model_gone"), Outage(5.0, 6.0, "error_503")),
        dead_keys=(DeadKey(KEYS["FAULT_KEY_A"], after=queries // 4),),
        echo_key=True,
    )


async def go_through(study: store.Study, ask: Any, queries: int) -> dict[str, Any]:
    fill_study(study, documents=queries // 20, values=20)
    book = PromptBook.of_study(study)
    prompts = [query.user_text for query in store.pending(study, "0" * 32)]
    assert len(prompts) == queries
    with JudgeProcess(Script(plain=True), book, plan(queries)) as judge:
        table = {
            "base_url": judge.base_url,
            "keys": list(KEYS),
            "limits": {
                "requests_per_minute": 60_000,
                "tokens_per_minute": 40_000_000,
                "in_flight": 64,
                "start_in_flight": 32,
            },
            "timeouts": {"connect": 2, "first_byte": 1.5, "total": 3},
        }
        summary = await ask(providers(a=table), settings={"max_tokens": 256}, within_s=60 + queries / 20)
        accounts = await asyncio.to_thread(judge.accounts, full=True)
    assert summary.state == "finished", summary.message
    assert sum(summary.counts.values()) == queries
    keys = [prompt_key(digest(text.encode()), None) for text in prompts]
    assert len(set(keys)) == queries
    accounts["keys"] = keys
    accounts["summary"] = summary
    return accounts


def check(study: store.Study, accounts: dict[str, Any], queries: int) -> None:
    terminal = "(SELECT query_id, outcome FROM predictions UNION ALL SELECT query_id, outcome FROM failures)"
    assert rows(study, f"SELECT count(*), count(DISTINCT query_id) FROM {terminal}") == [(queries, queries)]
    stored = dict(rows(study, f"SELECT outcome, count(*) FROM {terminal} GROUP BY 1"))
    assert stored == accounts["summary"].counts
    served = accounts["kinds"]
    print(f"\n{queries} queries, {accounts['replies']} replies by kind: {served}")
    print(f"in {accounts['summary'].seconds:.0f} s, stored: {stored}")
    assert accounts["settled_twice"] == 0
    for kind, outcome in (("content_filter", "refused"), ("empty", "empty"), ("truncated", "truncated")):
        assert stored[outcome] == served[kind]
    assert stored.get("failed", 0) <= queries * 0.002
    assert {"error_500", "reset_before", "reset_during", "html", "not_json", "drip", "model_gone"} <= set(
        served
    )
    tries = dict(rows(study, "SELECT kind, sum(count)::INT FROM attempts GROUP BY 1"))
    assert {"ok", "rate_limited", "overloaded", "server_error", "connection", "bad_body", "timeout"} <= set(
        tries
    )
    leaks = rows(study, "SELECT count(*) FROM failures WHERE contains(reason, 'planted')")
    assert leaks == [(0,)]
    assert "planted" not in rows(study, "SELECT manifest::VARCHAR FROM runs")[0][0]


async def test_every_query_comes_to_one_end(study, ask, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    accounts = await go_through(study, ask, 2_000)
    check(study, accounts, 2_000)


@pytest.mark.soak
async def test_twenty_thousand_queries_come_to_one_end(study, ask, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    accounts = await go_through(study, ask, 20_000)
    check(study, accounts, 20_000)
