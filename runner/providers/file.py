"""`providers.toml`: found, read, and turned into the routes by which a model can be asked."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner.providers.schema import File, Limits, ModelOffer, Prices, Provider, ProviderKind, Style, Timeouts
from runner.providers.settings import ModelSettings
from runner.providers.toml_values import decided_elsewhere
from runner.providers.urls import proxy_for
from store.errors import BadInput
from store.input_files import explain

FILE_NAME = "providers.toml"


@dataclass(frozen=True, slots=True)
class Route:
    """One provider's offer of one model, with the provider's defaults filled in."""

    provider: str
    kind: ProviderKind
    base_url: str | None
    model: str
    model_id: str
    keys: tuple[str, ...]
    """Names of environment variables; empty where no key is needed."""
    key_header: str
    key_prefix: str
    headers: Mapping[str, str]
    limits: Limits
    prices: Prices | None
    style: Style
    timeouts: Timeouts
    batch: bool
    batch_discount: float
    context_tokens: int | None
    replicas: tuple[str, ...] = ()
    """Addresses of the servers that share the model's work; `base_url` is the first of them."""

    def servers(self) -> tuple[Route, ...]:
        """A route for each replica; this one alone where there are none."""
        if not self.replicas:
            return (self,)
        return tuple(replace(self, base_url=address) for address in self.replicas)

    def keys_set(self, environ: Mapping[str, str] | None = None) -> tuple[str | None, ...]:
        """The variables that are set, one lane each; `(None,)` for a provider that asks for no key."""
        if not self.keys:
            return (None,)
        environ = os.environ if environ is None else environ
        return tuple(name for name in self.keys if environ.get(name, "").strip())

    def check_environment(self, environ: Mapping[str, str] | None = None) -> None:
        """Raise BadInput where a key that is set, or the proxy for this route's address, cannot be used."""
        for name in self.keys_set(environ):
            if name is not None:
                check_key(name, environ)
        for server in self.servers():
            if server.base_url is not None:
                proxy_for(server.base_url)


