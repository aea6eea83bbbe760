"""Batch runs against a scripted batch server: what is submitted, what comes back, what stays to ask."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import random
import signal
from typing import Any

import pytest
from batch_world import BatchServer, ask_by_batch, line, serving
from runner_world import SCHEMA, completion, fill_study, providers, rows

import store
from runner.batch.run import batch_entry, run_batch
from runner.lifecycle.options import Asked, RunOptions
from runner.status.monitor import key_values, tables
from store import batches
from store.errors import BadInput

PRICES = {"input": 2.0, "cached": 1.0, "output": 8.0}


@pytest.fixture
async def batch_server():
    """`await batch_server(...)` starts a server."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(**script: Any) -> BatchServer:
            return await stack.enter_async_context(serving(**script))

        yield start


@pytest.fixture
def by_batch(study):
    """`await by_batch(server, **options)` runs the model `judge` by batches."""
    return functools.partial(ask_by_batch, study)


def states(study) -> list[tuple[Any, ...]]:
    return rows(study, "SELECT state, ended_at IS NOT NULL FROM batches ORDER BY prepared_at")


async def test_every_query_is_submitted_once_and_stored_at_the_batch_price(study, batch_server, by_batch):
    ids = fill_study(study, documents=6, values=5, schema=SCHEMA)
    usage = {"prompt_tokens": 70, "prompt_tokens_details": {"cached_tokens": 30}}

    def shuffled(requests):
        lines = [line(one["custom_id"], completion(**usage)) for one in requests]
        random.Random(1).shuffle(lines)
        return lines, []

    server = await batch_server(outcome=shuffled)
    summary = await by_batch(
        server,
        settings={"seed": 4, "temperature": 0.5},
        table={"offer": {"prices": PRICES}, "batch_discount": 0.4, "style": {"answer_format": "json_schema"}},
        repeats=2,
    )
    assert (summary.state, summary.exit_code, summary.pending) == ("finished", 0, 0), summary.message
    assert summary.counts == {"answered": 60}
    assert (server.count("POST /files"), server.count("POST /batches")) == (1, 1)
    sent = server.requests()
    assert len({one["custom_id"] for one in sent}) == 60
    assert {one["method"] + one["url"] for one in sent} == {"POST/v1/chat/completions"}
    body = sent[1]["body"]
    assert (body["model"], body["temperature"], body["seed"]) == ("judge-1", 0.5, 5)
    assert body["response_format"]["type"] == "json_schema"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    found = rows(study, "SELECT query_id::VARCHAR, repeat FROM predictions")
    assert sorted(found) == sorted((query, repeat) for query in ids for repeat in (0, 1))
    cost = 0.6 * (40 * 2.0 + 30 * 1.0 + 5 * 8.0) / 1e6
    assert rows(
        study,
        "SELECT DISTINCT text, finish_reason, prompt_tokens, cached_tokens, completion_tokens, served_by, "
        "returned_model, cost_usd FROM predictions",
    ) == [
        ("有期徒刑六个月", "stop", 70, 30, 5, "a/batch/judge-1", "judge-1-0613", pytest.approx(cost)),
    ]
    assert summary.cost_usd == pytest.approx(60 * cost)
    assert rows(study, "SELECT kind, state FROM runs") == [("run", "finished")]
    assert rows(study, "SELECT served_by, kind, count FROM attempts") == [("a/batch/judge-1", "ok", 60)]
    assert states(study) == [("completed", True)]
    again = await by_batch(server, settings={"seed": 4, "temperature": 0.5},
                           table={"style": {"answer_format": "json_schema"}}, repeats=2)  # fmt: skip
    assert (again.run_id, again.state) == (None, "finished")
    assert server.count("POST") == 2


async def test_a_batch_asks_the_same_model_as_a_live_run(study, batch_server, by_batch, serve, ask):
    fill_study(study, 2, 2)
    live = await serve()
    await ask(providers(a={"base_url": live.base_url}), store.Selection(limit=2))
    server = await batch_server()
    summary = await by_batch(server)
    assert summary.counts == {"answered": 2}
    assert len(server.requests()) == 2
    by_key = {json.dumps(call.body["messages"], ensure_ascii=False) for call in live.calls}
    assert not by_key & {json.dumps(one["body"]["messages"], ensure_ascii=False) for one in server.requests()}
    assert rows(study, "SELECT count(DISTINCT model_key) FROM predictions") == [(1,)]


