"""Single figures for papers, from a study to a file: the data layer of `evenhand plot`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from analyze.report.data import Connection, read
from analyze.report.drawing import SUFFIXES, save
from analyze.report.forest import coefficients
from analyze.report.labels import heatmap, inconsistency
from analyze.report.shapes import Audit, Results
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
    tell: Callable[[str], object] | None = None,
) -> Path:  # fmt: skip
    """Draw one of FIGURES from a study and save it; what `evenhand plot` does.

    `model` is a name, as the report or the provider has it, or a key; it is needed where the study has
    several and the figure shows one. `tell` hears what is not up to date. Chinese names are drawn where this
    machine has a font for them, unless `chinese` says otherwise.

    Raises BadInput where a name is unknown or there is nothing to draw.
    """
    if name not in FIGURES:
        raise BadInput(f"there is no figure {name!r}", hint=f"There are: {', '.join(FIGURES)}.")
    codings = [coding] if coding else None
    results = read(study, specifications, codings=codings)
    if model and name != "heatmap":
        results = _of_model(results, model, study, codings)
    if tell is not None:
        for notice in results.of_age():
            tell(notice)
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
    shown = audit.reading(coding) if coding else audit.main
    whose = "" if name == "heatmap" or shown is None else _whose(results, audit, shown.coding)
    return save(figure, path, notices=results.notices(), title=whose, description=FIGURES[name])


def _of_model(results: Results, model: str, study: Connection, codings: Sequence[str] | None) -> Results:
    """The audits of a model; the names of several configurations are what tells them apart in the report."""
    exact = [a for a in results.audits if model in (a.name, a.model_key, f"{a.name} ({a.model_key})")]
    own = exact or [a for a in results.audits if a.model == model]
    if not own:
        listed = "; ".join(f"{a.name} ({a.model_key})" for a in results.audits)
        raise BadInput(f"nothing has been analysed for the model {model!r}", hint=f"There is: {listed}.")
    # Read again for the notices of these alone; the names stay those that tell them from the others.
    keys, collections = [a.model_key for a in own], [a.collection for a in own]
    alone = read(study, results.specs, models=keys, codings=codings, collections=collections)
    return replace(alone, audits=tuple(own))


def _whose(results: Results, audit: Audit, coding: str) -> str:
    """Whose figure it is, once it has left the report."""
    return f"{audit.name}, {results.texts.coding(coding).lower()} coding"
