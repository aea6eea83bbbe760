"""The coefficient plot: every value's effect against its reference, with 90 and 95% intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analyze.report import numbers
from analyze.report.drawing import (
    FAINT,
    INK,
    ROW_IN,
    RULE,
    TooNarrow,
    bare,
    inches,
    legend,
    legend_room,
    name_lines,
    strokes,
    with_chinese,
)
from analyze.report.shapes import Audit, Estimate, Reading, Results
from store.errors import BadInput

_PANEL_IN, _GAP_IN = 2.75, 0.3
_TOP_IN, _BOTTOM_IN = 0.42, 0.62
_LEAST_PANEL_IN = 1.25
_TWO_LINES = 1.75
"""Height of a name in two lines, in lines."""
MANY = 25
"""With more rows than this a plot has its scale above as well as below."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the coefficient plot: a value, its effect in the unit and in the primary outcome."""

    name: str
    level: Estimate | None
    primary: Estimate | None
    beside_level: Estimate | None = None
    beside_primary: Estimate | None = None


def interval(estimate: Estimate, confidence: float) -> tuple[float, float] | None:
    """The confidence interval of an estimate, or None where it has no standard error."""
    if estimate.coef is None or estimate.se is None or estimate.df is None:
        return None
    half = _quantile(0.5 + confidence / 2, estimate.df) * estimate.se
    if estimate.ci_low is not None and estimate.ci_high is not None:
        # Wider than by the error alone where it is corrected for a choice.
        plain = _quantile(0.975, estimate.df) * estimate.se
        half *= max(1.0, (estimate.ci_high - estimate.ci_low) / (2 * plain))
    return estimate.coef - half, estimate.coef + half


@cache
def _quantile(probability: float, df: float) -> float:
    return float(scipy.stats.t.ppf(probability, df))


def rows(
    results: Results, reading: Reading, *, beside: Reading | None = None, group: str | None = None,
    labels: Sequence[str] | None = None, chinese: bool = True, english: bool = True,
) -> list[Row]:  # fmt: skip
    """The values with an estimate, largest effect first, named in the languages wanted."""
    frame = results.specs.frame
    found = []
    for label, design in reading.designs.items():
        if (group is not None and design.group != group) or (labels is not None and label not in labels):
            continue
        for value in design.treated:
            level = _drawn(reading.estimate(label, value, frame.level))
            primary = _drawn(reading.estimate(label, value, frame.primary))
            if level is None and primary is None:
                continue
            name = f"{design.name_en}: {design.value_en(value)}"
            if chinese and design.value_zh(value):
                name = f"{name}  {value}" if english else f"{design.name_zh or design.name_en}: {value}"
            elif chinese and not english:
                name = f"{design.name_zh or design.name_en}: {value}"
            found.append(
                Row(
                    name,
                    level,
                    primary,
                    _drawn(beside.estimate(label, value, frame.level)) if beside else None,
                    _drawn(beside.estimate(label, value, frame.primary)) if beside else None,
                )
            )
    return sorted(found, key=lambda row: -_size(row))