async def test_each_line_is_classified_as_a_live_reply(study, batch_server, by_batch):
    fill_study(study, 1, 9)

    def outcome(requests):
        name = [one["custom_id"] for one in requests]
        context = {"error": {"code": "context_length_exceeded", "message": "too long"}}
        output = [
            line(name[0], completion()),
            line(name[1], completion("", "stop")),
            line(name[2], completion("三年", "length")),
            line(name[3], completion("", "content_filter")),
            line(name[8], {"choices": []}),
        ]
        errors = [
            line(name[4], context, 400),
            line(name[5], {"error": {"message": "no"}}, 400),
            line(name[6], {"error": {"message": "slow down"}}, 429),
            line(name[7], None, error={"code": "server_error", "message": "we failed"}),
        ]
        return output, errors

    server = await batch_server(outcome=outcome)
    summary = await by_batch(server)
    assert summary.counts == {
        "answered": 1, "empty": 1, "truncated": 1, "refused": 1, "context_overflow": 1, "rejected": 1,
    }  # fmt: skip
    assert (summary.state, summary.exit_code, summary.pending) == ("failed", 1, 3)
    assert "3 queries are pending" in summary.message
    assert "slow down" in summary.message
    assert rows(study, "SELECT outcome, reason, status FROM failures ORDER BY 1") == [
        ("context_overflow", "context_overflow: too long", 400),
        ("rejected", "rejected: no", 400),
    ]
    tries = dict(rows(study, "SELECT kind, count FROM attempts"))
    assert tries == {
        "ok": 4, "context_overflow": 1, "rejected": 1, "rate_limited": 1, "server_error": 1, "no_choices": 1,
    }  # fmt: skip
    server.outcome = BatchServer.outcome
    again = await by_batch(server)
    assert (again.counts, again.state) == ({"answered": 3}, "finished")
    assert len(server.of_file("file-in-3")) == 3


async def test_what_an_expired_batch_brought_is_kept_and_the_rest_stays_to_ask(study, batch_server, by_batch):
    fill_study(study, 2, 5)

    def outcome(requests):
        expired = {"code": "batch_expired", "message": "This request could not be executed in time."}
        return (
            [line(one["custom_id"], completion()) for one in requests[:4]],
            [line(one["custom_id"], error=expired) for one in requests[4:9]],
        )  # and of the tenth nothing at all is said

    server = await batch_server(outcome=outcome, ends_as="expired")
    summary = await by_batch(server)
    assert (summary.counts, summary.pending, summary.exit_code) == ({"answered": 4}, 6, 1)
    assert "batch_expired" in summary.message
    assert "1 no result came back" in summary.message
    assert states(study) == [("expired", True)]
    server.ends_as, server.outcome = "completed", BatchServer.outcome
    assert (await by_batch(server)).counts == {"answered": 6}
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(10, 10)]


async def test_a_batch_that_fails_validation_leaves_all_pending_and_says_why(study, batch_server, by_batch):
    fill_study(study, 2, 2)
    errors = {"data": [{"code": "model_not_found", "message": "no such model judge-1", "line": 1}]}
    server = await batch_server(ends_as="failed", errors=errors)
    summary = await by_batch(server)
    assert (summary.counts, summary.pending, summary.exit_code) == ({}, 4, 1)
    assert "Not answered: 4 model_not_found: no such model judge-1." in summary.message
    assert "no such model judge-1" in rows(study, "SELECT note FROM batches")[0][0]
    assert states(study) == [("failed", True)]


