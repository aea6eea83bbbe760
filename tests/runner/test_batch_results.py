"""A file of results that is not what it should be is fetched again; the batch stays open, paid for once."""

from __future__ import annotations

import functools
import gzip
import json
import uuid
from typing import Any

import pytest
from aiohttp import web
from batch_world import BatchServer, ask_by_batch, line, serving
from runner_world import completion, fill_study, rows

import store
from store import batches

NEVER = 10**9


@pytest.fixture
def by_batch(study):
    """`await by_batch(server, **options)` runs the model `judge` by batches."""
    return functools.partial(ask_by_batch, study)


def others(data: bytes) -> bytes:
    lines = [{**json.loads(text), "custom_id": f"{uuid.uuid4().hex}-0"} for text in data.splitlines()]
    return b"\n".join(json.dumps(one).encode() for one in lines) + b"\n"


def requests(data: bytes) -> bytes:
    lines = [{"custom_id": json.loads(text)["custom_id"], "body": {}} for text in data.splitlines()]
    return b"\n".join(json.dumps(one).encode() for one in lines) + b"\n"


WRONG = {
    "a login page": (lambda data: b"<html>\n<body>Please sign in</body>\n</html>", "a web page came (<html>"),
    "nothing": (lambda data: b"", "an empty file came"),
    "blank lines": (lambda data: b"\n\n  \n", "an empty file came"),
    "an error": (lambda data: b'{"error": {"message": "internal"}}', 'something else came ({"error"'),
    "a list": (lambda data: b"[1, 2, 3]", "something else came ([1, 2, 3])"),
    "cut within a line": (
        lambda data: data[:-300],
        "a file with answers to 5 queries came, and its last line is cut; 1 of 6 results are missing",
    ),
    "cut after a line": (
        lambda data: b"".join(data.splitlines(keepends=True)[:4]),
        "a file with answers to 4 queries came; 2 of 6 results are missing",
    ),
    "lines of another batch": (others, "lines of another batch came"),
    "lines twice": (
        lambda data: b"".join(data.splitlines(keepends=True)[:3]) * 2,
        "a file with answers to 3 queries came, some of them twice; 3 of 6 results are missing",
    ),
    "an input file": (
        lambda data: b"".join(
            json.dumps({"custom_id": f"q{n}", "method": "POST", "body": {}}).encode() + b"\n"
            for n in range(6)
        ),
        "something else came",
    ),
    "the requests": (requests, "the requests came, and not their results"),
    "a packed part": (lambda data: gzip.compress(data)[:-20], "the packed file broke off"),
}


class Garbling(BatchServer):
    """Gives files of results as `garble` has them, so often."""

    garble: Any = None
    times = 0

    async def _content(self, request: web.Request, file_id: str, *, cut: bool) -> web.StreamResponse:
        if self.times > 0:
            self.times -= 1
            return web.Response(body=self.garble(self.files[file_id]))
        return await super()._content(request, file_id, cut=cut)


@pytest.fixture
async def garbling(monkeypatch):
    monkeypatch.setattr("batch_world.BatchServer", Garbling)


@pytest.mark.parametrize("what", WRONG)
async def test_a_wrong_file_is_fetched_again_in_the_same_call(study, by_batch, garbling, what):
    fill_study(study, 2, 3)
    async with serving() as server:
        server.garble, server.times = WRONG[what][0], 2
        summary = await by_batch(server, late_s=20)
        assert (summary.state, summary.counts, summary.pending) == ("finished", {"answered": 6}, 0)
        assert server.count("POST /batches") == 1
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(6, 6)]


@pytest.mark.parametrize("what", [name for name in WRONG if name != "a packed part"])
async def test_a_file_that_stays_wrong_leaves_the_batch_open_for_later_calls(study, by_batch, garbling, what):
    fill_study(study, 2, 3)
    garble, told = WRONG[what]
    async with serving() as server:
        server.garble, server.times = garble, NEVER
        for _ in range(2):
            looks = server.count("GET /files")
            summary = await by_batch(server, late_s=0)
            assert (summary.state, summary.exit_code) == ("failed", 1)
            assert told in summary.message
            assert "The batch stays open" in summary.message
            assert "the same command fetches its results once more" in summary.message
            assert server.count("GET /files") - looks == 5
            assert [batch.batch_id for batch in batches.open_batches(study)] == ["batch_0"]
        server.times = 0
        summary = await by_batch(server)
        assert (summary.state, summary.pending) == ("finished", 0)
        assert server.count("POST /batches") == 1
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(6, 6)]


