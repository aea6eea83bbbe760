"""Reads the reply to a chat completion: status, headers and body become an answer or a fault."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from runner.limits.headers import retry_after
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.redact import Redactor, without_keys
from runner.transport.usage import Usage, read_usage, usage_in_body

_MONEY = re.compile(
    r"insufficient[ _](quota|balance|credit|funds)|billing_hard_limit|credit balance is too low|arrearage"
    r"|payment required|余额不足|欠费|out of credits|more credits",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"exceeded your (current|monthly) (quota|spend|budget)|check your plan and billing", re.IGNORECASE
)
_CONTEXT = re.compile(
    r"context_length|context length|context window|context size|maximum context|max_model_len|exceed_context"
    r"|prompt is too long|input is too long|too many (input )?tokens|string_above_max_length|input length",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content_filter|content_policy|content management policy|data_?inspection_?failed|moderation|flagged"
    r"|responsible.?ai.?policy|敏感内容",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"(invalid|incorrect)[_ ]api[_ ]key|api key not (valid|found)|account.{0,20}deactivated", re.IGNORECASE
)
_MODEL = re.compile(
    r"model_not_found|(no such|unknown|invalid) model|not a valid model"
    r"|model .{0,80}(does not exist|not found)",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
_THINK_END = "</think>"
_SURROGATE = re.compile("[\ud800-\udfff]")


def read(status: int, headers: Mapping[str, str], body: bytes, redactor: Redactor) -> Answer | Fault:
    """The answer, or the fault with its kind. Never raises, whatever the bytes are.

    The usage that a reply states is read also where it brings no answer: it is paid.
    """
    if 200 <= status < 300:
        result = _success(headers, body, redactor)
    else:
        result = _failure(status, headers, body, redactor)
    if isinstance(result, Fault):
        result.usage = usage_in_body(body)
    elif result.prompt_tokens is None and result.completion_tokens is None:
        _take_usage(result, usage_in_body(body))
    return result


def _success(headers: Mapping[str, str], body: bytes, redactor: Redactor) -> Answer | Fault:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        data = _leniently(body)
    if not isinstance(data, dict):
        return _bad_body(headers, body, redactor)
    if data.get("error"):
        return _failure(_status_inside(data["error"]), headers, body, redactor)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        return Fault(Kind.NO_CHOICES, redactor.clean("no choices: " + _start(body)), 200)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return Fault(Kind.BAD_BODY, redactor.clean("no message in the choice: " + _start(body)), 200)
    if choice.get("error"):
        return _failure(
            _status_inside(choice["error"]), headers, orjson.dumps({"error": choice["error"]}), redactor
        )
    try:
        return _answer(data, choice, message, redactor.keys())
    except (TypeError, ValueError, AttributeError):
        return Fault(Kind.BAD_BODY, redactor.clean("malformed completion: " + _start(body)), 200)


def _leniently(body: bytes) -> Any:
    """A body that is JSON but for characters that no text may have; each becomes U+FFFD. None if it is not.

    Servers cut an answer within a character, pass on half of a surrogate pair or a bare control character.
    The model would write the same again, so that asking again brings nothing.
    """
    if not body.lstrip().startswith(b"{"):
        return None
    try:
        data = json.loads(body.decode("utf-8", "replace"), strict=False)
        return orjson.loads(_SURROGATE.sub("\ufffd", json.dumps(data, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None


def _answer(data: dict[str, Any], choice: dict[str, Any], message: dict[str, Any], keys: list[str]) -> Answer:
    text = _text(message.get("content"))
    reasoning = message.get("reasoning_content") or message.get("reasoning") or None
    if reasoning is not None and not isinstance(reasoning, str):
        reasoning = orjson.dumps(reasoning).decode()
    if _THINK_END in text or text.startswith("<think>"):
        thought, text = split_thinking(text)
        reasoning = thought if reasoning is None else f"{reasoning}\n{thought}"
    finish = _word(choice.get("finish_reason"), keys)
    refusal = message.get("refusal")
    if finish == "content_filter" or refusal:
        outcome, text = "refused", text or _text(refusal)
    elif finish == "length":
        outcome = "truncated"
    elif text.strip():
        outcome = "answered"
    else:
        outcome = "empty"
    answer = Answer(outcome, _storable(text, keys), reasoning, finish)
    if reasoning is not None:
        answer.reasoning = _storable(reasoning, keys)
    answer.model = _word(data.get("model"), keys)
    answer.fingerprint = _word(data.get("system_fingerprint"), keys)
    usage = data.get("usage")
    if isinstance(usage, dict):
        _take_usage(answer, read_usage(usage))
    return answer


def _storable(text: str, keys: list[str]) -> str:
    """A text without keys, and without NUL, which not every reader of a study can take."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return without_keys(text, keys)


