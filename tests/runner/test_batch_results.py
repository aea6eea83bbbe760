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


def as_array(data: bytes, indent: int | None = None) -> bytes:
    return json.dumps([json.loads(text) for text in data.splitlines()], indent=indent).encode()


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
    "a list of nothing": (lambda data: b"[]", "an empty file came"),
    "a cut array": (
        lambda data: as_array(data)[:-300],
        "a file with answers to 5 queries came, and its last line is cut; 1 of 6 results are missing",
    ),
    "no more than the middle": (lambda data: b'{"a": 1}\n' + data[:-300], "answers to 5 queries came"),
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
    "a packed part": (lambda data: gzip.compress(data)[:-20], "the gzip data ends too early"),
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


@pytest.mark.parametrize("what", WRONG)
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
            assert "Run the same command again to fetch the results" in summary.message
            assert server.count("GET /files") - looks == 5
            assert [batch.batch_id for batch in batches.open_batches(study)] == ["batch_0"]
        server.times = 0
        summary = await by_batch(server)
        assert (summary.state, summary.pending) == ("finished", 0)
        assert server.count("POST /batches") == 1
    assert rows(study, "SELECT count(*), count(DISTINCT query_id) FROM predictions") == [(6, 6)]


@pytest.mark.parametrize("counts", [dict, lambda _: None])
@pytest.mark.parametrize(
    "form",
    [
        as_array,
        functools.partial(as_array, indent=2),
        lambda data: b"".join(as_array(text) for text in data.splitlines()),
        lambda data: b'{"object": "list", "data": ' + as_array(data) + b', "has_more": false}',
        lambda data: gzip.compress(as_array(data)),
    ],
)
async def test_results_in_an_array_are_read(study, by_batch, garbling, form, counts):
    fill_study(study, 2, 3)
    async with serving(counts=counts) as server:
        server.garble, server.times = form, NEVER
        summary = await by_batch(server)
        assert (summary.state, summary.counts, summary.pending) == ("finished", {"answered": 6}, 0)
        assert server.count("GET /files") == 1


async def test_an_array_without_its_end_is_not_whole_though_nobody_counts(study, by_batch, garbling):
    fill_study(study, 2, 3)

    def first_half(data: bytes) -> bytes:
        return b"[" + b",".join(data.splitlines()[:3]) + b","

    async with serving(ends_as="expired", counts=lambda _: None) as server:
        server.garble, server.times = first_half, NEVER
        summary = await by_batch(server, late_s=0)
        assert (summary.state, summary.counts, summary.pending) == ("failed", {"answered": 3}, 3)
        assert "answers to 3 queries came, and its last line is cut" in summary.message
        server.times = 0
        assert (await by_batch(server)).counts == {"answered": 3}
        assert server.count("POST /batches") == 1


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
async def test_a_download_that_is_refused_for_a_while_ends_no_call(study, by_batch, status, times):
    fill_study(study, 2, 3)
    async with serving(faults=[("GET /files", status)] * times) as server:
        summary = await by_batch(server, late_s=20)
        assert (summary.state, summary.counts, summary.pending) == ("finished", {"answered": 6}, 0)
        assert server.count("GET /files") == times + 1
        assert server.count("POST /batches") == 1
    assert rows(study, "SELECT note FROM batches") == [(None,)]


