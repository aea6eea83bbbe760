"""The monitor: what it shows at any width, in any script, and that a stopped terminal stops no run."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import re
import threading
import time

import duckdb
import pytest
from rich.cells import cell_len
from rich.console import Console
from runner_world import completion, fill_study, providers, rows, status

import store
from runner.status.counters import LaneCounters, Latencies, ModelCounters
from runner.status.monitor import Monitor, amount, json_line, key_values, span, tables
from runner.transport.outcome import Answer
from store.writer import explain


def lane(**more):
    return {
        "lane": "openai[1]/gpt-4o-mini-2024-07-18", "in_flight": 41, "limit": 64, "ceiling": 80,
        "paused_s": 0.0, "outage": False, "parked": None, "requests_per_minute": 500,
        "tokens_per_minute": None, "p50_s": 1.234, "p95_s": 3.4, "prompt_tokens": 33_100_000,
        "cached_tokens": 20_000_000, "completion_tokens": 1_200_000, "cost_usd": 2.31,
        "tries": {"ok": 12300, "timeout": 2}, "refused": 3, "errors": {"timeout": 2},
        "last_error": "server_error: 上游服务暂时不可用，请稍后重试" * 4, "last_error_age_s": 63.0, **more,
    }  # fmt: skip


def snapshot(lanes=None, **more):
    model = {
        "model": "某某大模型-72b", "model_key": "k", "total": 177_000, "selected": 177_100, "done": 12_345,
        "outcomes": {"answered": 12_300, "refused": 5, "failed": 40}, "rate_now": 42.1, "rate": 40.3,
        "eta_s": 4085.0, "in_flight": 41, "to_retry": 7, "prompt_tokens": 33_100_000,
        "cached_tokens": 20_000_000, "completion_tokens": 1_200_000, "cost_usd": 2.31,
        "projected_cost_usd": 33.1, "returned_models": {}, "ended": False, "failure": None,
        "lanes": lanes or [lane()], **more,
    }  # fmt: skip
    writer = {
        "backlog": 12, "committed": 12_333, "commits": 40, "last_commit_s": 0.008, "longest_commit_s": 0.05,
        "error": None,
    }  # fmt: skip
    return {"models": [model], "cost_usd": 2.31, "writer": writer, "seconds": 312.0, "stopping": None}


def shown(width: int, **more) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(tables(snapshot(**more), width))
    return console.file.getvalue()


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100, 140, 200, 220])
def test_no_line_is_wider_than_the_terminal(width):
    for line in shown(width).splitlines():
        assert cell_len(line.rstrip()) <= width, line


def test_all_that_was_promised_is_shown():
    text = shown(140)
    for part in (
        "某某大模型-72b", "12,445 / 177,100", "42.1/s now", "40.3/s over the run", "1h08m", "41/64",
        "1.23", "3.40", "33.1M", "cached 20M", "1.2M", "$2.3100", "about $33.10", "timeout 2",
        "上游服务暂时不可用", "queued for the disk 12", "to retry 7", "100 before this run",
    ):  # fmt: skip
        assert part in text, part


def test_the_state_of_a_lane_is_told():
    text = shown(140, lanes=[lane(paused_s=12.0), lane(outage=True), lane(parked="no money")])
    assert "paused 12s" in text
    assert "probing" in text
    assert "stopped" in text


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_lane_is_readable_at_any_width(width):
    names = ["openai[1]/gpt-4o-mini-2024-07-18", "深度求索[2]/某某大模型-72b-指令版"]
    text = shown(width, lanes=[lane(lane=names[0]), lane(lane=names[1], outage=True, in_flight=1, limit=1)])
    lines = text.splitlines()
    assert all(cell_len(line.rstrip()) <= width for line in lines)
    for name, has_open, state in zip(names, ("41/64", "1/1"), ("open", "no answer, probing"), strict=True):
        # Beside the name, or in the line below it; the last line of a name is that of its error.
        place = next(n for n, line in enumerate(lines) if name in line)
        beside = " ".join(lines[place : place + 2])
        assert has_open in beside
        assert state in beside
    assert ("p95 s" in text) == (width >= 80)
    assert ("timeout 2" in text) == (width >= 200)
    assert "某某大模型-72b" in lines[0]
    assert "12,445 / 177,100" in text


def test_a_long_list_of_errors_is_cut_before_it_is_left_out():
    errors = dict.fromkeys(("timeout", "connection", "server_error", "bad_body", "no_model"), 1234)
    text = shown(140, lanes=[lane(errors=errors)])
    assert "timeout 1,234, connection 1,234, se…" in text


def test_a_run_that_stands_still_has_no_eta_and_says_for_how_long():
    text = shown(80, eta_s=None, quiet_s=543.0)
    assert "ETA - (no answer for 9m03s)" in text
    (line,) = key_values(snapshot(eta_s=None, quiet_s=543.0))
    assert " eta=- quiet=9m03s " in line
    assert "quiet" not in key_values(snapshot())[0]


def test_a_cost_that_is_not_known_is_no_cost_of_nothing():
    nothing = {"cost_usd": None, "unpriced": 234, "projected_cost_usd": None}
    text = shown(80, **nothing)
    assert "; cost of 234 answers unknown" in text
    assert "$" not in text
    pairs = dict(pair.split("=", 1) for pair in key_values(snapshot(**nothing))[0].split(" "))
    assert (pairs["cost_usd"], pairs["unpriced"]) == ("-", "234")
    assert "$2.3100 of about $33.10, cost of 1 answer unknown" in shown(120, unpriced=1)
    two = snapshot(**nothing)
    two = {**two, "models": two["models"] * 2, "cost_usd": None, "unpriced": 468}
    console = Console(file=io.StringIO(), width=120)
    console.print(tables(two, 120))
    assert "all models cost of 468 answers unknown" in console.file.getvalue()


@pytest.mark.parametrize("cost", [1e308, float("inf"), float("nan"), 123_456_789_012.0, 3.2e15])
def test_no_cost_breaks_the_view(cost):
    text = shown(60, cost_usd=cost, projected_cost_usd=cost)
    assert all(cell_len(line) <= 60 for line in text.splitlines())
    assert "inf" not in text
    assert "nan" not in text


def test_a_request_that_is_more_than_its_lane_may_in_a_minute_is_told():
    small = lane(tokens_per_minute=100, request_tokens=2_804.2, paused_s=9.0)
    assert "a request needs ~2,804 tokens, more than its 100 a minute" in shown(140, lanes=[small])
    assert "a request needs" in shown(40, lanes=[small])
    (line,) = key_values(snapshot(lanes=[small, lane(tokens_per_minute=9_000, request_tokens=2_804.2)]))
    assert " too_large=openai[1]/gpt-4o-mini-2024-07-18:2804>100 " in line
    enough = shown(140, lanes=[lane(tokens_per_minute=2_805, request_tokens=2_804.2)])
    assert "a request needs" not in enough


def test_an_empty_start_can_be_shown():
    text = shown(
        80,
        lanes=[lane(p50_s=None, p95_s=None, last_error=None)],
        done=0,
        outcomes={},
        eta_s=None,
        cost_usd=None,
        projected_cost_usd=None,
    )
    assert "nothing new in this run" in text
    assert "price unknown" in text


def test_a_line_of_key_values_and_one_of_json():
    (line,) = key_values(snapshot())
    pairs = dict(pair.split("=", 1) for pair in line.split(" "))
    assert pairs["done"] == "12345"
    assert pairs["answered"] == "12300"
    assert pairs["errors"] == "timeout:2"
    assert pairs["eta"] == "1h08m"
    assert json.loads(json_line(snapshot())[0])["models"][0]["done"] == 12_345


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (0.2, "0s"), (42, "42s"), (185, "3m05s"), (7800, "2h10m"), (273600, "3d4h")],
)
def test_spans(seconds, text):
    assert span(seconds) == text


def test_amounts():
    assert [amount(n) for n in (0, 9_999, 12_345, 4_560_000, 7.1e9)] == [
        "0",
        "9,999",
        "12.3k",
        "4.56M",
        "7.1G",
    ]


def test_quantiles_are_within_their_buckets():
    latencies = Latencies()
    assert latencies.quantile(0.5) is None
    for n in range(1, 1001):
        latencies.add(n / 100)
    assert latencies.quantile(0.5) == pytest.approx(5.0, rel=0.08)
    assert latencies.quantile(0.95) == pytest.approx(9.5, rel=0.08)


def test_rates_follow_the_last_half_minute():
    counters = ModelCounters(total=10_000, selected=10_000, started_at=0.0)
    for second in range(1, 101):
        counters.stored("answered", 10 if second <= 60 else 50)
        counters.tick(float(second))
    assert counters.rate_now(100.0) == pytest.approx(50, rel=0.05)
    assert counters.rate(100.0) == pytest.approx((600 + 2000) / 100)
    assert counters.eta_s(100.0) == pytest.approx((10_000 - 2600) / 50, rel=0.05)


def settle(counters, every_s, until_s, from_s=0):
    for second in range(from_s + 1, until_s + 1):
        if second % every_s == 0:
            counters.stored("answered", 1)
        counters.tick(float(second))


def test_a_slow_model_has_an_eta_from_its_first_answer_on():
    counters = ModelCounters(total=100, selected=100, started_at=0.0)
    for second in range(1, 901):
        settle(counters, 90, second, second - 1)
        if second >= 90:
            assert counters.eta_s(float(second), 90.0) is not None, second
            assert counters.quiet_s(float(second), 90.0) is None, second
    assert counters.eta_s(900.0, 90.0) == pytest.approx(90 * 90)
    assert counters.eta_s(930.0, 90.0) == pytest.approx(90 * 93)


def test_a_run_that_stands_still_has_no_eta():
    counters = ModelCounters(total=2_012, selected=2_012, started_at=0.0)
    for second in range(1, 201):
        counters.stored("answered", 10)
        counters.tick(float(second))
    assert counters.eta_s(210.0, 2.0) is not None  # so far it may be a slow commit
    for second in range(201, 601):
        counters.tick(float(second))
    assert counters.eta_s(600.0, 2.0) is None
    assert counters.quiet_s(600.0, 2.0) == pytest.approx(400)
    assert counters.quiet_s(600.0, 300.0) is None  # answers that take five minutes are waited for
    counters.stored("failed", 1)
    assert counters.quiet_s(601.0, 2.0) is None
    assert counters.eta_s(601.0, 2.0) == pytest.approx(11 / (291 / 430))  # since a second before the last 30


def test_a_run_without_anything_settled_says_how_long():
    counters = ModelCounters(total=10, selected=10, started_at=0.0)
    assert counters.eta_s(5.0) is None
    assert counters.quiet_s(5.0) is None
    assert counters.quiet_s(70.0) == pytest.approx(70)


def test_answers_of_unknown_or_impossible_cost_are_counted_apart():
    counters = LaneCounters()
    for cost in (None, 0.25, 1e308, 1e308, float("inf"), float("nan"), -1.0, 0.0):
        counters.answered(Answer("x", "answered"), 1.0, cost)
    assert (counters.answers, counters.unpriced, counters.cost_usd) == (8, 6, 0.25)


def test_the_projected_cost_is_that_of_answers_whose_cost_is_known():
    counters = ModelCounters(total=100, selected=100, started_at=0.0)
    counters.received = 10
    assert counters.projected(2.0) == pytest.approx(20)
    assert counters.projected(2.0, unpriced=5) == pytest.approx(40)
    assert counters.projected(0.0, unpriced=10) is None


def test_the_live_view_redraws_at_most_four_times_a_second():
    master, slave = pty.openpty()
    looks: list[float] = []

    def look():
        looks.append(time.monotonic())
        return snapshot()

    drained = threading.Thread(target=lambda: [os.read(master, 65536) for _ in range(2)], daemon=True)
    drained.start()
    with os.fdopen(slave, "w") as terminal:
        monitor = Monitor(look, "auto", terminal)
        monitor.start()
        time.sleep(1.2)
        monitor.stop()
    assert 2 <= len(looks) <= 5


def test_a_terminal_that_takes_nothing_does_not_hold_up_the_end():
    master, slave = pty.openpty()  # nobody reads, so the terminal fills up
    big = {"lanes": [lane() for _ in range(60)]}
    with os.fdopen(slave, "w", closefd=False) as terminal:
        monitor = Monitor(lambda: snapshot(**big), "live", terminal)
        monitor.start()
        time.sleep(1.0)
        started = time.monotonic()
        monitor.stop()
        assert time.monotonic() - started < 4
        os.close(master)
        os.close(slave)


def test_an_output_that_is_gone_is_no_error():
    output = io.StringIO()
    monitor = Monitor(snapshot, "lines", output)
    output.close()
    monitor.start()
    monitor.stop()


async def test_a_planted_key_appears_nowhere(study, serve, ask, monkeypatch, capfd, tmp_path, caplog):
    secret = "pl4nted-S3cret-0123456789"
    monkeypatch.setenv("PLANTED", secret)
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:{secret}@127.0.0.1:1")
    fill_study(study, 10, 4)

    def reply(call):
        assert call.key == f"Bearer {secret}"
        if call.number % 10 == 1:
            return status(500, {"error": f"upstream rejected Bearer {secret}"})
        if call.number % 10 == 2:
            return status(400, {"error": {"message": f"bad header {secret}"}})
        return completion()

    server = await serve(reply)
    tables = providers(a={"base_url": server.base_url, "keys": ["PLANTED"]})
    first = await ask(tables, monitor="json", serve_sql=True)
    server.reply = lambda call: status(401, {"error": {"message": f"Incorrect API key provided: {secret}"}})
    second = await ask(tables, monitor="lines", retry_outcomes=("rejected",))
    assert second.exit_code == 1
    assert "[redacted]" in second.message
    out, err = capfd.readouterr()
    everything = [repr(tables), repr(first), repr(second), out, err, caplog.text]
    everything += [str(row) for table in ("runs", "failures", "predictions", "models", "attempts")
                   for row in rows(study, f"FROM {table}")]  # fmt: skip
    study.close()
    everything += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert len("".join(everything)) > 10_000
    assert not [text[:80] for text in everything if secret in text]


PRICES = {"prices": {"input": 1.0, "output": 10.0}}


def without_usage(call):
    body = completion()
    del body["usage"]
    return body


async def test_a_server_without_usage_leaves_the_cost_unknown_everywhere(study, serve, ask, capfd):
    fill_study(study, 6, 2)
    server = await serve(without_usage)
    tables_ = providers(a={"base_url": server.base_url, "offer": PRICES})
    summary = await ask(tables_, monitor="json")
    (model,) = summary.status["models"]
    assert (model["cost_usd"], model["unpriced"], model["projected_cost_usd"]) == (None, 12, None)
    assert summary.status["cost_usd"] is None
    assert summary.warnings == (
        "judge: cost of 12 answers unknown, because they came without token counts or a "
        "price, or with an impossible cost.",
    )
    last = json.loads(capfd.readouterr().err.splitlines()[-1])["models"][0]
    assert (last["cost_usd"], last["unpriced"]) == (None, 12)
    assert rows(study, "SELECT count(*), count(cost_usd) FROM predictions") == [(12, 0)]


async def test_a_server_of_ones_own_has_no_price_and_nobody_asks_for_it(study, serve, ask):
    fill_study(study, 3, 2)
    server = await serve()
    summary = await ask(providers(a={"base_url": server.base_url}))
    (model,) = summary.status["models"]
    assert (model["cost_usd"], model["unpriced"], summary.warnings) == (None, 0, ())


async def test_a_cost_stated_without_prices_is_shown(study, serve, ask):
    fill_study(study, 3, 2)
    server = await serve(lambda call: completion(cost=0.5) if call.number else without_usage(call))
    summary = await ask(providers(a={"base_url": server.base_url}))
    (model,) = summary.status["models"]
    assert (model["cost_usd"], model["unpriced"]) == (pytest.approx(2.5), 1)
    assert model["projected_cost_usd"] == pytest.approx(3.0)
    assert "the others cost $2.5000" in summary.warnings[0]


async def test_a_cost_beyond_sense_is_not_known(study, serve, ask):
    fill_study(study, 3, 2)
    server = await serve(lambda call: completion(cost=1e308))
    summary = await ask(providers(a={"base_url": server.base_url}))
    assert summary.status["models"][0]["cost_usd"] is None
    priced = providers(a={"base_url": server.base_url, "offer": PRICES})
    summary = await ask(priced, settings={"temperature": 0.5})
    assert 0 < summary.status["models"][0]["cost_usd"] < 1, "by its listed prices"
    assert "Infinity" not in json_line(summary.status)[0]


async def test_a_limit_that_unknown_costs_have_reached_says_so(study, serve, ask):
    fill_study(study, 6, 4)
    server = await serve(without_usage)
    tables_ = providers(a={"base_url": server.base_url, "offer": PRICES, "limits": {"in_flight": 1}})
    summary = await ask(tables_, max_cost=0.01, settings={"max_tokens": 100})
    assert summary.stopped_by == "cost"
    assert "Answers of unknown cost were counted at the most that each may have cost." in summary.message


async def test_a_token_limit_below_one_request_is_seen_from_outside(study, serve, ask):
    fill_study(study, 2, 1)
    server = await serve()
    limits = {"tokens_per_minute": 100, "in_flight": 1}
    tables_ = providers(a={"base_url": server.base_url, "limits": limits})
    summary = await ask(tables_, settings={"max_tokens": 2048}, max_hours=4 / 3600)
    (lane_,) = summary.status["models"][0]["lanes"]
    assert lane_["tokens_per_minute"] == 100
    assert lane_["request_tokens"] == pytest.approx(60 + 2048)
    assert "a request needs ~2,108 tokens" in shown(140, lanes=[{**lane(), **lane_, "parked": None}])


async def test_a_run_that_a_full_disk_ends_tells_how_many_answers_it_lost(study, serve, ask, monkeypatch):
    fill_study(study, 100, 4)

    async def reply(call):
        await asyncio.sleep(0.03)
        return completion()

    server = await serve(reply)
    real = store.Writer._store

    def full(self, batch):
        if self.committed:
            time.sleep(0.3)  # while answers come
            raise explain(self._path, duckdb.IOException("No space left on device"))
        real(self, batch)

    monkeypatch.setattr(store.Writer, "_store", full)
    tables_ = providers(a={"base_url": server.base_url, "offer": PRICES, "limits": {"in_flight": 4}})
    with pytest.raises(store.RunFailed, match="is full") as caught:
        await ask(tables_)
    kept = rows(study, "SELECT count(*) FROM predictions")[0][0]
    assert kept > 0
    told = int(re.search(r"; ([\d,]+) answers? ", caught.value.message)[1].replace(",", ""))
    assert len(server.calls) - 4 <= kept + told <= len(server.calls)
    assert "asked again then, and paid again" in caught.value.hint
    manifest = json.loads(rows(study, "SELECT manifest FROM runs")[0][0])
    assert "could not be stored" in manifest["message"]
