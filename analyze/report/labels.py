"""Two pictures of labels: against models (effect and significance), and by how often answers differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analyze.counterfactual.estimate import NO_SPREAD
from analyze.report import numbers
from analyze.report.drawing import (
    FAINT,
    INK,
    ROW_IN,
    TooNarrow,
    bare,
    inches,
    legend,
    legend_room,
    name_lines,
    named,
    strokes,
    with_chinese,
)
from analyze.report.shapes import Audit, Estimate, Reading, Results
from store.errors import BadInput

_LEAST_COLUMN_IN, _LEAST_PLOT_IN = 0.16, 1.0
"""Room for a model in the map, and for the plot beside the names."""
_ENTRIES = 5
"""Of the map's legend."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands for a label in a model: the value with the smallest p, and its effect in the unit."""

    value: str
    coef: float | None
    p: float | None
    sign: int
    """The direction of the effect whose p that is, which the unit need not show."""

    @property
    def mark(self) -> str:
        """A triangle for the direction where the number shown does not tell it."""
        if self.p is None or self.p >= 0.1 or numbers.direction(self.coef, 2) == self.sign:
            return ""
        return "▲ " if self.sign > 0 else "▼ "


def moved_alike(results: Results, reading: Reading) -> list[Estimate]:
    """The values of the primary variant that moved every document alike, and so have no p there."""
    alike = results.texts.noted(NO_SPREAD) or ""
    return [
        e
        for e in reading.estimates
        if e.variant == results.specs.frame.primary
        and e.p is None
        and e.coef
        and (e.note or "").startswith(alike)
    ]


def strongest(results: Results, reading: Reading, label: str) -> Cell | None:
    """The value of a label with the smallest p in the primary variant, or one that moved all documents alike.

    None where no value has either.
    """
    frame = results.specs.frame
    found: Cell | None = None
    design = reading.designs.get(label)
    for value in design.treated if design else ():
        primary = reading.estimate(label, value, frame.primary)
        if primary is None or primary.p is None:
            continue
        if found is None or found.p is None or primary.p < found.p:
            level = reading.estimate(label, value, frame.level)
            found = Cell(
                value, level.coef if level else primary.coef, primary.p, numbers.direction(primary.coef, None)
            )
    for primary in moved_alike(results, reading) if found is None else ():
        if primary.label == label:
            level = reading.estimate(label, primary.value, frame.level)
            return Cell(
                primary.value,
                level.coef if level else primary.coef,
                None,
                numbers.direction(primary.coef, None),
            )
    return found


