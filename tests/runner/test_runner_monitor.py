"""The monitor: what it shows at any width, in any script, and that a stopped terminal stops no run."""

from __future__ import annotations

import io
import json
import os
import pty
import threading
import time

import pytest
from rich.cells import cell_len
from rich.console import Console
from runner_world import completion, fill_study, providers, rows, status

from runner.counters import Latencies, ModelCounters
from runner.monitor import Monitor, amount, json_line, key_values, span, tables


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


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100, 140, 220])
def test_no_line_is_wider_than_the_terminal(width):
    for line in shown(width).splitlines():
        assert cell_len(line.rstrip()) <= width, line


def test_all_that_was_promised_is_shown():
    text = shown(140)
    for part in (
        "某某大模型-72b", "12,445 / 177,100", "42.1/s now", "40.3/s over the run", "1 h 08 m", "41/64",
        "1.23", "3.40", "33.1 M", "cached 20 M", "1.2 M", "$2.3100", "about $33.10", "timeout 2",
        "上游服务暂时不可用", "waiting 12", "to retry 7", "100 before this run",
    ):  # fmt: skip
        assert part in text, part


def test_the_state_of_a_lane_is_told():
    text = shown(140, lanes=[lane(paused_s=12.0), lane(outage=True), lane(parked="no money")])
    assert "paused 12 s" in text
    assert "probing" in text
    assert "parked" in text


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
    assert "none stored yet" in text
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
    [(None, "-"), (0.2, "0 s"), (42, "42 s"), (185, "3 m 05 s"), (7800, "2 h 10 m"), (273600, "3 d 4 h")],
)
def test_spans(seconds, text):
    assert span(seconds) == text


def test_amounts():
    assert [amount(n) for n in (0, 9_999, 12_345, 4_560_000, 7.1e9)] == [
        "0",
        "9,999",
        "12.3 k",
        "4.56 M",
        "7.1 G",
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
