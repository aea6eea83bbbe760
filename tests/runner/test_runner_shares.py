"""Cases shared out to replicas: kept together, taken over whole, given back, none lost and none twice."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from runner.live.shares import Shares, case_of


@dataclass(eq=False)
class FakeLane:
    name: str
    up: bool = True


@dataclass(eq=False)
class FakeItem:
    number: int
    case: str
    query: SimpleNamespace = field(init=False)

    def __post_init__(self):
        self.query = SimpleNamespace(collection="c", doc_id=self.case)


class FakeBacklog:
    def __init__(self, items):
        self.new = deque(items)

    def peek(self, now):
        return self.new[0] if self.new else None

    def pop(self, item):
        assert self.new.popleft() is item

    def again(self, items):
        self.new.extendleft(reversed(list(items)))


def cases(count: int, size: int) -> list[FakeItem]:
    return [FakeItem(n, f"d{n // size}") for n in range(count * size)]


def shares(lanes) -> Shares:
    return Shares(lanes, lambda lane, now: lane.up)


def test_a_case_stays_with_one_replica():
    lanes = [FakeLane("a"), FakeLane("b"), FakeLane("c")]
    backlog, divided = FakeBacklog(cases(30, 7)), shares(lanes)
    homes: dict[str, set[str]] = {}
    chance = random.Random(1)
    sent = []
    while True:
        order = chance.sample(lanes, 3)
        lane = next((one for one in order if divided.peek(one, backlog, 0.0) is not None), None)
        if lane is None:
            break
        item = divided.pop(lane)
        sent.append(item.number)
        homes.setdefault(item.query.doc_id, set()).add(lane.name)
    assert sorted(sent) == list(range(210))
    alone = sum(len(where) == 1 for where in homes.values())
    assert alone >= 28, "only at the end a case may be divided, once for each idle replica"
    assert {name for where in homes.values() for name in where} == {"a", "b", "c"}


def test_an_idle_replica_takes_whole_cases_from_the_one_with_most_waiting():
    a, b = FakeLane("a"), FakeLane("b")
    backlog, divided = FakeBacklog(cases(1, 4) + cases(6, 4)[4:]), shares([a, b])
    assert divided.peek(a, backlog, 0.0).number == 0
    # `b` draws through the first case to the second, and so on; then `a` stands still.
    taken = []
    while (item := divided.peek(b, backlog, 0.0)) is not None and item.query.doc_id != "d0":
        taken.append(divided.pop(b).query.doc_id)
    assert set(taken) == {"d1", "d2", "d3", "d4", "d5"}
    assert item is not None, "the last case of all is divided"
    assert len(divided) == 4


@pytest.mark.parametrize("seed", range(20))
def test_replicas_that_die_and_come_back_lose_nothing_and_ask_nothing_twice(seed):
    chance = random.Random(seed)
    lanes = [FakeLane(str(n)) for n in range(4)]
    backlog, divided = FakeBacklog(cases(25, 5)), shares(lanes)
    sent: list[int] = []
    for _ in range(10_000):
        for lane in lanes:
            if chance.random() < 0.02:
                lane.up = not lane.up
        up = [lane for lane in lanes if lane.up]
        if not up:
            divided.give_all_back(backlog)
            lanes[0].up = True
            continue
        lane = chance.choice(up)
        item = divided.peek(lane, backlog, 0.0)
        if item is None:
            if not backlog.new and not len(divided):
                break
            continue
        assert divided.pop(lane) is item
        if chance.random() < 0.1:  # the request failed, and the replica with it
            backlog.again([item])
        else:
            sent.append(item.number)
    assert sorted(sent) == list(range(125))


def test_the_case_is_the_document_of_its_collection():
    assert case_of(FakeItem(1, "d9")) == ("c", "d9")
