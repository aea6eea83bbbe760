"""What a reply is taken for: every kind of answer and error that services are known to send."""

from __future__ import annotations

import json
import math
import random
import time
from email.utils import formatdate

import pytest

from runner.limits.headers import allowance, duration, retry_after, speaks_of_limits
from runner.transport.message import split_thinking
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import read

REDACTOR = Redactor(["PLANTED_KEY"])


def completion(message: dict, finish: str = "stop", **more) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "x", "model": "m-1", "choices": [choice], **more}, ensure_ascii=False).encode()


def result(status: int, body: bytes | dict, headers: dict | None = None):
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return read(status, headers or {"Content-Type": "application/json"}, raw, REDACTOR)


@pytest.mark.parametrize(
    ("message", "finish", "outcome", "text", "reasoning"),
    [
        ({"content": "拘役三个月"}, "stop", "answered", "拘役三个月", None),
        ({"content": "三个"}, "length", "truncated", "三个", None),
        ({"content": ""}, "stop", "empty", "", None),
        ({"content": " \n"}, "stop", "empty", " \n", None),
        ({"content": None}, "stop", "empty", "", None),
        ({"content": "部分"}, "content_filter", "refused", "部分", None),
        ({"content": None, "refusal": "I can't."}, "stop", "refused", "I can't.", None),
        ({"content": "答", "reasoning_content": "想"}, "stop", "answered", "答", "想"),
        ({"content": "答", "reasoning": "想"}, "stop", "answered", "答", "想"),
        ({"content": "<think>想\n</think>\n答"}, "stop", "answered", "答", "想"),
        ({"content": "想\n</think>\n答"}, "stop", "answered", "答", "想"),
        ({"content": "<think>想"}, "length", "truncated", "", "想"),
        ({"content": "<think></think>"}, "stop", "empty", "", ""),
        ({"content": [{"type": "text", "text": "答"}]}, "stop", "answered", "答", None),
    ],
)
def test_answers_by_outcome(message, finish, outcome, text, reasoning):
    answer = result(200, completion(message, finish))
    assert isinstance(answer, Answer)
    assert (answer.outcome, answer.text, answer.reasoning) == (outcome, text, reasoning)
    assert answer.model == "m-1"


def test_a_text_that_only_mentions_thinking_is_left_whole():
    assert result(200, completion({"content": "答 <think>"})).text == "答 <think>"


def test_split_thinking_keeps_the_answer():
    assert split_thinking("<think> a </think> b ") == ("a", "b")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}, Kind.RATE_LIMITED),
        (429, {"error": {"message": "x", "code": "insufficient_quota"}}, Kind.NO_MONEY),
        (429, {"error": {"message": "You exceeded your current quota, check your plan"}}, Kind.NO_MONEY),
        (429, {"error": {"message": "Request too large for gpt-4o on TPM"}}, Kind.REJECTED),
        (402, {"error": {"message": "Insufficient Balance"}}, Kind.NO_MONEY),
        (400, {"error": {"message": "Your credit balance is too low to access the API"}}, Kind.NO_MONEY),
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            Kind.OVERLOADED,
        ),
        (500, b"", Kind.SERVER_ERROR),
        (502, b"<html><h1>502 Bad Gateway</h1></html>", Kind.SERVER_ERROR),
        (503, {"error": "no"}, Kind.SERVER_ERROR),
        (401, {"error": {"message": "Incorrect API key provided"}}, Kind.BAD_KEY),
        (403, {"error": {"message": "Country not supported"}}, Kind.BAD_KEY),
        (
            404,
            {"error": {"code": "model_not_found", "message": "The model `x` does not exist"}},
            Kind.NO_MODEL,
        ),
        (400, {"error": {"message": "model gpt-9 not found"}}, Kind.NO_MODEL),
        (304, b"", Kind.NO_MODEL),
        (307, b"", Kind.REDIRECTED),
        (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}, Kind.CONTEXT_OVERFLOW),
        (400, {"error": {"message": "This model's maximum context length is 8192"}}, Kind.CONTEXT_OVERFLOW),
        (400, {"error": {"type": "exceed_context_size_error", "message": "x"}}, Kind.CONTEXT_OVERFLOW),
        (400, {"error": {"message": "Unsupported parameter: 'max_tokens'"}}, Kind.REJECTED),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, Kind.REJECTED),
        (408, b"", Kind.TIMEOUT),
        (200, b"", Kind.BAD_BODY),
        (200, b'{"id": "x", "choices": [{"mess', Kind.BAD_BODY),
        (200, b"<html>ok</html>", Kind.BAD_BODY),
        (200, b'"a string"', Kind.BAD_BODY),
        (200, {"id": "x", "choices": []}, Kind.NO_CHOICES),
        (200, {"id": "x"}, Kind.NO_CHOICES),
        (200, {"choices": [{"finish_reason": "stop"}]}, Kind.BAD_BODY),
        (200, {"choices": [{"message": {"content": 7}}]}, Kind.BAD_BODY),
        (200, {"error": {"code": 502, "message": "upstream"}}, Kind.SERVER_ERROR),
        (200, {"error": {"code": 429, "message": "upstream"}}, Kind.RATE_LIMITED),
        (200, {"choices": [{"message": {"content": ""}, "error": {"code": 502}}]}, Kind.SERVER_ERROR),
    ],
)
def test_faults_by_kind(status, body, kind):
    fault = result(status, body)
    assert isinstance(fault, Fault)
    assert fault.kind == kind


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, b"", "an empty body (from http://gpu:8000/v2/chat/completions)"),
        (404, b" \n", "an empty body (from http://gpu:8000/v2/chat/completions)"),
        (404, {"error": {}}, "no explanation (from http://gpu:8000/v2/chat/completions)"),
        (404, b"404 page not found", "404 page not found (from http://gpu:8000/v2/chat/completions)"),
        (404, {"detail": "Not Found"}, "Not Found (from http://gpu:8000/v2/chat/completions)"),
        (
            405,
            b"<html><head><title>405</title></head>\n<body>\nNot allowed</body></html>",
            "405 Not allowed (from http://gpu:8000/v2/chat/completions)",
        ),
        (410, b"", "an empty body (from http://gpu:8000/v2/chat/completions)"),
        (500, b"", "an empty body (from http://gpu:8000/v2/chat/completions)"),
        (403, b"", "an empty body (from http://gpu:8000/v2/chat/completions)"),
        (404, {"error": {"message": "The model `x` does not exist"}}, "The model `x` does not exist"),
        (503, {"error": {"message": "loading"}}, "loading"),
    ],
)
def test_an_error_that_explains_nothing_names_the_address(status, body, said):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    url = "http://user:secret@gpu:8000/v2/chat/completions?api-key=hidden"
    fault = read(status, {}, raw, Redactor([]), url)
    assert isinstance(fault, Fault)
    assert fault.message == said


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "content_filter", "message": "The response was filtered"}}),
        (400, {"code": "DataInspectionFailed", "message": "Input data may contain inappropriate content."}),
        (403, {"error": {"code": 403, "message": "Your input was flagged"}}),
    ],
)
def test_a_filtered_prompt_is_a_refusal(status, body):
    answer = result(status, body)
    assert isinstance(answer, Answer)
    assert answer.outcome == "refused"


