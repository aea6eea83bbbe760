"""Before a run: how many tokens it will use, what it will cost, how long it will take. Nothing is sent.

Prompts are sampled from what is pending; what a request uses is told by stored answers where there are some
(`runner.estimate.tokens`), the time by the limits of the provider (`runner.estimate.time`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import store
from runner.estimate.time import BATCH_WINDOW_S, duration
from runner.estimate.tokens import SAMPLE, Figure, Usage, usage
from runner.lifecycle.options import Asked, RunOptions
from runner.providers.file import ModelEntry, Route
from store.errors import BadInput

if TYPE_CHECKING:
    from store.pending_queries import Selection
    from store.study import Study


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of one model. `expected` of each figure is the best guess; `low` and `high` its range.

    The high end of the tokens out, and so of the cost, is every answer as long as max_tokens allows.
    """

    model: str
    model_key: str
    provider: str
    """The first of the model's that can be used: that of the file's order whose key is set, if any."""
    selected: int
    """Questions (queries x repeats) of the selection, settled ones included."""
    pending: int
    sampled: int
    tokens_per_character: float | None
    tokens_in: Figure | None
    """None, as all that follow, where nothing is pending."""
    tokens_out: Figure | None
    cost_usd: Figure | None
    """Without any discount for cached tokens; None where providers.toml states no price."""
    cost_cached_usd: float | None
    """The expected cost if as large a share is read from the prefix cache as in stored answers; None without
    such answers, or without a price for cached tokens."""
    seconds: Figure | None
    bound_by: str | None
    """What decides the time."""
    batch: bool
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        return asdict(self)


def estimate(
    study: Study,
    asked: Sequence[Asked],
    selection: Selection | None = None,
    options: RunOptions | None = None,
    *,
    batch: bool = False,
    environ: Mapping[str, str] | None = None,
) -> list[Estimate]:
    """One estimate for each model. No key is needed, nothing is sent and nothing is written.

    Args:
        study: an open study.
        asked: the models at their settings.
        selection: which queries; all by default.
        options: of the run: repeats, retry_outcomes and in_flight count here.
        batch: by the providers' batch interfaces.
        environ: where the keys are looked for; the environment of this process by default.

    Raises:
        BadInput: the selection names what the study does not have, or no provider of a model takes batches.
    """
    options = options or RunOptions()
    return [_estimate(study, one, selection, options, batch, environ) for one in asked]


def total(estimates: Sequence[Estimate]) -> dict[str, Any]:
    """Of models that run side by side: costs add up (None if one is unknown), the time is the longest."""
    priced = [one.cost_usd for one in estimates if one.pending]
    costs = [cost for cost in priced if cost is not None]
    times = [one.seconds for one in estimates if one.seconds is not None]
    known = len(costs) == len(priced)
    return {
        "pending": sum(one.pending for one in estimates),
        "cost_usd": sum(cost.expected for cost in costs) if known else None,
        "cost_at_most_usd": sum(cost.high for cost in costs) if known else None,
        "seconds": max((time.expected for time in times), default=0.0),
    }


def _estimate(
    study: Study,
    one: Asked,
    selection: Selection | None,
    options: RunOptions,
    batch: bool,
    environ: Mapping[str, str] | None,
) -> Estimate:
    settings = one.settings
    route, keys = _route(one.entry, batch, environ)
    cursor = store.pending(
        study, settings.model_key, options.repeats, selection, tuple(options.retry_outcomes)
    )
    try:
        pending, selected, in_batches = cursor.total, cursor.selected, cursor.in_batches
        sample = cursor.sample(SAMPLE)
    finally:
        cursor.close()
    if not pending:
        why = "every query of the selection is settled" if selected else "the selection has no query to ask"
        if in_batches:
            why = f"{in_batches:,} are asked by open batches at a provider, and the rest is settled"
        return Estimate(
            model=settings.model,
            model_key=settings.model_key,
            provider=route.provider,
            selected=selected,
            pending=0,
            sampled=0,
            tokens_per_character=None,
            tokens_in=None,
            tokens_out=None,
            cost_usd=None,
            cost_cached_usd=None,
            seconds=None,
            bound_by=None,
            batch=batch,
            notes=(f"nothing is pending: {why}",),
        )
    used = usage(study, settings, route, sample)
    share = 1 - route.batch_discount if batch else 1.0
    if batch:
        how = "a batch is answered within 24 hours, and often much sooner"
        seconds, bound_by = Figure(60.0, BATCH_WINDOW_S, BATCH_WINDOW_S, how), "the provider's batch window"
    else:
        seconds, bound_by = duration(
            route,
            used,
            pending,
            max_tokens=settings.max_tokens,
            keys=max(keys, 1),
            in_flight=options.in_flight,
        )
    cost = _cost(route, used, share)
    return Estimate(
        model=settings.model,
        model_key=settings.model_key,
        provider=route.provider,
        selected=selected,
        pending=pending,
        sampled=len(sample),
        tokens_per_character=used.tokens_per_character,
        tokens_in=used.prompt.times(pending),
        tokens_out=used.answer.times(pending),
        cost_usd=None if cost is None else cost.times(pending),
        cost_cached_usd=_cached(route, used, share, pending),
        seconds=seconds,
        bound_by=bound_by,
        batch=batch,
        notes=tuple(_notes(one, route, keys, used, share, pending)),
    )


