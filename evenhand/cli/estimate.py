"""`evenhand estimate`: tokens, cost and time of a run before it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.cli.options import console, db_option, json_option, print_json, read_study, split_list
from evenhand.cli.run import command as run_command
from evenhand.cli.selection import collection_of, selection, selection_options

if TYPE_CHECKING:
    from rich.console import Console

    from runner.estimate.estimate import Estimate
    from runner.estimate.tokens import Figure

Command = TypeVar("Command", bound=Callable[..., Any])

AS_IN_RUN = (
    "repeats",
    "temperatures",
    "top_p",
    "max_tokens",
    "seed",
    "reasoning",
    "retry",
    "in_flight",
    "providers_file",
    "gguf",
)
"""Options of `evenhand run` that change what is pending or how fast it goes: the very same, so that the
command line of a run can be put to `estimate` first."""


def _as_in_run(command: Command) -> Command:
    found = {option.name: option for option in run_command.params}
    mine: list[click.Parameter] = command.__dict__.setdefault("__click_params__", [])
    mine.extend(found[name] for name in reversed(AS_IN_RUN))
    return command


@click.command(
    epilog="""\b
Examples:
  evenhand estimate gpt-4o-mini
  evenhand estimate gpt-4o-mini deepseek-v3.2 "claude-haiku-4.5" --repeat 3
  evenhand estimate gpt-4o-mini --labels defendant_sex,judge_age --batch
  evenhand estimate o4-mini --max-tokens 8000 --json
The figures get better with stored answers: `evenhand run MODEL --limit 20` first, then estimate the rest.
"""
)
@click.argument("models", nargs=-1, required=True)
@db_option
@selection_options
@_as_in_run
@click.option("--batch", is_flag=True, help="At the price of the provider's batch interface.")
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
    repeats: int,
    retry: str | None,
    in_flight: int | None,
    providers_file: Path | None,
    gguf: Path | None,
    temperatures: tuple[float, ...],
    batch: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Show the tokens, cost and time of a run of one or more MODELS. Nothing is sent, and no key is needed.

    Prompts are sampled from what is pending. Tokens are measured on answers that the study has, of this model
    or else of others; where it has none, by a stated rule. Every figure says where it comes from.
    """
    from runner.estimate.estimate import estimate, total  # noqa: PLC0415
    from runner.lifecycle.options import Asked, RunOptions  # noqa: PLC0415
    from runner.providers.file import load_providers  # noqa: PLC0415

    providers = load_providers(providers_file)
    asked: list[Asked] = []
    for model in models:
        entry = providers.resolve(model)
        if gguf is not None and entry.kind == "embedded":
            entry = replace(entry, model=gguf.stem)
        of_model = [Asked(entry.settings(temperature=one, **settings), entry) for one in temperatures]
        # One that takes no temperature is asked once.
        asked += {one.settings.model_key: one for one in of_model}.values()
    options = RunOptions(repeats=repeats, retry_outcomes=split_list(retry) or (), in_flight=in_flight)
    with read_study(db) as study:
        collection = collection_of(study, domain, collection)
        found = estimate(
            study, asked, selection(collection, labels, documents, limit, shard, arms), options, batch=batch
        )
    at = {one.settings.model_key: one.settings.temperature for one in asked}
    summed = total(found)
    several = len(temperatures) > 1
    if several and not batch:
        # One temperature is asked after the other, and the models of one side by side.
        parts = [[one for one in found if at[one.model_key] == each] for each in dict.fromkeys(at.values())]
        summed["seconds"] = sum(total(part)["seconds"] for part in parts)
    if as_json:
        models_found = [{**one.document(), "temperature": at[one.model_key]} for one in found]
        print_json({"models": models_found, "total": summed})
        return
    names = {
        key: f", temperature {temperature:g}" if several and temperature is not None else ""
        for key, temperature in at.items()
    }
    _print(
        [(f"{one.model}{names[one.model_key]}", one) for one in found], summed, in_turn=several and not batch
    )


def _print(found: list[tuple[str, Estimate]], summed: dict[str, Any], *, in_turn: bool) -> None:
    out = console()
    pending = [(name, one) for name, one in found if one.pending]
    if pending:
        _print_table(out, pending, summed, in_turn=in_turn)
    for name, one in found:
        out.print(f"\n{name}", style="bold", markup=False)
        for line in _grounds(one):
            out.print(f"  {line}", markup=False)
    out.print("\nNothing was sent.", markup=False)


def _print_table(
    out: Console, found: list[tuple[str, Estimate]], summed: dict[str, Any], *, in_turn: bool
) -> None:
    from rich.table import Table  # noqa: PLC0415

    table = Table(title="Before a run: expected (range)", title_justify="left")
    table.add_column("model", overflow="fold")
    for name in ("pending", "tokens in", "tokens out", "cost, USD", "at most", "time"):
        table.add_column(name, justify="right")
    for name, one in found:
        assert one.tokens_in is not None
        assert one.tokens_out is not None
        assert one.seconds is not None
        cost = one.cost_usd
        table.add_row(
            f"{name} @ {one.provider}",
            f"{one.pending:,}",
            _range(one.tokens_in, _count),
            _range(one.tokens_out, _count),
            "unknown" if cost is None else _dollars(cost.expected),
            "unknown" if cost is None else _dollars(cost.high),
            _range(one.seconds, _time),
        )
    if len(found) > 1:
        known = summed["cost_usd"] is not None
        table.add_section()
        table.add_row(
            "all, one temperature after the other" if in_turn else "all, side by side",
            f"{summed['pending']:,}",
            "",
            "",
            _dollars(summed["cost_usd"]) if known else "unknown",
            _dollars(summed["cost_at_most_usd"]) if known else "unknown",
            _time(summed["seconds"]),
        )
    out.print(table)


def _grounds(one: Estimate) -> list[str]:
    """How each figure was got."""
    lines = []
    for name, figure in (
        ("tokens in", one.tokens_in),
        ("tokens out", one.tokens_out),
        ("cost", one.cost_usd),
        ("time", one.seconds),
    ):
        if figure is not None:
            lines.append(f"{name}: {figure.how}.")
    settled = one.selected - one.pending
    if one.pending and settled:
        lines.append(f"{settled:,} of {one.selected:,} are settled already and not asked again.")
    return [*lines, *(f"{note[0].upper()}{note[1:]}." for note in one.notes)]


def _range(figure: Figure, show: Callable[[float], str]) -> str:
    expected, low, high = show(figure.expected), show(figure.low), show(figure.high)
    return expected if low == high else f"{expected} ({low} to {high})"


def _count(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}"


def _dollars(dollars: float) -> str:
    return f"{dollars:,.2f}" if dollars >= 0.1 or dollars == 0 else f"{dollars:.2g}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} d"
