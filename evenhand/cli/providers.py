"""`evenhand providers`: what can be asked, where, how fast and at what price, and what still lacks a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import console, json_option, print_json

if TYPE_CHECKING:
    from runner.providers.file import Route


@click.command(
    epilog="""\b
Examples:
  evenhand providers
  evenhand providers --ready
  evenhand providers --file my-providers.toml --json
"""
)
@click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read this file instead of the first providers.toml found.",
)
@click.option("--ready", is_flag=True, help="Only the models that can be asked now: key set, or none needed.")
@json_option
def command(path: Path | None, ready: bool, as_json: bool) -> None:
    """List providers, models, limits and prices, and say which keys are set.

    Checks providers.toml as it reads it, and the keys and proxies in the environment. A key is never shown:
    only the name of the environment variable that should hold it, and whether it is set.
    """
    from runner import load_providers  # noqa: PLC0415

    providers = load_providers(path)
    routes = [route for entry in providers.models().values() for route in entry.routes]
    rows = [_row(route) for route in routes if not ready or _is_ready(route)]
    if as_json:
        print_json(rows)
    else:
        _print_table(rows, providers.path)
    _check_environment(routes)


def _check_environment(routes: list[Route]) -> None:
    """Raise what a run would raise, of all routes together; the list above is shown all the same."""
    from store.errors import BadInput  # noqa: PLC0415

    found: dict[str, BadInput] = {}
    for route in routes:
        try:
            if _is_ready(route):
                route.check_environment()
        except BadInput as error:
            found.setdefault(error.message, error)
    if found:
        hints = dict.fromkeys(error.hint for error in found.values() if error.hint)
        raise BadInput("\n".join(found), hint="\n".join(hints))


def _is_ready(route: Route) -> bool:
    """Whether a run could ask by this route now; what we start ourselves needs no address."""
    started_by_us = route.kind in ("embedded", "simulated")
    return bool(route.keys_set()) and (started_by_us or bool(route.base_url))


def _row(route: Route) -> dict[str, Any]:
    prices = route.prices
    return {
        "model": route.model,
        "provider": route.provider,
        "kind": route.kind,
        "base_url": route.base_url,
        "replicas": list(route.replicas),
        "model_id": route.model_id,
        "keys": list(route.keys),
        "keys_set": [name for name in route.keys_set() if name],
        "ready": _is_ready(route),
        "requests_per_minute": route.limits.requests_per_minute,
        "tokens_per_minute": route.limits.tokens_per_minute,
        "usd_per_million_input": prices.input if prices else None,
        "usd_per_million_output": prices.output if prices else None,
    }


def _print_table(rows: list[dict[str, Any]], path: Path) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    # As Text: a name with brackets in it is no markup.
    table = Table(title=Text(f"Models in {path}", style="table.title"), title_justify="left")
    table.add_column("model", overflow="fold")
    table.add_column("provider", no_wrap=True)
    table.add_column("requests, tokens/min", justify="right")
    table.add_column("USD/1M in, out", justify="right")
    table.add_column("key", overflow="fold")
    for row in rows:
        if row["replicas"] and not row["keys"]:
            key = f"none needed ({len(row['replicas'])} replicas)"
        elif not row["keys"]:
            key = "none needed" if row["ready"] else "no address"
        elif row["keys_set"]:
            key = f"{', '.join(row['keys_set'])} set"
        else:
            key = f"{row['keys'][0]} not set"
        limits = f"{_short(row['requests_per_minute'])}, {_short(row['tokens_per_minute'])}"
        prices = f"{_short(row['usd_per_million_input'])}, {_short(row['usd_per_million_output'])}"
        table.add_row(Text(row["model"]), Text(row["provider"]), limits, prices, key)
    console().print(table)
    waiting = sum(not row["ready"] for row in rows)
    if waiting:
        click.echo(f"{waiting} of {len(rows)} cannot be asked yet: set the variable named under `key`.")


def _short(number: float | None) -> str:
    """A limit or price in a few characters; a dash where the file gives none."""
    if number is None:
        return "—"
    return f"{number / 1000:,g}k" if number >= 10_000 else f"{number:,g}"
