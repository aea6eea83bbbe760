"""Shows where a run stands, from snapshots: live tables on a terminal, else a line every ten seconds.

What is None may be missing: a stored snapshot (`evenhand status` of a run that ended) has lost its nulls.
It works in a thread of its own, so a terminal that is slow or stopped (Ctrl-S) never holds up the run.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from runner.options import MonitorKind
from runner.summary import answered_by_others, reasons

REDRAWS_PER_S = 2
LINE_EVERY_S = 10.0
_END_WITHIN_S = 2.0
_WIDE = 100

Snapshot = Mapping[str, Any]


class Monitor:
    """Starts with `start`, ends with `stop`; `kind` "auto" looks at what the output is."""

    def __init__(
        self, look: Callable[[], Snapshot], kind: MonitorKind = "auto", output: IO[str] | None = None
    ) -> None:
        self._look = look
        self._output = sys.stderr if output is None else output
        self._kind = kind if kind != "auto" else ("live" if self._output.isatty() else "lines")
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to show."""
        if self._kind != "none":
            self._thread = threading.Thread(target=self._work, name="evenhand-monitor", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Show how it ended, and end; gives up on a terminal that takes nothing."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_END_WITHIN_S)

    def _work(self) -> None:
        try:
            if self._kind == "live":
                self._live()
            else:
                self._lines()
        except (OSError, ValueError):
            pass  # the output is gone; the run is not

    def _live(self) -> None:
        console = Console(file=self._output)
        with Live(console=console, auto_refresh=False, transient=False) as live:
            while True:
                ending = self._stop.wait(1 / REDRAWS_PER_S)
                live.update(tables(self._look(), console.width), refresh=True)
                if ending:
                    return

    def _lines(self) -> None:
        form = json_line if self._kind == "json" else key_values
        while True:
            ending = self._stop.wait(LINE_EVERY_S)
            for line in form(self._look()):
                self._output.write(line + "\n")
            self._output.flush()
            if ending:
                return


def json_line(snapshot: Snapshot) -> list[str]:
    """The snapshot as one line of JSON."""
    return [json.dumps(snapshot, ensure_ascii=False, default=str)]


def key_values(snapshot: Snapshot) -> list[str]:
    """A line of key=value for each model."""
    lines = []
    for model in snapshot["models"]:
        errors: dict[str, int] = {}
        for lane in model["lanes"]:
            for kind, count in lane["errors"].items():
                errors[kind] = errors.get(kind, 0) + count
        pairs = {
            "model": model["model"],
            "done": model["done"],
            "total": model["total"],
            "rate": f"{model['rate_now']:.2f}",
            "eta": span(model.get("eta_s")).replace(" ", ""),
            "in_flight": model["in_flight"],
            "limit": sum(lane["limit"] for lane in model["lanes"]),
            "p50_s": _seconds([lane.get("p50_s") for lane in model["lanes"]]),
            "p95_s": _seconds([lane.get("p95_s") for lane in model["lanes"]]),
            "tokens_in": model["prompt_tokens"],
            "tokens_cached": model["cached_tokens"],
            "tokens_out": model["completion_tokens"],
            "cost_usd": "-" if model.get("cost_usd") is None else f"{model.get('cost_usd'):.4f}",
            "refused": sum(lane["refused"] for lane in model["lanes"]),
            "errors": ",".join(f"{kind}:{count}" for kind, count in errors.items()) or 0,
            **model["outcomes"],
            **({"other_models": _without_blanks(others)} if (others := model.get("other_models")) else {}),
            "backlog": snapshot["writer"]["backlog"],
        }
        lines.append(" ".join(f"{key}={value}" for key, value in pairs.items()))
    return lines


def _without_blanks(counts: Mapping[str, int]) -> str:
    return ",".join(f"{name.replace(' ', '_')}:{count}" for name, count in counts.items())


def _seconds(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):.2f}" if known else "-"


def span(seconds: float | None) -> str:
    """A length of time for people: '42 s', '3 m 05 s', '2 h 10 m', '3 d 4 h'."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} m"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def amount(number: float) -> str:
    """A count for people: 9,999, 12.3 k, 4.56 M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= limit:
            return f"{number / (1e3 if unit == 'k' else limit):.3g} {unit}"
    return f"{number:,.0f}"


