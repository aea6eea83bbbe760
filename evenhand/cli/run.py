"""`evenhand run`: put the pending queries of a study to one or more models."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.cli.options import (
    Number,
    console,
    db_option,
    json_option,
    open_study,
    print_json,
    sentence,
    split_list,
)
from evenhand.cli.selection import selection, selection_options

if TYPE_CHECKING:
    from runner import Asked, RunOptions, RunSummary
    from runner.providers.file import Providers
    from store import Selection, Study

Ended = TypeVar("Ended")
"""What the work of a run gives at its end."""


def _temperatures(ctx: click.Context, param: click.Parameter, value: str) -> tuple[float, ...]:
    """Read `0,1` as (0.0, 1.0)."""
    del ctx, param
    found: list[float] = []
    for part in value.split(","):
        try:
            temperature = float(part)
        except ValueError:
            temperature = math.nan
        if not 0 <= temperature <= 2:
            raise click.BadParameter(
                f"{part.strip()!r} is no temperature from 0 to 2. Write 0, or 0,1 for both."
            )
        if temperature in found:
            raise click.BadParameter(f"{temperature:g} is given twice.")
        found.append(temperature)
    return tuple(found)


@click.command(
    epilog="""\b
Examples:
  evenhand run smollm2-135m --temperature 1 --seed 7
  evenhand run gpt-4o-mini deepseek-v3.2 --max-total-cost 20
  evenhand run gpt-4o-mini --labels defendant_sex,judge_age --limit 200
  evenhand run qwen3-8b-local --repeat 3 --temperature 0,1 --seed 1
  evenhand run gpt-4o-mini --retry failed,empty
  evenhand run gpt-4o-mini --batch --max-cost 10
Ctrl-C stops the run after the open requests are answered. Run the same command again to resume.
"""
)
@click.argument("models", nargs=-1, required=True)
@db_option
@selection_options
@click.option(
    "--repeat",
    "repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many times to ask each query.",
)
@click.option(
    "--temperature",
    "temperatures",
    callback=_temperatures,
    default="0",
    show_default=True,
    metavar="T[,T...]",
    help="0 to 2. Several, with commas between (0,1), are asked one after the other: each makes a model of "
    "its own, and the limits of the run hold for all of them together.",
)
@click.option("--top-p", type=Number(0, 1, min_open=True), help="Leave out to not send it.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=2048,
    show_default=True,
    help="The longest answer, in tokens.",
)
@click.option("--seed", type=int, help="Of the first repeat; the next ones count up.")
@click.option("--reasoning", help="A reasoning level that the provider entry knows.")
@click.option(
    "--retry",
    metavar="OUTCOMES",
    help="Ask again where the newest outcome is one of these: failed, rejected, context_overflow, empty, "
    "truncated, refused (with commas between). `refused` is the provider's refusal (its content filter); a "
    "refusal in words is stored as an answer, and `analyze` and `check` read it as a refusal.",
)
@click.option(
    "--retry-truncated",
    type=click.IntRange(min=1),
    help="Ask a truncated answer once more, with this many tokens.",
)
@click.option("--max-cost", type=Number(min=0, min_open=True), help="US dollars for this run.")
@click.option(
    "--max-total-cost",
    type=Number(min=0, min_open=True),
    help="US dollars for all runs of this study together, live and by batch, with tries that failed.",
)
@click.option("--max-hours", type=Number(min=0, min_open=True), help="Hours for this run.")
@click.option(
    "--give-up-slow",
    is_flag=True,
    help="Give up a request that takes much longer than others (3 times what 99% of them take, 5 s at least) "
    "and ask its query again, once. Both may be charged. A model that costs nothing is asked so anyway.",
)
@click.option(
    "--in-flight", type=click.IntRange(min=1), help="At most this many requests open at once, for each lane."
)
@click.option(
    "--batch",
    is_flag=True,
    help="Submit as batches, at the provider's batch price (often half), and wait: up to a day. Ctrl-C ends "
    "the waiting, not the batches; the same command fetches what they bring.",
)
@click.option(
    "--poll",
    "poll_s",
    metavar="SECONDS",
    type=Number(min=1),
    help="With --batch: check the batches this often.  [default: 30]",
)
@click.option(
    "--providers",
    "providers_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read this providers.toml.",
)
@click.option(
    "--gguf",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Serve this model file instead of the embedded one.",
)
@click.option(
    "--monitor",
    type=click.Choice(["auto", "live", "lines", "json", "none"]),
    default="auto",
    show_default=True,
    help="Progress: live tables on a terminal, a line every 10 s elsewhere.",
)
@json_option
def command(
    models: tuple[str, ...],
    db: Path,
    collection: str | None,
    labels: str | None,
    documents: str | None,
    arms: str | None,
    limit: int | None,
    shard: tuple[int, int] | None,
    temperatures: tuple[float, ...],
    top_p: float | None,
    max_tokens: int,
    seed: int | None,
    reasoning: str | None,
    retry: str | None,
    providers_file: Path | None,
    gguf: Path | None,
    monitor: str,
    as_json: bool,
    batch: bool,
    poll_s: float | None,
    **limits: Any,
) -> None:
    """Send the pending queries to one or more MODELS (names from `evenhand providers`).

    Every answer is on disk before it counts. What is already answered is not asked again, so after a crash
    or a stop the same command goes on. MODEL@PROVIDER keeps to one provider. The embedded model's server is
    started and stopped by itself.
    """
    from runner import RunOptions, load_providers  # noqa: PLC0415
    from store import RUN_MEMORY_LIMIT  # noqa: PLC0415

    providers = load_providers(providers_file)
    for model in models:
        providers.resolve(model)
    common = {"top_p": top_p, "max_tokens": max_tokens, "seed": seed, "reasoning": reasoning}
    settings: list[dict[str, Any]] = [{"temperature": one, **common} for one in temperatures]
    options = RunOptions(
        retry_outcomes=split_list(retry) or (),
        monitor="none" if as_json and monitor == "auto" else monitor,  # type: ignore[arg-type]
        **limits,
    )
    selected = selection(collection, labels, documents, limit, shard, arms)
    if batch:
        by_batch = _by_batch(providers, models, settings, poll_s, gguf)
    elif poll_s is not None:
        raise click.UsageError("--poll has no meaning without --batch")
    not_begun: list[dict[str, Any]] = []
    with open_study(db, memory_limit=RUN_MEMORY_LIMIT) as study:
        if batch:
            summary = _run_to_end(by_batch(study, selected, options))
            done = [(settings[0], summary)]
        else:
            done, not_begun = run_each(
                study, providers, models, selected, settings=settings, options=options, gguf=gguf
            )
    if as_json and len(settings) > 1:
        print_json({"runs": [summary_document(summary) for _, summary in done]})
    else:
        for one, summary in done:
            if len(done) > 1:
                click.echo(f"Temperature {one['temperature']:g}:")
            print_run(summary, as_json=as_json)
    if not_begun:
        named = ", ".join(f"{one['temperature']:g}" for one in not_begun)
        click.echo(f"Not begun: temperature {named}. The same command goes on.", err=True)
    sys.exit(next((summary.exit_code for _, summary in done if summary.exit_code), 0))


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
) -> RunSummary:
    """Start what the models need, ask, and say how it ended."""
    done, _ = run_each(
        study, providers, models, selected, settings=[settings], options=options, gguf=gguf, script=script
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
) -> tuple[list[tuple[dict[str, Any], RunSummary]], list[dict[str, Any]]]:
    """Ask at one of `settings` after the other; gives how each ended, and those that were not begun.

    They share a provider's rate limits, so they do not run side by side. `max_cost` and `max_hours` are
    for all of them together. A model that takes no temperature is asked once.
    """
    from evenhand.engines import started  # noqa: PLC0415
    from runner.lifecycle.options import Asked  # noqa: PLC0415
    from runner.live.run import run  # noqa: PLC0415

    async def ask() -> tuple[list[tuple[dict[str, Any], RunSummary]], list[dict[str, Any]]]:
        done: list[tuple[dict[str, Any], RunSummary]] = []
        keys: set[str] = set()
        async with started(providers, models, study, gguf=gguf, script=script) as served:
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

    return _run_to_end(ask())


def _left(options: RunOptions, summaries: Sequence[RunSummary]) -> RunOptions | None:
    """The options with what is left of the run's limits; None where nothing is."""
    if not summaries:
        return options
    # As a run counts towards its limit: what is known, and the most that may have been paid besides.
    spent = sum((_cost(one) or 0.0) + one.status.get("assumed_usd", 0.0) for one in summaries)
    hours = sum(one.seconds for one in summaries) / 3600
    max_cost = None if options.max_cost is None else options.max_cost - spent
    max_hours = None if options.max_hours is None else options.max_hours - hours
    if any(limit is not None and limit <= 0 for limit in (max_cost, max_hours)):
        return None
    return replace(options, max_cost=max_cost, max_hours=max_hours)


