"""Runs: the pending queries of a study are put to models, live or by batches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from store.errors import BadInput

if TYPE_CHECKING:
    from runner.lifecycle.options import RunOptions, RunSummary
    from runner.providers.file import Providers
    from store import Selection, Study

Ended = TypeVar("Ended")


def run_study(
    study: Study,
    providers: Providers,
    models: tuple[str, ...],
    selected: Selection,
    *,
    settings: dict[str, Any],
    options: RunOptions,
    gguf: Path | None = None,
    script: Any = None,
    tell: Callable[[str], object] = str,
) -> RunSummary:
    """Start what the models need, ask, and say how it ended."""
    done, _ = run_each(
        study,
        providers,
        models,
        selected,
        settings=[settings],
        options=options,
        gguf=gguf,
        script=script,
        tell=tell,
    )
    return done[0][1]


def run_each(
    study: Study,
    providers: Providers,
    models: tuple[str, ...],
    selected: Selection,
    *,
    settings: Sequence[dict[str, Any]],
    options: RunOptions,
    gguf: Path | None = None,
    script: Any = None,
    tell: Callable[[str], object] = str,
) -> tuple[list[tuple[dict[str, Any], RunSummary]], list[dict[str, Any]]]:
    """Ask at one of `settings` after the other; gives how each ended, and those that were not begun.

    They share a provider's rate limits, so they do not run side by side. `max_cost` and `max_hours` are
    for all of them together. A model that takes no temperature is asked once.
    """
    from evenhand.services.engines import started  # noqa: PLC0415
    from runner.lifecycle.options import Asked  # noqa: PLC0415
    from runner.live.run import run  # noqa: PLC0415

    async def ask() -> tuple[list[tuple[dict[str, Any], RunSummary]], list[dict[str, Any]]]:
        done: list[tuple[dict[str, Any], RunSummary]] = []
        keys: set[str] = set()
        async with started(providers, models, study, gguf=gguf, script=script, tell=tell) as served:
            for number, one in enumerate(settings):
                asked: list[Asked] = []
                for model in models:
                    entry = served.resolve(model)
                    entry.usable()
                    if gguf is not None and entry.kind == "embedded":
                        # Another file is another model, and must never pass for the embedded one.
                        entry = replace(entry, model=gguf.stem)
                    asked.append(Asked(entry.settings(**one), entry))
                # Of one temperature all are asked, so that a model named twice is told.
                asked = [model for model in asked if model.settings.model_key not in keys]
                if not asked:
                    continue
                keys.update(model.settings.model_key for model in asked)
                left = _left(options, [summary for _, summary in done])
                if left is None:
                    return done, list(settings[number:])
                done.append((one, await run(study, asked, selected, left)))
                if done[-1][1].stopped_by:
                    return done, list(settings[number + 1 :])
        return done, []

    return run_to_end(ask())


def _left(options: RunOptions, summaries: Sequence[RunSummary]) -> RunOptions | None:
    """The options with what is left of the run's limits; None where nothing is."""
    if not summaries:
        return options
    # As a run counts towards its limit: what is known, and the most that may have been paid besides.
    spent = sum((cost_of(one) or 0.0) + one.status.get("assumed_usd", 0.0) for one in summaries)
    hours = sum(one.seconds for one in summaries) / 3600
    max_cost = None if options.max_cost is None else options.max_cost - spent
    max_hours = None if options.max_hours is None else options.max_hours - hours
    if any(limit is not None and limit <= 0 for limit in (max_cost, max_hours)):
        return None
    return replace(options, max_cost=max_cost, max_hours=max_hours)


def cost_of(summary: RunSummary) -> float | None:
    """US dollars, as far as they are known."""
    cost: float | None = summary.status.get("cost_usd", summary.cost_usd)
    return cost


def by_batch(
    providers: Providers,
    models: tuple[str, ...],
    settings: Sequence[dict[str, Any]],
    poll_s: float | None,
    gguf: Path | None,
) -> Callable[[Study, Selection, RunOptions], Coroutine[Any, Any, RunSummary]]:
    """What asks these models by batches. Raises BadInput, before a study is opened, where one cannot be."""
    from runner.batch.run import POLL_S, batch_entry, run_batch  # noqa: PLC0415
    from runner.lifecycle.options import Asked  # noqa: PLC0415

    if gguf is not None:
        raise BadInput("A model file cannot be served to a batch.", hint="Leave out --gguf, or --batch.")
    asked: list[Asked] = []
    for model in models:
        able = batch_entry(providers, model)
        able.usable()
        # The settings are those of a live run, so that it is the same model.
        of_model = [Asked(providers.resolve(model).settings(**one), able) for one in settings]
        # One that takes no temperature is asked once.
        asked += {one.settings.model_key: one for one in of_model}.values()

    def ask(study: Study, selected: Selection, options: RunOptions) -> Coroutine[Any, Any, RunSummary]:
        return run_batch(study, asked, selected, options, poll_s=POLL_S if poll_s is None else poll_s)

    return ask


def run_to_end(work: Coroutine[Any, Any, Ended]) -> Ended:
    """Do the work in an event loop of its own, by uvloop where there is one."""
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:  # Windows has none
        return asyncio.run(work)
    return uvloop.run(work)
