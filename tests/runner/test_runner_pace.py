"""The pace of a rate limit against simulated servers, on a clock of their own."""

from __future__ import annotations

import random
from collections import deque

import pytest

from runner.limits.rate_limit import Pace


class Strict:
    """A server that counts what arrived in its window, and refuses what is beyond its limit."""

    def __init__(self, limit: float, sliding: bool, phase: float) -> None:
        self.limit, self.sliding, self.phase = limit, sliding, phase
        self.log: deque[tuple[float, float]] = deque()
        self.accepted = self.refused = self.counted = 0.0

    def arrive(self, at: float, amount: float) -> bool:
        start = at - 60 if self.sliding else at - (at - self.phase) % 60
        while self.log and self.log[0][0] <= start:
            self.counted -= self.log.popleft()[1]
        if self.counted + amount > self.limit:
            self.refused += amount
            return False
        self.log.append((at, amount))
        self.counted += amount
        self.accepted += amount
        return True


def drive(pace: Pace, server: Strict, amounts, *, drift: float, seed: int) -> None:
    """Sends as the pace allows; each request drifts on its way."""
    rng = random.Random(seed)
    now, sent = 0.0, []
    amount = next(amounts)
    while now < 180:
        wait = pace.wait(amount, now)
        if wait > 0:
            now += max(wait, 0.001)
            continue
        pace.take(amount, now)
        sent.append((now + rng.random() * drift, amount))
        amount = next(amounts)
    for at, amount in sorted(sent):
        server.arrive(at, amount)


@pytest.mark.parametrize("limit", [20, 500, 6000])
@pytest.mark.parametrize("sliding", [True, False])
def test_requests_fill_a_strict_limit_from_the_first_second_and_never_pass_it(limit, sliding):
    pace = Pace(limit, 0.0)
    server = Strict(limit, sliding, phase=17.0)
    drive(pace, server, iter(lambda: 1.0, None), drift=0.3, seed=1)
    assert server.refused <= 0.005 * server.accepted
    assert server.accepted >= 0.97 * 3 * limit - 1


def test_tokens_of_unequal_requests_fill_a_strict_limit():
    limit = 200_000
    rng = random.Random(5)
    amounts = iter(lambda: float(rng.randint(1500, 4500)), None)
    pace, server = Pace(limit, 0.0), Strict(limit, True, 0.0)
    drive(pace, server, amounts, drift=0.3, seed=2)
    assert server.refused == 0
    assert server.accepted >= 0.97 * 3 * limit


def test_a_delay_is_made_up_for_only_a_little():
    pace = Pace(600, 0.0)
    sent = 0
    while pace.wait(1, 100.0) == 0:  # nothing was sent for 100 s
        pace.take(1, 100.0)
        sent += 1
    assert 2 <= sent <= 4


def test_settling_gives_back_what_was_not_used():
    pace = Pace(6000, 0.0)
    slot = pace.take(3000, 0.0)
    assert pace.wait(1, 0.0) == pytest.approx(30, abs=0.1)
    pace.settle(slot, 100 - 3000)
    assert pace.wait(1, 0.0) == pytest.approx(1, abs=0.1)


def test_one_request_larger_than_the_whole_limit_is_let_through_alone():
    pace = Pace(100, 0.0)
    assert pace.wait(500, 0.0) == 0
    pace.take(500, 0.0)
    assert pace.wait(1, 0.0) > 60


def test_refusals_slow_it_down_and_time_speeds_it_up_again():
    def sent_in_a_second(pace: Pace, start: float) -> int:
        sent, now = 0, start
        while now < start + 1:
            if pace.wait(1, now) == 0:
                pace.take(1, now)
                sent += 1
            now += 0.001
        return sent

    pace = Pace(60_000, 0.0)
    pace.refused(0.0)
    full = sum(sent_in_a_second(pace, second) for second in range(40))
    assert full == pytest.approx(40_000, rel=0.01), "a refusal far below the limit has another reason"
    for _ in range(5):
        pace.refused(40.0)
    assert sent_in_a_second(pace, 40.0) == pytest.approx(1000 * 0.97**5, rel=0.02)
    for second in range(61, 400, 31):
        pace.wait(1, float(second))
    assert sent_in_a_second(pace, 400.0) == pytest.approx(1000, rel=0.02)
