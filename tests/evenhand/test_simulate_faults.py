"""The fault layer: every fault looks on the wire as it should, limits are strict, the ledger is exact."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import pytest

from evenhand.simulate import PromptBook, Script
from evenhand.simulate.prompts import digest
from tests.servers.faults import EVERY_KIND, DeadKey, FaultPlan, Faults, Outage
from tests.servers.faulty_judge import FaultyJudge
from tests.servers.ledger import SETTLED, Ledger, prompt_key
from tests.servers.limits import Charge, ServerLimits, Window, retry_headers

TEXTS = [f"第{n}件案件的事实：被告人盗窃财物。" for n in range(200)]
BOOK = PromptBook.of_rows((text, f"case-{n}", "label", "value") for n, text in enumerate(TEXTS))
KEYS = [prompt_key(digest(text.encode()), None) for text in TEXTS]


@asynccontextmanager
async def serving(
    plan: FaultPlan, script: Script | None = None
) -> AsyncIterator[tuple[FaultyJudge, aiohttp.ClientSession]]:
    async with (
        FaultyJudge(script or Script(plain=True), BOOK, plan) as judge,
        aiohttp.ClientSession() as session,
    ):
        yield judge, session


def always(kind: str, **more: Any) -> FaultPlan:
    return FaultPlan(rate=1.0, kinds={kind: 1.0}, **more)


async def post(
    judge: FaultyJudge, session: aiohttp.ClientSession, text: str = TEXTS[0], key: str = "", **more: Any
) -> tuple[int, str, bytes, dict[str, str]]:
    """Status, content type, body, headers (names in lower case)."""
    sent = {"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": 50, **more}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with session.post(f"{judge.base_url}/chat/completions", json=sent, headers=headers) as response:
        body = await response.read()
        return (
            response.status,
            response.content_type,
            body,
            {k.lower(): v for k, v in response.headers.items()},
        )


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("rate_limited", 429),
        ("rate_limited_wait", 429),
        ("error_500", 500),
        ("error_502", 502),
        ("error_503", 503),
        ("error_529", 529),
    ],
)
async def test_errors_have_their_status_and_an_error_object(kind: str, status: int) -> None:
    async with serving(always(kind)) as (judge, session):
        got, content_type, body, headers = await post(judge, session)
    assert (got, content_type) == (status, "application/json")
    assert json.loads(body)["error"]["message"]
    waits = [name for name in headers if name.startswith("retry-after")]
    assert len(waits) == (kind == "rate_limited_wait")
    assert judge.ledger.kinds(KEYS[0]) == (kind,)


async def test_retry_after_comes_in_every_form() -> None:
    async with serving(always("rate_limited_wait", wait_s=2.0)) as (judge, session):
        replies = [(await post(judge, session, TEXTS[n]))[3] for n in range(3)]
    (milliseconds,) = [h["retry-after-ms"] for h in replies if "retry-after-ms" in h]
    seconds, date = sorted((h["retry-after"] for h in replies if "retry-after" in h), key=len)
    assert (seconds, milliseconds) == ("2", "2000")
    assert 0.5 < parsedate_to_datetime(date).timestamp() - time.time() <= 3.1


async def test_bodies_are_broken_as_their_names_say() -> None:
    async def body_of(kind: str) -> tuple[str, bytes]:
        async with serving(always(kind)) as (judge, session):
            status, content_type, body, _ = await post(judge, session)
        assert status == 200
        return content_type, body

    assert (await body_of("empty_body"))[1] == b""
    for kind in ("not_json", "cut_body"):
        with pytest.raises(ValueError, match=r"Expecting|Unterminated|delimiter"):
            json.loads((await body_of(kind))[1])
    assert (await body_of("html"))[0] == "text/html"
    content_type, body = await body_of("wrong_content_type")
    assert (content_type, json.loads(body)["object"]) == ("text/plain", "chat.completion")
    assert json.loads((await body_of("no_choices"))[1])["choices"] == []


async def test_a_reset_before_the_body_and_one_within_it_differ() -> None:
    async with serving(always("reset_before")) as (judge, session):
        with pytest.raises((aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)):
            await post(judge, session)
        assert judge.ledger.kinds(KEYS[0]) == ("reset_before",)
    async with serving(always("reset_during")) as (judge, session):
        with pytest.raises((aiohttp.ClientPayloadError, aiohttp.ClientOSError)):
            await post(judge, session)
        assert judge.ledger.kinds(KEYS[0]) == ("reset_during",)


async def test_a_hang_stays_silent_and_a_drip_arrives_in_the_end() -> None:
    async with serving(always("hang")) as (judge, session):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(post(judge, session), 0.3)
    async with serving(always("drip", drip_s=0.3)) as (judge, session):
        started = time.monotonic()
        _, _, body, _ = await post(judge, session)
        assert time.monotonic() - started > 0.25
        assert json.loads(body)["choices"]
        assert judge.ledger.kinds(KEYS[0]) == ("drip",)


async def test_who_leaves_during_a_drip_was_not_answered() -> None:
    async with serving(always("drip", drip_s=0.6, worst=1)) as (judge, session):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(post(judge, session), 0.2)
        await asyncio.sleep(0.3)
        assert judge.ledger.kinds(KEYS[0]) == ("gone",)
        await post(judge, session)  # had its worst: is served
        assert judge.ledger.settled(KEYS[0]) == 1


async def test_some_prompts_are_filtered_empty_or_cut_for_good() -> None:
    plan = FaultPlan(content_filter=0.2, empty=0.2, truncated=0.2)
    finish: Counter[str] = Counter()
    async with serving(plan) as (judge, session):
        for text in TEXTS:
            choice = json.loads((await post(judge, session, text))[2])["choices"][0]
            again = json.loads((await post(judge, session, text))[2])["choices"][0]
            assert again == choice
            finish[choice["finish_reason"], bool(choice["message"]["content"])] += 1
    # 200 prompts, 0.2 each: within 4 standard errors.
    assert finish["content_filter", False] == pytest.approx(40, abs=23)
    assert finish["stop", False] == pytest.approx(40, abs=23)
    assert finish["length", True] == pytest.approx(40, abs=23)
    assert len(judge.ledger.settled_twice()) == len(TEXTS)


async def test_what_is_too_long_is_refused_for_good() -> None:
    async with serving(FaultPlan(context_tokens=60)) as (judge, session):
        status, _, body, _ = await post(judge, session)
    assert (status, json.loads(body)["error"]["code"]) == (400, "context_length_exceeded")


@pytest.mark.parametrize(
    ("form", "status", "code"),
    [
        ("invalid", 401, "invalid_api_key"),
        ("forbidden", 403, "access_denied"),
        ("no_quota", 429, "insufficient_quota"),
        ("no_balance", 402, "insufficient_balance"),
    ],
)
async def test_a_key_dies_after_so_many_requests_and_others_live(form: Any, status: int, code: str) -> None:
    plan = FaultPlan(dead_keys=(DeadKey("sk-one", after=2, form=form),), echo_key=True)
    async with serving(plan) as (judge, session):
        one = [(await post(judge, session, TEXTS[n], "sk-one"))[0] for n in range(3)]
        other = [(await post(judge, session, TEXTS[n], "sk-two"))[0] for n in range(3)]
        body = json.loads((await post(judge, session, TEXTS[0], "sk-one"))[2])
    assert one == [200, 200, status]
    assert other == [200, 200, 200]
    assert body["error"]["code"] == code
    assert "sk-one" in body["error"]["message"]  # as some providers do; clients must redact


async def test_a_model_vanishes_for_a_while() -> None:
    plan = FaultPlan(outages=(Outage(0.0, 0.4, model="m"),))
    async with serving(plan) as (judge, session):
        status, _, body, _ = await post(judge, session)
        assert (status, json.loads(body)["error"]["code"]) == (404, "model_not_found")
        assert (await post(judge, session, model="other"))[0] == 200
        await asyncio.sleep(0.45)
        assert (await post(judge, session))[0] == 200
        assert judge.ledger.kinds(KEYS[0]) == ("model_gone", "answered", "answered")


async def test_faults_come_at_their_rate_the_same_each_time_and_end() -> None:
    async def histories(texts: list[str]) -> dict[str, tuple[str, ...]]:
        plan = FaultPlan(seed=1, rate=0.4, drip_s=0.02, hang_s=0.02, worst=3)
        async with serving(plan) as (judge, session):

            async def until_settled(text: str) -> None:
                key = prompt_key(digest(text.encode()), None)
                for _ in range(4):
                    with suppress(aiohttp.ClientError):
                        await post(judge, session, text)
                    if judge.ledger.settled(key):
                        return
                raise AssertionError(judge.ledger.kinds(key))

            await asyncio.gather(*map(until_settled, texts))
            assert judge.ledger.never_settled(KEYS) == []
            assert judge.ledger.settled_twice() == []
            return {text: judge.ledger.kinds(key) for text, key in zip(TEXTS, KEYS, strict=True)}

    first = await histories(TEXTS)
    assert await histories(TEXTS[::-1]) == first
    met = Counter(kind for kinds in first.values() for kind in kinds)
    faults = sum(n for kind, n in met.items() if kind not in ("answered", "drip"))
    assert len(set(met) & set(EVERY_KIND)) >= 12
    assert 70 <= faults <= 180  # 200 prompts at 0.4 a try, at most 3: 125 expected, less the drips


def test_the_window_never_holds_more_than_the_limit_even_over_a_burst() -> None:
    window = Window(ServerLimits(requests=10, window_s=60))
    admitted = []
    for tenth in range(1800):  # 10 tries a second for 3 minutes
        now = tenth / 10
        if isinstance(window.admit(now, 1, 0), Charge):
            admitted.append(now)
    assert len(admitted) == 30
    for start in admitted:
        assert sum(start <= at < start + 60 for at in admitted) <= 10
    assert window.refused_requests == 1800 - 30
    assert window.most_in(60) == 10


def test_tokens_are_charged_as_reserved_or_as_used() -> None:
    reserved = Window(ServerLimits(tokens=100, window_s=60))
    assert isinstance(reserved.admit(0, 30, 50), Charge)
    assert reserved.admit(1, 30, 0) == "tokens"
    assert isinstance(reserved.admit(1, 20, 0), Charge)
    assert reserved.admit(59.9, 1, 0) == "tokens"
    assert isinstance(reserved.admit(60.0, 1, 0), Charge)

    used = Window(ServerLimits(tokens=100, window_s=60, counts="used"))
    charge = used.admit(0, 30, 5000)
    assert isinstance(charge, Charge)
    used.settle(charge, 90, 1)
    assert used.admit(2, 11, 0) == "tokens"
    assert isinstance(used.admit(2, 10, 0), Charge)


def test_refused_requests_can_count_and_waits_are_never_too_short() -> None:
    lenient, harsh = (Window(ServerLimits(requests=1, window_s=10, refused_count=c)) for c in (False, True))
    for window in (lenient, harsh):
        window.admit(0, 1, 0)
        assert window.admit(6, 1, 0) == "requests"
    assert lenient.wait_s(6, "requests") == pytest.approx(4)
    assert isinstance(lenient.admit(10, 1, 0), Charge)
    assert harsh.admit(10, 1, 0) == "requests"
    assert int(retry_headers("seconds", 3.2)["Retry-After"]) == 4
    assert int(retry_headers("milliseconds", 0.0101)["retry-after-ms"]) == 11
    assert parsedate_to_datetime(retry_headers("date", 3.2)["Retry-After"]).timestamp() >= time.time() + 3.1
    assert retry_headers("none", 3.2) == {}


async def test_limits_hold_for_each_key_and_model_and_are_told() -> None:
    plan = FaultPlan(limits=ServerLimits(requests=2, window_s=30, headers=True))
    async with serving(plan) as (judge, session):
        statuses = [(await post(judge, session, TEXTS[n], "a"))[0] for n in range(3)]
        other_key = (await post(judge, session, TEXTS[3], "b"))[0]
        other_model = (await post(judge, session, TEXTS[3], "a", model="n"))[0]
        headers = (await post(judge, session, TEXTS[4], "a"))[3]
    assert statuses == [200, 200, 429]
    assert (other_key, other_model) == (200, 200)
    assert headers["x-ratelimit-limit-requests"] == "2"
    assert headers["x-ratelimit-remaining-requests"] == "0"
    assert 25 <= int(headers["retry-after"]) <= 30
    assert judge.ledger.kinds(KEYS[2]) == ("limit_requests",)


def test_the_ledger_counts_every_reply_and_tells_repeats_apart() -> None:
    ledger = Ledger()
    one, again = prompt_key(7, None), prompt_key(7, 1)
    for key, kind in ((one, "error_500"), (one, "answered"), (again, "answered"), (one, "content_filter")):
        ledger.record(key, kind)
    assert ledger.kinds(one) == ("error_500", "answered", "content_filter")
    assert ledger.settled_twice() == [one]
    assert ledger.never_settled([one, again, prompt_key(8, None)]) == [prompt_key(8, None)]
    assert ledger.tally() == {"error_500": 1, "answered": 2, "content_filter": 1}
    assert ledger.summary()["extra"] == 1


def test_a_prompt_meets_no_more_faults_than_the_worst() -> None:
    ledger = Ledger()
    faults = Faults(FaultPlan(rate=1.0, worst=3), ledger)
    kinds = []
    for second in range(5):
        kinds.append(faults.judge(1, "", "m", 1, 1, second).kind)
        ledger.record(1, kinds[-1] if kinds[-1] not in SETTLED else "error_500")
    assert "answered" not in kinds[:3]
    assert kinds[3:] == ["answered", "answered"]
