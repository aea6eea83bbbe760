"""How faults look on the wire: status, body and what happens to the connection.

Error bodies follow what providers send (OpenAI's error object; HTML from a proxy in between).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import orjson

from evenhand.simulate.http import Connection, error, reply
from tests.servers.faults import FaultPlan, Verdict
from tests.servers.limits import RetryAfter, retry_headers

_HTML = b"<!DOCTYPE html><html><head><title>502</title></head><body>upstream unavailable</body></html>"
_DRIPS = 20
_ERRORS: Mapping[str, tuple[int, str, str]] = {
    "limit_requests": (429, "rate_limit_exceeded", "Rate limit reached for requests per minute."),
    "limit_tokens": (429, "rate_limit_exceeded", "Rate limit reached for tokens per minute."),
    "rate_limited": (429, "rate_limit_exceeded", "Too many requests."),
    "rate_limited_wait": (429, "rate_limit_exceeded", "Too many requests. Please wait."),
    "error_500": (500, "server_error", "The server had an error while processing your request."),
    "error_502": (502, "bad_gateway", "Bad gateway."),
    "error_503": (503, "overloaded", "The engine is currently overloaded."),
    "error_529": (529, "overloaded_error", "Overloaded."),
    "model_gone": (404, "model_not_found", "The model does not exist or you do not have access to it."),
    "context_overflow": (
        400,
        "context_length_exceeded",
        "This model's maximum context length is exceeded by your messages.",
    ),
}
_DEATHS: Mapping[str, tuple[int, str, str]] = {
    "invalid": (401, "invalid_api_key", "Incorrect API key provided."),
    "forbidden": (403, "access_denied", "This key has no access."),
    "no_quota": (429, "insufficient_quota", "You exceeded your current quota, please check your plan."),
    "no_balance": (402, "insufficient_balance", "Insufficient balance."),
}
_RETRY_FORMS: tuple[RetryAfter, ...] = ("seconds", "date", "milliseconds")


def carry_out(
    connection: Connection,
    verdict: Verdict,
    plan: FaultPlan,
    good: bytes,
    api_key: str,
    number: int,
    recorded: Callable[[str], None],
) -> None:
    """Do to the connection what the verdict says.

    Args:
        connection: the client's.
        verdict: of a fault; `answered` is not one.
        plan: for times.
        good: the JSON of the answer that this request would have got.
        api_key: for errors that echo it.
        number: of the reply; forms that vary follow it.
        recorded: is called once, with the kind of reply that the client really got.
    """
    kind = verdict.kind
    loop = asyncio.get_running_loop()
    if kind in _ERRORS or kind == "key_dead":
        status, code, message = _DEATHS[verdict.form] if kind == "key_dead" else _ERRORS[kind]
        headers = dict(verdict.headers)
        if kind == "rate_limited_wait":
            headers |= retry_headers(_RETRY_FORMS[number % len(_RETRY_FORMS)], plan.wait_s)
        if plan.echo_key and api_key:
            message = f"{message} Key: {api_key}"
        data = error(status, code, message, headers)
    elif kind in ("content_filter", "empty", "truncated", "no_choices"):
        data = reply(200, _altered(good, kind), verdict.headers)
    elif kind == "not_json":
        data = reply(200, b"upstream says: OK" + good[:20])
    elif kind == "html":
        data = reply(200, _HTML, content_type="text/html; charset=utf-8")
    elif kind == "wrong_content_type":
        data = reply(200, good, content_type="text/plain")
    elif kind == "empty_body":
        data = reply(200, b"")
    elif kind == "cut_body":
        # Whole for HTTP, cut for JSON: the proxy in between gave up.
        data = reply(200, good[: len(good) * 2 // 3])
    elif kind == "reset_before":
        recorded(kind)
        connection.reset()
        return
    elif kind == "reset_during":
        connection.write(reply(200, good[: len(good) // 2], length=len(good)))
        recorded(kind)
        # At once, what was written would be thrown away with the connection, and this be `reset_before`.
        loop.call_later(0.005, connection.reset)
        return
    elif kind == "hang":
        recorded(kind)
        loop.call_later(plan.hang_s, connection.reset)
        return
    elif kind == "drip":
        _drip(connection, reply(200, good), plan.drip_s / _DRIPS, recorded)
        return
    else:
        raise AssertionError(f"no reply for {kind}")
    recorded(kind if connection.open else "gone")
    connection.send(data)


def _altered(good: bytes, kind: str) -> bytes:
    body = orjson.loads(good)
    choice = body["choices"][0]
    if kind == "content_filter":
        choice["message"]["content"] = ""
        choice["finish_reason"] = "content_filter"
    elif kind == "empty":
        choice["message"]["content"] = ""
    elif kind == "truncated":
        choice["message"]["content"] = choice["message"]["content"][:12]
        choice["finish_reason"] = "length"
    else:
        body["choices"] = []
    return orjson.dumps(body)


def _drip(connection: Connection, data: bytes, pause_s: float, recorded: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    size = -(-len(data) // _DRIPS)

    def drop(start: int) -> None:
        if not connection.open:
            recorded("gone")
        elif start + size >= len(data):
            recorded("drip")
            connection.send(data[start:])
        else:
            connection.write(data[start : start + size])
            loop.call_later(pause_s, drop, start + size)

    drop(0)
