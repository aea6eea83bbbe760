"""`evenhand run`: put the pending queries of a study to one or more models."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from evenhand.cli.selection import collection_of, selection, selection_options

if TYPE_CHECKING:
    from runner import RunSummary


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
@click.option("--top-p", type=Number(0, 1, min_open=True), help="Not sent unless given.")
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
    domain: str | None,
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

    Every answer is on disk before it counts. Stored answers are not asked for again: after a crash or a
    stop, the same command resumes. MODEL@PROVIDER uses that provider only. The server of the embedded model
    is started and stopped automatically.
    """
    from evenhand.services import runs  # noqa: PLC0415
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
    if batch:
        by_batch = runs.by_batch(providers, models, settings, poll_s, gguf)
    elif poll_s is not None:
        raise click.UsageError("--poll has no meaning without --batch")
    not_begun: list[dict[str, Any]] = []
    with open_study(db, memory_limit=RUN_MEMORY_LIMIT) as study:
        collection = collection_of(study, domain, collection)
        selected = selection(collection, labels, documents, limit, shard, arms)
        if batch:
            summary = runs.run_to_end(by_batch(study, selected, options))
            done = [(settings[0], summary)]
        else:
            done, not_begun = runs.run_each(
                study, providers, models, selected, settings=settings, options=options, gguf=gguf, tell=_say
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
        click.echo(f"Not begun: temperature {named}. Run the same command again to ask for them.", err=True)
    sys.exit(next((summary.exit_code for _, summary in done if summary.exit_code), 0))


def _say(text: str) -> None:
    click.echo(text, err=True)


def summary_document(summary: RunSummary) -> dict[str, Any]:
    """What `--json` prints of a run."""
    from evenhand.services import runs  # noqa: PLC0415

    return {
        "run_id": str(summary.run_id) if summary.run_id else None,
        "state": summary.state,
        "message": summary.message,
        "counts": dict(summary.counts),
        "warnings": list(summary.warnings),
        "pending": summary.pending,
        "beyond_limit": summary.beyond,
        "seconds": summary.seconds,
        "cost_usd": runs.cost_of(summary),
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