@pytest.mark.parametrize("status", [401, 403])
async def test_a_download_that_stays_refused_is_told_of_its_file_and_not_the_key(study, by_batch, status):
    fill_study(study, 2, 3)
    async with serving(faults=[("GET /files", status)] * 999) as server:
        summary = await by_batch(server, late_s=0)
        assert (summary.state, summary.exit_code, summary.pending) == ("failed", 1, 6)
        assert f"its file file-out-1 cannot be fetched (HTTP {status}" in summary.message
        assert "bad_key" not in summary.message
        assert "The batch stays open" in summary.message


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_refused_everywhere_is_told_as_such(study, by_batch, status):
    fill_study(study, 2, 3)

    class Locked(BatchServer):
        async def handle(self, request: web.Request) -> web.StreamResponse:
            self.locked = getattr(self, "locked", False) or request.path.endswith("/content")
            if self.locked:
                return web.json_response({"error": {"message": "key revoked"}}, status=status)
            return await super().handle(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batch_world.BatchServer", Locked)
        async with serving() as server:
            summary = await by_batch(server, late_s=20)
    assert (summary.state, summary.exit_code, summary.pending) == ("failed", 1, 6)
    assert f"bad_key ({status}): key revoked" in summary.message


@pytest.mark.parametrize("status", [403, 404, 502, "cut", "garbled"])
async def test_a_run_that_is_stopped_while_it_waits_says_what_for(study, by_batch, garbling, capfd, status):
    fill_study(study, 2, 3)
    faults = [] if status == "garbled" else [("GET /files", status)] * 9999
    async with serving(faults=faults) as server:
        server.garble, server.times = (lambda data: b"<html>sign in"), NEVER if status == "garbled" else 0
        summary = await by_batch(server, late_s=600, max_hours=0.4 / 3600)
    assert (summary.state, summary.stopped_by) == ("interrupted", "hours")
    assert summary.pending == (3 if status == "cut" else 6)
    why = {"cut": "the body broke off", "garbled": "a web page came (<html>sign in)"}
    told = why.get(str(status), f"HTTP {status}")
    assert "Not received yet: a/batch/judge-1: results of batch batch_0 (" in summary.message
    assert told in summary.message
    assert capfd.readouterr().err == ""


class Redirecting(BatchServer):
    """Sends whoever asks for a file on, to what `target` makes of this server's address and the file's id."""

    target: Any = None
    seen: Any = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/store/"):
            self.seen.append(request.headers.get("Authorization"))
            return web.Response(body=self.files[request.path.rpartition("/")[2]])
        if request.path.startswith("/again/"):
            return web.Response(status=307, headers={"Location": "../store/" + request.path[7:]})
        if request.path.endswith("/content") and self.target is not None:
            self.calls.append(f"GET {request.path.removeprefix('/v1')}")
            target = self.target(f"http://127.0.0.1:{request.url.port}", request.path.split("/")[3])
            return web.Response(status=302, headers={} if target is None else {"Location": target})
        return await super().handle(request)


@pytest.fixture
async def redirecting(monkeypatch):
    monkeypatch.setattr("batch_world.BatchServer", Redirecting)
    monkeypatch.setenv("PLANTED_KEY", "planted-key")


KEYED = {"keys": ["PLANTED_KEY"]}


@pytest.mark.parametrize(
    ("target", "shows_key"),
    [
        (lambda home, file: f"/store/{file}", True),
        (lambda home, file: f"../../../store/{file}", True),
        (lambda home, file: f"//{home.removeprefix('http://')}/store/{file}", True),
        (lambda home, file: f"{home}/store/{file}?sig=a%2Fb%3D", True),
        (lambda home, file: f"{home}/again/{file}", True),
        (lambda home, file: f"{home.replace('127.0.0.1', 'localhost')}/store/{file}?sig=1", False),
        (lambda home, file: f"{home.replace('127.0.0.1', 'localhost')}/again/{file}", False),
    ],
)
async def test_a_file_that_is_elsewhere_is_fetched_and_the_key_stays(
    study, by_batch, redirecting, target, shows_key
):
    fill_study(study, 2, 3)
    async with serving() as server:
        server.target, server.seen = target, []
        summary = await by_batch(server, table=KEYED)
        assert (summary.state, summary.counts) == ("finished", {"answered": 6}), summary.message
        assert server.seen == ["Bearer planted-key" if shows_key else None]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (lambda home, file: None, "does not say where to"),
        (lambda home, file: "", "does not say where to"),
        (lambda home, file: "s3://bucket/file", "not HTTP (s3:)"),
        (lambda home, file: "file:///etc/passwd", "not HTTP (file:)"),
        (lambda home, file: "http://[::1/x", "no URL"),
        (lambda home, file: f"/v1/files/{file}/content", "redirected more than 5 times"),
    ],
)
async def test_a_redirect_that_leads_nowhere_leaves_the_batch_open(
    study, by_batch, redirecting, target, says
):
    fill_study(study, 2, 3)
    async with serving() as server:
        server.target, server.seen = target, []
        summary = await by_batch(server, table=KEYED, late_s=0)
        assert (summary.state, summary.pending) == ("failed", 6)
        assert says in summary.message
        assert "The batch stays open" in summary.message
        server.target = None
        server.target = lambda home, file: f"/store/{file}"
        assert (await by_batch(server, table=KEYED)).counts == {"answered": 6}
        assert server.count("POST /batches") == 1


async def test_a_store_that_is_not_reached_is_named_without_its_signature(study, by_batch, redirecting):
    fill_study(study, 2, 3)
    async with serving() as server:
        server.target = lambda home, file: f"http://user:pass@127.0.0.1:9/bucket/{file}?sig=secret"
        summary = await by_batch(server, table=KEYED, late_s=0, outage_s=0.2)
    assert (summary.state, summary.pending) == ("failed", 6)
    assert "http://127.0.0.1:9/bucket/file-out-1 cannot be reached: connection refused" in summary.message
    assert "secret" not in summary.message
    assert "pass" not in summary.message


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