def _word(value: Any, keys: list[str]) -> str | None:
    """A name that the server gives; None for anything that is no text."""
    return _storable(value, keys) if isinstance(value, str) else None


def split_thinking(text: str) -> tuple[str, str]:
    """A text that begins with thinking in `<think>` tags, as (thinking, answer).

    Some chat templates put the opening tag into the prompt, so it can be missing; a truncated answer can lack
    the closing one.
    """
    thought, end, rest = text.partition(_THINK_END)
    thought = thought.strip().removeprefix("<think>").strip()
    return (thought, rest.strip()) if end else (thought, "")


def _text(content: Any) -> str:
    """The content as text; some services send a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part if isinstance(part, str) else part.get("text") or "" for part in content)
    raise TypeError("content is neither a text nor a list of parts")


def _take_usage(answer: Answer, usage: Usage | None) -> None:
    """What an answer used. No text comes of no tokens: where 0 is stated, their number is not known."""
    if usage is None:
        return
    wrote = answer.outcome != "refused" and bool(answer.text.strip() or answer.reasoning)
    answer.prompt_tokens = usage.prompt_tokens or (None if wrote else usage.prompt_tokens)
    answer.completion_tokens = usage.completion_tokens or (None if wrote else usage.completion_tokens)
    answer.cached_tokens = usage.cached_tokens
    answer.cache_write_tokens = usage.cache_write_tokens
    answer.cost_usd = usage.cost_usd


def _bad_body(headers: Mapping[str, str], body: bytes, redactor: Redactor) -> Fault:
    kind = headers.get("Content-Type", "no content type").partition(";")[0]
    what = "an empty body" if not body.strip() else f"no JSON ({kind}): {_start(body)}"
    return Fault(Kind.BAD_BODY, redactor.clean(what), 200)


def _start(body: bytes) -> str:
    return body[:300].decode("utf-8", "replace")


def _status_inside(error: Any) -> int:
    """The status of an error that came with status 200."""
    code = error.get("code") if isinstance(error, dict) else None
    try:
        status = int(code)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 500
    return status if 400 <= status <= 599 else 500


def _error_words(body: bytes) -> tuple[str, str]:
    """The error's message for people, and the words that tell its kind.

    The words are codes and the beginning of the message, no more: some servers echo the prompt, and a prompt
    about an unpaid bill must not look like one.
    """
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = re.sub(r"<[^>]*>", " ", body[:2000].decode("utf-8", "replace"))
        return text, text[:300]
    if isinstance(data, list) and data:
        data = data[0]
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return str(error), str(error)[:300]
    found = error.get("message") or error.get("detail") or error.get("error_msg") or error
    message = found if isinstance(found, str) else orjson.dumps(found).decode()
    codes = [str(error[key]) for key in ("code", "type", "status") if error.get(key) is not None]
    return message, " ".join([*codes, message[:300]])


def _failure(status: int, headers: Mapping[str, str], body: bytes, redactor: Redactor) -> Answer | Fault:
    message, words = _error_words(body)
    wait = retry_after(headers, body[:4000].decode("utf-8", "replace")) if status >= 408 else None
    shown = redactor.clean(message.strip() or f"HTTP {status}")
    kind = _kind(status, words, wait)
    if kind is None:
        return Answer("refused", shown, finish_reason="content_filter")
    return Fault(kind, shown, status, wait)


def _kind(status: int, words: str, wait: float | None) -> Kind | None:
    """The kind of an error; None for a prompt that the provider's filter refused."""
    if status == 402 or (400 <= status < 500 and _MONEY.search(words)):
        return Kind.NO_MONEY
    if status == 429 and _TOO_LARGE.search(words):
        return Kind.REJECTED  # larger than a whole minute's limit: waiting would never end
    if status == 429:
        # Google words its per-minute limits as a quota, but says when to come back.
        return Kind.NO_MONEY if wait is None and _QUOTA.search(words) else Kind.RATE_LIMITED
    if status == 529:
        return Kind.OVERLOADED
    if status >= 500:
        return Kind.SERVER_ERROR
    if status == 401:
        return Kind.BAD_KEY
    if 400 <= status < 500 and _FILTERED.search(words):
        return None
    if status == 403:
        return Kind.BAD_KEY
    if status in (408, 409, 425, 499):
        return Kind.TIMEOUT
    if status in (400, 413, 422) and _CONTEXT.search(words):
        return Kind.CONTEXT_OVERFLOW
    if status == 400 and _KEY.search(words):
        return Kind.BAD_KEY
    if status in (404, 405, 410) or status < 400 or (status == 400 and _MODEL.search(words)):
        return Kind.NO_MODEL
    return Kind.REJECTED
