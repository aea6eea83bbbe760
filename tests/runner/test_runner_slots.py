"""How many requests are kept open, against simulated servers: seeded, on a clock of their own."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from benchmarks.concurrency import scenarios
from benchmarks.concurrency.simulator import MIX, World, run
from runner.limits.slots import PROBE, Slots

SEEDS = range(3, 8)
"""None of those that it was tuned on need be among them: any will do."""


def median(figures: list[dict[str, float]], name: str) -> float:
    return statistics.median(one[name] for one in figures)


@pytest.mark.parametrize("mix", scenarios.MIXES)
def test_random_failures_cost_no_goodput(mix):
    found = [scenarios.random_failures(scenarios.MIXES[mix], seed) for seed in SEEDS]
    assert median(found, "ratio") >= 0.95
    assert all(one["left"] == 0 for one in found)


@pytest.mark.parametrize("seconds", [0.02, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("mix", ["default mix", "30% failures"])
def test_nor_do_they_where_answers_take_longer_or_shorter(mix, seconds):
    delay, give_up_s = scenarios.delay_of(seconds), max(8.0, 4 * seconds)
    found = [
        scenarios.random_failures(scenarios.MIXES[mix], seed, delay=delay, give_up_s=give_up_s)
        for seed in SEEDS
    ]
    assert median(found, "ratio") >= 0.94


@pytest.mark.parametrize("most", [1, 2, 4, 16, 256])
def test_nor_do_they_with_few_or_many_open(most):
    found = [scenarios.random_failures(MIX, seed, most=most, queries=max(500, most * 30)) for seed in SEEDS]
    assert median(found, "ratio") >= 0.94


@pytest.mark.parametrize("share", [0.04, 0.3])
@pytest.mark.parametrize("seconds", [1.0, 5.0])
def test_a_reply_that_says_when_to_come_back_stops_no_lane(share, seconds):
    found = [scenarios.random_failures({"429ra": share}, seed, retry_after_s=seconds) for seed in SEEDS]
    assert median(found, "ratio") >= 0.95


@pytest.mark.parametrize("mix", ["no failures", "2% 429, 3% 500", "default mix", "30% failures"])
@pytest.mark.parametrize("places", [1, 2, 4, 8, 16, 24, 40])
def test_a_full_server_is_used_and_hardly_ever_refuses(places, mix):
    found = [scenarios.full_server([(0.0, places)], scenarios.MIXES[mix], seed) for seed in SEEDS]
    assert median(found, "used") >= (0.98 if mix == "no failures" else 0.93)
    assert min(one["used"] for one in found) >= 0.87
    assert max(one["refused"] for one in found) <= 0.03
    assert all(one["left"] == 0 for one in found)


@pytest.mark.parametrize("mix", ["no failures", "default mix"])
def test_a_capacity_that_changes_is_followed(mix):
    steps = [(0.0, 16), (60.0, 48), (120.0, 8)]
    found = [scenarios.full_server(steps, scenarios.MIXES[mix], seed) for seed in SEEDS]
    assert min(one["used"] for one in found) >= 0.93
    assert max(one["refused"] for one in found) <= 0.05


@pytest.mark.parametrize("mix", ["no failures", "default mix"])
def test_a_server_that_grows_slower_is_not_overrun(mix):
    found = [scenarios.soft_overload(scenarios.MIXES[mix], seed) for seed in SEEDS]
    assert median(found, "ratio") >= 0.95
    assert max(one["latency"] for one in found) <= 2.0


@pytest.mark.parametrize(("per_minute", "window_s"), [(600, None), (600, 60.0), (3000, None), (3000, 60.0)])
def test_a_rate_limit_that_nothing_tells_of_is_found(per_minute, window_s):
    found = [scenarios.rate_limit(per_minute, window_s, seed) for seed in SEEDS]
    assert median(found, "used") >= 0.88
    assert min(one["used"] for one in found) >= 0.8
    assert median(found, "refused") < 0.06
    assert max(one["refused"] for one in found) < 0.12


@pytest.mark.parametrize("window_s", [None, 60.0])
@pytest.mark.parametrize("per_minute", [60, 600, 6000])
def test_so_is_one_whose_refusals_say_when_there_is_room(per_minute, window_s):
    found = [scenarios.rate_limit(per_minute, window_s, seed, tells_when=True) for seed in SEEDS]
    assert median(found, "used") >= 0.85
    assert median(found, "refused") < 0.1


@pytest.mark.parametrize("window_s", [None, 60.0])
@pytest.mark.parametrize("per_minute", [30, 60, 90, 120, 200, 300])
def test_a_small_one_refuses_less_than_a_tenth(per_minute, window_s):
    """Of a minute's epochs there are few, so what is clearly too much must be left before one is over."""
    found = [scenarios.rate_limit(per_minute, window_s, seed) for seed in SEEDS]
    assert median(found, "used") >= 0.85
    assert statistics.mean(one["refused"] for one in found) < 0.1
    assert max(one["refused"] for one in found) < 0.2


