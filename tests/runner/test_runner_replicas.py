"""Replicas of one model: they share its work by cases, one may die, and all must be one model."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from runner_world import completion, fill_study, providers, rows, status

from evenhand.simulate import Latency, PromptBook, Script
from tests.servers.process import JudgeProcess

DOCUMENTS, VALUES = 60, 20
LONG = "本案事实如下。" * 60 + "{{sex}}"
LIMITS = {"in_flight": 8, "start_in_flight": 4}


def cached_share(study) -> float:
    ((cached, prompt),) = rows(study, "SELECT sum(cached_tokens), sum(prompt_tokens) FROM predictions")
    return cached / prompt


async def test_a_killed_replica_loses_nothing_and_the_prefix_cache_is_used_as_with_one(study, ask, tmp_path):
    import store

    queries = DOCUMENTS * VALUES
    script = Script(plain=True, latency=Latency(0.02), prefix_cache=True)
    with store.open_study(tmp_path / "alone.duckdb") as alone:
        fill_study(alone, DOCUMENTS, VALUES, text=LONG)
        book = PromptBook.of_study(alone)
        with JudgeProcess(script, book) as judge:
            from runner.lifecycle.options import Asked, RunOptions
            from runner.live.run import run

            entry = providers(a={"base_url": judge.base_url, "limits": LIMITS}).resolve("judge")
            options = RunOptions(monitor="none", serve_sql=False)
            await run(alone, [Asked(entry.settings(), entry)], None, options)
        share_alone = cached_share(alone)
    fill_study(study, DOCUMENTS, VALUES, text=LONG)
    with JudgeProcess(script, book) as one, JudgeProcess(script, book) as other:
        tables = providers(a={"replicas": [one.base_url, other.base_url], "limits": LIMITS})

        async def kill() -> None:
            for _ in range(1_000):
                if other.accounts()["served"] >= queries // 8:
                    break
                await asyncio.sleep(0.02)
            os.killpg(other.pid, signal.SIGKILL)

        killer = asyncio.create_task(asyncio.wait_for(kill(), 30))
        summary = await ask(tables)
        await killer
        served = one.accounts()["served"]
    assert summary.state == "finished"
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(queries, queries)]
    assert rows(study, "SELECT count(*) FROM failures") == [(0,)]
    by_lane = dict(rows(study, "SELECT served_by, count(*) FROM predictions GROUP BY 1"))
    assert len(by_lane) == 2, by_lane
    assert all("@127.0.0.1:" in name for name in by_lane)
    assert served >= queries * 0.6
    assert cached_share(study) > 0.9 * share_alone


async def test_two_replicas_share_the_cases(study, ask, serve):
    async def reply(call):
        await asyncio.sleep(0.01)
        return completion()

    servers = [await serve(reply), await serve(reply)]
    fill_study(study, 30, 5)
    tables = providers(a={"replicas": [server.base_url for server in servers], "limits": LIMITS})
    await ask(tables)
    counts = [len(server.calls) for server in servers]
    assert sum(counts) == 150
    assert min(counts) >= 45, counts
    homes = rows(
        study,
        "SELECT count(DISTINCT served_by) FROM predictions JOIN queries USING (query_id) GROUP BY doc_id",
    )
    assert sum(count == 1 for (count,) in homes) >= 28, "a case stays with one replica, but for the last"


async def test_a_replica_that_is_down_from_the_start_leaves_all_to_the_other(study, ask, serve):
    server = await serve()
    fill_study(study, 10, 3)
    tables = providers(a={"replicas": ["http://127.0.0.1:9/v1", server.base_url], "limits": LIMITS})
    summary = await ask(tables)
    assert summary.state == "finished"
    assert rows(study, "SELECT count(*) FROM predictions") == [(30,)]


async def test_a_replica_of_another_model_is_refused_and_its_answers_are_not_stored(study, ask, serve):
    async def other_model(call):
        await asyncio.sleep(0.05)
        return completion() | {"model": "another-9b"}

    right, wrong = await serve(), await serve(other_model)
    fill_study(study, 20, 4)
    tables = providers(a={"replicas": [right.base_url, wrong.base_url], "limits": LIMITS})
    summary = await ask(tables)
    assert rows(study, "SELECT returned_model, count(*) FROM predictions GROUP BY 1") == [
        ("judge-1-0613", 80)
    ]
    said = " ".join([summary.message, *summary.warnings])
    assert "replicas must serve one model" in said
    assert "another-9b" in said


async def test_all_replicas_down_is_waited_for_as_any_outage_is(study, ask, serve):
    down = {"now": False}
    answered = {"count": 0}

    def reply(call):
        if answered["count"] == 20 and not down["now"]:
            down["now"] = True
            asyncio.get_running_loop().call_later(
                1.0, lambda: down.update(now=False) or answered.update(count=99)
            )
        if down["now"]:
            return status(503)
        answered["count"] += 1
        return completion()

    servers = [await serve(reply), await serve(reply)]
    fill_study(study, 20, 4)
    tables = providers(a={"replicas": [server.base_url for server in servers], "limits": LIMITS})
    summary = await ask(tables)
    assert summary.state == "finished"
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(80, 80)]


@pytest.mark.parametrize("limit", [1, 7])
async def test_a_limit_and_a_second_run_work_with_replicas(study, ask, serve, limit):
    from store import Selection

    servers = [await serve(), await serve()]
    fill_study(study, 5, 4)
    tables = providers(a={"replicas": [server.base_url for server in servers]})
    await ask(tables, Selection(limit=limit))
    await ask(tables)
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(20, 20)]
