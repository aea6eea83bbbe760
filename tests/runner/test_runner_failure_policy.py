"""The one policy of failures: every kind of fault, in every situation that matters."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace

import pytest

from runner.lifecycle import failure_policy as policy
from runner.lifecycle.failure_policy import AskAgain, ForLane, ForMoney, ForQuery, GiveUp, Situation
from runner.transport.outcome import Fault, Kind
from runner.transport.usage import Usage

# In the words of the table: query, lane, key, money.
EXPECTED = {
    Kind.RATE_LIMITED: ("waits", "too much", "kept", "free"),
    Kind.OVERLOADED: ("waits", "too much", "kept", "free"),
    Kind.TIMEOUT: ("again", "failed", "kept", "may be due"),
    Kind.CONNECTION: ("again", "failed", "kept", "may be due"),
    Kind.BAD_BODY: ("again", "failed", "kept", "may be due"),
    Kind.NO_CHOICES: ("again", "failed", "kept", "may be due"),
    Kind.SERVER_ERROR: ("again", "failed", "kept", "free"),
    Kind.NO_MODEL: ("again", "failed", "kept", "free"),
    Kind.REDIRECTED: ("again", "failed", "kept", "free"),
    Kind.BAD_KEY: ("waits", "nothing", "spent", "free"),
    Kind.NO_MONEY: ("waits", "nothing", "spent", "free"),
    Kind.CONTEXT_OVERFLOW: ("given up", "rejected", "kept", "free"),
    Kind.REJECTED: ("given up", "rejected", "kept", "free"),
}
QUERY = {"waits": ForQuery.WAIT, "again": ForQuery.TRY_AGAIN, "given up": ForQuery.GIVE_UP}
LANE = {
    "too much": ForLane.TOO_MUCH,
    "failed": ForLane.FAILED,
    "rejected": ForLane.REJECTED,
    "nothing": ForLane.NOTHING,
}
MONEY = {"free": ForMoney.FREE, "may be due": ForMoney.MAY_BE_CHARGED}
FRESH = Situation(tries=1, max_tries=6, probes=0)


def test_every_kind_has_a_rule_and_no_rule_is_left_over():
    assert set(policy.RULES) == set(Kind) == set(EXPECTED)


@pytest.mark.parametrize("kind", list(Kind))
def test_the_rule_of_each_kind(kind):
    query, lane, key, money = EXPECTED[kind]
    rule = policy.RULES[kind]
    assert (rule.query, rule.lane, rule.key_is_spent, rule.money) == (
        QUERY[query],
        LANE[lane],
        key == "spent",
        MONEY[money],
    )


@pytest.mark.parametrize("kind", list(Kind))
def test_the_table_in_the_docstring_names_each_kind_once(kind):
    table = [line for line in (policy.__doc__ or "").splitlines() if line.startswith("|")]
    named = [name.strip() for line in table[2:] for name in line.split("|")[1].split(",")]
    assert named.count(kind.value) == 1


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("spent", [False, True])
def test_what_becomes_of_a_query_in_a_live_run(kind, out, gone, spent):
    now = replace(FRESH, tries=6 if spent else 1, lane_is_out=out, lane_is_gone=gone)
    verdict = policy.decide(Fault(kind, "no", 400), now)
    query = EXPECTED[kind][0]
    if query == "given up":
        assert verdict == GiveUp(kind.value)
    elif query == "waits":
        assert isinstance(verdict, AskAgain)
        assert (verdict.spends_try, verdict.is_probe, verdict.behind) == (False, False, False)
    elif gone:
        assert verdict == AskAgain()
    elif out:
        assert verdict == AskAgain(behind=True, is_probe=True)
    elif spent:
        assert verdict == GiveUp("failed")
    else:
        assert isinstance(verdict, AskAgain)
        assert verdict.spends_try
        assert 0 <= verdict.after_s <= policy.FIRST_WAIT_S


@pytest.mark.parametrize("kind", list(Kind))
def test_what_becomes_of_a_query_in_a_batch(kind):
    assert policy.left_pending(Fault(kind, "no")) is (EXPECTED[kind][0] != "given up")


@pytest.mark.parametrize("kind", list(Kind))
def test_what_a_call_that_asks_no_query_makes_of_it(kind):
    query, _, key, _ = EXPECTED[kind]
    absent = kind in (Kind.NO_MODEL, Kind.REDIRECTED)
    assert policy.passes(Fault(kind, "no")) is (query != "given up" and key == "kept" and not absent)


@pytest.mark.parametrize(
    ("kind", "status", "no"),
    [
        (Kind.REJECTED, 400, True),
        (Kind.NO_MODEL, 404, True),
        (Kind.BAD_KEY, 401, True),
        (Kind.NO_MONEY, 402, True),
        (Kind.RATE_LIMITED, 429, True),
        (Kind.TIMEOUT, 408, False),
        (Kind.SERVER_ERROR, 500, False),
        (Kind.CONNECTION, None, False),
        (Kind.BAD_BODY, 200, False),
    ],
)
def test_only_a_plain_no_means_that_nothing_was_begun(kind, status, no):
    assert policy.turned_away(Fault(kind, "no", status)) is no


def test_an_outage_gives_each_query_a_bounded_number_of_probes():
    fault = Fault(Kind.SERVER_ERROR, "down", 503)
    out = replace(FRESH, lane_is_out=True, probes=policy.MOST_PROBES)
    verdict = policy.decide(fault, out)
    assert isinstance(verdict, AskAgain)
    assert verdict.spends_try
    # Where only failed queries are left, and a server that answers fails at them, they are the trouble.
    lone = replace(out, probes=policy.MOST_LAST_PROBES, only_failed_are_left=True, lane_has_answered=True)
    assert policy.decide(Fault(Kind.SERVER_ERROR, "boom", 500), lone) == GiveUp("failed")
    assert policy.decide(fault, lone) == AskAgain(behind=True, is_probe=True)


def test_a_refused_query_waits_with_its_lane_or_a_moment():
    fault = Fault(Kind.RATE_LIMITED, "slow", 429)
    assert policy.decide(fault, replace(FRESH, lane_is_paused=True)) == AskAgain()
    waits = [policy.decide(fault, FRESH) for _ in range(50)]
    assert all(isinstance(one, AskAgain) for one in waits)
    assert all(0.25 <= one.after_s <= policy.AFTER_REFUSAL_S for one in waits if isinstance(one, AskAgain))


def test_a_server_that_says_when_to_come_back_is_taken_at_its_word():
    verdict = policy.decide(Fault(Kind.SERVER_ERROR, "down", 503, retry_after=7.5), FRESH)
    assert verdict == AskAgain(7.5, spends_try=True)


def test_waits_grow_with_full_jitter_up_to_a_bound():
    for tries, window in itertools.zip_longest(range(1, 9), [0.5, 1, 2, 4, 4, 4, 4, 4]):
        waits = [policy.backoff_s(tries) for _ in range(400)]
        assert 0 <= min(waits) <= max(waits) <= window
        assert statistics.mean(waits) == pytest.approx(window / 2, rel=0.25)
    assert policy.backoff_s(10**6) <= policy.LONGEST_WAIT_S


@pytest.mark.parametrize(
    ("fault", "due"),
    [
        (Fault(Kind.TIMEOUT, "no reply"), True),
        (Fault(Kind.TIMEOUT, "no connection", unreached=True), False),
        (Fault(Kind.CONNECTION, "reset"), True),
        (Fault(Kind.CONNECTION, "refused", unreached=True), False),
        (Fault(Kind.SERVER_ERROR, "boom", 500), False),
        (Fault(Kind.SERVER_ERROR, "gateway timeout", 504), True),
        (Fault(Kind.SERVER_ERROR, "a timeout", 524), True),
        (Fault(Kind.RATE_LIMITED, "slow", 429), False),
        # A reply that says in part what it used has used something.
        (Fault(Kind.SERVER_ERROR, "boom", 500, usage=Usage(prompt_tokens=9)), True),
        (Fault(Kind.REJECTED, "no", 400, usage=Usage(completion_tokens=9)), True),
        (Fault(Kind.RATE_LIMITED, "slow", 429, usage=Usage(9, None, None, 3)), False),
    ],
)
def test_what_may_be_due_for_a_try_that_does_not_say(fault, due):
    assert policy.may_be_charged(fault) is due