def test_an_echoed_prompt_does_not_decide_the_kind():
    echoed = {
        "detail": [{"msg": "bad", "input": "x" * 400 + "被告人余额不足，欠费 insufficient balance flagged"}]
    }
    assert result(422, echoed).kind == Kind.REJECTED


def test_googles_limit_that_is_worded_as_a_quota_but_says_when_to_come_back():
    body = {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}],
        }
    }
    fault = result(429, [body])
    assert (fault.kind, fault.retry_after) == (Kind.RATE_LIMITED, 34)


def test_a_key_in_an_error_body_is_taken_out(monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", "planted-secret-1")
    fault = result(
        401, {"error": {"message": "bad key planted-secret-1, or sk-proj-ab12****89cd, Bearer abcdefg"}}
    )
    assert "planted-secret-1" not in fault.message
    assert "sk-proj" not in fault.message
    assert "abcdefg" not in fault.message
    assert "bad key [redacted]" in fault.message


def test_a_proxys_password_is_taken_out():
    assert Redactor([]).clean("via http://user:hunter2@proxy:3128") == "via http://[redacted]@proxy:3128"


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("0.25", 0.25),
        ("12ms", 0.012),
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("1d", 86400.0),
        (str(int(NOW) + 30), 30.0),
        (str((int(NOW) + 30) * 1000), 30.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        ("2023-11-14T22:13:50Z", 30.0),
        (formatdate(NOW - 90, usegmt=True), 0.0),
        ("soon", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("Wed, 21 Oct 99999999999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2026 07:28:00 +9999999999999999999", None),
        ("0001-01-01T00:00:00+23:59", 0.0),
        ("", None),
    ],
)
def test_durations(text, seconds):
    assert duration(text, NOW) == pytest.approx(seconds, abs=1e-3)


def test_no_header_ends_a_run():
    chance = random.Random(4)
    pieces = [
        "Wed, ",
        "21",
        "Oct",
        " ",
        "99999999999",
        "07:28:00",
        "GMT",
        "+9999",
        "-",
        "T",
        "Z",
        "1e9",
        "inf",
    ]
    pieces += ["m", "s", "h", "d", "ms", ".", ":", "0", "7" * 400, "九", "\udcff"]
    for _ in range(20_000):
        text = "".join(chance.choices(pieces, k=chance.randrange(1, 9)))
        seconds = retry_after({"Retry-After": text, "retry-after-ms": text[::-1]}, text)
        assert seconds is None or 0 <= seconds < math.inf
        headers = {"x-ratelimit-remaining-requests": text, "x-ratelimit-reset-requests": text}
        told = allowance(headers, "requests")
        assert told.reset_s is None or 0 <= told.reset_s < math.inf


def test_retry_after_in_all_its_forms():
    assert retry_after({"retry-after-ms": "1500", "Retry-After": "9"}) == 1.5
    assert retry_after({"Retry-After": "9"}) == 9
    assert retry_after({"Retry-After": formatdate(time.time() + 20, usegmt=True)}) == pytest.approx(20, abs=2)
    assert retry_after({}, "Please try again in 1m2.5s. Visit") == 62.5
    assert retry_after({}, "Please try again in 86ms.") == 0.086
    assert retry_after({"Retry-After": "soon"}, "no more") is None


def test_allowances_of_both_families():
    openai = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "120ms",
    }
    found = allowance(openai, "requests")
    assert (found.limit, found.remaining, found.reset_s) == (500, 0, 0.12)
    assert allowance(openai, "tokens") is None
    anthropic = {
        "anthropic-ratelimit-tokens-limit": "40000",
        "anthropic-ratelimit-tokens-remaining": "12",
        "anthropic-ratelimit-tokens-reset": "2023-11-14T22:13:50Z",
    }
    assert allowance(anthropic, "tokens", NOW).reset_s == 30
    assert speaks_of_limits(anthropic)
    assert not speaks_of_limits({"Content-Type": "application/json"})