def check_key(name: str, environ: Mapping[str, str] | None = None) -> None:
    """Raise BadInput when the key in this variable has characters that no header can carry."""
    value = (os.environ if environ is None else environ).get(name, "").strip()
    if not (value.isascii() and value.isprintable()):
        raise BadInput(
            f"The key in {name} has characters that no HTTP header can carry.",
            hint=f"Set {name} again, without line breaks or quotes.",
        )


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model and the routes to it, in the order of the file."""

    model: str
    routes: tuple[Route, ...]

    @property
    def kind(self) -> ProviderKind:
        """The kind of the first route."""
        return self.routes[0].kind

    def settings(
        self,
        *,
        temperature: float | None = 0.0,
        top_p: float | None = None,
        max_tokens: int = 2048,
        seed: int | None = None,
        system_text: str | None = None,
        reasoning: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> ModelSettings:
        """The settings that this model takes: what it refuses (a temperature, say) is None in them.

        Raises BadInput when a route does not say how to ask for this level of reasoning, or `extra` has what
        another setting or the runner decides: it would be sent, and something else recorded.
        """
        for key in extra or {}:
            if (place := decided_elsewhere(key)) is not None:
                raise BadInput(
                    f"The extra body must not hold {key}.", hint=f"{place[:1].upper()}{place[1:]}."
                )
        first = self.routes[0].style
        if reasoning is not None:
            for route in self.routes:
                if reasoning not in route.style.reasoning:
                    known = ", ".join(route.style.reasoning) or "none"
                    raise BadInput(
                        f"{route.provider} does not say how to ask {self.model} for reasoning {reasoning!r}.",
                        hint=f"Levels in providers.toml: {known}. Add it under style.reasoning.",
                    )
        return ModelSettings(
            model=self.model,
            kind=self.kind,
            temperature=temperature if first.temperature else None,
            top_p=top_p if all(route.style.top_p for route in self.routes) else None,
            max_tokens=max_tokens,
            seed=seed if all(route.style.seed for route in self.routes) else None,
            system_text=system_text,
            answer_format=first.answer_format,
            reasoning=reasoning,
            extra={**first.answering_body, **(extra or {})},
        )

    def usable(self, environ: Mapping[str, str] | None = None) -> tuple[Route, ...]:
        """The routes that have a key (or need none) and an address.

        Raises BadInput, naming the variables to set, when there is none, and where the environment has a key
        or a proxy for one of them that cannot be used: what is wrong is told before anything is stored.
        """
        usable = tuple(route for route in self.routes if route.keys_set(environ) and route.base_url)
        for route in usable:
            route.check_environment(environ)
        if usable:
            return usable
        wanted = [f"{route.provider}: {' or '.join(route.keys)}" for route in self.routes if route.keys]
        if not wanted:
            raise BadInput(
                f"No server is running for {self.model} ({self.routes[0].provider}).",
                hint="`evenhand run` starts it where it can; otherwise give the provider a base_url.",
            )
        variable = self.routes[0].keys[0] if self.routes[0].keys else wanted[0].split(": ")[1]
        raise BadInput(
            f"No provider of {self.model} has its key: none of these is set ({'; '.join(wanted)}).",
            hint=f"Set it (`export {variable}=...`), or take a model that `evenhand providers` shows ready.",
        )


@dataclass(frozen=True, slots=True)
class Providers:
    """The file, read."""

    path: Path
    tables: Mapping[str, Provider]
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Base URLs of servers that we started ourselves; they take the place of the file's."""

    def at(self, provider: str, base_url: str) -> Providers:
        """The same, with the provider's server at this address."""
        return replace(self, addresses={**self.addresses, provider: base_url.rstrip("/")})

    def models(self) -> dict[str, ModelEntry]:
        """Every model by our name, in the order of the file."""
        routes: dict[str, list[Route]] = {}
        for name, table in self.tables.items():
            for model, offer in table.models.items():
                routes.setdefault(model, []).append(self._route(name, table, model, offer))
        return {model: ModelEntry(model, tuple(found)) for model, found in routes.items()}

    def resolve(self, model: str) -> ModelEntry:
        """The model and its routes; `model@provider` keeps to one provider. Raises BadInput when unknown."""
        models = self.models()
        name, at, provider = model.partition("@")
        entry = models.get(name)
        if entry is None:
            near = difflib.get_close_matches(name, models, n=3, cutoff=0.5)
            hint = f"Did you mean {' or '.join(near)}? " if near else ""
            raise BadInput(
                f"{self.path} offers no model {name!r}.",
                hint=f"{hint}`evenhand providers` lists them; add others under [providers.NAME.models].",
            )
        if not at:
            return entry
        kept = tuple(route for route in entry.routes if route.provider == provider)
        if not kept:
            offering = ", ".join(route.provider for route in entry.routes)
            raise BadInput(f"No provider {provider!r} offers {name}.", hint=f"It is offered by: {offering}.")
        return ModelEntry(name, kept)

    def _route(self, name: str, table: Provider, model: str, offer: ModelOffer) -> Route:
        return Route(
            provider=name,
            kind=table.kind,
            base_url=self.addresses.get(name, table.base_url or next(iter(table.replicas), None)),
            model=model,
            model_id=offer.id,
            keys=tuple(table.keys),
            key_header=table.key_header,
            key_prefix=table.key_prefix,
            headers=table.headers,
            limits=offer.limits.over(table.limits),
            prices=offer.prices,
            style=offer.style.over(table.style),
            timeouts=offer.timeouts.over(table.timeouts),
            batch=table.batch,
            batch_discount=table.batch_discount,
            context_tokens=offer.context_tokens,
            replicas=tuple(table.replicas),
        )


def places() -> tuple[Path, ...]:
    """Where the file is looked for, first to last."""
    from platformdirs import user_config_path  # noqa: PLC0415

    root = Path(__file__).resolve().parent.parent
    return (
        Path.cwd() / FILE_NAME,
        user_config_path("evenhand") / FILE_NAME,
        root.parent / FILE_NAME,
        root / FILE_NAME,
    )


def find(path: Path | None = None, among: Sequence[Path] | None = None) -> Path:
    """The file to read. Raises BadInput when there is none."""
    if path is not None:
        if not path.is_file():
            raise BadInput(
                f"There is no file {path}.", hint="Name an existing file, or leave the option out."
            )
        return path
    among = places() if among is None else among
    for place in among:
        if place.is_file():
            return place
    looked = ", ".join(str(place) for place in among)
    raise BadInput("No providers.toml was found.", hint=f"Looked for: {looked}.")


def load_providers(path: Path | None = None) -> Providers:
    """Read and check `providers.toml`.

    Unless `path` is given, looks in the working directory, the user's configuration folder, the checkout and
    the package. Raises BadInput that names the file, the line or key, and the fix.
    """
    file = find(path)
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8.", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.", hint="Check its permissions.") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(
            f"{file} is not valid TOML: {error}.",
            hint="Mend that line: text stands in quotes, tables in [brackets], a key only once in its table.",
        ) from None
    except ValueError:
        raise BadInput(f"{file} has a number of thousands of digits.", hint="Write a smaller one.") from None
    try:
        parsed = File.model_validate(data)
    except ValidationError as error:
        raise explain(error, file, text, hint="Correct the file; `evenhand providers` checks it.") from None
    return Providers(path=file, tables=parsed.providers)
