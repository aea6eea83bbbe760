"""The single values in `providers.toml`: what each may be, and what to write instead.

What passes here can be sent: nothing that a header, a URL, a body or a clock cannot take is to be found out
by a query that fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, JsonValue
from pydantic_core import PydanticCustomError

from runner.providers.urls import BadUrl, parts_of

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LOOKS_LIKE_A_KEY = re.compile(r"(sk|pk|gsk|key|AIza|hf)[-_]|[A-Za-z0-9]{28,}")
_ENDPOINT = "/chat/completions"
_OUR_HEADERS = frozenset(
    {
        *("connection", "content-encoding", "content-length", "content-type", "expect", "host"),
        *("keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""What the runner and HTTP itself say with each request."""
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_SECRET_PARAMETER = re.compile(r"(?i)(.*[-_])?(key|token|secret|password|sig|signature|auth|code)\Z")
_DAY_S = 86_400
_INT64 = 2**63

_MAX_TOKENS = "it is `evenhand run --max-tokens`, under the name in `style.max_tokens_name`"
_ANSWER_FORMAT = "it is made from the schema of the template, as `style.answer_format` says"
_LEAVE_OUT = "replies are read whole; leave it out"
_DECIDED = {
    "model": "it is the `id` of the model",
    "messages": "they are the prompts of the study",
    "temperature": "it is `evenhand run --temperature`",
    "top_p": "it is `evenhand run --top-p`",
    "max_tokens": _MAX_TOKENS,
    "max_completion_tokens": _MAX_TOKENS,
    "seed": "it is `evenhand run --seed`",
    "n": "it is `evenhand run --repeat`, which asks again for each answer",
    "stream": _LEAVE_OUT,
    "stream_options": _LEAVE_OUT,
    "response_format": _ANSWER_FORMAT,
    "grammar": _ANSWER_FORMAT,
    "json_schema": _ANSWER_FORMAT,
}
"""Fields of a body that a setting or the runner decides, and where."""


TRANSPORT = frozenset(
    {
        *("cache_prompt", "metadata", "prompt_cache_key", "safety_identifier", "service_tier", "store"),
        *("usage", "user"),
    }
)
"""Fields of a body on which no answer depends."""


def decided_elsewhere(key: str) -> str | None:
    """Where a field of the body is decided, if a setting or the runner decides it.

    Added to the body besides, it would be sent while the run records another value.
    """
    return _DECIDED.get(key)


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("number", "must be a number, not true or false")
    return value


def _switch(value: object) -> object:
    if not isinstance(value, bool):
        raise PydanticCustomError(
            "switch",
            "must be true or false: whether the model takes it; its value is an option of `evenhand run`",
        )
    return value


def between(least: float, most: float) -> AfterValidator:
    """Numbers beyond these are slips, and would have a run ask nothing, or everything at once."""

    def check(number: float) -> float:
        if not least <= number <= most:
            raise PydanticCustomError(
                "between", "must be from {least} to {most}", {"least": f"{least:,g}", "most": f"{most:,.0f}"}
            )
        return number

    return AfterValidator(check)


Number = Annotated[float, BeforeValidator(_no_switch)]
Whole = Annotated[int, BeforeValidator(_no_switch)]
InFlight = Annotated[Whole, between(1, 10_000)]
Dollars = Annotated[Number, between(0, 1e6)]
Seconds = Annotated[Number, between(0.01, _DAY_S)]
Switch = Annotated[bool, BeforeValidator(_switch)]


def one_line(text: str) -> str:
    """What goes into a header or a name."""
    if not text.isprintable():
        raise PydanticCustomError("one_line", "must be one line without control characters: take them out")
    return text


def argument(text: str) -> str:
    """What a command can be given."""
    if "\0" in text:
        raise PydanticCustomError("argument", "must have no zero character in it: take it out")
    return text


def checked_name(text: str) -> str:
    """Names, ours and the provider's."""
    if not text.strip() or text != text.strip():
        raise PydanticCustomError("name", "must be a name, without a blank before or after it")
    return one_line(text)


def header_name(text: str) -> str:
    """A header that may be added to the requests."""
    if not _TOKEN.match(text):
        raise PydanticCustomError(
            "header_name", "must be the name of an HTTP header: letters, digits and hyphens, such as X-Title"
        )
    if text.lower() in _OUR_HEADERS:
        raise PydanticCustomError("header_name", "is a header that every request has already: leave it out")
    return text


def check_at(path: Iterable[str], check: Callable[[str], object], value: str) -> None:
    """Check a key of a table, which pydantic would place at the table."""
    try:
        check(value)
    except PydanticCustomError as error:
        raise PydanticCustomError(
            error.type,
            error.message_template,
            {**(error.context or {}), "path": tuple(path)},
        ) from None


def _fields(body: object) -> object:
    """Fields that are added to a body: none that is decided elsewhere, and all of them JSON."""
    for key, value in body.items() if isinstance(body, dict) else ():
        place = decided_elsewhere(key)
        if place is not None:
            raise PydanticCustomError(
                "decided", "must not stand here: {place}", {"place": place, "path": (key,)}
            )
        if not _is_json(value):
            raise PydanticCustomError(
                "json",
                "cannot be sent as JSON, which has no dates, no inf or nan, and numbers of 64 bits at most",
                {"path": (key,)},
            )
    return body


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return -_INT64 <= value < _INT64
    return isinstance(value, str)


Fields = Annotated[dict[str, JsonValue], BeforeValidator(_fields)]


def check_model_name(name: str) -> None:
    """Our name of a model."""
    checked_name(name)
    if "@" in name:
        raise PydanticCustomError(
            "name", "must be a name without @, which keeps to one provider: MODEL@PROVIDER"
        )


def variable_name(name: str) -> str:
    """Refuse a key written in the file, without repeating it."""
    if not _VARIABLE.match(name) or _LOOKS_LIKE_A_KEY.match(name):
        raise PydanticCustomError(
            "not_a_variable",
            "must be the name of an environment variable, such as OPENAI_API_KEY, and never a key itself",
        )
    return name


def checked_base_url(url: str) -> str:
    """The address of a service, without a slash at its end."""
    if not re.match(r"https?://[^/\s]+", url) or "@" in url:
        raise PydanticCustomError(
            "base_url", "must be a URL that begins with http:// or https://, no password in it"
        )
    try:
        parts = parts_of(url)
    except BadUrl as error:
        raise PydanticCustomError("base_url", "{why}", {"why": str(error)}) from None
    if "#" in url:
        raise PydanticCustomError("base_url", "has a part after #, which is never sent: leave it out")
    for parameter in parts.query.split("&"):
        name, _, value = parameter.partition("=")
        if _SECRET_PARAMETER.match(name) or _LOOKS_LIKE_A_KEY.match(value):
            raise PydanticCustomError(
                "base_url",
                "must not hold a key: name its variable in `keys`, and the header that carries it in "
                "`key_header`",
            )
    url, _, query = url.partition("?")
    query = query and f"?{query}"
    url = url.rstrip("/")
    if url.endswith(_ENDPOINT):
        raise PydanticCustomError(
            "base_url",
            "must end before /chat/completions, which is added: write {fix}",
            {"fix": url.removesuffix(_ENDPOINT).rstrip("/") + query},
        )
    return url + query
