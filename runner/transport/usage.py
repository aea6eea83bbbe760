"""What a reply states of its own use: tokens, by any of the names that providers give them, and its cost.

The names: OpenAI's chat completions (`prompt_tokens`, `completion_tokens`), its Responses and Anthropic's
Messages (`input_tokens`, `output_tokens`, `cache_read_input_tokens`, `cache_creation_input_tokens`),
Gemini's (`promptTokenCount`, `candidatesTokenCount`, `thoughtsTokenCount`) and Ollama's (`prompt_eval_count`,
`eval_count`). What is no count (negative, NaN, a text, true or false) is not known, which is not the same as
zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

MOST_TOKENS = 2**31 - 1
MOST_USD = 10_000.0
"""A server that states more for one answer states no cost, and two of 1e308 would add up to infinity."""

_PROMPT = ("prompt_tokens", "promptTokenCount", "prompt_token_count", "input_tokens", "inputTokens")
_OUTPUT = (
    "completion_tokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "output_tokens",
    "outputTokens",
)
_TOTAL = ("total_tokens", "totalTokenCount", "total_token_count", "totalTokens")
_THOUGHTS = ("thoughtsTokenCount", "thoughts_token_count")
_TOOL_PROMPT = ("toolUsePromptTokenCount", "tool_use_prompt_token_count")
_CACHED = (
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "cachedContentTokenCount",
    "cached_content_token_count",
    "cache_read_input_tokens",
)
_USAGE_KEYS = ("usage", "usageMetadata", "usage_metadata")
_WRITTEN = frozenset(
    {"content", "parts", "arguments", "input", "args", "reasoning", "reasoning_content", "refusal"}
)
"""Holds what a model wrote, which may be an object."""
_DEEPEST = 5
_STATED = re.compile(r'(?<!\\)"(?:usage|usageMetadata|usage_metadata)"\s*:\s*(?=\{)')
_JSON = json.JSONDecoder(strict=False)
_MOST_CHARS = 4_000_000


class Usage(NamedTuple):  # made for every answer, at a third of a dataclass's cost
    """Tokens and US dollars of one reply; None for what it does not say."""

    prompt_tokens: int | None = None
    """All of the prompt, with what came from a cache or was written into one."""
    cached_tokens: int | None = None
    """Of the prompt, what was read from a cache."""
    cache_write_tokens: int | None = None
    """Of the prompt, what was written into a cache, where the provider says so."""
    completion_tokens: int | None = None
    """All output that is paid, thinking included."""
    cost_usd: float | None = None

    @property
    def is_known(self) -> bool:
        """It says what the reply used, or what it cost."""
        return self.cost_usd is not None or (
            self.prompt_tokens is not None and self.completion_tokens is not None
        )


def usage_in(data: Any) -> Usage | None:
    """The usage that a reply states, wherever in its body it stands; None where it states none.

    Gateways put it into the choice, the message, an error, or an envelope of their own. What a model wrote is
    not searched, nor more than one choice: each would count what all cost.
    """
    level = [data]
    for _ in range(_DEEPEST):
        places = [place for place in level if isinstance(place, dict)]
        for place in places:
            for key in _USAGE_KEYS:
                if isinstance(stated := place.get(key), dict) and stated:
                    return read_usage(stated)
            if place.get("prompt_eval_count") is not None and place.get("eval_count") is not None:
                return read_usage(
                    {"prompt_tokens": place["prompt_eval_count"], "completion_tokens": place["eval_count"]}
                )
        level = [value for place in places for key, value in place.items() if key not in _WRITTEN]
        level = [inner for value in level for inner in (value[:1] if isinstance(value, list) else [value])]
    return None


def usage_in_body(body: bytes) -> Usage | None:
    """As `usage_in`, of a body that may be no JSON: an event stream, or one that broke off later."""
    try:
        return usage_in(orjson.loads(body))
    except orjson.JSONDecodeError:
        pass
    text = body[-_MOST_CHARS:].decode("utf-8", "replace")
    found: Usage | None = None
    for match in _STATED.finditer(text):
        try:
            stated, _ = _JSON.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(stated, dict) and stated:
            one = read_usage(stated)
            # Of a stream, each part counts what came so far, and says but a part of it.
            found = one if found is None else _larger(found, one)
    return found


def read_usage(stated: Mapping[str, Any]) -> Usage:
    """What a usage object says."""
    prompt, output, total = _first(stated, _PROMPT), _first(stated, _OUTPUT), _first(stated, _TOTAL)
    read, written = _cached(stated), _cache_written(stated)
    prompt = _whole_prompt(stated, prompt, read, written)
    if output is not None:
        # Thoughts stand beside the candidates; reasoning that is more than the output cannot be a part of it.
        output += _first(stated, _THOUGHTS) or 0
        reasoning = _reasoning(stated)
        if reasoning is not None and reasoning > output:
            output += reasoning
    if total is not None:
        if prompt is not None and total >= prompt:
            output = max(output or 0, total - prompt)
        elif prompt is None and output is not None and total > output:
            prompt = total - output
    if prompt == 0 and output:
        prompt = None  # something was written in reply to something
    if prompt is not None and read is not None and read > prompt:
        read = None
    return Usage(_fits(prompt), read, written, _fits(output), _cost(stated.get("cost")))


def _whole_prompt(
    stated: Mapping[str, Any], prompt: int | None, read: int | None, written: int | None
) -> int | None:
    """The prompt with what was cached: Anthropic counts that beside it, all others within it."""
    if prompt is None:
        return None
    apart = "cache_read_input_tokens" in stated or written is not None
    in_cache = (read or 0) + (written or 0)
    by_anthropic = "input_tokens" in stated and "input_tokens_details" not in stated
    if apart and (by_anthropic or in_cache > prompt):
        prompt += in_cache
    return prompt + (_first(stated, _TOOL_PROMPT) or 0)


def _cached(stated: Mapping[str, Any]) -> int | None:
    for name in ("prompt_tokens_details", "input_tokens_details"):
        details = stated.get(name)
        if isinstance(details, dict) and (found := count(details.get("cached_tokens"))) is not None:
            return found
    return _first(stated, _CACHED)


def _cache_written(stated: Mapping[str, Any]) -> int | None:
    if (found := count(stated.get("cache_creation_input_tokens"))) is not None:
        return found
    parts = stated.get("cache_creation")
    counts = (
        [number for value in parts.values() if (number := count(value))] if isinstance(parts, dict) else []
    )
    return sum(counts) if counts else None


def _reasoning(stated: Mapping[str, Any]) -> int | None:
    for name in ("completion_tokens_details", "output_tokens_details"):
        details = stated.get(name)
        if isinstance(details, dict) and (found := count(details.get("reasoning_tokens"))) is not None:
            return found
    return count(stated.get("reasoning_tokens"))


def _first(stated: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in stated and (found := count(stated[name])) is not None:
            return found
    return None


def count(value: Any) -> int | None:
    """A number of tokens; None for what can be none, and would not fit its column."""
    if type(value) is int:
        return value if 0 <= value <= MOST_TOKENS else None
    if type(value) is float and 0 <= value <= MOST_TOKENS and value.is_integer():
        return int(value)
    return None


def _fits(value: int | None) -> int | None:
    return value if value is not None and value <= MOST_TOKENS else None


def _cost(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= MOST_USD else None


def _larger(one: Usage, other: Usage) -> Usage:
    def most(a: Any, b: Any) -> Any:
        return b if a is None else a if b is None else max(a, b)

    return Usage(
        most(one.prompt_tokens, other.prompt_tokens),
        most(one.cached_tokens, other.cached_tokens),
        most(one.cache_write_tokens, other.cache_write_tokens),
        most(one.completion_tokens, other.completion_tokens),
        most(one.cost_usd, other.cost_usd),
    )