def _cost(summary: RunSummary) -> float | None:
    """US dollars, as far as they are known."""
    cost: float | None = summary.status.get("cost_usd", summary.cost_usd)
    return cost


def _by_batch(
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
        raise click.UsageError("--gguf has no meaning with --batch")
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


def _run_to_end(work: Coroutine[Any, Any, Ended]) -> Ended:
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:  # Windows has none
        return asyncio.run(work)
    return uvloop.run(work)


def summary_document(summary: RunSummary) -> dict[str, Any]:
    """What `--json` prints of a run."""
    return {
        "run_id": str(summary.run_id) if summary.run_id else None,
        "state": summary.state,
        "message": summary.message,
        "counts": dict(summary.counts),
        "warnings": list(summary.warnings),
        "pending": summary.pending,
        "beyond_limit": summary.beyond,
        "seconds": summary.seconds,
        "cost_usd": _cost(summary),
        "without_answer_usd": summary.status.get("failed_usd", 0.0),
        "assumed_usd": summary.status.get("assumed_usd", 0.0),
        "status": dict(summary.status),
    }


def print_run(summary: RunSummary, *, as_json: bool) -> None:
    """Say in a few lines what a run did."""
    from runner.status.summary import dollars  # noqa: PLC0415

    if as_json:
        print_json(summary_document(summary))
        return
    out = console()
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in summary.counts.items() if count)
    beyond = f" within the limit, {summary.beyond:,} beyond it" if summary.beyond else ""
    cost = summary.status.get("cost_usd")
    paid = "" if cost is None else f", {dollars(cost)}"
    out.print(
        f"Stored: {counts or 'nothing new'}. Pending: {summary.pending:,}{beyond}. "
        f"{summary.seconds:,.0f} s{paid}.",
        markup=False,
    )
    for warning in summary.warnings:
        sentence(out, warning, style="bold yellow")
    sentence(out, summary.message, style="bold" if summary.state == "finished" else "bold red")
