"""What a provider owes and does not have yet is looked for again, not paid for again; odd lines are read."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from batch_world import ask_by_batch, line, serving
from runner_world import completion, fill_study, rows

from store import batches
from store.errors import BadInput

NEVER = 10**9


@pytest.fixture
def by_batch(study):
    """`await by_batch(server, **options)` runs the model `judge` by batches."""
    return functools.partial(ask_by_batch, study)


def half_fails(requests: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    half = len(requests) // 2
    no = {"error": {"message": "no"}}
    return (
        [line(one["custom_id"], completion()) for one in requests[:half]],
        [line(one["custom_id"], no, 400) for one in requests[half:]],
    )


@pytest.mark.parametrize(
    "counts", [dict, lambda _: None, lambda real: dict.fromkeys(real, 0), lambda real: {"total": "many"}]
)
async def test_a_completed_batch_whose_file_comes_later_is_waited_for(study, by_batch, counts):
    fill_study(study, 2, 3)
    async with serving(late=4, counts=counts) as server:
        summary = await by_batch(server, late_s=20)
        assert (summary.state, summary.counts, summary.pending) == ("finished", {"answered": 6}, 0)
        assert server.count("POST /batches") == 1
    assert rows(study, "SELECT state, note FROM batches") == [("completed", None)]


async def test_a_file_of_errors_that_comes_later_is_waited_for(study, by_batch):
    fill_study(study, 2, 3)
    script = {"late": 4, "late_files": ["error_file_id"], "outcome": half_fails}
    async with serving(**script) as server:
        summary = await by_batch(server, late_s=20)
        assert summary.counts == {"answered": 3, "rejected": 3}
        assert (server.count("POST /batches"), server.count("GET /files")) == (1, 2)
    assert rows(study, "SELECT kind, count FROM attempts ORDER BY 1") == [("ok", 3), ("rejected", 3)]


async def test_a_file_that_never_comes_leaves_the_batch_open(study, by_batch):
    fill_study(study, 2, 3)
    async with serving(late=NEVER) as server:
        summary = await by_batch(server, late_s=0)
        assert (summary.exit_code, summary.pending, summary.counts) == (1, 6, {})
        assert server.batches["batch_0"]["looks"] == 5
        assert "its file of answers is not there" in summary.message
        assert "6 of 6 results are missing. The batch stays open" in summary.message
        assert rows(study, "SELECT count(*) FROM batches WHERE ended_at IS NULL") == [(1,)]
        server.late = 0
        assert (await by_batch(server)).counts == {"answered": 6}
        assert server.count("POST /batches") == 1


async def test_a_run_that_stops_while_it_waits_leaves_the_batch_to_a_later_run(study, by_batch):
    fill_study(study, 2, 3)
    async with serving(late=NEVER) as server:
        summary = await by_batch(server, late_s=600, max_hours=0.3 / 3600)
        assert (summary.state, summary.pending) == ("interrupted", 6)
        assert "batch_0" in summary.message
        assert [batch.batch_id for batch in batches.open_batches(study)] == ["batch_0"]
        server.late = 0
        assert (await by_batch(server)).counts == {"answered": 6}
        assert server.count("POST /batches") == 1


async def test_a_file_that_is_named_before_it_is_there_is_tried_again(study, by_batch):
    fill_study(study, 2, 3)
    async with serving(faults=[("GET /files", 404)] * 10) as server:
        summary = await by_batch(server, late_s=20)
        assert (summary.state, summary.counts) == ("finished", {"answered": 6})
        assert (server.faults, server.count("POST /batches")) == ([], 1)
    assert rows(study, "SELECT note FROM batches") == [(None,)]


async def test_a_file_that_is_gone_leaves_the_batch_open_until_it_is_given_up_by_hand(study, by_batch):
    fill_study(study, 2, 3)
    async with serving(polls=NEVER) as server:
        await by_batch(server, max_hours=0.2 / 3600)
        server.polls, server.faults = 0, [("GET /files", 410)] * 99
        summary = await by_batch(server, late_s=0.5)
        assert summary.pending == 6
        assert server.count("GET /files") >= 5
        assert "its file file-out-1 is not there" in summary.message
        assert "`evenhand runs --give-up-batch batch_0`" in summary.message
        assert server.count("POST /batches") == 1
        batches.give_up(study, "batch_0")
        server.faults.clear()
        assert (await by_batch(server)).counts == {"answered": 6}
        assert server.count("POST /batches") == 2
    with pytest.raises(BadInput, match="No open batch has the id 'batch_0'"):
        batches.give_up(study, "batch_0")


async def test_a_server_that_fails_at_every_download_ends_the_run_and_not_the_batch(study, by_batch):
    fill_study(study, 2, 3)
    async with serving(faults=[("GET /files", 502)] * 999) as server:
        summary = await by_batch(server, outage_s=0.3)
        assert (summary.state, summary.pending) == ("failed", 6)
        assert [batch.batch_id for batch in batches.open_batches(study)] == ["batch_0"]
        server.faults.clear()
        assert (await by_batch(server)).counts == {"answered": 6}
        assert server.count("POST /batches") == 1


async def test_a_batch_that_the_provider_does_not_know_for_a_while_is_not_asked_again(study, by_batch):
    fill_study(study, 2, 3)
    async with serving(faults=[("GET /batches/", 404)] * 10) as server:
        assert (await by_batch(server, late_s=20)).counts == {"answered": 6}
        assert server.count("POST /batches") == 1
    # The same where an earlier run left it open.
    fill_study(study, 3, 3)
    async with serving(polls=NEVER) as server:
        await by_batch(server, max_hours=0.2 / 3600)
        server.polls, server.faults = 0, [("GET /batches/", 404)] * 10
        assert (await by_batch(server, late_s=20)).counts == {"answered": 3}
        assert server.count("POST /batches") == 1


async def test_a_batch_of_which_nothing_was_done_is_closed_at_once(study, by_batch):
    fill_study(study, 2, 3)
    async with serving(outcome=lambda _: ([], []), ends_as="expired") as server:
        assert (await by_batch(server, late_s=600)).pending == 6
        assert server.batches["batch_0"]["looks"] == 1


async def test_open_batches_of_which_one_needs_the_room_of_another_are_gone_on_with(
    study, by_batch, monkeypatch
):
    fill_study(study, 2, 3)
    monkeypatch.setattr("runner.batch.requests.MOST_REQUESTS", 3)
    async with serving(polls=NEVER) as server:
        await by_batch(server, max_hours=0.2 / 3600)
        first = server.batches["batch_0"]
        first["status"] = "failed"
        first["errors"] = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit"}]}
        server.polls = 8
        summary = await by_batch(server)
        assert (summary.state, summary.counts) == ("finished", {"answered": 6})
        assert (server.count("POST /files"), server.count("POST /batches")) == (2, 3)


async def test_batches_with_odd_lines_are_read(study, by_batch):
    fill_study(study, 1, 5)

    def odd(requests):
        lines = [line(one["custom_id"], completion()) for one in requests]
        lines[1]["response"]["status_code"] = "200"
        lines[2]["response"]["status_code"] = None
        lines[3]["response"]["body"]["usage"] = "n/a"
        lines[0] = b"\xef\xbb\xbf" + json.dumps(lines[0]).encode()
        return lines, []

    async with serving(outcome=odd) as server:
        summary = await by_batch(server)
    # What is no object is no usage; whether that makes an answer is for `reply` to say.
    assert summary.counts["answered"] + summary.pending == 5
    assert summary.counts["answered"] >= 4
    assert "about its queries" not in str(rows(study, "SELECT note FROM batches"))
