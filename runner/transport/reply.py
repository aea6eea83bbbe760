"""Reads the reply to a chat completion: status, headers and body become an answer or a fault."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit, urlunsplit

import orjson

from runner.limits.headers import retry_after
from runner.transport.charset import Undecodable, declared_charset, decode, for_people
from runner.transport.compression import BadGzip, TooLong, unpacked
from runner.transport.event_stream import BrokenStream, joined
from runner.transport.finish_reasons import blocked_prompt, ending, reason_of, says_filtered
from runner.transport.message import said
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
    r"|responsible.?ai.?policy|new_sensitive|sensitive_(content|words)|敏感内容",
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
_SURROGATE = re.compile("[\ud800-\udfff]")
REDIRECTS = frozenset({301, 302, 303, 307, 308})
CUT_CHARACTER = "cut within a character"
CHAT_PATH = "/chat/completions"
_ENVELOPES = ("data", "output", "result", "response")
_ERROR_WORDS = ("message", "detail", "error_msg", "msg")


def read(
    status: int, headers: Mapping[str, str], body: bytes, redactor: Redactor, url: str | None = None
) -> Answer | Fault:
    """The answer, or the fault with its kind. Never raises, whatever the bytes are.

    The usage that a reply states is read also where it brings no answer: it is paid.

    Args:
        url: what was asked: a redirect may name a path only, and an error page says nothing of it.
    """
    unreadable: str | None = None
    try:
        body = unpacked(body)
    except (BadGzip, TooLong) as error:
        unreadable, body = str(error), b""
    if 200 <= status < 300:
        if unreadable is not None:
            return Fault(Kind.BAD_BODY, unreadable, 200)
        result = _success(headers, body, redactor)
    elif status in REDIRECTS:
        result = Fault(Kind.REDIRECTED, redactor.clean(_points_elsewhere(status, headers, url)), status)
    else:
        result = _failure(status, headers, body, redactor, url)
    if isinstance(result, Fault):
        result.usage = usage_in_body(body)
    elif result.prompt_tokens is None and result.completion_tokens is None:
        _take_usage(result, usage_in_body(body))
    return result


def _points_elsewhere(status: int, headers: Mapping[str, str], url: str | None) -> str:
    """Where a redirect leads, and what to do. It is not followed: the key is for the given address alone."""
    target = headers.get("Location", "").strip()
    if not target:
        return f"the server redirects (HTTP {status}) and does not say where to"
    try:
        parts = urlsplit(urljoin(url or "", target))
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return f"the server redirects (HTTP {status}) to what is no URL: {target[:200]}"
    path = parts.path.rstrip("/")
    if not host or not path.endswith(CHAT_PATH):
        where = urlunsplit((parts.scheme, host, parts.path, "", ""))
        return f"the server points to {where} (HTTP {status}): put the address that is meant into base_url"
    base = urlunsplit((parts.scheme, host, path.removesuffix(CHAT_PATH), "", ""))
    return f"the server points to {base} (HTTP {status}): put it into base_url in providers.toml"


class Body(NamedTuple):
    """The content of a body. `missing`: what it lacks to be whole."""

    data: Any
    missing: str | None = None


def parsed(headers: Mapping[str, str], body: bytes) -> Body:
    """The JSON of a body, or what a stream that was not asked for spells out; None where it is neither.

    Raises Undecodable, BrokenStream.
    """
    content_type = headers.get("Content-Type", "")
    if "charset" not in content_type or body.isascii() or declared_charset(content_type) in (None, "utf-8"):
        try:
            return Body(orjson.loads(body))
        except orjson.JSONDecodeError:
            pass
    text, is_cut = decode(body, content_type)
    data = _json(text)
    if isinstance(data, str):  # JSON in a JSON string
        data = _json(data)
    if data is not None:
        return Body(data, CUT_CHARACTER if is_cut else None)
    stream = joined(text)
    if stream is None:
        return Body(None)
    try:
        data = _without_surrogates(stream.completion)
    except (ValueError, RecursionError):
        raise BrokenStream("an event stream of what JSON cannot hold") from None
    return Body(data, CUT_CHARACTER if is_cut else stream.missing)


def _json(text: str) -> Any:
    """What a text spells out, also with characters that no text may have; None if it is no JSON.

    Servers pass on half of a surrogate pair or a bare control character. The model would write the same
    again, so that asking again brings nothing: each half becomes U+FFFD. NaN and Infinity, as some servers
    write among the log probabilities, become the words.
    """
    if not text.lstrip().startswith(("{", "[", '"')):
        return None
    try:
        return _without_surrogates(json.loads(text, strict=False, parse_constant=str))
    except (ValueError, RecursionError):
        return None


def _without_surrogates(data: Any) -> Any:
    return orjson.loads(_SURROGATE.sub("\ufffd", json.dumps(data, ensure_ascii=False)))


def _success(headers: Mapping[str, str], body: bytes, redactor: Redactor) -> Answer | Fault:
    try:
        data, missing = parsed(headers, body)
    except (Undecodable, BrokenStream) as error:
        return Fault(Kind.BAD_BODY, redactor.clean(str(error)), 200)
    data = _taken_out(data)
    if not isinstance(data, dict):
        return _bad_body(headers, body, redactor)
    if data.get("error"):
        return _failure(_status_inside(data["error"]), headers, orjson.dumps(data), redactor)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        reason = blocked_prompt(data)
        says, words = _error_words(headers, body)
        if reason is None and _FILTERED.search(words):
            reason = "content_filter"
        if reason is not None:
            return _with_usage(Answer("refused", "", finish_reason=_word(reason, redactor.keys())), data)
        if not says.startswith(("{", "[")) and _MONEY.search(words):  # a message, and not what a model wrote
            return Fault(Kind.NO_MONEY, redactor.clean(says), 200)
        return Fault(Kind.NO_CHOICES, redactor.clean("no choices: " + _start(headers, body)), 200)
    choice = choices[0]
    message = _message(choice)
    if message is None:
        return Fault(Kind.BAD_BODY, redactor.clean("no message in the choice: " + _start(headers, body)), 200)
    if choice.get("error"):
        shown = orjson.dumps({"error": choice["error"]})
        return _failure(_status_inside(choice["error"]), headers, shown, redactor)
    try:
        return _answer(data, choice, message, redactor.keys(), missing)
    except (TypeError, ValueError, AttributeError):
        return Fault(Kind.BAD_BODY, redactor.clean("malformed completion: " + _start(headers, body)), 200)


def _taken_out(data: Any) -> Any:
    """A completion that stands in an envelope, or is the only one of a list; anything else as it is."""
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict) or data.get("choices") or data.get("error"):
        return data
    for name in _ENVELOPES:
        inner = data.get(name)
        if isinstance(inner, dict) and isinstance(inner.get("choices"), list) and inner["choices"]:
            return {**data, **inner}
    return data


def _message(choice: Any) -> dict[str, Any] | None:
    """The message of a choice, which text completions and single chunks of a stream have elsewhere."""
    if not isinstance(choice, dict):
        return None
    for name in ("message", "delta", "text"):
        found = choice.get(name)
        if isinstance(found, dict):
            return found
        if isinstance(found, str):
            return {"content": found}
    return None


def _answer(
    data: dict[str, Any],
    choice: dict[str, Any],
    message: dict[str, Any],
    keys: list[str],
    missing: str | None,
) -> Answer:
    text, reasoning, refusal, is_call = said(message)
    finish = reason_of(choice, data)
    end = ending(finish)
    if refusal is not None or end == "refused" or says_filtered(choice, message, data):
        outcome, text = "refused", text or refusal or ""
    elif missing is not None or end == "cut" or (end == "call" and text.strip() and not is_call):
        outcome = "truncated"
    else:
        outcome = "answered" if text.strip() else "empty"
    if missing is not None and end != "cut":
        finish = f"{finish} ({missing})"
    answer = Answer(outcome, _storable(text, keys), reasoning, _word(finish, keys))
    if reasoning is not None:
        answer.reasoning = _storable(reasoning, keys)
    answer.model = _word(data.get("model"), keys)
    answer.fingerprint = _word(data.get("system_fingerprint"), keys)
    return _with_usage(answer, data)


def _with_usage(answer: Answer, data: dict[str, Any]) -> Answer:
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
    what = "an empty body" if not body.strip() else f"no JSON ({kind}): {_start(headers, body)}"
    return Fault(Kind.BAD_BODY, redactor.clean(what), 200)


def _start(headers: Mapping[str, str], body: bytes) -> str:
    return for_people(body, headers.get("Content-Type", ""))[:300]


def _status_inside(error: Any) -> int:
    """The status of an error that came with status 200."""
    code = error.get("code") if isinstance(error, dict) else None
    try:
        status = int(code)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 500
    return status if 400 <= status <= 599 else 500


def _error_words(headers: Mapping[str, str], body: bytes) -> tuple[str, str]:
    """The error's message for people, and the words that tell its kind.

    The words are codes and the beginning of the message, no more: some servers echo the prompt, and a prompt
    about an unpaid bill must not look like one.
    """
    try:
        data = parsed(headers, body).data
    except (Undecodable, BrokenStream):
        data = None
    if data is None:
        text = re.sub(r"<[^>]*>", " ", for_people(body, headers.get("Content-Type", ""))[:2000])
        return text, text[:300]
    if isinstance(data, list) and data:
        data = data[0]
    error = data.get("error", data) if isinstance(data, dict) else data
    if not error:
        return "", ""
    if not isinstance(error, dict):
        return str(error), str(error)[:300]
    found = next((error[name] for name in _ERROR_WORDS if error.get(name)), error)
    if isinstance(base := error.get("base_resp"), dict):  # as MiniMax has it
        found = base.get("status_msg") or found
    message = found if isinstance(found, str) else orjson.dumps(found).decode()
    codes = [str(error[key]) for key in ("code", "type", "status") if error.get(key) is not None]
    return message, " ".join([*codes, message[:300]])


def _failure(
    status: int, headers: Mapping[str, str], body: bytes, redactor: Redactor, url: str | None = None
) -> Answer | Fault:
    message, words = _error_words(headers, body)
    start = body[:4000].decode("utf-8", "replace")
    wait = retry_after(headers, start, is_refusal=status == 429) if status >= 408 else None
    kind = _kind(status, words, wait)
    if kind is None:
        shown = redactor.clean(message.strip() or f"HTTP {status}")
        return Answer("refused", shown, finish_reason="content_filter")
    said = " ".join(message.split())
    if url is not None and (not said or (kind is Kind.NO_MODEL and not _MODEL.search(words))):
        said = f"{said or ('no explanation' if body.strip() else 'an empty body')} (from {_plain(url)})"
    return Fault(kind, redactor.clean(said or f"HTTP {status}"), status, wait)


def _plain(url: str) -> str:
    """An address without what is nobody's business: user, password and parameters."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


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
