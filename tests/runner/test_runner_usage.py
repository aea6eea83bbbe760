"""What replies state of their use, by any provider's names, and what of it is paid."""

from __future__ import annotations

import math

import orjson
import pytest

from runner.lifecycle.results import cost_of
from runner.providers.schema import Prices
from runner.transport.outcome import Answer, Fault
from runner.transport.redact import Redactor
from runner.transport.reply import read
from runner.transport.usage import Usage, read_usage, usage_in, usage_in_body

NAN = math.nan
THINKING = {"completion_tokens_details": {"reasoning_tokens": 60}}


def used(stated) -> tuple[int | None, int | None, int | None]:
    """(prompt, cached, output)."""
    usage = read_usage(stated)
    return usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, (9, None, 2)),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}},
            (9, 8, 2),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 7}, (9, 7, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 6}, (9, 6, 2)),
        # OpenAI's Responses: what was cached is a part of the input.
        ({"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}, (9, 4, 2)),
        # Anthropic: what was read from the cache, or written into it, stands beside the input.
        ({"input_tokens": 9, "output_tokens": 2}, (9, None, 2)),
        (
            {
                "input_tokens": 9,
                "output_tokens": 2,
                "cache_read_input_tokens": 40,
                "cache_creation_input_tokens": 0,
            },
            (49, 40, 2),
        ),
        (
            {
                "input_tokens": 9,
                "output_tokens": 2,
                "cache_read_input_tokens": 0,
                "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 5},
            },
            (24, 0, 2),
        ),
        # A gateway that gives both names, and counts the cache within the prompt or beside it.
        ({"prompt_tokens": 50, "completion_tokens": 2, "cache_read_input_tokens": 40}, (50, 40, 2)),
        ({"prompt_tokens": 10, "completion_tokens": 2, "cache_read_input_tokens": 40}, (50, 40, 2)),
        # Gemini: thoughts stand beside the candidates.
        (
            {
                "promptTokenCount": 9,
                "candidatesTokenCount": 2,
                "thoughtsTokenCount": 60,
                "totalTokenCount": 71,
                "cachedContentTokenCount": 3,
            },
            (9, 3, 62),
        ),
        ({"promptTokenCount": 9, "toolUsePromptTokenCount": 4, "candidatesTokenCount": 2}, (13, None, 2)),
    ],
)
def test_each_providers_names(stated, expected):
    assert used(stated) == expected


