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

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from runner.lifecycle.options import MonitorKind
from runner.status.summary import answered_by_others, cost_unknown, dollars, reasons, without_finish_reason

REDRAWS_PER_S = 2
LINE_EVERY_S = 10.0
_END_WITHIN_S = 2.0
_LESS_NEEDED = ("errors", "p50 s", "p95 s", "429")
"""Columns of the lanes that a narrow terminal goes without, the first of these first."""
_LONGEST_ERRORS = 36
_CELL = 2
"""Columns of the screen between two cells."""

Snapshot = Mapping[str, Any]


class Monitor:
    """Starts with `start`, ends with `stop`; `kind` "auto" looks at what the output is."""

    def __init__(
        self,
        look: Callable[[], Snapshot],
        kind: MonitorKind = "auto",
        output: IO[str] | None = None,
        *,
        listener: Callable[[Snapshot], None] | None = None,
    ) -> None:
        self._look = look
        self._listener = listener
        self._told: threading.Thread | None = None
        self._output = sys.stderr if output is None else output
        self._kind = kind if kind != "auto" else ("live" if self._output.isatty() else "lines")
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to show."""
        if self._kind != "none":
            self._thread = threading.Thread(target=self._work, name="evenhand-monitor", daemon=True)
            self._thread.start()
        if self._listener is not None:
            self._told = threading.Thread(
                target=self._listen, args=(self._listener,), name="evenhand-status", daemon=True
            )
            self._told.start()

    def stop(self) -> None:
        """Show how it ended, and end; gives up on a terminal that takes nothing."""
        self._stop.set()
        for thread in (self._thread, self._told):
            if thread is not None:
                thread.join(_END_WITHIN_S)

    def _listen(self, listener: Callable[[Snapshot], None]) -> None:
        while True:
            ending = self._stop.wait(1 / REDRAWS_PER_S)
            listener(self._look())
            if ending:
                return

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
            "eta": span(model.get("eta_s")),
            **({"quiet": span(model.get("quiet_s"))} if model.get("quiet_s") else {}),
            "in_flight": model["in_flight"],
            "limit": sum(lane["limit"] for lane in model["lanes"]),
            "p50_s": _seconds([lane.get("p50_s") for lane in model["lanes"]]),
            "p95_s": _seconds([lane.get("p95_s") for lane in model["lanes"]]),
            "tokens_in": model["prompt_tokens"],
            "tokens_cached": model["cached_tokens"],
            "tokens_out": model["completion_tokens"],
            "cost_usd": "-" if model.get("cost_usd") is None else f"{model.get('cost_usd'):.4f}",
            **({"unpriced": model["unpriced"]} if model.get("unpriced") else {}),
            "refused": sum(lane["refused"] for lane in model["lanes"]),
            "errors": ",".join(f"{kind}:{count}" for kind, count in errors.items()) or 0,
            **({"unreached": _without_blanks(absent)} if (absent := _unreached_lanes(model)) else {}),
            **({"too_large": _without_blanks(large)} if (large := _too_large_lanes(model)) else {}),
            **model["outcomes"],
            **({"other_models": _without_blanks(others)} if (others := model.get("other_models")) else {}),
            **({"no_finish_reason": count} if (count := _unexplained(model)) else {}),
            "backlog": snapshot["writer"]["backlog"],
        }
        lines.append(" ".join(f"{key}={value}" for key, value in pairs.items()))
    return lines


def _unexplained(model: Mapping[str, Any]) -> int:
    """Answers of lanes of which no answer has a known finish reason."""
    return sum(lane.get("unexplained") or 0 for lane in model["lanes"])


def _unreached_lanes(model: Mapping[str, Any]) -> dict[str, str]:
    """The lanes whose server was never reached: address and reason."""
    return {lane["lane"]: lane["unreached"] for lane in model["lanes"] if lane.get("unreached")}


def _too_large_lanes(model: Mapping[str, Any]) -> dict[str, str]:
    """The lanes whose token limit is less than a request: what that needs, and the limit."""
    return {
        lane["lane"]: f"{lane['request_tokens']:.0f}>{lane['tokens_per_minute']:.0f}"
        for lane in model["lanes"]
        if _is_too_large(lane)
    }


def _is_too_large(lane: Mapping[str, Any]) -> bool:
    per_minute, needed = lane.get("tokens_per_minute"), lane.get("request_tokens")
    return per_minute is not None and needed is not None and needed > per_minute


def _without_blanks(counts: Mapping[str, object]) -> str:
    return ",".join(f"{name}:{count}" for name, count in counts.items()).replace(" ", "_")


def _seconds(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):.2f}" if known else "-"


def span(seconds: float | None) -> str:
    """A length of time for people: '42s', '3m05s', '2h10m', '3d4h'. No spaces: a line never breaks in it."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}m"
    return f"{whole // 86400}d{whole % 86400 // 3600}h"