@pytest.mark.parametrize("status", [404, 410, 500, 503])
async def test_a_download_that_fails_leaves_the_batch_open(study, by_batch, status):
    fill_study(study, 2, 3)
    async with serving(faults=[("GET /files", status)] * 999) as server:
        summary = await by_batch(server, late_s=0, outage_s=0.2)
        assert (summary.state, summary.exit_code, summary.pending) == ("failed", 1, 6)
        assert [batch.batch_id for batch in batches.open_batches(study)] == ["batch_0"]
        server.faults.clear()
        assert (await by_batch(server)).counts == {"answered": 6}
        assert server.count("POST /batches") == 1


async def test_a_file_id_that_was_wrong_is_asked_for_anew(study, by_batch):
    fill_study(study, 2, 3)

    class Confused(BatchServer):
        def _look(self, batch_id: str) -> web.Response:
            reply = super()._look(batch_id)
            shown = json.loads(reply.text or "")
            if shown.get("output_file_id") and self.count("GET /batches/") < 5:
                shown["output_file_id"] = "file-in-0"
            return web.json_response(shown)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batch_world.BatchServer", Confused)
        async with serving() as server:
            assert (await by_batch(server, late_s=20)).counts == {"answered": 6}
            assert server.count("POST /batches") == 1


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]),  # in several parts
        lambda data: gzip.compress(data, mtime=0, compresslevel=0),
    ],
)
async def test_a_packed_file_is_unpacked(study, by_batch, garbling, pack):
    fill_study(study, 2, 300)
    async with serving() as server:
        server.garble, server.times = pack, NEVER
        assert (await by_batch(server)).counts == {"answered": 600}
        assert server.count("GET /files") == 1


async def test_what_a_batch_says_of_failed_tries_is_paid_once(study, by_batch):
    fill_study(study, 2, 3)
    used = {"usage": {"prompt_tokens": 1, "completion_tokens": 50_000}}

    def half_senseless(requests):
        lines = [line(one["custom_id"], {"choices": [], **used}) for one in requests[:3]]
        lines += [line(one["custom_id"], {"error": {"message": "no"}, **used}, 400) for one in requests[3:5]]
        lines.append(line(requests[5]["custom_id"], completion()))
        return lines, []

    table = {"offer": {"prices": {"input": 0, "output": 1000}}, "batch_discount": 0.5}
    async with serving(outcome=half_senseless) as server:
        server.faults = [("GET /files", "cut")]
        summary = await by_batch(server, table=table)
    assert summary.cost_usd == pytest.approx(5 * 25 + 0.0025)
    assert rows(study, "SELECT kind, count(*), sum(cost_usd) FROM other_costs GROUP BY 1 ORDER BY 1") == [
        ("no_choices", 3, pytest.approx(75)),
        ("rejected", 2, pytest.approx(50)),
    ]
    assert any(
        "$125.0000 of the cost was spent on requests that gave no answer" in one for one in summary.warnings
    )


DEAR: dict[str, Any] = {
    "settings": {"max_tokens": 100},
    "table": {"offer": {"prices": {"input": 0, "output": 1e6}}, "batch_discount": 0.5},
}
"""A query costs $50 at the dearest; the answer of 5 tokens, $2.50."""


async def test_a_total_limit_holds_over_batches_and_runs(study, by_batch):
    fill_study(study, 5, 4)
    async with serving() as server:
        first = await by_batch(server, store.Selection(limit=8), max_total_cost=400, **DEAR)
        assert first.counts == {"answered": 8}  # $20
        second = await by_batch(server, max_total_cost=75, **DEAR)
        # The $55 that are left pay for one at a time, until 47.50 pay for none.
        assert (second.stopped_by, second.exit_code) == ("cost", 0)
        assert store.costs.spent(study).total == pytest.approx(27.5)
        assert (
            "Stopped at --max-total-cost 75: all runs of this study have cost $27.5000, and" in second.message
        )
        assert "To go on, raise --max-total-cost." in second.message


async def test_an_open_batch_counts_towards_the_total_at_its_dearest(study, by_batch, serve, ask):
    fill_study(study, 1, 4)
    async with serving(polls=NEVER) as server:
        await by_batch(server, store.Selection(limit=2), max_hours=0.2 / 3600, **DEAR)
    assert store.costs.spent(study).total == pytest.approx(100)
    batches.give_up(study, "batch_0")
    spent = store.costs.spent(study)
    assert (spent.in_batches, spent.assumed) == (0, pytest.approx(100))