@pytest.mark.parametrize("window_s", [None, 60.0])
def test_nor_does_one_where_requests_fail_at_random_too(window_s):
    found = [scenarios.rate_limit(600, window_s, seed, MIX) for seed in range(100, 110)]
    assert median(found, "used") >= 0.8
    assert min(one["used"] for one in found) >= 0.7, "a recovery that tells nothing must not stop the lane"
    assert median(found, "refused") < 0.1


def test_one_answer_between_two_recoveries_tells_no_rate():
    slots = Slots(64, 8, 0.0, random.Random(1))
    now = 0.0
    for answers in (200, 200, 1, 1):
        for _ in range(answers):
            while slots.wait(now) > 0:
                now += 0.01
            slots.succeeded(slots.send(now), now, now + 0.01)
        slots.shut(now)
        for _ in range(8):
            now += slots.wait(now)
            slots.failed(slots.send(now), now, now)
        now += slots.wait(now)
        slots.succeeded(slots.send(now), now, now + 0.01)
    assert slots.level.cap > 0.05


@pytest.mark.parametrize("mix", ["no failures", "default mix"])
@pytest.mark.parametrize(
    "changes", [[(0.0, 8), (70.0, 40), (140.0, 20)], [(0.0, 48), (60.0, 4), (120.0, 48)]]
)
def test_nor_is_a_capacity_lost_that_comes_later(changes, mix):
    found = [scenarios.full_server(changes, scenarios.MIXES[mix], seed) for seed in SEEDS]
    assert median(found, "used") >= 0.87
    assert max(one["refused"] for one in found) <= 0.06


@pytest.mark.parametrize("kind", ["connect", "503"])
@pytest.mark.parametrize("mix", ["no failures", "default mix"])
def test_an_outage_is_probed_and_its_end_is_found_at_once(mix, kind):
    found = [scenarios.outage(scenarios.MIXES[mix], seed, kind) for seed in SEEDS]
    assert max(one["probes"] for one in found) <= 25
    assert max(one["back"] for one in found) <= 5.0
    assert all(one["left"] == 0 for one in found)


def test_slow_answers_with_many_open():
    found = [
        scenarios.random_failures(
            MIX, seed, queries=8_000, most=256, delay=scenarios.heavy_tailed, give_up_s=120.0
        )
        for seed in SEEDS
    ]
    assert median(found, "ratio") >= 0.9


def test_bursts_of_failures_do_not_slow_it_down_for_good():
    world = {"bursts": (10.0, 2.0, 0.4)}
    found = [scenarios.random_failures({"500": 0.02}, seed, queries=8_000, **world) for seed in SEEDS]
    assert median(found, "ratio") >= 0.9


def test_the_same_seed_gives_the_same_run():
    world = World(mix=MIX)
    assert run(world, 3, 500).answers == run(world, 3, 500).answers


# The parts


def slots(most: int = 4, start: int | None = None) -> Slots:
    return Slots(most, most if start is None else start, 0.0, random.Random(1))


def test_no_more_are_open_than_there_are_slots():
    kept = slots(3)
    sent = []
    while kept.wait(0.0) == 0:
        sent.append(kept.send(0.0))
    assert (len(set(sent)), kept.open, kept.wait(0.0)) == (3, 3, math.inf)
    kept.succeeded(sent[0], 0.0, 0.3)
    assert kept.wait(0.3) == 0


def test_it_starts_with_few_and_more_than_twice_as_many_each_round_trip():
    kept, levels = slots(100, 4), []
    for second in range(4):
        now = float(second)
        sent = []
        while kept.wait(now) == 0:
            sent.append(kept.send(now))
        levels.append(len(sent))
        for slot in sent:
            kept.succeeded(slot, now, now + 0.5)
    assert levels == [4, 12, 28, 60]


