"""What a failed request means: for its query, for the lane that it went by, for the key, and for the money.

Every kind of fault has one rule here, and live runs and batches both go by it. What is kept elsewhere is how
a lane knows that it is in an outage or at its limit (`runner.limits`, `runner.live.lane`); what follows from
that for a query is decided here too.

| kind                                      | query       | lane                      | key   | money      |
|-------------------------------------------|-------------|---------------------------|-------|------------|
| rate_limited, overloaded                  | waits       | has too much              | kept  | free       |
| timeout, connection, bad_body, no_choices | tried again | failed                    | kept  | may be due |
| server_error                              | tried again | failed                    | kept  | free (1)   |
| no_model, redirected                      | tried again | failed                    | kept  | free       |
| bad_key, no_money                         | waits       | learns nothing            | spent | free       |
| context_overflow, rejected                | given up    | rejects all, or this one  | kept  | free       |

A query that waits is asked again and spends no try; one that is tried again has `max_tries`, or more
where requests fail by chance (`runner.lifecycle.tries`), with growing waits between them; one that is
given up is stored under the name of the fault ("failed" when its tries are spent). In an outage of its
lane a failed query waits behind the others and spends no try, up to `MOST_PROBES` in a long one; nor does
it while nothing at all is answered. In a batch, what is to be asked again stays pending for the next
batch, and a file of results that is refused or damaged is fetched again (`of_the_file`).

"Free" and "may be due" are for replies that do not say what they used: usage that a reply states is always
paid, and a request that never reached its server is free. (1) But for a gateway's timeout: the model behind
it may have gone on.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from runner.transport.outcome import Fault, Kind

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 4.0
"""No longer: what a failure says of the server's load is measured elsewhere (`runner.limits.slots`)."""
LONGEST_HOLD_S = 600.0
"""A single reply that names a longer wait is taken for a mistake; a run of such replies stops the lane."""
FAIL_OVER_AFTER_S = 5.0
"""A provider that sends us away for longer than this is not waited for while another is up."""
UNREACHED_S = 25.0
"""So long is a server tried that was never reached: it was not started, or its address is wrong."""
AFTER_REFUSAL_S = 0.5
"""A query waits so long where the server refused it without a word on when to come back."""
MOST_PROBES = 12
LONG_OUTAGE_S = 300.0
"""Tries of one query in outages of its lane that cost it nothing, and how young an outage in which none does.
Beyond both, the query itself is the trouble; but not where the server is not even reached."""
MOST_LAST_PROBES = 3
"""So many where nothing but such queries is left, and the server takes them and fails at them."""
_LONGEST_DOUBLING = 16
_GATEWAY_TIMEOUTS = frozenset({504, 522, 524, 598})
"""The gateway gave up waiting; the model behind it may have gone on, and be paid."""


class ForQuery(Enum):
    """What becomes of the query."""

    TRY_AGAIN = auto()
    """Asked again after a while, as often as it has tries."""
    WAIT = auto()
    """Asked again, and spends no try: it is not at fault."""
    GIVE_UP = auto()
    """Asking the same again would get the same: stored as given up, under the name of the fault."""


class ForLane(Enum):
    """What the lane that the query went by learns."""

    TOO_MUCH = auto()
    """The server has too much, or we are too fast."""
    FAILED = auto()
    """The server failed, or was not reached; many such are an outage."""
    REJECTED = auto()
    """The query was refused as it is; if every one is, the reason is ours."""
    NOTHING = auto()


class ForMoney(Enum):
    """What a try costs whose reply does not say."""

    FREE = auto()
    MAY_BE_CHARGED = auto()
    """Not known, so what was reserved for it counts."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What one kind of fault means."""

    query: ForQuery
    lane: ForLane
    key_is_spent: bool = False
    """The key is of no more use in this run."""
    money: ForMoney = ForMoney.FREE
    passes: bool = True
    """The same request may succeed later, with the same key."""


_TOO_MUCH = Rule(ForQuery.WAIT, ForLane.TOO_MUCH)
_BROKE_OFF = Rule(ForQuery.TRY_AGAIN, ForLane.FAILED, money=ForMoney.MAY_BE_CHARGED)
_FAILED = Rule(ForQuery.TRY_AGAIN, ForLane.FAILED)
_ABSENT = Rule(ForQuery.TRY_AGAIN, ForLane.FAILED, passes=False)
_KEY = Rule(ForQuery.WAIT, ForLane.NOTHING, key_is_spent=True, passes=False)
_REJECTED = Rule(ForQuery.GIVE_UP, ForLane.REJECTED, passes=False)

RULES: Mapping[Kind, Rule] = {
    Kind.RATE_LIMITED: _TOO_MUCH,
    Kind.OVERLOADED: _TOO_MUCH,
    Kind.TIMEOUT: _BROKE_OFF,
    Kind.CONNECTION: _BROKE_OFF,
    Kind.BAD_BODY: _BROKE_OFF,
    Kind.NO_CHOICES: _BROKE_OFF,
    Kind.SERVER_ERROR: _FAILED,
    Kind.NO_MODEL: _ABSENT,
    Kind.REDIRECTED: _ABSENT,
    Kind.BAD_KEY: _KEY,
    Kind.NO_MONEY: _KEY,
    Kind.CONTEXT_OVERFLOW: _REJECTED,
    Kind.REJECTED: _REJECTED,
}