def coefficients(
    results: Results, audit: Audit, *, coding: str | None = None, beside: str | None = None,
    group: str | None = None, labels: Sequence[str] | None = None, chinese: bool | None = None,
    english: bool = True, width: float | None = None,
) -> Figure | None:  # fmt: skip
    """The effect of every value: in the unit on the left, in the primary outcome on the right.

    Thick bars are 90% intervals, thin ones 95%. `beside` draws another coding under the first. `width`, in
    inches, is what there is room for: where two panels do not fit, the one in the unit is drawn, and names
    take two lines. None where nothing was estimated.

    Raises BadInput for an unknown coding, `TooNarrow` where not even one panel fits.
    """
    reading = audit.reading(coding) if coding else audit.main
    if reading is None:
        raise BadInput(f"{audit.name} was not analysed under the coding {coding!r}")
    other = audit.reading(beside) if beside else None
    shown = rows(
        results, reading, beside=other, group=group, labels=labels, chinese=with_chinese(chinese),
        english=english,
    )  # fmt: skip
    if not shown:
        return None
    frame = results.specs.frame
    most = 1 if frame.primary == frame.level else 2
    titles, names, count, panel, width = _laid_out([row.name for row in shown], width, most)
    row_in = ROW_IN * (_TWO_LINES if any("\n" in title for title in titles) else 1)
    entries = 4 if other is None else 6
    bottom_in = _BOTTOM_IN + legend_room(entries, width)
    height = _TOP_IN + bottom_in + row_in * len(shown) + (0.15 if len(shown) > MANY else 0)
    figure = Figure(figsize=(width, height))
    specifications = {s.name: s for s in results.specs.specifications}
    primary = results.specs.frame.primary
    log = results.texts.variants.get(
        primary, f"{results.texts.variant(primary)}: {specifications[primary].outcome}"
    )
    panels = (
        (f"in {results.unit}", [r.level for r in shown], [r.beside_level for r in shown]),
        (log, [r.primary for r in shown], [r.beside_primary for r in shown]),
    )
    bottom, tall = bottom_in / height, row_in * len(shown) / height
    for i, (title, estimates, others) in enumerate(panels[:count]):
        left = (names + i * (panel + _GAP_IN)) / width
        axes = figure.add_axes((left, bottom, panel / width, tall))
        _panel(axes, estimates, others if other else [], gid="unit" if i == 0 else "log")
        above = (len(shown) + 0.25 + (1.1 if len(shown) > MANY else 0)) / len(shown)
        axes.text(0, above, title, transform=axes.transAxes, fontsize=8.5, color=INK, va="bottom")
        if i == 0:
            name_lines(axes, titles)
    _legend(figure, width, reading.coding, other.coding if other else None, results)
    return figure


def _laid_out(
    names: Sequence[str], width: float | None, most: int = 2
) -> tuple[list[str], float, int, float, float]:
    """Names, the room for them, how many panels there are (`most` or fewer), the width of one, and of all; in
    inches."""
    titles, room = list(names), inches(names)
    if width is None:
        return titles, room, most, _PANEL_IN, room + most * _PANEL_IN + (most - 1) * _GAP_IN + 0.15
    for titles in (list(names), [name.replace(": ", ":\n", 1) for name in names]):
        room = inches([line for title in titles for line in title.split("\n")])
        free = width - room - 0.15
        if most == 2 and (free - _GAP_IN) / 2 >= _LEAST_PANEL_IN:
            return titles, room, 2, (free - _GAP_IN) / 2, width
        if free >= _LEAST_PANEL_IN:
            return titles, room, 1, free, width
    raise TooNarrow(room + 0.15 + _LEAST_PANEL_IN)


def _panel(
    axes: Axes, estimates: Sequence[Estimate | None], others: Sequence[Estimate | None], gid: str
) -> None:
    limit = _limit([e for e in (*estimates, *others) if e is not None])
    shift = 0.16 if any(others) else 0.0
    count = len(estimates)
    axes.set_xlim(-limit, limit)
    axes.set_ylim(count - 0.4, -0.6)
    axes.axvline(0, color=INK, linewidth=0.7, zorder=1)
    strokes(axes, range(count), [-limit] * count, [limit] * count, color=RULE, linewidth=0.35, zorder=0)
    _marks(axes, estimates, limit, _Look("o", 4.4, 1.0, INK, -shift), gid=gid)
    _marks(axes, others, limit, _Look("s", 3.2, 0.7, FAINT, shift + 0.06), gid=f"{gid}-other")
    bare(axes)
    axes.locator_params(axis="x", nbins=6)
    if count > MANY:
        axes.tick_params(axis="x", labeltop=True)


@dataclass(frozen=True, slots=True)
class _Look:
    """How the marks of a coding look."""

    marker: str
    size: float
    weight: float
    colour: str
    shift: float
    """How far below the middle of its line."""