def test_a_key_that_a_model_repeats_is_not_stored(monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", "planted-secret-1")
    message = {"content": "答 planted-secret-1。", "reasoning": "the key is planted-secret-1"}
    answer = result(200, completion(message, system_fingerprint="planted-secret-1"))
    assert answer.text == "答 [key removed]。"
    assert answer.reasoning == "the key is [key removed]"
    assert answer.fingerprint == "[key removed]"


def test_a_short_key_is_no_reason_to_change_an_answer(monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", "none")
    assert result(200, completion({"content": "none"})).text == "none"


@pytest.mark.parametrize("masked", ["plan...et-1", "plan**********et-1", "****et-1", "planted•••", "plan…-1"])
def test_a_masked_key_in_an_error_is_taken_out(monkeypatch, masked):
    monkeypatch.setenv("PLANTED_KEY", "planted-secret-1")
    message = result(401, {"error": {"message": f"Incorrect key: {masked}. Try again..."}}).message
    assert "[redacted]" in message
    assert masked not in message
    assert message.endswith("Try again...")


def test_a_key_that_the_cut_of_a_long_body_halved_is_taken_out(monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", "planted-secret-1")
    body = b"x" * 289 + b"planted-secret-1"
    assert "planted" not in result(200, body).message


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (rb"\u516d\u4e2a\u6708\u0000", "六个月\ufffd"),
        (rb"\u516d\u4e2a\u6708\ud800", "六个月\ufffd"),
        (b"\\u516d\\u4e2a\\u6708\x01", "六个月\x01"),
        (rb"\ud83d\ude00 \ud800", "\U0001f600 \ufffd"),
    ],
)
def test_characters_that_no_text_may_have_cost_an_answer_nothing_else(content, text):
    body = b'{"model": "m", "choices": [{"message": {"content": "%b"}, "finish_reason": "stop"}]}' % content
    answer = result(200, body)
    assert (answer.outcome, answer.text) == ("answered", text)


def test_an_error_with_control_characters_can_be_shown():
    assert result(400, {"error": {"message": "no\x00 \x1b[31mred"}}).message == "no\ufffd \ufffd[31mred"


def test_numbers_and_names_that_are_none_are_left_out():
    usage = {"prompt_tokens": 1e300, "completion_tokens": -1, "cost": -2}
    answer = result(200, completion({"content": "x"}, usage=usage, model=["m"], system_fingerprint={"a": 1}))
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost_usd) == (None, None, None)
    assert (answer.model, answer.fingerprint) == (None, None)


@pytest.mark.parametrize("usage", ["n/a", [1], 5, None, {}])
def test_a_usage_that_is_none_costs_an_answer_nothing(usage):
    answer = result(200, completion({"content": "x"}, usage=usage))
    assert (answer.outcome, answer.prompt_tokens, answer.cost_usd) == ("answered", None, None)


def test_an_absurd_cost_is_none():
    for cost in (1e308, -0.5, "0.1", True):
        answer = result(200, completion({"content": "x"}, usage={"prompt_tokens": 7, "cost": cost}))
        assert (answer.prompt_tokens, answer.cost_usd) == (7, None)


@pytest.mark.parametrize(
    "left", ["g-secret-0123456", "planted-long", "ted-long-secret-0123456", "planted-long-se"]
)
def test_the_beginning_or_the_end_of_a_key_is_taken_out(monkeypatch, left):
    monkeypatch.setenv("PLANTED_KEY", "planted-long-secret-0123456")
    message = result(401, {"error": {"message": f"The key ending in {left} is unknown"}}).message
    assert message == "The key ending in [redacted] is unknown"


def test_what_looks_like_json_but_never_ends_is_no_answer():
    assert result(200, b'{"a":' * 100_000).kind == Kind.BAD_BODY