async def test_lines_twice_of_others_and_of_no_sense_store_nothing(study, batch_server, by_batch):
    ids = fill_study(study, 1, 3)
    stranger = "0" * 32 + "-0"

    def outcome(requests):
        name = [one["custom_id"] for one in requests]
        return [
            line(name[2], completion("第一")), line(stranger, completion()), line("x", completion()),
            line(name[2], completion("第二")), b"{not json", b"[]", b"", line(name[0] + "0", completion()),
            line(name[0], completion()), line(name[1], completion()),
        ], [line(name[1], {"error": {"message": "late"}}, 500)]  # fmt: skip

    server = await batch_server(outcome=outcome)
    summary = await by_batch(server)
    assert (summary.counts, summary.state) == ({"answered": 3}, "finished")
    assert rows(study, f"SELECT text FROM predictions WHERE query_id = '{ids[2]}'") == [("第一",)]
    note = rows(study, "SELECT note FROM batches")[0][0]
    assert "5 lines were not about its queries" in note
    assert "2 lines came twice" in note


async def test_errors_while_polling_and_fetching_are_waited_out(study, batch_server, by_batch):
    fill_study(study, 4, 5)
    faults = [
        ("POST /files", 503), ("POST /batches", 429), ("GET /batches/", 500), ("GET /batches/", 429),
        ("GET /batches/", 404), ("GET /batches/", "lost"), ("GET /files", "cut"), ("GET /files", 502),
    ]  # fmt: skip
    server = await batch_server(faults=faults)
    summary = await by_batch(server)
    assert (summary.counts, summary.state) == ({"answered": 20}, "finished")
    assert server.faults == []
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(20, 20)]
    assert "twice" not in str(rows(study, "SELECT note FROM batches"))


async def test_a_submission_whose_reply_was_lost_is_not_submitted_again(study, batch_server, by_batch):
    fill_study(study, 1, 4)
    server = await batch_server(faults=[("POST /batches", "lost")])
    assert (await by_batch(server)).counts == {"answered": 4}
    assert server.count("POST /batches") == 1
    assert server.count("GET /batches") >= 2


async def test_several_files_where_one_is_not_enough(study, batch_server, by_batch, monkeypatch):
    fill_study(study, 5, 4)
    monkeypatch.setattr("runner.batch.requests.MOST_REQUESTS", 6)
    server = await batch_server()
    assert (await by_batch(server)).counts == {"answered": 20}
    assert [len(server.of_file(one["input_file_id"])) for one in server.batches.values()] == [6, 6, 6, 2]


async def test_files_stay_within_their_size(study, batch_server, by_batch, monkeypatch):
    fill_study(study, 5, 4)
    monkeypatch.setattr("runner.batch.requests.MOST_BYTES", 3000)
    server = await batch_server()
    assert (await by_batch(server)).counts == {"answered": 20}
    sizes = [len(server.files[one["input_file_id"]]) for one in server.batches.values()]
    assert len(sizes) > 2
    assert max(sizes) <= 3000


async def test_batches_beyond_what_may_be_queued_wait_for_others_to_end(
    study, batch_server, by_batch, monkeypatch
):
    fill_study(study, 5, 4)
    monkeypatch.setattr("runner.batch.requests.MOST_REQUESTS", 5)
    server = await batch_server(most_open=2)
    summary = await by_batch(server)
    assert (summary.counts, summary.state) == ({"answered": 20}, "finished"), summary.message
    assert server.count("POST /files") == 4
    assert len(server.requests()) == 20
    server.most_open = 0
    fill_study(study, 5, 5)
    summary = await by_batch(server)
    assert (summary.state, summary.pending) == ("failed", 5)
    assert "--limit" in summary.message


async def test_ctrl_c_leaves_the_batch_and_the_next_run_goes_on_with_it(study, batch_server, by_batch, ask):
    fill_study(study, 2, 5)
    server = await batch_server(polls=10**9)

    async def interrupt():
        while server.count("GET /batches/") < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    stopper = asyncio.create_task(interrupt())
    summary = await by_batch(server, store.Selection(limit=5))
    await stopper
    assert (summary.state, summary.exit_code, summary.pending) == ("interrupted", 130, 5)
    assert "batch_0" in summary.message
    assert "same command" in summary.message
    assert states(study) == [("in_progress", False)]
    # Neither asked live nor submitted again; what is beyond it is.
    live = await ask(providers(a={"base_url": "http://127.0.0.1:9/v1"}), store.Selection(limit=5))
    assert (live.run_id, live.pending) == (None, 5)
    assert "--batch" in live.message
    server.polls = 1
    summary = await by_batch(server)
    assert (summary.counts, summary.state) == ({"answered": 10}, "finished")
    assert [len(server.of_file(one["input_file_id"])) for one in server.batches.values()] == [5, 5]