def may_be_charged(fault: Fault) -> bool:
    """Whether a try that failed so, and did not say what it used, may have to be paid."""
    if fault.unreached:
        return False
    if fault.usage is not None and not fault.usage.is_known:
        return True  # it used something
    return RULES[fault.kind].money is ForMoney.MAY_BE_CHARGED or fault.status in _GATEWAY_TIMEOUTS


def passes(fault: Fault) -> bool:
    """Whether a call that asks no query may succeed later, as it is."""
    return RULES[fault.kind].passes


def turned_away(fault: Fault) -> bool:
    """The provider has said no, so that nothing was begun: for calls that ask no query."""
    return fault.status is not None and 400 <= fault.status < 500 and not _broke_off(fault)


def of_the_file(fault: Fault) -> bool:
    """Whether a download failed for a reason of its file: it is not there yet, is withheld, or is damaged.

    A 401 or 403 says nothing of the key, with which the provider has just named the file: stores of files
    answer so while a file is being written, and where a signed address is no longer valid. Where the key is
    the trouble after all, the next look at the batch is refused too.
    """
    refused = not RULES[fault.kind].passes and fault.kind is not Kind.NO_MONEY
    return refused or (fault.kind is Kind.BAD_BODY and fault.at_the_query)


def _broke_off(fault: Fault) -> bool:
    return RULES[fault.kind] is _BROKE_OFF


# What becomes of a query in a live run


@dataclass(frozen=True, slots=True)
class Situation:
    """How it stands with a query and its lane when it has failed."""

    tries: int
    """Tries that it has spent, with the present one."""
    max_tries: int
    probes: int
    """Tries that it had in outages."""
    lane_is_gone: bool = False
    """The lane takes part no more in this run."""
    lane_is_paused: bool = False
    lane_is_out: bool = False
    """The lane is in an outage."""
    out_for_s: float = math.inf
    """Seconds for which it has been in it."""
    no_answer_since: bool = False
    """Nothing that was sent after its last failure has been answered: an outage may be beginning."""
    another_lane_is_up: bool = False
    """Another provider could take the query."""
    lane_has_answered: bool = False
    """In this run, or before."""
    only_failed_are_left: bool = False
    """No query is left that has never failed."""


@dataclass(frozen=True, slots=True)
class AskAgain:
    """The query is asked again."""

    after_s: float = 0.0
    behind: bool = False
    """After all that have never failed: only those tell when an outage ends."""
    spends_try: bool = False
    is_probe: bool = False
    elsewhere: bool = False
    """By another provider, which need not be waited for."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The query is given up, stored with this outcome."""

    outcome: str


def decide(fault: Fault, now: Situation) -> AskAgain | GiveUp:
    """What becomes of a query that failed in a live run."""
    rule = RULES[fault.kind]
    if rule.query is ForQuery.GIVE_UP:
        return GiveUp(fault.kind.value)
    if rule.query is ForQuery.WAIT:
        waits_with_lane = rule.key_is_spent or now.lane_is_paused
        if waits_with_lane:
            return AskAgain()
        told = min(fault.retry_after or 0.0, LONGEST_HOLD_S)
        if told > FAIL_OVER_AFTER_S and now.another_lane_is_up:
            return AskAgain(elsewhere=True)
        return AskAgain(max(random.uniform(0.5, 1.0) * AFTER_REFUSAL_S, told))
    if now.lane_is_gone:
        return AskAgain()
    if now.lane_is_out:  # the lane's fault, not the query's
        lone = now.only_failed_are_left and fault.at_the_query and now.lane_has_answered
        is_young = now.probes < MOST_PROBES or now.out_for_s < LONG_OUTAGE_S or fault.unreached
        if now.probes < MOST_LAST_PROBES if lone else is_young:
            return AskAgain(behind=True, is_probe=True)
        if lone:
            return GiveUp("failed")
    told = min(fault.retry_after or 0.0, LONGEST_HOLD_S)
    if now.no_answer_since and not fault.at_the_query:
        return AskAgain(max(backoff_s(now.tries), told))
    if now.tries >= now.max_tries:
        return GiveUp("failed")
    return AskAgain(max(backoff_s(now.tries), told), spends_try=True)


def backoff_s(tries: int, chance: random.Random | None = None) -> float:
    """Seconds before the next try, after so many: twice as long each time at most, with full jitter."""
    longest = min(FIRST_WAIT_S * 2.0 ** min(tries - 1, _LONGEST_DOUBLING), LONGEST_WAIT_S)
    return longest * (chance.random() if chance else random.random())


# What becomes of a query in a batch


def left_pending(fault: Fault) -> bool:
    """Whether a query whose line in a batch says this is asked again by a later one."""
    return RULES[fault.kind].query is not ForQuery.GIVE_UP
