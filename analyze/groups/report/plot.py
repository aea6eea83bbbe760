"""The scores of an attribute's groups as a figure: intervals, the mean, the spread that chance gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from analyze.report.drawing import FAINT, INK, ROW_IN, RULE, bare, svg


@dataclass(frozen=True, slots=True)
class GroupPoint:
    """A group's score, as a fraction."""

    name: str
    n: int
    score: float | None
    low: float | None
    high: float | None
    compared: bool


def group_plot(
    groups: Sequence[GroupPoint], mean: float | None, floor: float | None, *, title: str, salt: str
) -> str:
    """An SVG: a filled mark for each group that is compared, an open one for others; 95% intervals.

    The band is the mean, with the disparity (GD) that chance alone gives on both sides.
    """
    shown = [one for one in groups if one.score is not None]
    figure = Figure(figsize=(6.4, 0.6 + 1.4 * ROW_IN * max(len(shown), 1)))
    axes = figure.add_axes((0.34, 0.5 / figure.get_figheight(), 0.62, 1 - 0.6 / figure.get_figheight()))
    if mean is not None:
        if floor is not None:
            axes.axvspan(100 * (mean - floor), 100 * (mean + floor), color=RULE, zorder=0, linewidth=0)
        axes.axvline(100 * mean, color=FAINT, linewidth=0.8, zorder=1)
    for place, one in enumerate(reversed(shown)):
        assert one.score is not None
        if one.low is not None and one.high is not None:
            axes.plot([100 * one.low, 100 * one.high], [place, place], color=INK, linewidth=1, zorder=2)
        face = INK if one.compared else "white"
        axes.plot([100 * one.score], [place], "o", markersize=4.5, color=INK, markerfacecolor=face, zorder=3)
    axes.set_yticks(range(len(shown)), [f"{one.name} (n = {one.n:,})" for one in reversed(shown)])
    axes.set_ylim(-0.7, len(shown) - 0.3)
    axes.set_xlabel("macro-F1, in points")
    bare(axes)
    return svg(figure, title=title, salt=salt, description="Groups with their 95% intervals")