async def test_an_open_batch_holds_its_repeats_only_and_its_model_only(study, batch_server, by_batch):
    fill_study(study, 2, 3)
    server = await batch_server(polls=10**9)
    await by_batch(server, max_hours=0.2 / 3600)
    (key,) = rows(study, "SELECT DISTINCT model_key FROM batches")[0]
    plan = store.pending(study, key, 3)
    assert (plan.selected, plan.in_batches, plan.total) == (18, 6, 12)
    assert sorted({query.repeat for query in plan}) == [1, 2]
    assert store.count_pending(study, "another", 3) == 18
    server.polls = 1
    summary = await by_batch(server, repeats=3)
    assert (summary.counts, summary.pending) == ({"answered": 18}, 0)
    assert [batch["request_counts"]["total"] for batch in server.batches.values()] == [6, 12]


async def test_max_hours_ends_the_waiting(study, batch_server, by_batch):
    fill_study(study, 1, 2)
    server = await batch_server(polls=10**9)
    summary = await by_batch(server, max_hours=0.3 / 3600)
    assert (summary.state, summary.stopped_by, summary.exit_code) == ("interrupted", "hours", 0)
    assert "batch_0" in summary.message


async def test_max_cost_is_kept_before_anything_is_submitted(study, batch_server, by_batch):
    fill_study(study, 5, 4)
    table = {"offer": {"prices": {"input": 0, "output": 1e6}}, "batch_discount": 0.5}
    server = await batch_server(polls=10**9)
    # The dearest answer: 100 tokens of $1 at half price, so $50.
    given = {"settings": {"max_tokens": 100}, "table": table}
    summary = await by_batch(server, max_cost=420, max_hours=0.2 / 3600, **given)
    assert len(server.requests()) == 8
    assert summary.stopped_by == "hours"
    server.polls = 0
    # An open batch counts at its dearest: $400 of these $510 are promised, so two more are submitted.
    held = asyncio.Event()
    server.held = held
    asyncio.get_running_loop().call_later(0.3, held.set)
    server.batches["batch_0"]["polls"] = -10
    dear = completion(completion_tokens=80)
    server.outcome = lambda requests: ([line(one["custom_id"], dear) for one in requests], [])
    summary = await by_batch(server, max_cost=510, **given)
    # These ten cost $40 each, so the $110 that are left pay for two more, and the last $30 for none.
    assert (summary.stopped_by, summary.exit_code, summary.pending) == ("cost", 0, 8)
    assert [len(server.of_file(one["input_file_id"])) for one in server.batches.values()] == [8, 2, 2]
    assert summary.counts == {"answered": 12}
    assert summary.cost_usd == pytest.approx(12 * 40)
    with pytest.raises(BadInput, match="states no price"):
        await by_batch(server, max_cost=5)
    summary = await by_batch(server, max_cost=5, **given)
    assert (summary.exit_code, summary.pending) == (1, 8)
    assert "--max-cost 5: a single query may cost up to $50.00 (" in summary.message
    assert "goes on" not in summary.message


async def test_a_key_that_is_refused_ends_the_run_and_is_shown_nowhere(
    study, batch_server, by_batch, monkeypatch, capsys
):
    fill_study(study, 1, 3)
    monkeypatch.setenv("BATCH_KEY", "planted-batch-key")
    server = await batch_server(faults=[("POST /batches", 401)])
    table = {"keys": ["BATCH_KEY"]}
    summary = await by_batch(server, table=table, monitor="lines")
    assert server.keys == {"Bearer planted-batch-key"}
    assert (summary.state, summary.exit_code, summary.pending) == ("failed", 1, 3)
    assert "BATCH_KEY" in summary.message
    assert states(study) == [("rejected", True)]
    server.faults = [("GET /batches/", 403), ("POST /files", 500)]
    assert (await by_batch(server, table=table, monitor="lines")).state == "failed"
    assert states(study)[1:] == [("validating", False)]
    monkeypatch.delenv("BATCH_KEY")
    entry = {"keys": ["OTHER_KEY"]}
    monkeypatch.setenv("OTHER_KEY", "planted-other-key")
    with pytest.raises(BadInput, match="BATCH_KEY"):
        await by_batch(server, table=entry)
    monkeypatch.setenv("BATCH_KEY", "planted-batch-key")
    summary = await by_batch(server, table=table, monitor="lines")
    assert summary.counts == {"answered": 3}
    shown = capsys.readouterr()
    told = shown.out + shown.err + summary.message + json.dumps(summary.status, default=str)
    tables_of = ("batches", "runs", "predictions", "failures", "attempts")
    told += "".join(str(rows(study, f"FROM {name}")) for name in tables_of)
    assert "planted" not in told
    assert "batch_0" in told


