"""Single figures for papers, from a study to a file: the data layer of `evenhand plot`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

from analyze.report.data import Connection, read
from analyze.report.drawing import SUFFIXES, save
from analyze.report.forest import coefficients
from analyze.report.labels import heatmap, inconsistency
from store.errors import BadInput

__all__ = ["FIGURES", "SUFFIXES", "plot"]

FIGURES: Mapping[str, str] = {
    "coefficients": "the effect of every value of a model, with 90 and 95% intervals",
    "inconsistency": "how often the answers of a model are not the same number, label by label",
    "heatmap": "labels against models: effect and significance",
}


def plot(
    study: Connection, specifications: Path | str, name: str, path: Path | str, *, model: str | None = None,
    coding: str | None = None, label: str | None = None, chinese: bool | None = None,
) -> Path:  # fmt: skip
    """Draw one of FIGURES from a study and save it; what `evenhand plot` does.

    `model` is a name or key, needed where the study has several and the figure shows one. Chinese names
    are drawn where this machine has a font for them, unless `chinese` says otherwise.

    Raises BadInput where a name is unknown or there is nothing to draw.
    """
    if name not in FIGURES:
        raise BadInput(f"there is no figure {name!r}", hint=f"There are: {', '.join(FIGURES)}.")
    results = read(study, specifications, models=[model] if model and name != "heatmap" else None,
                   codings=[coding] if coding else None)  # fmt: skip
    if name != "heatmap" and len(results.audits) > 1:
        names = "; ".join(f"{audit.name} ({audit.model_key})" for audit in results.audits)
        raise BadInput(
            f"the figure {name!r} shows one model and there are several", hint=f"Name one of: {names}."
        )
    audit = results.audits[0]
    if label is not None and label not in audit.main.designs:
        raise BadInput(f"there is no label {label!r}", hint="`evenhand show --labels` lists them.")
    chosen = [label] if label else None
    draw: Mapping[str, Callable[[], Figure | None]] = {
        "coefficients": lambda: coefficients(results, audit, coding=coding, labels=chosen, chinese=chinese),
        "inconsistency": lambda: inconsistency(results, audit, coding=coding, chinese=chinese),
        "heatmap": lambda: heatmap(results, coding=coding, chinese=chinese),
    }
    figure = draw[name]()
    if figure is None:
        raise BadInput(
            f"there is nothing to draw in the figure {name!r}", hint="No value has a p; see the report."
        )
    return save(figure, path, notices=results.notices())
