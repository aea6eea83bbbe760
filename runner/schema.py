"""What `providers.toml` may say, as typed and frozen pydantic models.

Nothing here holds a key: the file names environment variables, and those are read when a request is sent.
"""

from __future__ import annotations

import difflib
import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

ProviderKind = Literal["api", "vllm", "embedded", "simulated"]
AnswerFormat = Literal["none", "json_object", "json_schema", "grammar"]
Counts = Literal["reserved", "used"]

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LOOKS_LIKE_A_KEY = re.compile(r"(sk|pk|gsk|key|AIza|hf)[-_]|[A-Za-z0-9]{28,}")
_ENDPOINT = "/chat/completions"
_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "proxy-authorization", "cookie"})

_P = TypeVar("_P", bound="Part")


class Part(BaseModel):
    """A table of the file. Unknown keys are errors that name the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, data: object) -> object:
        if isinstance(data, dict):
            for key in data:
                if key not in cls.model_fields:
                    near = difflib.get_close_matches(str(key), cls.model_fields, n=1)
                    raise PydanticCustomError(
                        "unknown_key",
                        "unknown key{near}; the keys here are {known}",
                        {
                            "key": str(key),
                            "near": f" (did you mean {near[0]!r}?)" if near else "",
                            "known": ", ".join(cls.model_fields),
                        },
                    )
        return data

    def over(self: _P, base: _P) -> _P:
        """These values where the file gave them, the values of `base` elsewhere."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return base.model_copy(update=given)


class Limits(Part):
    """How much may be sent to one model with one key."""

    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    counts: Counts = "reserved"
    """What the token limit counts: prompt + max_tokens of each request, or the tokens really used."""
    in_flight: int = Field(default=256, ge=1)
    """The most requests open at once; the runner finds how many of these are good."""
    start_in_flight: int = Field(default=8, ge=1)


class Prices(Part):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Of prompt tokens read from the provider's prefix cache; the price of `input` when not given."""

    def cost(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """US dollars for one answer."""
        cached = self.input if self.cached is None else self.cached
        fresh = max(prompt_tokens - cached_tokens, 0)
        return (fresh * self.input + cached_tokens * cached + completion_tokens * self.output) / 1e6


class Style(Part):
    """How this provider, or this model of it, wants its parameters."""

    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    """False: the model refuses a temperature, and none is sent."""
    top_p: bool = True
    seed: bool = True
    answer_format: AnswerFormat = "none"
    """How the model is held to the schema of the answer: not at all, by `response_format`, by a grammar."""
    reasoning: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    """What `--reasoning LEVEL` adds to the body here: {"low": {"reasoning_effort": "low"}}."""
    body: dict[str, JsonValue] = Field(default_factory=dict)
    """Added to each body. For matters of transport only: it is no part of what identifies a model."""


class Timeouts(Part):
    """Seconds."""

    connect: float = Field(default=15, gt=0)
    first_byte: float = Field(default=240, gt=0)
    """Until the reply begins; an answer that is not streamed begins when it is ready."""
    total: float = Field(default=300, gt=0)


class Vllm(Part):
    """How to start `vllm serve` when no server answers at the base URL."""

    start: bool = True
    arguments: list[str] = Field(default_factory=list)
    startup_s: float = Field(default=1200, gt=0)


class ModelOffer(Part):
    """A model that a provider serves; the table's name is our name for it, the same at every provider."""

    id: str
    """The provider's own name of it."""
    limits: Limits = Limits()
    prices: Prices | None = None
    style: Style = Style()
    timeouts: Timeouts = Timeouts()
    context_tokens: int | None = Field(default=None, ge=1)
    note: str = ""


def _variable_name(name: str) -> str:
    """Refuse a key written in the file, without repeating it."""
    if not _VARIABLE.match(name) or _LOOKS_LIKE_A_KEY.match(name):
        raise PydanticCustomError(
            "not_a_variable",
            "must be the name of an environment variable, such as OPENAI_API_KEY, and never a key itself",
        )
    return name


def _base_url(url: str) -> str:
    if not re.match(r"https?://[^/\s]+", url) or "@" in url:
        raise PydanticCustomError(
            "base_url", "must be a URL that begins with http:// or https://, no password in it"
        )
    url = url.rstrip("/")
    if url.endswith(_ENDPOINT):
        raise PydanticCustomError(
            "base_url",
            "must end before /chat/completions, which is added: write {fix}",
            {"fix": url.removesuffix(_ENDPOINT).rstrip("/")},
        )
    return url


class Provider(Part):
    """One service; the order of these tables in the file is the order of failover."""

    kind: ProviderKind = "api"
    base_url: Annotated[str, AfterValidator(_base_url)] | None = None
    """Up to and without /chat/completions. The servers that we start ourselves need none."""
    keys: list[Annotated[str, AfterValidator(_variable_name)]] = Field(default_factory=list)
    """Names of environment variables, one a key; each that is set gets lanes of its own."""
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: dict[str, str] = Field(default_factory=dict)
    limits: Limits = Limits()
    style: Style = Style()
    timeouts: Timeouts = Timeouts()
    batch: bool = False
    """Offers the OpenAI Batch interface."""
    batch_discount: float = Field(default=0.5, ge=0, le=1)
    vllm: Vllm = Vllm()
    models: dict[str, ModelOffer] = Field(default_factory=dict)
    note: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Provider:
        if self.base_url is None and self.kind in ("api", "vllm"):
            raise PydanticCustomError("base_url", "base_url is missing: the address up to /chat/completions")
        secret = sorted(name for name in self.headers if name.lower() in _SECRET_HEADERS)
        if secret:
            raise PydanticCustomError(
                "secret_header",
                "headers must not hold {name}: name the variable in `keys`, its header in `key_header`",
                {"name": secret[0]},
            )
        _check_start(self.limits, self.limits, ())
        for name, offer in self.models.items():
            _check_start(offer.limits, offer.limits.over(self.limits), ("models", name))
        return self


def _check_start(given: Limits, whole: Limits, where: tuple[str, ...]) -> None:
    """Refuse a table that asks to begin with more open requests than there may be at most."""
    if "start_in_flight" in given.model_fields_set and whole.start_in_flight > whole.in_flight:
        raise PydanticCustomError(
            "start",
            "is {start}, more than in_flight, which is {most}{default}; lower it, or raise in_flight",
            {
                "start": whole.start_in_flight,
                "most": whole.in_flight,
                "default": "" if "in_flight" in whole.model_fields_set else " unless said",
                "path": (*where, "limits", "start_in_flight"),
            },
        )


class File(Part):
    """The whole file."""

    providers: dict[str, Provider]

    @model_validator(mode="after")
    def _one_model_one_manner(self) -> File:
        """Routes of one model must ask alike, or failover would mix two models under one name."""
        manner: dict[str, tuple[str, dict[str, Any]]] = {}
        for provider_name, provider in self.providers.items():
            for model, offer in provider.models.items():
                style = offer.style.over(provider.style)
                mine = {"answer_format": style.answer_format, "temperature": style.temperature}
                first, theirs = manner.setdefault(model, (provider_name, mine))
                for key, value in mine.items():
                    if value != theirs[key]:
                        raise PydanticCustomError(
                            "manner",
                            "providers {first} and {second} offer {model} with different {key}: their "
                            "answers would count as one model's; make them equal, or rename one of the two",
                            {"first": first, "second": provider_name, "model": model, "key": key},
                        )
        return self
