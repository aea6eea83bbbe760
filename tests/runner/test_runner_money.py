"""The money of live runs: every try counts, also over several runs, and no limit is passed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest
from runner_world import completion, fill_study, providers, rows, status

import store
from runner.lifecycle.budget import Budget, Dearest
from runner.providers.schema import Prices
from store.costs import Spent

PRICES = {"input": 1, "output": 2}
USED = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000, "total_tokens": 2_000_000}
"""Three dollars by these prices."""


def priced(server, in_flight: int = 1, **prices: float) -> Any:
    limits = {"in_flight": in_flight, "start_in_flight": in_flight}
    return providers(a={"base_url": server.base_url, "offer": {"prices": prices or PRICES}, "limits": limits})


def body(**parts: Any) -> dict[str, Any]:
    return {**completion(), "usage": USED, **parts}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (lambda call: body(choices=[]), "no_choices"),
        (lambda call: body(choices=None), "no_choices"),
        (lambda call: body(choices=["?"]), "bad_body"),
        (lambda call: body(choices=[], error={"message": "upstream failed", "code": 502}), "server_error"),
        (lambda call: body(error={"message": "slow", "code": 429}), "rate_limited"),
        (lambda call: status(500, {"error": {"message": "boom"}, "usage": USED}), "server_error"),
        (lambda call: status(503, {"detail": "down", "usageMetadata": _gemini()}), "server_error"),
        (lambda call: status(400, {"error": {"message": "no"}, "usage": _anthropic()}), "rejected"),
    ],
)
async def test_what_a_failed_try_states_is_paid_and_keeps_the_limit(study, serve, ask, reply, kind):
    fill_study(study, 1, 4)
    server = await serve(reply)
    summary = await ask(priced(server), max_cost=5.0)
    assert len(server.calls) == 1, "the next one may cost as much"
    assert summary.cost_usd == pytest.approx(3)
    assert any(
        "judge: $3.0000 of the cost was spent on requests that gave no answer" in one
        for one in summary.warnings
    )
    assert rows(study, "SELECT kind, cost_usd, assumed_usd FROM other_costs") == [
        (kind, pytest.approx(3), None)
    ]
    assert rows(study, "SELECT sum(cost_usd) FROM spending") == [(pytest.approx(3),)]
    (run,) = store.runs.list_runs(study)
    assert (run.cost_usd, run.without_answer_usd, run.assumed_usd) == (pytest.approx(3), pytest.approx(3), 0)


def _gemini() -> dict[str, int]:
    return {"promptTokenCount": 1_000_000, "candidatesTokenCount": 400_000, "thoughtsTokenCount": 600_000}


def _anthropic() -> dict[str, int]:
    return {"input_tokens": 1_000_000, "output_tokens": 1_000_000}


@pytest.mark.parametrize(
    "reply",
    [
        lambda call: {**completion(), "choices": [], "usage": None},
        lambda call: status(200, {"ok": True}),
        lambda call: status(504, {"error": {"message": "gateway timeout"}}),
        lambda call: status(500, {"error": {"message": "boom"}, "usage": {"prompt_tokens": 60}}),
        lambda call: completion(completion_tokens="many", total_tokens=None),
        lambda call: completion(prompt_tokens=-1, total_tokens=float("1e300")),
    ],
)
async def test_what_does_not_say_its_cost_counts_at_what_was_reserved(study, serve, ask, reply):
    fill_study(study, 1, 40)
    server = await serve(reply)
    summary = await ask(
        priced(server, input=0, output=1000), settings={"max_tokens": 1000}, max_cost=3.5, max_tries=1
    )
    told = "this run has cost $3.0000 (with $3.0000 assumed where a cost is not known), and the next query"
    assert f"Stopped at --max-cost 3.5: {told}" in summary.message
    assert len(server.calls) == 3
    assert rows(study, "SELECT sum(assumed_usd) FROM spending") == [(pytest.approx(3),)]
    told = (
        "cost of 3 answers unknown"
        if summary.counts.get("answered")
        else "up to $3.0000 may have been charged"
    )
    assert any(told in one for one in summary.warnings)


@pytest.mark.parametrize("code", [429, 529, 500, 503, 400])
async def test_errors_that_state_no_use_are_free(study, serve, ask, code):
    fill_study(study, 1, 3)
    server = await serve(lambda call: status(code) if call.number < 3 else completion())
    summary = await ask(priced(server), max_cost=5.0)
    assert rows(study, "SELECT count(*) FROM other_costs") == [(0,)]
    assert not summary.warnings


async def test_a_truncated_answer_that_is_asked_again_is_paid_too(study, serve, ask):
    fill_study(study, 1, 2)
    server = await serve(
        lambda call: completion(
            finish="length" if call.body["max_tokens"] == 50 else "stop", completion_tokens=50
        )
    )
    tables = priced(server, input=0, output=1000)
    summary = await ask(tables, settings={"max_tokens": 50}, retry_truncated=100)
    assert summary.counts == {"answered": 2}
    assert summary.cost_usd == pytest.approx(4 * 0.05)
    assert rows(study, "SELECT kind, sum(cost_usd) FROM spending GROUP BY 1 ORDER BY 1") == [
        ("answer", pytest.approx(0.1)),
        ("truncated", pytest.approx(0.1)),
    ]


async def test_a_total_limit_holds_over_runs_and_says_so(study, serve, ask):
    fill_study(study, 10, 10)
    server = await serve(lambda call: completion(completion_tokens=40, prompt_tokens=1, total_tokens=41))
    tables = priced(server, 8, input=0, output=1000)
    spent = []
    for _ in range(3):
        summary = await ask(tables, settings={"max_tokens": 100}, max_cost=0.5, max_total_cost=0.8)
        spent.append(summary.cost_usd)
    assert spent[0] == pytest.approx(0.44)  # the eleventh and those after it may cost 0.1
    assert sum(spent) == pytest.approx(0.04 * len(server.calls))
    assert 0.7 < sum(spent) <= 0.8 + 1e-9
    assert (summary.stopped_by, summary.exit_code, spent[2]) == ("cost", 0, 0.0)
    assert "Stopped at --max-total-cost 0.8: all runs of this study have cost $0.7" in summary.message
    assert "the next query may cost up to $0.1000, which is set aside before it goes out" in summary.message
    assert summary.message.endswith("To go on, raise --max-total-cost.")


async def test_a_limit_of_one_run_says_that_the_same_command_spends_anew(study, serve, ask):
    fill_study(study, 10, 10)
    server = await serve(lambda call: completion(completion_tokens=40, prompt_tokens=1, total_tokens=41))
    summary = await ask(priced(server, input=0, output=1000), settings={"max_tokens": 100}, max_cost=0.5)
    assert (
        "Stopped at --max-cost 0.5: this run has cost $0.4400, and the next query may cost" in summary.message
    )
    assert "and may spend $0.5 once more; --max-total-cost limits all runs" in summary.message


async def test_failed_tries_of_earlier_runs_count_towards_the_total(study, serve, ask):
    fill_study(study, 1, 4)
    server = await serve(lambda call: body(choices=[]))
    await ask(priced(server), max_cost=5.0)
    summary = await ask(priced(server), max_total_cost=5.0)
    assert (len(server.calls), summary.stopped_by, summary.exit_code) == (1, "cost", 0)
    assert "all runs of this study have cost $3.0000" in summary.message


async def test_a_total_limit_below_what_was_spent_says_so(study, serve, ask):
    fill_study(study, 1, 4)
    server = await serve(lambda call: body(choices=[]))
    await ask(priced(server), max_cost=5.0)
    summary = await ask(priced(server), max_total_cost=1.0)
    assert (len(server.calls), summary.stopped_by, summary.exit_code) == (1, "cost", 0)
    assert summary.message == (
        "Stopped at --max-total-cost 1: all runs of this study have cost $3.0000 already. To go on, raise "
        "--max-total-cost."
    )


async def test_a_total_limit_that_pays_for_no_query_says_so(study, serve, ask):
    fill_study(study, 1, 2)
    server = await serve()
    summary = await ask(
        priced(server, input=0, output=10), settings={"max_tokens": 2048}, max_total_cost=0.02
    )
    assert (summary.stopped_by, summary.exit_code) == ("failure", 1)
    assert "--max-total-cost 0.02: a single query may cost up to $0.02048" in summary.message
    assert "raise --max-total-cost above that" in summary.message


async def test_a_total_limit_needs_prices(study, serve, ask):
    fill_study(study, 1, 1)
    with pytest.raises(store.BadInput, match=r"--max-total-cost cannot be kept: a states no price"):
        await ask(providers(a={"base_url": "http://127.0.0.1:9/v1"}), max_total_cost=1.0)


async def test_requests_that_a_stop_cuts_off_count_as_they_may_have_cost(study, serve, ask):
    fill_study(study, 1, 4)

    async def never(call):
        await asyncio.sleep(30)

    server = await serve(never)
    tables = priced(server, 2, input=0, output=1000)
    await ask(tables, settings={"max_tokens": 100}, max_hours=0.3 / 3600, drain_s=0.1)
    assert rows(study, "SELECT kind, assumed_usd FROM other_costs") == [("cut_off", pytest.approx(0.1))] * 2
    assert rows(study, "SELECT unsettled_usd FROM runs") == [(None,)]


CHILD = """
import sys, uvloop
from pathlib import Path
import store
from runner_world import providers
from runner.lifecycle.options import Asked, RunOptions
from runner.live.run import run
database, base_url, limit = sys.argv[1:]
offer = {"prices": {"input": 0, "output": 1000}}
limits = {"in_flight": 8, "start_in_flight": 8}
entry = providers(a={"base_url": base_url, "offer": offer, "limits": limits}).resolve("judge")
with store.open_study(Path(database)) as study:
    options = RunOptions(monitor="none", serve_sql=False, max_total_cost=float(limit))
    print(uvloop.run(run(study, [Asked(entry.settings(max_tokens=100), entry)], None, options)).message)