def amount(number: float) -> str:
    """A count for people: 9,999, 12.3k, 4.56M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= limit:
            return f"{number / (1e3 if unit == 'k' else limit):.3g}{unit}"
    return f"{number:,.0f}"


def tables(snapshot: Snapshot, width: int) -> RenderableType:
    """The snapshot for a terminal of this width."""
    parts: list[RenderableType] = []
    for model in snapshot["models"]:
        parts += _model(model, width)
    writer = snapshot["writer"]
    foot = [
        f"{span(snapshot.get('seconds'))}",
        f"stored {writer['committed']:,}, queued for the disk {writer['backlog']:,}",
        f"last commit {writer['last_commit_s'] * 1000:.0f} ms",
    ]
    if len(snapshot["models"]) > 1:
        foot += [f"all models {words}" for words in _costs(snapshot)]
    if snapshot.get("max_cost"):
        foot.append(f"limit {dollars(snapshot['max_cost'])}")
    if snapshot.get("max_total_cost"):
        foot.append(f"limit {dollars(snapshot['max_total_cost'])} over all runs")
    if writer.get("error"):
        foot.append(f"WRITER: {writer.get('error')}")
    parts.append(Text(" · ".join(foot), style="dim"))
    if snapshot.get("stopping"):
        parts.append(Text(str(snapshot["stopping"]), style="bold yellow"))
    return Group(*parts)


def _model(model: Mapping[str, Any], width: int) -> list[RenderableType]:
    before = model["selected"] - model["total"]
    done = before + model["done"]
    share = done / model["selected"] if model["selected"] else 1.0
    earlier = f", {before:,} before this run" if before else ""
    name = Text(str(model["model"]), style="bold", overflow="fold")
    count = f"{done:,} / {model['selected']:,} ({share:.1%}{earlier})"
    eta = span(model.get("eta_s"))
    if model.get("quiet_s"):
        eta += f" (no answer for {span(model.get('quiet_s'))})"
    pace = f"{model['rate_now']:.1f}/s now, {model['rate']:.1f}/s over the run, ETA {eta}"
    outcomes = ", ".join(f"{name} {count:,}" for name, count in model["outcomes"].items() if count)
    tokens = (
        f"tokens in {amount(model['prompt_tokens'])} (cached {amount(model['cached_tokens'])}), "
        f"out {amount(model['completion_tokens'])}"
    )
    cost = ", ".join(_costs(model)) or "price unknown"
    retry = f", to retry {model['to_retry']:,}" if model["to_retry"] else ""
    parts: list[RenderableType] = _head(name, count, done, model["selected"] or 1, width)
    parts += [Text(f"  {line}") for line in (pace, f"{outcomes or 'nothing new in this run'}{retry}")]
    parts += [Text(f"  {tokens}; {cost}"), *_lanes(_not_told_twice(model), width)]
    parts += [Text(f"  given up, {words}") for words in reasons(model)]
    for warning in filter(None, (answered_by_others(model), without_finish_reason(model))):
        parts.append(Text(f"  {warning}", style="bold yellow"))
    if model.get("failure"):
        parts.append(Text(f"  {model.get('failure')}", style="bold red"))
    return parts


def _head(name: Text, count: str, done: int, selected: int, width: int) -> list[RenderableType]:
    """The model and how far it is: side by side with a bar, or on a narrow terminal below each other."""
    room = width - cell_len(count) - 1
    bar = min(room - max(name.cell_len, 12) - 1, 40)
    if name.cell_len > room:
        return [name, Text(f"  {count}")]
    head = Table.grid(padding=(0, 1), expand=False)
    cells: list[RenderableType] = [name, Text(count)]
    if bar >= 8:
        cells.insert(1, ProgressBar(total=selected, completed=done, width=bar))
    for _ in cells:
        head.add_column(no_wrap=True)
    head.add_row(*cells)
    return [head]


def _costs(costs: Mapping[str, Any]) -> list[str]:
    """What is known of the cost, and of how many answers it is not; empty where nothing has a price."""
    words = []
    if costs.get("cost_usd") is not None:
        words.append(dollars(costs["cost_usd"]))
        if costs.get("projected_cost_usd") is not None:
            words[0] += f" of about {dollars(costs['projected_cost_usd'], 2)}"
    return [*words, unknown] if (unknown := cost_unknown(costs)) else words


def _not_told_twice(model: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The lanes, without their errors where the model's failure says the same."""
    failure = str(model.get("failure") or "")
    return [
        {**lane, "last_error": None} if lane.get("parked") and lane["parked"] in failure else lane
        for lane in model["lanes"]
    ]


