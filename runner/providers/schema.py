"""What `providers.toml` may say, as typed and frozen pydantic models.

Nothing here holds a key: the file names environment variables, and those are read when a request is sent.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from runner.providers.toml_values import (
    TRANSPORT,
    Dollars,
    Fields,
    InFlight,
    Number,
    Seconds,
    Switch,
    Whole,
    argument,
    between,
    check_at,
    check_model_name,
    checked_base_url,
    checked_name,
    header_name,
    one_line,
    variable_name,
)

ProviderKind = Literal["api", "vllm", "embedded", "simulated"]
AnswerFormat = Literal["none", "json_object", "json_schema", "grammar"]
Counts = Literal["reserved", "used"]

_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "proxy-authorization", "cookie"})

_P = TypeVar("_P", bound="Part")


class Part(BaseModel):
    """A table of the file. Unknown keys are errors that name the nearest known one."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=False, allow_inf_nan=False, hide_input_in_errors=True
    )

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

    requests_per_minute: Annotated[Number, Field(gt=0), between(0.001, 1e9)] | None = None
    tokens_per_minute: Annotated[Number, Field(gt=0), between(1, 1e12)] | None = None
    counts: Counts = "reserved"
    """What the token limit counts: prompt + max_tokens of each request, or the tokens really used."""
    in_flight: InFlight = 256
    """The most requests open at once; the runner finds how many of these are good."""
    start_in_flight: InFlight = 8


class Prices(Part):
    """US dollars for a million tokens."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    """Of prompt tokens read from the provider's prefix cache; the price of `input` when not given."""

    cache_write: Dollars | None = None
    """Of prompt tokens written into a cache, where the provider counts those; else 1.25 times `input`."""

    def cost(
        self, prompt_tokens: int, cached_tokens: int, completion_tokens: int, written_tokens: int = 0
    ) -> float:
        """US dollars for one answer; `cached_tokens` and `written_tokens` are parts of the prompt."""
        cached = self.input if self.cached is None else self.cached
        fresh = max(prompt_tokens - cached_tokens - written_tokens, 0)
        usd = fresh * self.input + cached_tokens * cached + completion_tokens * self.output
        if written_tokens:
            usd += written_tokens * (1.25 * self.input if self.cache_write is None else self.cache_write)
        return usd / 1e6


class Style(Part):
    """How this provider, or this model of it, wants its parameters."""

    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: Switch = True
    """False: the model refuses a temperature, and none is sent."""
    top_p: Switch = True
    seed: Switch = True
    answer_format: AnswerFormat = "none"
    """How the model is held to the schema of the answer: not at all, by `response_format`, by a grammar."""
    reasoning: dict[str, Fields] = Field(default_factory=dict)
    """What `--reasoning LEVEL` adds to the body here: {"low": {"reasoning_effort": "low"}}."""
    body: Fields = Field(default_factory=dict)
    """Added to each body. What an answer may depend on (top_k, say) is part of what identifies a model."""

    @property
    def answering_body(self) -> dict[str, Any]:
        """Those fields of `body` on which an answer may depend."""
        return {name: value for name, value in self.body.items() if name not in TRANSPORT}


class Timeouts(Part):
    """Seconds."""

    connect: Seconds = 15
    first_byte: Seconds = 240
    """Until the reply begins; an answer that is not streamed begins when it is ready."""
    total: Seconds = 300


class Vllm(Part):
    """How to start `vllm serve` when no server answers at the base URL."""

    start: bool = True
    arguments: list[Annotated[str, AfterValidator(argument)]] = Field(default_factory=list)
    startup_s: Seconds = 1200


class ModelOffer(Part):
    """A model that a provider serves; the table's name is our name for it, the same at every provider."""

    id: Annotated[str, AfterValidator(checked_name)]
    """The provider's own name of it."""
    limits: Limits = Limits()
    prices: Prices | None = None
    style: Style = Style()
    timeouts: Timeouts = Timeouts()
    context_tokens: Annotated[Whole, between(1, 1e9)] | None = None
    note: str = ""