"""


async def test_a_total_limit_holds_over_runs_that_are_killed(tmp_path, serve):
    database = tmp_path / "killed.duckdb"
    with store.open_study(database) as study:
        fill_study(study, 40, 10)

    async def reply(call):
        await asyncio.sleep(0.02)
        return completion(completion_tokens=90, prompt_tokens=1, total_tokens=91)

    server = await serve(reply)
    message = ""
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    for kill in (True, True, False):
        asked = len(server.calls)
        command = [sys.executable, "-c", CHILD, str(database), server.base_url, "12"]
        child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, env=environment)
        if kill:
            while len(server.calls) < asked + 20:  # noqa: ASYNC110  (the server counts, and tells nobody)
                await asyncio.sleep(0.01)
            child.kill()
        out, _ = await asyncio.wait_for(child.communicate(), 60)
        message = out.decode()
        await asyncio.sleep(0.1)
    paid = 0.09 * len(server.calls)
    assert 6 < paid <= 12
    assert "for what was under way when a run was killed" in message
    with store.open_study(database) as study:
        spent = store.costs.spent(study)
    assert spent.unsettled > 0
    assert paid <= spent.total <= 12 + 1e-9


def test_the_dearest_that_a_request_may_cost_learns_from_what_requests_cost():
    money = Dearest(Prices(input=1, output=2))
    first = money.of(300, 3.0, 100)
    assert first == pytest.approx((300 * 1.5 + 16 + 200) / 1e6)
    money.learn(300, 900, 50)
    assert money.of(300, 3.0, 100) == pytest.approx((900 + 16 + 200) / 1e6)
    money.learn(
        300, 150, 4_000
    )  # fewer tokens do not make the next prompt cheaper; a longer answer is remembered
    assert money.of(300, 3.0, 100) == pytest.approx((900 + 16 + 8_000) / 1e6)
    assert Dearest(None).of(300, 3.0, 100) == 0


@pytest.mark.parametrize(
    ("max_cost", "max_total", "before", "option", "left"),
    [
        (5.0, None, 4.0, "--max-cost", 5.0),
        (None, 5.0, 4.0, "--max-total-cost", 1.0),
        (5.0, 8.0, 4.0, "--max-total-cost", 4.0),
        (2.0, 8.0, 4.0, "--max-cost", 2.0),
        (2.0, 3.0, 4.0, "--max-total-cost", -1.0),
    ],
)
def test_the_limit_that_ends_first_binds(max_cost, max_total, before, option, left):
    budget = Budget(max_cost, max_total, before=Spent(before, 0, 0, 0, 0))
    assert budget.limit is not None
    assert (budget.limit.option, budget.limit.for_this_run) == (option, left)
    assert budget.reserve(abs(left)) is (left >= 0)
    assert not budget.reserve(0.01)
    assert option in budget.why(100)


def test_what_may_be_spent_is_noted_before_it_goes_out_and_seldom():
    noted: list[float] = []
    budget = Budget(10.0, note_unsettled=noted.append)
    for _ in range(100):
        assert budget.reserve(0.05)
        assert noted[-1] >= budget.unsettled
    assert len(noted) < 15
    assert noted[-1] <= 10
    for _ in range(100):
        budget.settle(0.05, 0.04)
        budget.stored(0.04)
    assert budget.unsettled == pytest.approx(0)