async def test_a_batch_that_the_provider_no_longer_knows_sets_its_queries_free(study, batch_server, by_batch):
    fill_study(study, 1, 3)
    server = await batch_server(polls=10**9)
    await by_batch(server, max_hours=0.2 / 3600)
    server.batches.clear()
    server.polls = 1
    summary = await by_batch(server)
    assert "knows no batch batch_0" in str(rows(study, "SELECT note FROM batches ORDER BY prepared_at"))
    assert summary.counts == {"answered": 3}


async def test_the_status_is_shown_as_that_of_any_run(study, batch_server, by_batch):
    fill_study(study, 1, 3)
    server = await batch_server()
    await by_batch(server)
    status = store.runs.list_runs(study)[0].manifest["status"]
    assert "done=3 total=3" in key_values(status)[0]
    assert tables(status, 80)
    assert status["state"] == "finished"


async def test_what_cannot_be_taken_in_batches_is_refused_with_what_can(study, tmp_path, by_batch):
    able = {"base_url": "http://h/v1", "batch": True}
    given = providers(a={"base_url": "http://g/v1"}, b=able)
    assert [route.provider for route in batch_entry(given, "judge").routes] == ["b"]
    with pytest.raises(BadInput) as caught:
        batch_entry(given, "judge@a")
    assert "a has no batch interface for judge" in caught.value.message
    assert "judge@b" in str(caught.value.hint)
    entry = given.resolve("judge@a")
    with pytest.raises(BadInput, match="takes batches"):
        await run_batch(study, [Asked(entry.settings(), entry)])
    for option in ({"retry_truncated": 100}, {"in_flight": 3}):
        entry = given.resolve("judge@b")
        with pytest.raises(BadInput, match="cannot be used with --batch"):
            await run_batch(study, [Asked(entry.settings(), entry)], None, RunOptions(**option))


async def test_a_signal_in_the_midst_of_fetching_keeps_what_came(study, batch_server, by_batch):
    fill_study(study, 20, 10)
    server = await batch_server(held=asyncio.Event())

    async def interrupt():
        while not server.count("GET /files"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    stopper = asyncio.create_task(interrupt())
    summary = await by_batch(server)
    await stopper
    kept = rows(study, "SELECT count(*) FROM predictions")[0][0]
    assert summary.exit_code == 130
    assert 0 < kept < 200
    assert summary.pending == 200 - kept
    assert [batch.batch_id for batch in batches.open_batches(study)] == ["batch_0"]
    server.held.set()
    summary = await by_batch(server)
    assert (summary.state, summary.counts) == ("finished", {"answered": 200 - kept})
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(200, 200)]


async def test_a_batch_server_that_was_never_there_is_named_and_given_up_soon(study, monkeypatch, capfd):
    monkeypatch.setattr("runner.batch.shared.UNREACHED_S", 1.0)
    fill_study(study, 2, 2)
    nowhere = BatchServer()
    nowhere.base_url = "http://127.0.0.1:9/v1"
    summary = await ask_by_batch(study, nowhere, monitor="lines")
    assert (summary.exit_code, summary.pending) == (1, 4)
    why = "http://127.0.0.1:9/v1 cannot be reached: connection refused"
    assert why in summary.message
    said = capfd.readouterr().err
    assert why in said
    assert "for 1 s at most" in said
    assert summary.seconds < 10