def _lanes(lanes: list[Mapping[str, Any]], width: int) -> list[RenderableType]:
    """A line for each lane with the columns that fit, or the lanes below each other; then their errors."""
    columns = _columns(lanes)
    for title in _LESS_NEEDED:
        if _width(columns) > width:
            columns = [column for column in columns if column[0] != title]
    if _width(columns) > width:
        return [part for lane in lanes for part in _stacked(lane)]
    table = Table(box=None, padding=(0, 1), pad_edge=True, show_edge=False, header_style="dim")
    for place, (title, _) in enumerate(columns):
        table.add_column(title, justify="right" if 0 < place < len(columns) - 1 else "left", no_wrap=True)
    for row in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*row)
    parts: list[RenderableType] = [table]
    return [*parts, *(_error(lane, f"{lane['lane']}, ") for lane in lanes if lane.get("last_error"))]


def _columns(lanes: list[Mapping[str, Any]]) -> list[tuple[str, list[Text]]]:
    """All that there is to show of lanes: titles and cells."""
    errors = [
        Text(", ".join(f"{kind} {count:,}" for kind, count in lane["errors"].items()) or "none")
        for lane in lanes
    ]
    for cell in errors:
        cell.truncate(_LONGEST_ERRORS, overflow="ellipsis")
    return [
        ("lane", [Text(str(lane["lane"])) for lane in lanes]),
        ("open/limit", [Text(f"{lane['in_flight']}/{lane['limit']}") for lane in lanes]),
        ("p50 s", [Text(_seconds([lane.get("p50_s")])) for lane in lanes]),
        ("p95 s", [Text(_seconds([lane.get("p95_s")])) for lane in lanes]),
        ("429", [Text(f"{lane['refused']:,}") for lane in lanes]),
        ("errors", errors),
        ("state", [_state(lane) for lane in lanes]),
    ]


def _width(columns: list[tuple[str, list[Text]]]) -> int:
    return sum(max(cell_len(title), *(cell.cell_len for cell in cells)) + _CELL for title, cells in columns)


def _stacked(lane: Mapping[str, Any]) -> list[RenderableType]:
    state = Text(f"  in flight {lane['in_flight']}/{lane['limit']}; ").append_text(_state(lane))
    parts: list[RenderableType] = [Text(f"  {lane['lane']}", overflow="fold"), state]
    return [*parts, _error(lane, "  ")] if lane.get("last_error") else parts


def _error(lane: Mapping[str, Any], before: str) -> Text:
    """Its last error on one line; in full where it is why the lane gave no answer at all."""
    if lane.get("parked"):
        return Text(f"  {lane.get('parked')}", style="bold red", overflow="fold")
    if lane.get("unreached"):
        left = f"; given up in {span(lane.get('gives_up_s'))}" if lane.get("gives_up_s") is not None else ""
        return Text(f"  {before}{lane.get('unreached')}{left}", style="bold yellow", overflow="fold")
    text = f"  {before}{span(lane.get('last_error_age_s'))} ago: {lane.get('last_error')}"
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")


def _state(lane: Mapping[str, Any]) -> Text:
    if lane.get("parked"):
        return Text("stopped", style="bold red")
    if lane["outage"]:
        return Text("unreachable" if lane.get("unreached") else "no answer, probing", style="yellow")
    if _is_too_large(lane):
        needed, per_minute = lane["request_tokens"], lane["tokens_per_minute"]
        return Text(
            f"a request needs ~{needed:,.0f} tokens, more than its {per_minute:,.0f} a minute", style="yellow"
        )
    if lane["paused_s"] > 0.5:
        return Text(f"paused {span(lane['paused_s'])}", style="yellow")
    return Text("open", style="green")
