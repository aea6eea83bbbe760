"""Whole runs against a scripted server: what is asked, stored, retried, and what ends a run."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import itertools
import json
import os
import random
import re
import signal
import time

import pytest
from aiohttp import web
from rich.console import Console
from runner_world import completion, fill_study, providers, rows, status

import store
from runner.lifecycle.options import Asked, RunOptions
from runner.live import first_answer
from runner.live import run as running
from runner.live.run import run
from runner.providers.file import Providers
from runner.providers.schema import File
from runner.providers.urls import proxy_for
from runner.status.monitor import key_values, tables
from runner.transport.deadlines import Deadlines
from runner.transport.http import http_transports
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.port import Sent
from runner.transport.redact import Redactor
from store.errors import BadInput, RunFailed


async def test_every_query_is_asked_once_and_stored_whole(study, serve, ask):
    ids = fill_study(study, documents=20, values=5)
    server = await serve(
        lambda call: completion(prompt_tokens=70, prompt_tokens_details={"cached_tokens": 30})
    )
    summary = await ask(
        providers(
            a={"base_url": server.base_url, "offer": {"prices": {"input": 1, "cached": 0.5, "output": 10}}}
        ),
        settings={"seed": 4, "temperature": 0.5},
    )
    assert (summary.state, summary.exit_code, summary.pending) == ("finished", 0, 0)
    assert summary.counts == {"answered": 100}
    assert len(server.calls) == 100
    found = rows(study, "SELECT query_id::VARCHAR, * EXCLUDE (query_id) FROM predictions")
    assert sorted(row[0] for row in found) == sorted(ids)
    columns = "outcome, text, finish_reason, prompt_tokens, cached_tokens, completion_tokens, served_by, "
    columns += "returned_model, fingerprint, repeat"
    assert rows(study, f"SELECT DISTINCT {columns} FROM predictions") == [
        ("answered", "有期徒刑六个月", "stop", 70, 30, 5, "a/judge-1", "judge-1-0613", "fp_1", 0)
    ]
    cost = (40 * 1 + 30 * 0.5 + 5 * 10) / 1e6
    assert rows(study, "SELECT min(cost_usd), max(cost_usd), min(latency_s) > 0 FROM predictions") == [
        (pytest.approx(cost), pytest.approx(cost), True)
    ]
    assert summary.cost_usd == pytest.approx(100 * cost)
    body = server.calls[0].body
    assert body["model"] == "judge-1"
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.5, 4, 2048)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "{{" not in server.calls[0].prompt
    assert rows(study, "SELECT kind, state FROM runs") == [("run", "finished")]
    assert rows(study, "SELECT served_by, kind, count FROM attempts") == [("a/judge-1", "ok", 100)]


async def test_asking_again_asks_nothing(study, serve, ask):
    fill_study(study, 2, 3)
    server = await serve()
    tables = providers(a={"base_url": server.base_url})
    await ask(tables)
    again = await ask(tables)
    assert len(server.calls) == 6
    assert (again.run_id, again.state) == (None, "finished")
    assert rows(study, "SELECT count(*) FROM runs") == [(1,)]


async def test_documents_go_out_together_in_order(study, serve, ask):
    fill_study(study, 6, 4)
    server = await serve()
    await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 1}}))
    documents = [call.prompt.split("号")[0] for call in server.calls]
    assert [name for name, _ in itertools.groupby(documents)] == list(dict.fromkeys(documents))


async def test_repeats_ask_each_query_so_often_with_seeds_of_their_own(study, serve, ask):
    fill_study(study, 2, 2)
    server = await serve()
    summary = await ask(providers(a={"base_url": server.base_url}), settings={"seed": 10}, repeats=3)
    assert summary.counts == {"answered": 12}
    assert sorted({call.body["seed"] for call in server.calls}) == [10, 11, 12]
    assert rows(study, "SELECT repeat, count(*) FROM predictions GROUP BY 1 ORDER BY 1") == [
        (0, 4),
        (1, 4),
        (2, 4),
    ]


async def test_outcomes_are_stored_as_what_they_are_and_can_be_asked_again(study, serve, ask):
    fill_study(study, 1, 6)

    def reply(call):
        value = call.prompt.split("值")[1][0]
        return {
            "0": completion(),
            "1": completion("", "stop"),
            "2": completion("三年", "length"),
            "3": completion("", "content_filter"),
            "4": status(400, {"error": {"code": "context_length_exceeded", "message": "too long"}}),
            "5": status(400, {"error": {"message": "no"}}),
        }[value]

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url})
    summary = await ask(tables)
    assert summary.counts == {
        "answered": 1, "empty": 1, "truncated": 1, "refused": 1, "context_overflow": 1, "rejected": 1,
    }  # fmt: skip
    assert rows(study, "SELECT outcome, reason, status FROM failures ORDER BY 1") == [
        ("context_overflow", "context_overflow: too long", 400),
        ("rejected", "rejected: no", 400),
    ]
    assert len(server.calls) == 6
    server.reply = lambda call: completion()
    again = await ask(tables, retry_outcomes=("empty", "rejected"))
    assert again.counts == {"answered": 2}
    assert rows(study, "SELECT outcome, count(*) FROM latest GROUP BY 1 ORDER BY 1") == [
        ("answered", 3), ("context_overflow", 1), ("refused", 1), ("truncated", 1),
    ]  # fmt: skip


async def test_a_truncated_answer_is_asked_once_more_with_more_tokens(study, serve, ask):
    fill_study(study, 1, 2)

    def reply(call):
        long = "值1" in call.prompt or call.body["max_tokens"] < 100
        return completion("半", "length") if long else completion("全文")

    server = await serve(reply)
    await ask(providers(a={"base_url": server.base_url}), settings={"max_tokens": 50}, retry_truncated=200)
    assert sorted(call.body["max_tokens"] for call in server.calls) == [50, 50, 200, 200]
    assert rows(study, "SELECT outcome, text FROM predictions ORDER BY 1") == [
        ("answered", "全文"), ("truncated", "半"),
    ]  # fmt: skip


async def test_passing_errors_are_retried_and_counted(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 10, 4)
    seen: dict[str, int] = {}

    def reply(call):
        tries = seen[call.prompt] = seen.get(call.prompt, 0) + 1
        if tries > 1:
            return completion()
        return [
            status(500), status(502), web.Response(text="<html>", content_type="text/html"),
            {"choices": []}, web.Response(body=b'{"choices": [{"mes', content_type="application/json"),
            completion(),
        ][call.number % 6]  # fmt: skip

    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert summary.counts == {"answered": 40}
    tries = dict(rows(study, "SELECT kind, count FROM attempts"))
    assert tries["ok"] == 40
    assert {"server_error", "bad_body", "no_choices"} <= set(tries)
    assert sum(tries.values()) == len(server.calls)


async def test_a_query_that_always_fails_is_given_up_after_its_tries(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.001)
    fill_study(study, 10, 4)
    server = await serve(
        lambda call: status(500) if "3号" in call.prompt and "值2" in call.prompt else completion()
    )
    summary = await ask(providers(a={"base_url": server.base_url}), max_tries=3)
    assert summary.counts == {"answered": 39, "failed": 1}
    assert "--retry failed" in summary.message
    poison = [call for call in server.calls if "3号" in call.prompt and "值2" in call.prompt]
    assert len(poison) == 3
    assert rows(study, "SELECT outcome, reason, status FROM failures") == [
        ("failed", "server_error: status 500", 500)
    ]


async def test_refusals_for_rate_cost_no_try_and_retry_after_is_kept(study, serve, ask):
    fill_study(study, 5, 4)
    until = {"time": 0.0, "refused": 0}

    def reply(call):
        if call.number == 5:
            until["time"] = call.at + 0.6
        if call.at < until["time"]:
            until["refused"] += 1
            return status(429, **{"Retry-After": "0.6"})
        return completion()

    server = await serve(reply)
    summary = await ask(
        providers(a={"base_url": server.base_url, "limits": {"in_flight": 4, "start_in_flight": 4}}),
        max_tries=1,
    )
    assert summary.counts == {"answered": 20}
    assert 1 <= until["refused"] <= 9, "a few in a row are enough to see that the lane is meant"
    refused_at = server.calls[5].at
    later = [call.at for call in server.calls if call.at > refused_at + 0.1]
    assert min(later) >= refused_at + 0.55
    assert dict(rows(study, "SELECT kind, count FROM attempts"))["rate_limited"] == until["refused"]


async def test_remaining_zero_is_heeded_before_any_refusal(study, serve, ask):
    fill_study(study, 2, 2)

    def reply(call):
        headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"}
        return web.json_response(completion(), headers=headers if call.number == 0 else {})

    server = await serve(reply)
    await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 1}}))
    assert server.calls[1].at - server.calls[0].at >= 0.38


async def test_a_dead_key_is_parked_and_the_other_goes_on(study, serve, ask, monkeypatch):
    monkeypatch.setenv("KEY_A", "planted-aaaa-1")
    monkeypatch.setenv("KEY_B", "planted-bbbb-2")
    fill_study(study, 10, 4)
    server = await serve(
        lambda call: (
            status(401, {"error": {"message": f"bad key {call.key}"}}) if "aaaa" in call.key else completion()
        )
    )
    summary = await ask(providers(a={"base_url": server.base_url, "keys": ["KEY_A", "KEY_B"]}))
    assert summary.counts == {"answered": 40}
    dead = [call for call in server.calls if "aaaa" in call.key]
    assert len(dead) <= 8
    lanes = {lane["lane"]: lane for lane in summary.status["models"][0]["lanes"]}
    assert "KEY_A was refused (401)" in lanes["a[1]/judge-1"]["parked"]
    assert "planted" not in str(summary)
    assert lanes["a[2]/judge-1"]["parked"] is None


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (lambda call: status(402, {"error": {"message": "Insufficient Balance"}}), "no money or quota left"),
        (lambda call: status(403), "was refused"),
        (
            lambda call: status(429, {"error": {"code": "insufficient_quota", "message": "quota"}}),
            "no money or quota",
        ),
    ],
)
async def test_without_any_lane_the_run_ends_with_exit_code_1(study, serve, ask, monkeypatch, reply, words):
    monkeypatch.setenv("KEY_A", "planted-aaaa-1")
    fill_study(study, 3, 4)
    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url, "keys": ["KEY_A"]}))
    assert (summary.state, summary.exit_code, summary.pending) == ("failed", 1, 12)
    assert words in summary.message
    assert "to resume" in summary.message
    assert rows(study, "SELECT count(*) FROM failures") == [(0,)]
    assert rows(study, "SELECT state FROM runs") == [("failed",)]


async def test_failover_follows_the_file_and_the_row_says_who_served(study, serve, ask, monkeypatch):
    monkeypatch.setenv("KEY_A", "planted-aaaa-1")
    fill_study(study, 10, 4)
    first = await serve(lambda call: completion() if call.number < 10 else status(402))
    second = await serve()
    summary = await ask(
        providers(
            a={"base_url": first.base_url, "keys": ["KEY_A"], "limits": {"in_flight": 2}},
            b={"base_url": second.base_url, "offer": {"id": "other-name"}},
        )
    )
    assert summary.counts == {"answered": 40}
    served = dict(rows(study, "SELECT served_by, count(*) FROM predictions GROUP BY 1"))
    assert served == {"a/judge-1": 10, "b/other-name": 30}


async def test_while_the_first_provider_is_down_the_second_serves_and_then_the_first_again(
    study, serve, ask, monkeypatch
):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 150, 4)
    down = {"from": 40, "until": 0.0}

    async def flaky(call):
        await asyncio.sleep(0.005)
        if call.number == down["from"]:
            down["until"] = call.at + 0.5
        return status(503) if call.at < down["until"] else completion()

    async def slow(call):
        await asyncio.sleep(0.02)
        return completion()

    first, second = await serve(flaky), await serve(slow)
    limits = {"in_flight": 4, "start_in_flight": 4}
    summary = await ask(
        providers(
            a={"base_url": first.base_url, "limits": limits},
            b={"base_url": second.base_url, "limits": limits},
        )
    )
    assert summary.counts == {"answered": 600}
    served = dict(rows(study, "SELECT served_by, count(*) FROM predictions GROUP BY 1"))
    assert served["b/judge-1"] >= 20
    after = max(call.at for call in first.calls)
    assert after > down["until"], "the first provider must be tried again"
    assert served["a/judge-1"] > 100


async def test_an_outage_costs_queries_no_tries(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 25, 4)
    gone = {"until": 0.0}

    def reply(call):
        if call.number == 30:
            gone["until"] = call.at + 1.2
        return (
            status(404, {"error": {"code": "model_not_found"}}) if call.at < gone["until"] else completion()
        )

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url, "limits": {"in_flight": 8}})
    summary = await ask(tables, max_tries=1)
    assert summary.counts == {"answered": 100}
    assert len(server.calls) <= 100 + 8 + 6, "an outage is probed, not hammered"


async def test_a_model_that_was_never_there_ends_the_run_soon(study, serve, ask, monkeypatch):
    monkeypatch.setattr(first_answer, "NO_MODEL_S", 2.0)
    fill_study(study, 2, 2)
    server = await serve(lambda call: status(404, {"error": {"message": "The model judge-1 does not exist"}}))
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert (summary.exit_code, summary.pending) == (1, 4)
    assert "no such model for 2 s (HTTP 404: The model judge-1 does not exist); correct" in summary.message
    assert summary.seconds < 3


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_ends_the_run_soon_and_gets_no_key(study, serve, ask, monkeypatch, code):
    monkeypatch.setattr(first_answer, "REDIRECTED_S", 1.0)
    monkeypatch.setenv("A_KEY", "sk-planted-0123456789")
    fill_study(study, 1, 2)
    elsewhere = await serve()
    target = f"{elsewhere.base_url}/chat/completions"
    server = await serve(lambda call: web.Response(status=code, headers={"Location": target}))
    summary = await ask(providers(a={"base_url": server.base_url, "keys": ["A_KEY"]}))
    assert (summary.exit_code, summary.pending) == (1, 2)
    assert f"the server points to {elsewhere.base_url} (HTTP {code}): put it into base_url" in summary.message
    assert server.calls
    assert not elsewhere.calls
    assert summary.seconds < 3


async def test_a_parameter_that_every_request_has_wrong_ends_the_run_early(study, serve, ask):
    fill_study(study, 100, 4)
    server = await serve(
        lambda call: status(
            400, {"error": {"message": f"Unsupported parameter: max_tokens (request {call.number})"}}
        )
    )
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 8}}))
    assert summary.exit_code == 1
    assert "rejects every request (400): Unsupported parameter" in summary.message
    assert len(server.calls) <= 40


async def test_a_run_that_got_no_answer_has_failed_and_says_what_the_server_said(study, serve, ask):
    fill_study(study, 3, 4)
    server = await serve(
        lambda call: status(400, {"error": {"message": f"top_p must be a number. (id {call.number})"}})
    )
    tables = providers(a={"base_url": server.base_url})
    summary = await ask(tables)
    assert (summary.state, summary.exit_code, summary.pending) == ("failed", 1, 0)
    assert (
        "judge: no query was answered, 12 were given up (12 rejected): HTTP 400: top_p must be a numbe"
        in (summary.message)
    )
    assert summary.message.endswith("To ask them again, add `--retry rejected`.")
    assert summary.status["models"][0]["given_up"][0]["count"] == 12
    again = await ask(tables)
    assert (again.state, again.exit_code) == ("failed", 1)
    assert "Nothing to ask: all 12 queries have been asked. 12 were given up (12 rejected)" in again.message
    assert "top_p must be a number" in again.message
    server.reply = lambda call: completion() if call.prompt.startswith("案情如下：\n0号") else status(400)
    part = await ask(tables, retry_outcomes=("rejected",))
    assert (part.state, part.exit_code) == ("finished", 0)
    assert "judge: 8 were given up (8 rejected): HTTP 400: status 400." in part.message
    assert (await ask(tables)).exit_code == 0


async def test_answers_of_another_model_are_told(study, serve, ask, capfd):
    fill_study(study, 10, 4)
    server = await serve(lambda call: {**completion(), "model": "judge-1" if call.number % 4 else "clerk-2"})
    summary = await ask(providers(a={"base_url": server.base_url}), monitor="lines")
    assert (summary.exit_code, len(summary.warnings)) == (0, 1)
    assert "judge: asked for judge-1, but answered by clerk-2 10 times." in summary.warnings[0]
    assert summary.status["models"][0]["other_models"] == {"clerk-2": 10}
    told = capfd.readouterr().err
    assert told.count("asked for judge-1") == 1
    assert "other_models=clerk-2:10" in told


async def test_max_cost_is_never_passed_and_what_is_in_flight_is_reserved(study, serve, ask):
    fill_study(study, 50, 4)

    async def reply(call):
        await asyncio.sleep(0.01)
        return completion(prompt_tokens=100, completion_tokens=100)

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url, "offer": {"prices": {"input": 0, "output": 1000}}})
    summary = await ask(tables, settings={"max_tokens": 100}, max_cost=5.0)
    assert summary.stopped_by == "cost"
    assert (summary.state, summary.exit_code) == ("interrupted", 0)
    assert summary.cost_usd <= 5.0 + 1e-9
    assert summary.cost_usd >= 4.8
    assert summary.pending == 200 - len(server.calls)


async def test_a_limit_says_what_lies_beyond_it(study, serve, ask):
    fill_study(study, 3, 4)
    server = await serve()
    tables = providers(a={"base_url": server.base_url})
    limited = await ask(tables, store.Selection(limit=4))
    assert (limited.state, limited.pending, limited.beyond, len(server.calls)) == ("finished", 0, 8, 4)
    assert limited.message.startswith("Limit reached. 8 more queries are pending.")
    assert "8 more queries are pending" in limited.message
    again = await ask(tables, store.Selection(limit=4))
    assert again.message.startswith(
        "Nothing to ask: all 4 queries within the limit have an answer. 8 more queries are pending."
    )
    assert "8 more queries are pending. --limit counts answered queries too" in again.message
    assert (await ask(tables)).message == "Done: every query has an answer."


async def test_max_cost_that_pays_for_no_query_says_so(study, serve, ask):
    fill_study(study, 3, 4)
    server = await serve()
    tables = providers(a={"base_url": server.base_url, "offer": {"prices": {"input": 0, "output": 10}}})
    summary = await ask(tables, settings={"max_tokens": 2048}, max_cost=0.02)
    assert (summary.stopped_by, summary.exit_code, summary.pending) == ("failure", 1, 12)
    assert "--max-cost 0.02: a single query may cost up to $0.02048 (" in summary.message
    assert "--max-tokens 2,048" in summary.message
    assert "goes on" not in summary.message
    assert not server.calls


async def test_a_server_that_writes_more_than_it_was_asked_for_is_told_of_and_remembered(study, serve, ask):
    fill_study(study, 30, 4)
    server = await serve(lambda call: completion(prompt_tokens=100, completion_tokens=20_000))
    tables = providers(
        a={
            "base_url": server.base_url,
            "offer": {"prices": {"input": 1, "output": 2}},
            "limits": {"in_flight": 4, "start_in_flight": 4},
        }
    )
    first = await ask(tables, settings={"max_tokens": 1000}, max_cost=0.1)
    assert first.stopped_by == "cost"
    assert 0.1 < first.cost_usd <= 0.1 + 4 * 0.041
    assert (
        f"which is passed by ${first.cost_usd - 0.1:.4f}: answers took up to 20,000 tokens" in first.message
    )
    asked = len(server.calls)
    second = await ask(tables, settings={"max_tokens": 1000}, max_cost=0.03)
    assert (second.stopped_by, second.cost_usd, len(server.calls)) == ("failure", 0.0, asked)
    assert (
        "an answer of 20,000 tokens, as this model has written, whatever --max-tokens says" in second.message
    )
    third = await ask(tables, settings={"max_tokens": 1000}, max_cost=0.1)
    assert 0 < third.cost_usd <= 0.1


async def test_a_stated_cost_of_nothing_is_no_cost_where_there_are_prices(study, serve, ask):
    fill_study(study, 5, 4)
    server = await serve(lambda call: completion(completion_tokens=500, cost=0))
    priced = {"base_url": server.base_url, "offer": {"prices": {"input": 1, "output": 2}}}
    summary = await ask(providers(a=priced), settings={"max_tokens": 500}, max_cost=0.02)
    assert (summary.stopped_by, summary.counts) == ("cost", {"answered": 18})
    assert rows(study, "SELECT sum(cost_usd) FROM predictions") == [(pytest.approx(18 * 0.00106),)]
    free = await ask(providers(a={"base_url": server.base_url}), settings={"max_tokens": 500})
    assert (free.counts, free.cost_usd) == ({"answered": 2}, 0.0)


async def test_a_process_that_was_stopped_for_a_while_blames_no_server() -> None:
    deadlines = Deadlines(first_byte_s=0.4, total_s=0.6)
    seen = []

    async def wait() -> None:
        exchange = deadlines.start()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            assert exchange.given_up()
            seen.append(exchange.too_late)
        finally:
            deadlines.end(exchange)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0.05)
    time.sleep(1.8)  # noqa: ASYNC251  (as SIGSTOP does)
    await asyncio.sleep(0.1)
    assert not seen
    await asyncio.wait_for(task, 2)
    assert seen == ["no reply for 0.4 s"]


async def test_max_cost_needs_prices(study, serve, ask):
    fill_study(study, 1, 1)
    with pytest.raises(BadInput, match="states no price"):
        await ask(providers(a={"base_url": "http://127.0.0.1:9/v1"}), max_cost=1.0)


async def test_max_hours_stops_cleanly(study, serve, ask):
    fill_study(study, 100, 4)

    async def reply(call):
        await asyncio.sleep(0.05)
        return completion()

    server = await serve(reply)
    summary = await ask(
        providers(a={"base_url": server.base_url, "limits": {"in_flight": 2}}), max_hours=2 / 3600
    )
    assert summary.stopped_by == "hours"
    assert summary.seconds < 4
    assert rows(study, "SELECT count(*) FROM predictions") == [(len(server.calls),)]


async def test_ctrl_c_drains_stores_and_the_next_run_goes_on(study, serve, ask):
    ids = fill_study(study, 50, 4)

    async def reply(call):
        if call.number == 20:
            os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.05)
        return completion()

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url, "limits": {"in_flight": 5, "start_in_flight": 5}})
    summary = await ask(tables)
    assert (summary.state, summary.stopped_by, summary.exit_code) == ("interrupted", "signal", 130)
    asked = len(server.calls)
    assert asked <= 26
    assert rows(study, "SELECT count(*) FROM predictions") == [(asked,)]
    server.reply = lambda call: completion()
    await ask(tables)
    assert len(server.calls) == 200
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(200, len(ids))]


async def test_a_second_signal_stops_at_once_and_keeps_what_arrived(study, serve, ask):
    fill_study(study, 50, 4)
    loop = asyncio.get_running_loop()

    async def reply(call):
        if call.number == 20:
            os.kill(os.getpid(), signal.SIGTERM)
            loop.call_later(0.1, os.kill, os.getpid(), signal.SIGTERM)
        if call.number >= 16:
            await asyncio.sleep(20)
        return completion()

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url, "limits": {"in_flight": 5, "start_in_flight": 5}})
    summary = await ask(tables)
    assert summary.stopped_by == "signal"
    assert summary.seconds < 5
    assert rows(study, "SELECT count(*) FROM predictions") == [(16,)]


async def test_the_drain_has_a_deadline(study, serve, ask, caplog):
    fill_study(study, 5, 4)

    async def reply(call):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(20)

    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 1}}), drain_s=0.3)
    assert summary.seconds < 5
    assert summary.pending == 20
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_a_writer_that_gives_up_stops_the_run_at_once(study, serve, ask, monkeypatch):
    fill_study(study, 100, 4)
    server = await serve()
    real = store.Writer.put

    async def put(self, row):
        if self.counters.put >= 50:
            raise RunFailed("the disk is full", hint="Make room.")
        await real(self, row)

    monkeypatch.setattr(store.Writer, "put", put)
    with pytest.raises(RunFailed, match="the disk is full"):
        await ask(providers(a={"base_url": server.base_url}))
    manifest = json.loads(rows(study, "SELECT manifest FROM runs")[0][0])
    assert "the disk is full" in manifest["message"]
    assert manifest["status"]["state"] == "failed"
    assert len(server.calls) < 120
    assert rows(study, "SELECT count(*) FROM predictions") == [(50,)]
    assert rows(study, "SELECT state FROM runs") == [("failed",)]


async def test_slow_drips_and_silence_run_into_their_timeouts(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 1, 2)
    seen: set[str] = set()

    async def reply(call):
        if call.prompt in seen:
            return completion()
        seen.add(call.prompt)
        if "值0" in call.prompt:
            await asyncio.sleep(10)
        return web.StreamResponse(headers={"Content-Type": "application/json", "X-Drip": "yes"})

    server = await serve(reply)
    real = server.handle

    async def handle(request):
        response = await real(request)
        if "X-Drip" in response.headers:
            await response.prepare(request)
            for _ in range(50):
                await response.write(b" ")
                await asyncio.sleep(0.1)
        return response

    server.handle = handle
    summary = await ask(
        providers(
            a={"base_url": server.base_url, "timeouts": {"connect": 1, "first_byte": 0.4, "total": 0.8}}
        )
    )
    assert summary.counts == {"answered": 2}
    assert summary.seconds < 8


async def test_the_manifest_says_what_the_run_was(study, serve, ask):
    fill_study(study, 2, 2)
    server = await serve()
    await ask(providers(a={"base_url": server.base_url}), settings={"temperature": 0.7})
    manifest = json.loads(rows(study, "SELECT manifest FROM runs")[0][0])
    assert manifest["config"]["models"][0]["settings"]["temperature"] == 0.7
    assert len(manifest["config_hash"]) == 32
    assert {"python", "aiohttp", "duckdb"} <= set(manifest["versions"])
    assert manifest["code"]
    status_kept = manifest["status"]
    assert status_kept["state"] == "finished"
    assert status_kept["models"][0]["done"] == 4
    assert status_kept["models"][0]["returned_models"] == {"judge-1-0613": 4}
    shown = io.StringIO()
    Console(file=shown, width=100).print(tables(status_kept, 100))
    assert "4 / 4 (100.0%)" in shown.getvalue()
    assert key_values(status_kept)


async def test_an_answer_whose_end_is_not_known_is_asked_again_with_more_tokens(study, serve, ask):
    fill_study(study, 1, 4)
    words = ["MAX_TOKENS", "network_error", None, "stop"]

    def reply(call):
        again = call.body["max_tokens"] == 200
        value = int(call.prompt.split("值")[1][0])
        return completion("全文" if again else "半", "stop" if again else words[value])

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url})
    summary = await ask(tables, settings={"max_tokens": 50}, retry_truncated=200)
    assert summary.counts == {"answered": 4}
    assert sorted(rows(study, "SELECT text, finish_reason FROM predictions")) == [
        ("全文", "stop"), ("全文", "stop"), ("全文", "stop"), ("半", "stop"),
    ]  # fmt: skip


async def test_several_models_run_side_by_side_each_at_its_own_pace(study, serve):
    fill_study(study, 10, 4)

    async def reply(call):
        await asyncio.sleep(0.05 if call.body["model"] == "slow" else 0.001)
        return completion()

    server = await serve(reply)
    table = {"base_url": server.base_url, "limits": {"in_flight": 4},
             "models": {"slow": {"id": "slow"}, "fast": {"id": "fast"}}}  # fmt: skip
    tables = Providers(None, File.model_validate({"providers": {"a": table}}).providers)
    asked = [Asked((entry := tables.resolve(name)).settings(), entry) for name in ("slow", "fast")]
    summary = await run(study, asked, None, RunOptions(monitor="none", serve_sql=False))
    assert summary.counts == {"answered": 80}
    last = {name: max(c.number for c in server.calls if c.body["model"] == name) for name in ("slow", "fast")}
    assert last["fast"] < last["slow"]


async def test_the_last_few_queries_can_fail_without_looking_like_an_outage(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 5, 4)
    server = await serve(lambda call: status(500) if "4号" in call.prompt else completion())
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert summary.counts == {"answered": 16, "failed": 4}
    assert summary.seconds < 10


@pytest.mark.parametrize("share", [0.06, 0.5])
@pytest.mark.parametrize("reply", [status(500).text, '{"choices": []}'])
async def test_queries_that_always_fail_are_given_up_while_the_others_are_answered(
    study, serve, ask, monkeypatch, reply, share
):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    monkeypatch.setattr("runner.limits.slots.LONGEST_PROBE_S", 0.02)
    fill_study(study, 100, 4)
    bad = {f"{n}号案" for n in range(100) if n % round(1 / share) == 1}
    code = 500 if "error" in reply else 200

    def answer(call):
        if any(f"\n{name}" in call.prompt for name in bad):
            return web.Response(text=reply, status=code, content_type="application/json")
        return completion()

    server = await serve(answer)
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 16}}), within_s=30)
    assert summary.counts == {"answered": 4 * (100 - len(bad)), "failed": 4 * len(bad)}
    assert summary.state == "finished"


async def test_a_resumed_run_gives_up_what_fails_though_it_never_answered_itself(
    study, serve, ask, monkeypatch
):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    monkeypatch.setattr("runner.limits.slots.LONGEST_PROBE_S", 0.02)
    monkeypatch.setattr(first_answer, "ERRORS_S", 0.5)
    fill_study(study, 5, 4)
    broken = []
    server = await serve(lambda call: status(500) if broken else completion())
    tables = providers(a={"base_url": server.base_url})
    first = await ask(tables, store.Selection(documents=["d0"]))
    assert first.counts == {"answered": 4}
    broken.append(True)
    second = await ask(tables, within_s=30)
    assert (second.counts, second.pending) == ({"failed": 16}, 0)
    assert "16 were given up (16 failed)" in second.message


async def test_a_query_that_failed_once_is_not_given_up_because_the_server_is_down(
    study, serve, ask, monkeypatch
):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    monkeypatch.setattr("runner.limits.slots.LONGEST_PROBE_S", 0.1)
    fill_study(study, 30, 4)
    seen, down = {}, {"until": None}

    def reply(call):
        seen[call.prompt] = seen.get(call.prompt, 0) + 1
        if "值3" in call.prompt and seen[call.prompt] <= 2:
            return status(500)
        if seen[call.prompt] == 3 and down["until"] is None:
            down["until"] = call.at + 1.5
        return status(503) if down["until"] is not None and call.at < down["until"] else completion()

    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url}), max_tries=4)
    assert down["until"] is not None
    assert summary.counts == {"answered": 120}


async def test_in_an_outage_what_never_failed_is_asked_first(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.limits.slots.LONGEST_PROBE_S", 0.05)
    monkeypatch.setattr("runner.limits.slots.PROBE_SHARE", 0.0)
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 30, 4)
    gone = {"until": 0.0}
    failed, probes = set(), []

    def reply(call):
        if call.number == 20:
            gone["until"] = call.at + 1.0
        if call.at < gone["until"]:
            if len(failed) >= 16:
                probes.append(call.prompt in failed)
            failed.add(call.prompt)
            return status(503)
        return completion()

    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 8}}))
    assert summary.counts == {"answered": 120}
    assert len(probes) > 15
    assert not any(probes[12:]), "those that were on their way come again once, and then no more"


async def test_a_query_that_one_provider_fails_goes_to_the_next(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 10, 4)
    first = await serve(lambda call: status(500) if "3号" in call.prompt else completion())
    second = await serve()
    summary = await ask(providers(a={"base_url": first.base_url}, b={"base_url": second.base_url}))
    assert summary.counts == {"answered": 40}
    served = dict(rows(study, "SELECT served_by, count(*) FROM predictions GROUP BY 1"))
    assert served == {"a/judge-1": 36, "b/judge-1": 4}


@pytest.mark.parametrize("documents", [1, 10])
@pytest.mark.parametrize(
    ("base_url", "reason"),
    [
        ("http://127.0.0.1:9/v1", "connection refused"),
        ("https://127.0.0.1:9/v1", "connection refused"),
        ("http://nowhere.invalid/v1", "the name of its host cannot be looked up (DNS: "),
    ],
)
async def test_a_server_that_was_never_there_ends_the_run_soon(
    study, ask, monkeypatch, capfd, base_url, reason, documents
):
    monkeypatch.setattr(first_answer, "UNREACHED_S", 2.0)
    fill_study(study, documents, 4)
    summary = await ask(providers(a={"base_url": base_url}), monitor="lines")
    assert (summary.exit_code, summary.pending) == (1, documents * 4)
    assert "no connection for 2 s (" in summary.message
    why = f"{base_url} cannot be reached: {reason}"
    assert why in summary.message
    assert "start the server" in summary.message
    assert summary.seconds < 3.5
    said = capfd.readouterr().err
    assert f"No answer from a/judge-1: {why}" in said, "told at once"
    assert "It is given up in" in said
    assert f"unreached=a/judge-1:{base_url}_cannot_be_reached:_{reason.replace(' ', '_')}" in said
    shown = io.StringIO()
    Console(file=shown, width=200).print(tables(summary.status, 200))
    assert why in shown.getvalue()


async def test_the_live_view_says_in_full_what_is_not_reached_and_until_when(study, ask, monkeypatch):
    monkeypatch.setattr(first_answer, "UNREACHED_S", 2.0)
    fill_study(study, 2, 4)
    seen = []
    real = running._Run.look

    def look(self):
        seen.append(real(self))
        return seen[-1]

    monkeypatch.setattr(running._Run, "look", look)
    await ask(
        providers(a={"base_url": "http://127.0.0.1:9/a/very/long/path/that/no/terminal/holds/v1"}),
        monitor="live",
    )
    before_the_end = next(one for one in seen if one["models"][0]["lanes"][0]["unreached"])
    shown = io.StringIO()
    Console(file=shown, width=60).print(tables(before_the_end, 60))
    text = "".join(line.strip() for line in shown.getvalue().splitlines())
    assert "very/long/path/that/no/terminal/holds/v1" in text
    assert "cannot be reached: connection refused; given up in" in " ".join(shown.getvalue().split())


async def test_a_provider_that_is_not_reached_is_named_though_another_answers(study, serve, ask, monkeypatch):
    monkeypatch.setattr(first_answer, "UNREACHED_S", 1.0)
    fill_study(study, 2, 4)
    server = await serve()
    summary = await ask(providers(a={"base_url": "http://127.0.0.1:9/v1"}, b={"base_url": server.base_url}))
    assert summary.counts == {"answered": 8}
    named = "No answer from a/judge-1: http://127.0.0.1:9/v1 cannot be reached: connection refused."
    assert named in summary.warnings


async def test_a_server_that_never_says_a_word_ends_the_run_after_three_timeouts(study, serve, ask):
    fill_study(study, 1, 2)

    async def reply(call):
        await asyncio.sleep(20)

    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url, "timeouts": {"first_byte": 1, "total": 2}}))
    assert (summary.exit_code, summary.pending) == (1, 2)
    assert "(timeout: no reply for 1 s); see what the server does, or raise" in summary.message
    assert 2.5 < summary.seconds < 6


async def test_a_server_that_speaks_another_language_ends_the_run_soon(study, serve, ask, monkeypatch):
    monkeypatch.setattr(first_answer, "UNREADABLE_S", 2.0)
    fill_study(study, 10, 4)
    server = await serve(lambda call: web.Response(text="<html>hello</html>", content_type="text/html"))
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert (summary.exit_code, summary.pending) == (1, 40)
    assert "cannot be read for 2 s (bad_body: no JSON (text/html): <html>hello" in summary.message
    assert summary.seconds < 3.5


async def test_a_server_that_has_answered_is_waited_for(study, serve, ask, monkeypatch):
    monkeypatch.setattr(first_answer, "NO_MODEL_S", 0.2)
    monkeypatch.setattr(first_answer, "ERRORS_S", 0.2)
    fill_study(study, 10, 4)
    gone = {}

    def reply(call):
        if call.number < 10:
            return completion()
        return completion() if call.at > gone.setdefault("since", call.at) + 1.5 else status(404)

    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 4}}))
    assert summary.counts == {"answered": 40}


class Hanging:
    """Transports of which the first three requests hang, whatever the timeouts are."""

    def __init__(self, real):
        self.real, self.hung, self.transport = real, 0, None

    async def __aenter__(self):
        made = await self.real.__aenter__()
        return lambda address: self.around(made(address))

    async def __aexit__(self, *error):
        await self.real.__aexit__(*error)

    def around(self, transport):
        self.transport = transport
        return self

    async def ask(self, body):
        if self.hung < 3:
            self.hung += 1
            await asyncio.sleep(1000)
        return await self.transport.ask(body)

    async def close(self):
        await self.transport.close()


async def test_the_watchdog_cuts_off_what_outlives_every_timeout(study, serve, ask, capfd):
    fill_study(study, 5, 4)
    server = await serve()
    table = {"base_url": server.base_url, "timeouts": {"total": 0.5, "first_byte": 0.5}}
    transports = Hanging(http_transports(Redactor(())))
    summary = await ask(providers(a=table), transports=transports, stall_s=1.0, monitor="json")
    assert summary.counts == {"answered": 20}
    assert len(server.calls) == 20
    assert "are asked again" in capfd.readouterr().err


class OfWords:
    """A transport without HTTP: it answers with the value that the prompt names, and fails now and then."""

    def __init__(self, address):
        self.address, self.asked, self.closed = address, 0, False

    async def ask(self, body):
        self.asked += 1
        await asyncio.sleep(0)
        if self.asked % 5 == 2:
            return Sent(Fault(Kind.RATE_LIMITED, "wait", 429, retry_after=0.01), 0.001)
        if self.asked % 7 == 3:
            return Sent(Fault(Kind.SERVER_ERROR, "no", 503), 0.001)
        value = json.loads(body)["messages"][-1]["content"].split("值")[1][0]
        return Sent(Answer("answered", value, finish_reason="stop"), 0.001, {"x-ratelimit-remaining": "9"})

    async def close(self):
        self.closed = True


async def test_a_run_goes_by_any_transport(study, ask, monkeypatch):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    fill_study(study, 5, 4)
    made = []

    @contextlib.asynccontextmanager
    async def transports():
        yield lambda address: made.append(OfWords(address)) or made[-1]
        assert [one.closed for one in made] == [True], "closed before what made it is left"

    summary = await ask(providers(a={"base_url": "http://nowhere.invalid/v1"}), transports=transports())
    assert summary.counts == {"answered": 20}
    assert sorted(rows(study, "SELECT text, count(*) FROM predictions GROUP BY 1")) == [
        ("0", 5), ("1", 5), ("2", 5), ("3", 5),
    ]  # fmt: skip


async def test_another_process_can_ask_how_it_goes(study, serve, ask):
    fill_study(study, 20, 4)
    seen = []

    async def reply(call):
        if call.number == 40:
            await asyncio.sleep(1.5)  # what came before is committed by then
            seen.append(await asyncio.to_thread(store.live.status, study.path))
        await asyncio.sleep(0.01)
        return completion()

    server = await serve(reply)
    await ask(providers(a={"base_url": server.base_url}), serve_sql=True)
    assert seen[0]["state"] == "running"
    assert seen[0]["models"][0]["total"] == 80
    assert 0 < seen[0]["models"][0]["done"] < 80
    assert await asyncio.to_thread(store.live.status, study.path) is None


async def test_what_is_shown_as_done_is_on_disk(study, serve, ask, monkeypatch):
    fill_study(study, 5, 4)
    looks = []

    class Watched(store.Writer):
        def __init__(self, *given, **named):
            super().__init__(*given, batch_rows=8, batch_seconds=3600, **named)

        def _store(self, batch):
            self.look()  # received, and not committed
            super()._store(batch)
            self.look()

        def look(self):
            model = run_of[0].look()["models"][0]
            stored = self._cursor.execute("SELECT count(*) FROM predictions").fetchall()[0][0]
            looks.append((model["done"], sum(model["outcomes"].values()), stored))

    run_of = []
    go = running._Run.go
    monkeypatch.setattr(running._Run, "go", lambda self: (run_of.append(self), go(self))[1])
    monkeypatch.setattr(store, "Writer", Watched)
    server = await serve()
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert [done for done, _, _ in looks] == [0, 0, 8, 8, 16, 16]
    assert all(done == counted <= stored for done, counted, stored in looks)
    assert (summary.pending, summary.counts) == (0, {"answered": 20})
    assert summary.status["models"][0]["done"] == 20


def test_proxies_come_from_the_environment_and_never_stand_before_this_machine(monkeypatch):
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for("https://api.example/v1") == "http://proxy:3128"
    assert proxy_for("https://inside.example/v1") is None
    assert proxy_for("http://127.0.0.1:8000/v1") is None
    assert proxy_for("http://localhost:8000/v1") is None


async def test_a_key_that_no_header_can_carry_is_told_without_it(study, ask, monkeypatch):
    monkeypatch.setenv("KEY_A", "planted“quoted”")
    fill_study(study, 1, 1)
    with pytest.raises(BadInput, match="KEY_A has characters") as caught:
        await ask(providers(a={"base_url": "http://127.0.0.1:9/v1", "keys": ["KEY_A"]}))
    assert "planted" not in str(caught.value)


def hanging(first: int, hangs: int):
    """Answers after 10 ms, but for some that never come."""

    async def reply(call):
        await asyncio.sleep(30 if first <= call.number < first + hangs else 0.01)
        return completion()

    return reply


FREE = {"prices": {"input": 0, "output": 0}}
PRICED = {"prices": {"input": 1, "output": 1}}
SOON = {"connect": 1, "first_byte": 3, "total": 4}


@pytest.mark.parametrize(
    ("offer", "options", "gives_up"),
    [(FREE, {}, True), (PRICED, {}, False), ({}, {}, False), (PRICED, {"give_up_slow": True}, True)],
)
async def test_what_hangs_is_asked_again_soon_where_that_is_free_or_wanted(
    study, serve, ask, monkeypatch, offer, options, gives_up
):
    monkeypatch.setattr("runner.live.lane._SLOW_S", 0.4)
    fill_study(study, 40, 4)
    server = await serve(hanging(130, 3))
    tables = providers(
        a={"base_url": server.base_url, "offer": offer, "limits": {"in_flight": 8}, "timeouts": SOON}
    )
    summary = await ask(tables, max_tries=1 if gives_up else 6, **options)
    assert summary.counts == {"answered": 160}
    assert len(server.calls) == 163
    assert dict(rows(study, "SELECT kind, count FROM attempts")) == {"ok": 160, "timeout": 3}
    assert (summary.seconds < 2.5) is gives_up
    if offer is PRICED:
        charged = rows(study, "SELECT count(*), min(assumed_usd) > 0 FROM other_costs")
        assert charged == [(3, True)], "what we gave up may have been charged"


async def test_each_query_is_given_up_for_slowness_once(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.live.lane._SLOW_S", 0.3)
    fill_study(study, 40, 4)

    async def reply(call):
        slow = "39号" in call.prompt and "值3" in call.prompt
        await asyncio.sleep(1.5 if slow else 0.01)
        return completion()

    server = await serve(reply)
    table = {"base_url": server.base_url, "offer": FREE, "limits": {"in_flight": 8}}
    summary = await ask(providers(a=table))
    assert summary.counts == {"answered": 160}
    assert len(server.calls) == 161


async def test_before_there_are_answers_to_compare_with_nothing_is_given_up(study, serve, ask, monkeypatch):
    monkeypatch.setattr("runner.live.lane._SLOW_S", 0.2)
    fill_study(study, 10, 4)
    server = await serve(hanging(20, 1))
    table = {"base_url": server.base_url, "offer": FREE, "limits": {"in_flight": 8}, "timeouts": SOON}
    summary = await ask(providers(a=table))
    assert summary.counts == {"answered": 40}
    assert summary.seconds >= 3


@pytest.mark.parametrize("share", [0.14, 0.3, 0.5])
async def test_where_requests_fail_by_chance_no_query_is_given_up(study, serve, ask, monkeypatch, share):
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.001)
    monkeypatch.setattr("runner.lifecycle.failure_policy.LONGEST_WAIT_S", 0.01)
    fill_study(study, 250, 4)
    chance = random.Random(5)
    server = await serve(
        lambda call: status(500 + call.number % 4) if chance.random() < share else completion()
    )
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 32}}), max_tries=6)
    assert summary.counts == {"answered": 1000}


async def test_one_reply_that_says_when_to_come_back_holds_its_query_alone(study, serve, ask):
    fill_study(study, 25, 4)
    held = []

    async def reply(call):
        await asyncio.sleep(0.02)
        if call.number in (20, 50):
            held.append((call.prompt, call.at))
            return status(429 if call.number == 20 else 503, **{"Retry-After": "1.2"})
        return completion()

    server = await serve(reply)
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 4}}))
    assert summary.counts == {"answered": 100}
    for prompt, at in held:
        assert [call.at - at for call in server.calls if call.prompt == prompt][-1] >= 1.2
    others = [call.at for call in server.calls if call.prompt not in {prompt for prompt, _ in held}]
    assert max(after - before for before, after in itertools.pairwise(others)) < 0.6


async def test_a_run_of_replies_that_ask_for_longer_than_may_be_waited_ends_the_run(study, serve, ask):
    fill_study(study, 25, 4)
    server = await serve(
        lambda call: completion() if call.number < 20 else status(429, **{"Retry-After": "20000"})
    )
    summary = await ask(providers(a={"base_url": server.base_url, "limits": {"in_flight": 4}}))
    assert summary.exit_code == 1
    assert "asks to stay away for 5.6 hours" in summary.message
    assert len(server.calls) <= 20 + 12
    assert summary.pending == 80


@pytest.mark.parametrize(
    ("finish", "states"),
    [
        (None, "came without a finish reason"),
        ("", "came without a finish reason"),
        ("over_and_out", "came with an unknown finish reason (last: 'over_and_out')"),
    ],
)
async def test_answers_that_never_say_how_they_ended_are_told_early_and_at_the_end(
    study, serve, ask, capfd, monkeypatch, finish, states
):
    monkeypatch.setattr("runner.live.run._TICK_S", 0.05)
    fill_study(study, 10, 4)

    async def reply(call):
        if call.number >= 20:
            await asyncio.sleep(0.3)
        return completion(finish=finish)

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url, "limits": {"in_flight": 8}})
    summary = await ask(tables, monitor="lines")
    assert summary.counts == {"truncated": 40}
    (warning,) = summary.warnings
    assert f"a/judge-1: all 40 answers {states}, so nothing says that an answer is complete" in warning
    assert "`--retry truncated` asks these queries again" in warning
    told = capfd.readouterr().err
    assert told.count(f"answers {states}") == 1
    assert "all 40" not in told, "it was told while the run went on"
    assert "no_finish_reason=40" in told


@pytest.mark.parametrize(
    ("finishes", "told"),
    [
        (["stop"], False),
        ([None, "stop"], False),
        ([None, None, None, "length"], False),
        (["content_filter"], False),
        ([None, "content_filter"], True),
        (["MAX_TOKENS"], False),
    ],
)
async def test_some_answers_without_a_finish_reason_are_no_matter_of_the_server(
    study, serve, ask, finishes, told
):
    fill_study(study, 5, 4)
    server = await serve(lambda call: completion(finish=finishes[call.number % len(finishes)]))
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert any("without a finish reason" in one for one in summary.warnings) is told


@pytest.mark.parametrize(
    ("code", "body"), [(404, b""), (404, b"404 page not found"), (200, b""), (200, b"<html>hello</html>")]
)
async def test_a_run_that_gets_no_answer_names_the_address(study, serve, ask, monkeypatch, code, body):
    monkeypatch.setattr(first_answer, "NO_MODEL_S", 1.0)
    monkeypatch.setattr(first_answer, "UNREADABLE_S", 1.0)
    fill_study(study, 1, 2)
    server = await serve(lambda call: web.Response(status=code, body=body))
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert (summary.exit_code, summary.pending) == (1, 2)
    assert summary.message.count(server.base_url.removeprefix("http://").removesuffix("/v1")) == 1


@pytest.mark.parametrize(
    "how", ["at once", "after the request", "reset", "in the head", "in the body", "in a chunk"]
)
async def test_no_query_is_given_up_while_a_server_only_closes_connections(study, ask, monkeypatch, how):
    """Not in a run of so few queries either that their failures are no outage by their number."""
    monkeypatch.setattr("runner.lifecycle.failure_policy.FIRST_WAIT_S", 0.01)
    monkeypatch.setattr("runner.lifecycle.failure_policy.LONGEST_WAIT_S", 0.05)
    monkeypatch.setattr("runner.limits.slots.LONGEST_PROBE_S", 0.1)
    fill_study(study, 2, 4)
    calls = {"good": 0, "bad": 0}
    body = json.dumps(completion()).encode()
    good = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    bad = {
        "in the head": b"HTTP/1.1 200 OK\r\nContent-Le",
        "in the body": good[:-30],
        "in a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" + body[:20],
    }

    async def handle(reader, writer):
        is_down = calls["good"] >= 4 and calls["bad"] < 30
        calls["bad" if is_down else "good"] += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            if not is_down or how not in ("at once", "reset"):
                sent = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(re.search(rb"Content-Length: (\d+)", sent)[1]))
            writer.write(bad.get(how, b"") if is_down else good)
            await writer.drain()
        if is_down and how == "reset":
            writer.transport.abort()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        summary = await ask(providers(a={"base_url": base_url}), max_tries=2, within_s=20)
    assert (summary.state, summary.counts) == ("finished", {"answered": 8}), summary.message
    assert calls["bad"] >= 30