def heatmap(
    results: Results, *, coding: str | None = None, chinese: bool | None = None, english: bool = True,
    width: float | None = None,
) -> Figure | None:  # fmt: skip
    """Labels against models: the colour is the effect in the unit, a triangle its direction.

    A filled triangle is p < 0.05, an open one p < 0.1; a diamond a value that moved every document alike and
    so has no p. `width`, in inches, is what there is room for. None where no value has either under the
    coding.

    Raises `TooNarrow` where the models do not fit.
    """
    coding = coding or results.codings[0]
    audits = [audit for audit in results.audits if audit.reading(coding)]
    readings = [reading for audit in audits if (reading := audit.reading(coding)) is not None]
    designs = {label: design for reading in readings for label, design in reading.designs.items()}
    cells = {label: [strongest(results, reading, label) for reading in readings] for label in designs}
    labels = [label for label in designs if any(cells[label])]
    if not labels:
        return None
    effect = np.array(
        [[np.nan if c is None or c.coef is None else c.coef for c in cells[label]] for label in labels],
        dtype=float,
    )
    bound = float(np.nanquantile(np.abs(effect), 0.95)) if np.isfinite(effect).any() else 1.0
    show = with_chinese(chinese)
    texts = [
        named(designs[k].name_en, designs[k].name_zh, in_english=english, in_chinese=show) for k in labels
    ]
    longest = inches([audit.name for audit in audits])
    column, top, names = 0.36, 0.25 + 0.82 * longest, inches(texts)
    if width is None:
        width = names + max(column * len(audits) + 0.6 * longest, 3.0)
    else:
        column = min(column, (width - names - 0.6 * longest) / len(audits))
        if column < _LEAST_COLUMN_IN:
            raise TooNarrow(names + 0.6 * longest + _LEAST_COLUMN_IN * len(audits))
    foot = legend_room(_ENTRIES, width)
    height = top + ROW_IN * len(labels) + 0.81 + foot
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (names / width, (0.76 + foot) / height, column * len(audits) / width, ROW_IN * len(labels) / height)
    )
    # The middle of the map: at its ends a black triangle would not be seen.
    middle = mpl.colormaps["PuOr_r"](np.linspace(0.18, 0.82, 256))
    colours = ListedColormap(middle).with_extremes(bad="#ffffff")
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(effect), cmap=colours, vmin=-(bound or 1.0), vmax=bound or 1.0,
        edgecolors="white", linewidth=0.8,
    )  # fmt: skip
    marks: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for y, label in enumerate(labels):
        for x, cell in enumerate(cells[label]):
            if cell is None:
                marks.setdefault((".", True), []).append((x + 0.5, y + 0.5))
            elif cell.p is None:
                marks.setdefault(("D", True), []).append((x + 0.5, y + 0.5))
            elif cell.p < 0.1:
                marks.setdefault(("^" if cell.sign > 0 else "v", cell.p < 0.05), []).append(
                    (x + 0.5, y + 0.5)
                )
    for (marker, filled), points in marks.items():
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            marker=marker,
            markersize=2 if marker == "." else 5.2,
            linestyle="none",
            markeredgecolor=INK,
            markerfacecolor=INK if filled else "white",
            markeredgewidth=0.7,
        )
    name_lines(axes, texts, middle=0.5)
    axes.set_xticks(
        np.arange(len(audits)) + 0.5, [a.name for a in audits], rotation=55, ha="left", fontsize=8,
        rotation_mode="anchor",
    )  # fmt: skip
    axes.xaxis.tick_top()
    axes.set_yticks([])  # the names are no ticks
    axes.invert_yaxis()
    axes.tick_params(length=0, colors=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
    scale_in = min(2.2, width - names - 0.15)
    scale = figure.add_axes((names / width, (0.4 + foot) / height, scale_in / width, 0.09 / height))
    bar = figure.colorbar(mesh, cax=scale, orientation="horizontal", extend="both")
    bar.ax.tick_params(labelsize=7, length=2, colors=INK)
    bar.outline.set_visible(False)
    scale.set_title(results.unit, fontsize=7.5, loc="left", color=INK, pad=2)
    style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": INK, "markersize": 5}
    alike = Line2D([], [], marker="D", markerfacecolor=INK, label="all alike, no p", **style)
    handles = [
        Line2D([], [], marker="^", markerfacecolor=INK, label="higher, p < 0.05", **style),
        Line2D([], [], marker="v", markerfacecolor=INK, label="lower, p < 0.05", **style),
        Line2D([], [], marker="^", markerfacecolor="white", label="p < 0.1", **style),
        *(
            [Line2D([], [], marker="D", markerfacecolor=INK, label="all alike, no p", **style)]
            if alike
            else []
        ),
        Line2D(
            [],
            [],
            marker=".",
            markerfacecolor=INK,
            label="not estimated",
            linestyle="none",
            color=INK,
            markersize=2,
        ),
    ]
    legend(figure, handles, width, handletextpad=0.3, borderaxespad=0.1)
    return figure


def inconsistency(
    results: Results, audit: Audit, *, coding: str | None = None, chinese: bool | None = None,
    english: bool = True, width: float | None = None,
) -> Figure | None:  # fmt: skip
    """The share of documents whose answers differ between a label's values. None without any.

    `width`, in inches, is what there is room for. Raises BadInput for an unknown coding, `TooNarrow` where
    the names leave no room.
    """
    reading = audit.reading(coding) if coding else audit.main
    if reading is None:
        raise BadInput(f"{audit.name} was not analysed under the coding {coding!r}")
    found = [row for row in reading.labels if row.inconsistency is not None]
    if not found:
        return None
    found.sort(key=lambda row: -(row.inconsistency or 0))
    show = with_chinese(chinese)
    names = []
    for row in found:
        design = reading.designs.get(row.label)
        names.append(
            named(design.name_en, design.name_zh, in_english=english, in_chinese=show)
            if design
            else row.label
        )
    left = inches(names)
    width = left + 4.2 if width is None else width
    if width - left - 0.3 < _LEAST_PLOT_IN:
        raise TooNarrow(left + 0.3 + _LEAST_PLOT_IN)
    height = 0.78 + ROW_IN * len(found)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (left / width, 0.68 / height, (width - left - 0.3) / width, ROW_IN * len(found) / height)
    )
    groups = list(reading.groups())
    shares = [100 * (row.inconsistency or 0) for row in found]
    strokes(axes, range(len(found)), [0] * len(found), shares, color=FAINT, linewidth=1.0, zorder=1)
    for first in (True, False):
        own = [
            (y, share)
            for y, share in enumerate(shares)
            if (not groups or found[y].group == groups[0]) == first
        ]
        axes.plot(
            [share for _, share in own], [y for y, _ in own], marker="o" if first else "s", markersize=4.6,
            linestyle="none", markeredgecolor=INK, markerfacecolor=INK if first else "white", zorder=2,
        )  # fmt: skip
    name_lines(axes, names)
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"% of {results.texts.documents}", fontsize=8, color=INK)
    bare(axes)
    style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": INK, "markersize": 4.4}
    handles = [
        Line2D([], [], marker="o" if i == 0 else "s", markerfacecolor=INK if i == 0 else "white",
               label=results.texts.group(group), **style)
        for i, group in enumerate(groups[:2])
    ]  # fmt: skip
    figure.legend(handles=handles, loc="lower left", ncol=2, frameon=False, fontsize=7.5, borderaxespad=0.2)
    return figure