def tables(snapshot: Snapshot, width: int) -> RenderableType:
    """The snapshot for a terminal of this width."""
    parts: list[RenderableType] = []
    for model in snapshot["models"]:
        parts += _model(model, width)
    writer = snapshot["writer"]
    foot = [
        f"{span(snapshot.get('seconds'))}",
        f"stored {writer['committed']:,}, waiting {writer['backlog']:,}",
        f"last commit {writer['last_commit_s'] * 1000:.0f} ms",
    ]
    if len(snapshot["models"]) > 1:
        foot.append(f"all ${snapshot['cost_usd']:,.4f}")
    if snapshot.get("max_cost"):
        foot.append(f"at most ${snapshot['max_cost']:,.2f}")
    if writer.get("error"):
        foot.append(f"WRITER: {writer.get('error')}")
    parts.append(Text(" · ".join(foot), style="dim"))
    if snapshot.get("stopping"):
        parts.append(Text(str(snapshot["stopping"]), style="bold yellow"))
    return Group(*parts)


def _model(model: Mapping[str, Any], width: int) -> list[RenderableType]:
    head = Table.grid(padding=(0, 1), expand=False)
    head.add_column(no_wrap=True, overflow="ellipsis", max_width=max(width - 30, 12))
    head.add_column(no_wrap=True)
    cells: list[RenderableType] = [Text(str(model["model"]), style="bold")]
    before = model["selected"] - model["total"]
    done = before + model["done"]
    share = done / model["selected"] if model["selected"] else 1.0
    if width >= 70:
        head.add_column()
        bar_width = min(max(width - 60, 8), 40)
        cells.append(ProgressBar(total=model["selected"] or 1, completed=done, width=bar_width))
    earlier = f", {before:,} before this run" if before else ""
    cells.append(Text(f"{done:,} / {model['selected']:,} ({share:.1%}{earlier})"))
    head.add_row(*cells)
    pace = (
        f"{model['rate_now']:.1f}/s now, {model['rate']:.1f}/s over the run, ETA {span(model.get('eta_s'))}"
    )
    outcomes = ", ".join(f"{name} {count:,}" for name, count in model["outcomes"].items() if count)
    tokens = (
        f"tokens in {amount(model['prompt_tokens'])} (cached {amount(model['cached_tokens'])}), "
        f"out {amount(model['completion_tokens'])}"
    )
    cost = "price unknown" if model.get("cost_usd") is None else f"${model.get('cost_usd'):,.4f}"
    if model.get("projected_cost_usd") is not None:
        cost += f" of about ${model.get('projected_cost_usd'):,.2f}"
    retry = f", to retry {model['to_retry']:,}" if model["to_retry"] else ""
    parts: list[RenderableType] = [head, Text(f"  {pace}"), Text(f"  {outcomes or 'none stored yet'}{retry}")]
    parts += [Text(f"  {tokens}; {cost}"), _lanes(model["lanes"], width)]
    for lane in model["lanes"]:
        if lane.get("last_error"):
            age = span(lane.get("last_error_age_s"))
            parts.append(_one_line(f"  {lane['lane']}, {age} ago: {lane.get('last_error')}", "dim"))
    parts += [Text(f"  given up, {words}") for words in reasons(model)]
    if warning := answered_by_others(model):
        parts.append(Text(f"  {warning}", style="bold yellow"))
    if model.get("failure"):
        parts.append(Text(f"  {model.get('failure')}", style="bold red"))
    return parts


def _one_line(text: str, style: str) -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def _lanes(lanes: list[Mapping[str, Any]], width: int) -> Table:
    wide = width >= _WIDE
    table = Table(box=None, padding=(0, 1), pad_edge=True, show_edge=False, header_style="dim")
    table.add_column("lane", no_wrap=True, overflow="ellipsis", max_width=max(width // 3, 10))
    table.add_column("open/limit", justify="right", no_wrap=True)
    table.add_column("p50" if not wide else "p50 s", justify="right", no_wrap=True)
    table.add_column("p95" if not wide else "p95 s", justify="right", no_wrap=True)
    table.add_column("429", justify="right", no_wrap=True)
    if wide:
        table.add_column("errors", no_wrap=True, overflow="ellipsis", max_width=36)
    table.add_column("state", no_wrap=True, overflow="ellipsis")
    for lane in lanes:
        cells = [
            Text(str(lane["lane"])),
            Text(f"{lane['in_flight']}/{lane['limit']}"),
            Text("-" if lane.get("p50_s") is None else f"{lane.get('p50_s'):.2f}"),
            Text("-" if lane.get("p95_s") is None else f"{lane.get('p95_s'):.2f}"),
            Text(f"{lane['refused']:,}"),
        ]
        if wide:
            errors = ", ".join(f"{kind} {count:,}" for kind, count in lane["errors"].items())
            cells.append(Text(errors or "none"))
        cells.append(_state(lane))
        table.add_row(*cells)
    return table


def _state(lane: Mapping[str, Any]) -> Text:
    if lane.get("parked"):
        return Text("parked", style="bold red")
    if lane["outage"]:
        return Text("no answer, probing", style="yellow")
    if lane["paused_s"] > 0.5:
        return Text(f"paused {span(lane['paused_s'])}", style="yellow")
    return Text("open", style="green")