@pytest.mark.parametrize(
    ("stated", "output"),
    [
        ({"prompt_tokens": 21, "completion_tokens": 0, "total_tokens": 81, **THINKING}, 60),
        ({"prompt_tokens": 21, "completion_tokens": 0, **THINKING}, 60),
        ({"prompt_tokens": 21, "completion_tokens": 5, **THINKING}, 65),
        ({"prompt_tokens": 21, "completion_tokens": 5, "reasoning_tokens": 60}, 65),
        ({"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": 553}, 533),
        ({"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": 171}, 151),
        ({"prompt_tokens": 20, "completion_tokens": 80, "total_tokens": 100, **THINKING}, 80),  # within
        (
            {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30, **THINKING},
            70,
        ),  # cannot be within
        ({"prompt_tokens": 20, "total_tokens": 50}, 30),
        ({"prompt_tokens": 20, "completion_tokens": None, "total_tokens": 50}, 30),
        ({"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 7}, 10),
        ({"input_tokens": 20, "output_tokens": 10, "total_tokens": 90}, 70),
        ({"promptTokenCount": 20, "totalTokenCount": 90}, 70),
    ],
)
def test_what_is_paid_as_output(stated, output):
    assert used(stated)[2] == output


@pytest.mark.parametrize(
    "nonsense", [-1, NAN, math.inf, "12", True, False, None, [3], {"n": 3}, 1e300, 1.5, 2**31]
)
def test_what_is_no_count_is_not_known_rather_than_zero(nonsense):
    assert used({"prompt_tokens": nonsense, "completion_tokens": 2}) == (None, None, 2)
    assert used({"prompt_tokens": 9, "completion_tokens": nonsense}) == (9, None, None)
    assert used({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": nonsense}) == (9, None, 2)
    assert used({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": nonsense}) == (9, None, 2)
    assert used({"prompt_tokens": nonsense, "completion_tokens": 2, "total_tokens": 11}) == (9, None, 2)
    assert read_usage({"cost": nonsense}).cost_usd is (1.5 if nonsense == 1.5 else None) or nonsense in (
        1.5,
        2**31,
    )


def test_a_cached_part_that_is_more_than_the_prompt_is_none():
    assert used({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 10}) == (9, None, 2)


def test_no_tokens_for_a_text_are_not_known():
    answer = read(
        200,
        {},
        _body("十个月", {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
        Redactor([]),
    )
    assert isinstance(answer, Answer)
    assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)
    assert used({"prompt_tokens": 0, "completion_tokens": 5}) == (None, None, 5)


def _body(content, usage, **more) -> bytes:
    message = {"role": "assistant", "content": content}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return orjson.dumps({"id": "c", "choices": choices, "usage": usage, **more})


U = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, orjson.dumps({"choices": [], "usage": U})),
        (200, orjson.dumps({"choices": None, "usage": U})),
        (200, orjson.dumps({"usage": U})),
        (200, orjson.dumps({"choices": ["?"], "usage": U})),
        (
            200,
            orjson.dumps({"choices": [], "error": {"message": "upstream failed", "code": 502}, "usage": U}),
        ),
        (200, orjson.dumps({"error": {"message": "upstream failed", "usage": U}})),
        (200, orjson.dumps({"choices": [{"message": {"content": ""}, "error": {"code": 500}}], "usage": U})),
        (
            200,
            orjson.dumps(
                {"candidates": [], "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 7}}
            ),
        ),
        (200, orjson.dumps({"usage": U, "choices": "cut"})[:-6]),
        (500, orjson.dumps({"error": {"message": "boom"}, "usage": U})),
        (429, orjson.dumps({"error": {"message": "slow"}, "usage": U})),
        (400, orjson.dumps({"error": {"message": "no"}, "usage": U})),
        (502, b"<html>bad gateway</html> " + orjson.dumps({"usage": U})),
    ],
)
def test_a_reply_without_an_answer_tells_what_it_used(status, body):
    result = read(status, {}, body, Redactor([]))
    assert isinstance(result, Fault)
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (100, 7)


def test_a_prompt_that_the_filter_refuses_tells_what_it_used():
    body = orjson.dumps({"error": {"code": "content_filter", "message": "flagged"}, "usage": U})
    answer = read(400, {}, body, Redactor([]))
    assert isinstance(answer, Answer)
    assert (answer.outcome, answer.prompt_tokens, answer.completion_tokens) == ("refused", 100, 7)


def test_a_stream_that_is_no_json_tells_what_it_used():
    parts = [{"usage": {"input_tokens": 100, "output_tokens": 1}}, {"x": 1}, {"usage": {"output_tokens": 7}}]
    usage = usage_in_body(b"".join(b"data: " + orjson.dumps(part) + b"\n\n" for part in parts))
    assert usage == Usage(prompt_tokens=100, completion_tokens=7)


def test_the_word_usage_within_a_text_is_no_usage():
    assert (
        usage_in_body(orjson.dumps({"choices": [{"text": '{"usage": {"prompt_tokens": 5}}'}]})[:-2]) is None
    )


PRICES = Prices(input=1, output=2, cached=0.5)


@pytest.mark.parametrize(
    ("stated", "usd"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 1_000_000}, 2.00001),
        ({"prompt_tokens": 10, "completion_tokens": None}, None),
        ({"prompt_tokens": None, "completion_tokens": 10}, None),
        ({"prompt_tokens": 10, "completion_tokens": 10, "cost": 0.25}, 0.25),
        ({"cost": 0}, None),
        ({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 1_000_000}, 0.5),
        ({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 1_000_000}, 1.25),
    ],
)
def test_the_cost_of_what_was_used(stated, usd):
    found = cost_of(read_usage(stated), PRICES)
    assert found == (None if usd is None else pytest.approx(usd))


STATED = {"prompt_tokens": 9, "completion_tokens": 2}


@pytest.mark.parametrize(
    "body",
    [
        {"usage": STATED},
        {"choices": [{"usage": STATED}]},
        {"choices": [{"message": {"content": "x", "usage": STATED}}]},
        {"data": {"usage": STATED}},
        {"error": {"metadata": {"usage": STATED}}},
        {"detail": [{"usage": STATED}]},
        {"model": "m", "done": True, "prompt_eval_count": 9, "eval_count": 2},
        {"usage": {}, "x_groq": {"usage": STATED}},
    ],
)
def test_usage_is_found_wherever_it_stands(body):
    found = usage_in(body)
    assert found is not None
    assert (found.prompt_tokens, found.completion_tokens) == (9, 2)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": {"usage": STATED}}}]},
        {"choices": [{"message": {"tool_calls": [{"function": {"arguments": {"usage": STATED}}}]}}]},
        {"choices": [{"message": {"content": [{"usage": STATED}]}}]},
        {"usage": None},
        {"usage": [1]},
        [],
        None,
        "usage",
    ],
)
def test_what_a_model_wrote_is_no_usage(body):
    assert usage_in(body) is None