def _route(entry: ModelEntry, batch: bool, environ: Mapping[str, str] | None) -> tuple[Route, int]:
    """The route that a run would use first, and how many of its keys are set (1 where it needs none)."""
    routes = [route for route in entry.routes if route.batch] if batch else list(entry.routes)
    if not routes:
        names = ", ".join(route.provider for route in entry.routes)
        raise BadInput(
            f"No provider of {entry.model} takes batches ({names}).",
            hint="Leave --batch out, or set `batch = true` for a provider with the OpenAI Batch interface.",
        )
    for route in routes:
        if keys := len(route.keys_set(environ)):
            return route, keys
    return routes[0], 0


def _cost(route: Route, used: Usage, share: float) -> Figure | None:
    """US dollars for one request."""
    prices = route.prices
    if prices is None:
        return None
    low, expected, high = (
        share * (prompt * prices.input + answer * prices.output) / 1e6
        for prompt, answer in (
            (used.prompt.low, used.answer.low),
            (used.prompt.expected, used.answer.expected),
            (used.prompt.high, used.answer.high),
        )
    )
    how = (
        f"${prices.input:g} a million tokens in, ${prices.output:g} out at {route.provider} (providers.toml)"
    )
    if share < 1:
        how += f", less {1 - share:.0%} for batches"
    return Figure(low, expected, high, f"{how}; at most: every answer as long as max_tokens")


def _cached(route: Route, used: Usage, share: float, pending: int) -> float | None:
    """The expected cost with as much cached as in stored answers."""
    prices = route.prices
    if prices is None or prices.cached is None or used.cached_share is None:
        return None
    cached = used.prompt.expected * used.cached_share
    fresh = used.prompt.expected - cached
    dollars = fresh * prices.input + cached * prices.cached + used.answer.expected * prices.output
    return share * dollars / 1e6 * pending


def _notes(one: Asked, route: Route, keys: int, used: Usage, share: float, pending: int) -> list[str]:
    """What a reader should know besides."""
    notes = []
    if not keys:
        notes.append(f"no key is set ({' or '.join(route.keys)}): the time is that of one key")
    elif keys > 1:
        notes.append(f"{keys} keys are set and used side by side; the time counts them all")
    others = [other.provider for other in one.entry.routes if other.provider != route.provider]
    if others:
        notes.append(f"priced and timed at {route.provider}; others that offer it: {', '.join(others)}")
    prices = route.prices
    if prices is None:
        notes.append("no cost: providers.toml states no prices for it")
    elif prices.cached is not None and prices.cached < prices.input:
        notes.append(_cache_note(used, prices.cached, prices.input, share * pending))
    if route.context_tokens is not None:
        longest = used.longest_prompt + one.settings.max_tokens
        if longest > route.context_tokens:
            notes.append(
                f"the longest prompts (up to {used.longest_prompt:,.0f} tokens) and max_tokens may not fit "
                f"into its context of {route.context_tokens:,}"
            )
    return notes


def _cache_note(used: Usage, cached: float, full: float, requests: float) -> str:
    tokens = used.prompt.expected * requests
    if used.cached_share is not None:
        saved = tokens * used.cached_share * (full - cached) / 1e6
        return (
            f"{used.cached_share:.0%} of the prompt tokens of its stored answers were cached; the same again "
            f"takes ${saved:,.2f} off the expected cost"
        )
    return (
        f"costs count no cached tokens; a prefix cache (${cached:g} a million) can take at most "
        f"${tokens * (full - cached) / 1e6:,.2f} off the expected cost"
    )
