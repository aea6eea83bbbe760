"""The IETF's rate limit headers, of every draft: they pause or pace a lane, and say how long a 429 holds."""

from __future__ import annotations

import random

import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from runner_world import completion, fill_study, providers, status

from runner.limits.headers import allowance, retry_after, speaks_of_limits

NOW = 1_700_000_000.0


def headers(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


@pytest.mark.parametrize(
    ("given", "pause_s", "per_minute"),
    [
        ([("RateLimit-Limit", "50"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "5")], 5, None),
        ([("RateLimit-Limit", "9, 9;w=30"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "5")], 5, 18),
        ([("RateLimit-Limit", "50"), ("RateLimit-Remaining", "7"), ("RateLimit-Reset", "5")], None, None),
        ([("RateLimit-Remaining", "0"), ("RateLimit-Reset", str(int(NOW) + 9))], 9, None),
        ([("RateLimit", '"default";r=0;t=5'), ("RateLimit-Policy", '"default";q=50;w=60')], 5, 50),
        ([("RateLimit", '"default";r=49;t=5'), ("RateLimit-Policy", '"default";q=50;w=60')], None, 50),
        ([("RateLimit", "default;r=0;t=5")], 5, None),
        ([("RateLimit", '"a;b, c";r=0;t=5;pk=:cHVi:')], 5, None),
        ([("RateLimit", '"a";r=0;t=5, "b";r=0;t=40, "c";r=3;t=900')], 40, None),
        ([("RateLimit", '"a";r=9;t=5'), ("RateLimit", '"b";r=0;t=8')], 8, None),
        ([("RateLimit", '"a";r=0'), ("RateLimit-Policy", '"a";q=10;w=20')], 20, 30),
        ([("RateLimit", '"a";r=0;t=5'), ("RateLimit-Policy", '"a";q=10;w=1, "b";q=100;w=60')], 5, 100),
        ([("RateLimit", '"day";r=0;t=5'), ("RateLimit-Policy", '"day";q=1000;w=86400')], 5, None),
        ([("RateLimit", "limit=100, remaining=0, reset=50"), ("RateLimit-Policy", "100;w=60")], 50, 100),
        ([("RateLimit", "limit=9, remaining=3, reset=50"), ("RateLimit-Policy", "1;w=1, 9;w=60")], None, 9),
        ([("RateLimit", '"x";r=0;t=6'), ("RateLimit-Policy", '"x";q=9;w=60;qu="content-bytes"')], 6, None),
        ([("RateLimit", '"x";r=0;t=6'), ("RateLimit-Policy", '"x";q=9;w=60;qu="requests"')], 6, 9),
        ([("RateLimit", '"default";r=;t=five, ;;, r=0')], None, None),
        ([("RateLimit", '"default";r=-1;t=5')], None, None),
        ([("RateLimit", '"default";r=0')], None, None),
        (
            [("x-ratelimit-remaining-requests", "9"), ("RateLimit", '"d";r=0;t=5')],
            *(5, None),
        ),
    ],
)  # fmt: skip
def test_what_an_answer_says_of_its_policies(given, pause_s, per_minute) -> None:
    told = allowance(headers(*given), "requests", NOW)
    assert told is not None
    assert speaks_of_limits(headers(*given))
    assert (told.pause_s, told.per_minute) == (pause_s, per_minute)


def test_policies_of_tokens_are_told_from_those_of_requests() -> None:
    given = headers(
        ("RateLimit-Policy", '"rpm";q=60;w=60, "tpm";q=9000;w=60;qu="tokens", "burst-tokens";q=500;w=1'),
        ("RateLimit", '"rpm";r=3;t=2, "tpm";r=0;t=7'),
    )
    requests, tokens = allowance(given, "requests", NOW), allowance(given, "tokens", NOW)
    assert (requests.per_minute, requests.pause_s) == (60, None)
    assert (tokens.per_minute, tokens.pause_s) == (9000, 7)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ([("RateLimit-Reset", "21600")], 21_600),
        ([("RateLimit-Limit", "50"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "7")], 7),
        ([("RateLimit", '"default";r=0;t=5')], 5),
        ([("RateLimit", '"a";r=9;t=900, "b";r=0;t=5')], 5),
        ([("RateLimit", '"b";r=0'), ("RateLimit-Policy", '"b";q=5;w=30')], 30),
        ([("RateLimit", "limit=10, remaining=0, reset=4")], 4),
        ([("RateLimit", '"default";r=0;t=5'), ("Retry-After", "2")], 2),
        ([("RateLimit", '"default";r=8;t=5')], None),
        ([("RateLimit-Policy", '"default";q=50;w=60')], None),
    ],
)
def test_a_refusal_says_by_them_when_to_come_back(given, seconds) -> None:
    assert retry_after(headers(*given), "", NOW, is_refusal=True) == seconds
    if "Retry-After" not in dict(given):
        assert retry_after(headers(*given), "", NOW) is None, "a 500 is not about limits"


def test_no_policy_ends_a_run() -> None:
    chance = random.Random(7)
    names = ("RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Reset")
    pieces = ['"', ";", ",", "=", "r=0", "t=5", "q=", "w=0", "w=-1", "reset=", "remaining=0", "1e999", "nan"]
    for _ in range(5_000):
        given = headers(*((name, "".join(chance.choices(pieces, k=chance.randrange(12)))) for name in names))
        told = allowance(given, "requests")
        for seconds in (told and told.pause_s, retry_after(given, is_refusal=True)):
            assert seconds is None or seconds >= 0
        assert told is None or told.per_minute is None or told.per_minute > 0
    allowance(headers(("RateLimit", '";,' * 100_000)), "requests")


@pytest.mark.parametrize("code", [200, 429])
@pytest.mark.parametrize(
    "stated",
    [
        {"RateLimit-Limit": "50", "RateLimit-Remaining": "0", "RateLimit-Reset": "1"},
        {"RateLimit": '"default";r=0;t=1', "RateLimit-Policy": '"default";q=5000;w=60'},
        {"RateLimit": "limit=50, remaining=0, reset=1"},
    ],
)
async def test_a_run_waits_as_the_headers_say(study, serve, ask, stated, code) -> None:
    fill_study(study, 1, 3)

    def reply(call):
        if call.number:
            return completion()
        return web.json_response(completion(), headers=stated) if code == 200 else status(code, **stated)

    server = await serve(reply)
    limits = {"in_flight": 1, "start_in_flight": 1}
    summary = await ask(providers(a={"base_url": server.base_url, "limits": limits}))
    assert summary.counts == {"answered": 3}
    assert server.calls[1].at - server.calls[0].at > 0.9