def _marks(axes: Axes, estimates: Sequence[Estimate | None], limit: float, look: _Look, *, gid: str) -> None:
    """Intervals and points of one coding, drawn all at once: one by one they take twenty times as long.

    The significant points carry the gid `<gid>-yes`, the others `<gid>-no`, in the order of the rows.
    """
    drawn = [(y, e) for y, e in enumerate(estimates) if e is not None and e.coef is not None]
    for significant in (True, False):
        own = [(y + look.shift, e) for y, e in drawn if _significant(e) == significant]
        colour = look.colour if significant else FAINT
        for confidence, thickness in ((0.95, 0.8), (0.90, 2.0)):
            bars = [(y, ends) for y, e in own if (ends := interval(e, confidence)) is not None]
            if bars:
                strokes(
                    axes,
                    [y for y, _ in bars],
                    [max(low, -limit) for _, (low, _) in bars],
                    [min(high, limit) for _, (_, high) in bars],
                    color=colour, linewidth=thickness * look.weight, zorder=2,
                )  # fmt: skip
            if confidence == 0.95:
                for edge, arrow in ((-limit, "<"), (limit, ">")):
                    over = [y for y, ends in bars if (ends[0] < edge if edge < 0 else ends[1] > edge)]
                    if over:
                        axes.plot(
                            [edge] * len(over), over, marker=arrow, markersize=3, color=colour, clip_on=False,
                            linestyle="none", zorder=2,
                        )  # fmt: skip
        if own:
            axes.plot(
                [min(max(e.coef, -limit), limit) for _, e in own if e.coef is not None],
                [y for y, _ in own],
                marker=look.marker, markersize=look.size, markeredgecolor=colour,
                markerfacecolor=colour if significant else "white", markeredgewidth=0.9,
                linestyle="none", zorder=3, gid=f"{gid}-{'yes' if significant else 'no'}",
            )  # fmt: skip


def _significant(estimate: Estimate) -> bool:
    return estimate.p is not None and estimate.p < 0.05


def _legend(figure: Figure, width: float, coding: str, other: str | None, results: Results) -> None:
    style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": INK, "markersize": 4.4}
    handles = [
        Line2D([], [], marker="o", markerfacecolor=INK, label="p < 0.05", **style),
        Line2D([], [], marker="o", markerfacecolor="white", label="p ≥ 0.05", **style),
        Line2D([], [], color=INK, linewidth=2.0, label="90% interval"),
        Line2D([], [], color=INK, linewidth=0.8, label="95% interval"),
    ]
    if other is not None:
        names = results.texts.coding(coding), results.texts.coding(other)
        handles.append(
            Line2D([], [], marker="o", markerfacecolor="white", label=f"{names[0]} coding", **style)
        )
        faint = {**style, "markeredgecolor": FAINT, "markersize": 3.4}
        handles.append(
            Line2D([], [], marker="s", markerfacecolor="white", label=f"{names[1]} coding", **faint)
        )
    legend(figure, handles, width, handletextpad=0.5, columnspacing=1.6, borderaxespad=0.2)


def tips(results: Results, shown: Sequence[Row]) -> dict[str, list[str]]:
    """What `svg` shows at the marks of a coefficient plot: the figures behind them."""
    found: dict[str, list[str]] = {}
    for row in shown:
        for panel, estimate, unit in (("unit", row.level, f" {results.unit}"), ("log", row.primary, "")):
            if estimate is not None:
                series = f"{panel}-{'yes' if _significant(estimate) else 'no'}"
                found.setdefault(series, []).append(
                    f"{row.name}: {numbers.signed(estimate.coef, 3)}{unit}, "
                    f"95% {numbers.signed(estimate.ci_low, 3)} to {numbers.signed(estimate.ci_high, 3)}, "
                    f"p {numbers.p_value(estimate.p)}, n {numbers.count(estimate.n)}"
                )
    return found


def _drawn(estimate: Estimate | None) -> Estimate | None:
    return estimate if estimate is not None and numbers.is_number(estimate.coef) else None


def _size(row: Row) -> float:
    chosen = row.level or row.primary
    return chosen.coef if chosen and chosen.coef is not None else 0.0


def _limit(estimates: Sequence[Estimate]) -> float:
    """Half the width of a panel: all intervals, unless a few are so wide that they would flatten the rest."""
    ends = [max(abs(i[0]), abs(i[1])) for e in estimates if (i := interval(e, 0.95)) is not None]
    points = [abs(e.coef) for e in estimates if e.coef is not None]
    if not ends:
        return max(points, default=0.0) * 1.2 or 1.0
    usual = 3.0 * float(np.quantile(ends, 0.75))
    return max(min(max(ends), usual), max(points, default=0.0)) * 1.06 or 1.0