def test_a_slot_that_keeps_failing_rests_and_the_others_do_not():
    kept = slots(4)
    for step in range(200):
        now = float(step)
        sent = [kept.send(now) for _ in range(4) if kept.wait(now) == 0]
        for slot in sent:
            if slot == 3 and step > 0:
                kept.failed(slot, now, now + 0.3)
            else:
                kept.succeeded(slot, now, now + 0.3)
        if kept.in_play == 3:
            break
    assert 3 <= step <= 6
    assert not kept.outage


def fail_all(kept: Slots, now: float, **how) -> float:
    """Send and fail until it is an outage."""
    for _ in range(200):
        wait = kept.wait(now)
        if kept.outage:
            return now
        now += wait if wait < math.inf else 0.01
        kept.failed(kept.send(now), now, now + 0.01, **how)
        now += 0.01
    raise AssertionError("no outage was seen")


def test_in_an_outage_one_request_at_a_time_asks_and_less_and_less_often():
    kept = slots(8)
    start = now = fail_all(kept, 0.0, spoke=False)
    probes = []
    while now < start + 600:
        now += kept.wait(now)
        probes.append(now)
        slot = kept.send(now)
        assert slot == PROBE
        assert kept.wait(now) > 0
        kept.failed(slot, now, now + 0.01, spoke=False)
    assert sum(at < start + 30 for at in probes) <= 24
    gaps = [after - before for before, after in zip(probes[-6:], probes[-5:], strict=False)]
    assert 10 < max(gaps) <= 30
    slot = kept.send(now := now + kept.wait(now))
    kept.succeeded(slot, now, now + 0.3)
    assert not kept.outage
    sent = 0
    while kept.wait(now + 0.3) == 0:
        kept.send(now + 0.3)
        sent += 1
    assert sent >= 1


def test_a_lane_whose_slots_all_rest_asks_on():
    kept = slots(1)
    now = fail_all(kept, 0.0)
    assert kept.in_play == 0
    assert kept.wait(now) <= 0.25


def test_a_run_of_replies_that_say_when_to_come_back_is_heeded():
    kept = slots(64)
    now = fail_all(kept, 0.0, retry_after=7.0)
    assert 6.9 < kept.wait(now) <= 7.0
    assert now < 0.2, "a few such replies are enough"
    now += kept.wait(now)
    slot = kept.send(now)
    kept.failed(slot, now, now + 0.1, retry_after=20.0)
    assert kept.wait(now + 0.1) == pytest.approx(20.0)


def test_one_such_reply_among_others_stops_nothing():
    kept = slots(4)
    for step in range(100):
        now = float(step)
        slot = kept.send(now)
        if step % 3 == 0:
            kept.failed(slot, now, now + 0.3, retry_after=600.0)
        else:
            kept.succeeded(slot, now, now + 0.3)
        assert kept.wait(now + 0.5) == 0


def test_a_server_that_is_known_to_be_gone_is_probed_at_once():
    kept = slots(8)
    slot = kept.send(0.0)
    kept.failed(slot, 0.0, 0.1)
    kept.shut(0.1)
    assert kept.outage
    assert 0 < kept.wait(0.1) <= 0.25


def test_a_request_without_an_outcome_gives_its_slot_back():
    kept = slots(1)
    slot = kept.send(0.0)
    assert kept.wait(1.0) == math.inf
    kept.abandoned(slot, 1.0)
    assert kept.wait(1.0) == 0


@pytest.mark.parametrize("cap", [0.1, 0.5, 1.0, 2.5, 3.9])
def test_a_cap_between_two_numbers_holds_on_average(cap):
    kept = slots(8)
    kept.level.cap = cap
    chance, busy, now, open_ = random.Random(4), 0.0, 0.0, []
    for _ in range(4000):
        wait = kept.wait(now)
        if wait <= 0:
            took = 0.2 + 0.2 * chance.random()
            open_.append((now + took, kept.send(now), now))
            busy += took
            continue
        now = min([now + wait, *(end for end, _, _ in open_)])
        for done in [one for one in open_ if one[0] <= now]:
            open_.remove(done)
            kept.abandoned(done[1], now)
    assert busy / now == pytest.approx(cap, rel=0.06)