class Provider(Part):
    """One service; the order of these tables in the file is the order of failover."""

    kind: ProviderKind = "api"
    base_url: Annotated[str, AfterValidator(checked_base_url)] | None = None
    """Up to and without /chat/completions, which goes before a query (`?api-version=...`).

    The servers that we start ourselves need none.
    """
    replicas: list[Annotated[str, AfterValidator(checked_base_url)]] = Field(default_factory=list)
    """In the place of `base_url`: the addresses of servers that serve the same model and share its work."""
    keys: list[Annotated[str, AfterValidator(variable_name)]] = Field(default_factory=list)
    """Names of environment variables, one a key; each that is set gets lanes of its own."""
    key_header: Annotated[str, AfterValidator(header_name)] = "Authorization"
    key_prefix: Annotated[str, AfterValidator(one_line)] = "Bearer "
    headers: dict[str, Annotated[str, AfterValidator(one_line)]] = Field(default_factory=dict)
    limits: Limits = Limits()
    style: Style = Style()
    timeouts: Timeouts = Timeouts()
    batch: bool = False
    """Offers the OpenAI Batch interface."""
    batch_discount: Number = Field(default=0.5, ge=0, le=1)
    vllm: Vllm = Vllm()
    models: dict[str, ModelOffer] = Field(default_factory=dict)
    note: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Provider:
        self._check_replicas()
        if self.base_url is None and not self.replicas and self.kind in ("api", "vllm"):
            raise PydanticCustomError("base_url", "base_url is missing: the address up to /chat/completions")
        if self.batch and "?" in (self.base_url or ""):
            raise PydanticCustomError(
                "base_url",
                "cannot have a query (?...) together with `batch = true`: leave one of the two out",
                {"path": ("base_url",)},
            )
        self._check_headers()
        _check_start(self.limits, self.limits, ())
        for name, offer in self.models.items():
            check_at(("models", name), check_model_name, name)
            _check_start(offer.limits, offer.limits.over(self.limits), ("models", name))
        return self

    def _check_replicas(self) -> None:
        if not self.replicas:
            return
        for other, why in (
            (self.base_url is not None, "base_url: name all servers in `replicas`, and leave base_url out"),
            (self.batch, "`batch = true`: a batch goes to one service"),
            (self.kind not in ("api", "vllm"), f"kind = '{self.kind}', whose server is started here"),
        ):
            if other:
                raise PydanticCustomError(
                    "replicas", "cannot stand beside {why}", {"why": why, "path": ("replicas",)}
                )
        for address in self.replicas:
            if self.replicas.count(address) > 1:
                raise PydanticCustomError(
                    "replicas",
                    "names {address} twice; each server is named once",
                    {"address": address, "path": ("replicas",)},
                )

    def _check_headers(self) -> None:
        secret = sorted(name for name in self.headers if name.lower() in _SECRET_HEADERS)
        if secret:
            raise PydanticCustomError(
                "secret_header",
                "headers must not hold {name}: name the variable in `keys`, its header in `key_header`",
                {"name": secret[0], "path": ("headers", secret[0])},
            )
        seen = {self.key_header.lower()} if self.keys else set()
        for name in self.headers:
            check_at(("headers", name), header_name, name)
            if name.lower() in seen:
                raise PydanticCustomError(
                    "header_name",
                    "would be sent twice: `key_header` or another header is the same; leave one of them out",
                    {"path": ("headers", name)},
                )
            seen.add(name.lower())


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
            check_at(("providers", provider_name), checked_name, provider_name)
            for model, offer in provider.models.items():
                style = offer.style.over(provider.style)
                mine = {
                    "answer_format": style.answer_format,
                    "temperature": style.temperature,
                    "body": style.answering_body,
                }
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
