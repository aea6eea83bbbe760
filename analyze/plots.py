"""Single figures for papers, from a study to a file: the data layer of `evenhand plot`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from matplotlib.figure import Figure

from analyze.report.data import Connection, read
from analyze.report.drawing import SUFFIXES, TooNarrow, cjk_font, save, shrink
from analyze.report.forest import coefficients
from analyze.report.labels import heatmap, inconsistency
from analyze.report.shapes import Audit, Results
from analyze.specification import Specifications
from store.errors import BadInput

__all__ = ["CM", "FIGURES", "SUFFIXES", "Language", "plot"]

Language = Literal["en", "zh", "both"]
CM = 2.54
"""An inch, in centimetres."""
SMALLEST = 0.7
"""How much letters shrink at most to fit: those of 8 points become 5.6, about the least that journals
take.
"""

FIGURES: Mapping[str, str] = {
    "coefficients": "the effect of every value of a model, with 90 and 95% intervals",
    "inconsistency": "how often the answers of a model are not the same number, label by label",
    "heatmap": "labels against models: effect and significance",
}


def plot(
    study: Connection, specifications: Specifications | Path | str, name: str, path: Path | str, *,
    model: str | None = None,
    coding: str | None = None, label: str | None = None, language: Language | None = None,
    width_in: float | None = None, title: str | None = None, tell: Callable[[str], object] | None = None,
) -> Path:  # fmt: skip
    """Draw one of FIGURES from a study and save it; what `evenhand plot` does.

    `model` is a name, as the report or the provider has it, or a key; it is needed where the study has
    several and the figure shows one. `tell` hears what is not up to date. Names are in both languages where
    this machine has a font for Chinese, unless `language` says otherwise. `width_in` makes the file so many
    inches wide, with letters down to 5.6 points. `title` stands in the place of the model's name; an empty
    one leaves it out.

    Raises BadInput where a name is unknown, there is nothing to draw, it does not fit, or Chinese is asked
    for and this machine has no font for it.
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
        raise BadInput(f"there is no label {label!r}", hint="`evenhand labels` lists them.")
    if language == "zh" and cjk_font() is None:
        raise BadInput(
            "this machine has no font with Chinese characters",
            hint="Install one (Noto Sans CJK), or --language en.",
        )
    chosen = [label] if label else None
    style: dict[str, bool | None] = {
        "chinese": None if language is None else language != "en", "english": language != "zh"
    }  # fmt: skip
    draw: Mapping[str, Callable[[float | None], Figure | None]] = {
        "coefficients": lambda width: coefficients(
            results,
            audit,
            coding=coding,
            labels=chosen,
            width=width,
            **style,  # type: ignore[arg-type]
        ),
        "inconsistency": lambda width: inconsistency(
            results,
            audit,
            coding=coding,
            width=width,
            **style,  # type: ignore[arg-type]
        ),
        "heatmap": lambda width: heatmap(results, coding=coding, width=width, **style),  # type: ignore[arg-type]
    }
    figure = _fitted(draw[name], width_in)
    if figure is None:
        raise BadInput(
            f"there is nothing to draw in the figure {name!r}", hint="No value has a p; see the report."
        )
    shown = audit.reading(coding) if coding else audit.main
    whose = "" if name == "heatmap" or shown is None else _whose(results, audit, shown.coding)
    return save(
        figure,
        path,
        notices=results.notices(),
        title=whose if title is None else title,
        description=FIGURES[name],
        exact_width=width_in is not None,
    )


def _fitted(draw: Callable[[float | None], Figure | None], width: float | None) -> Figure | None:
    """The figure at a width, its letters as large as fit."""
    if width is None:
        return draw(None)
    needed = 0.0
    for factor in (1.0, 0.9, 0.8, SMALLEST):
        try:
            figure = draw(width / factor)
        except TooNarrow as error:
            needed = error.inches * factor
            continue
        if figure is not None and factor < 1:
            shrink(figure, factor)
        return figure
    raise BadInput(
        f"the figure does not fit into {width * CM:.1f} cm",
        hint=f"It needs {needed * CM:.1f} cm, or fewer labels.",
    )


def _of_model(results: Results, model: str, study: Connection, codings: Sequence[str] | None) -> Results:
    """The audits of a model; the names of several configurations are what tells them apart in the report."""
    exact = [a for a in results.audits if model in (a.name, a.model_key, f"{a.name} ({a.model_key})")]
    own = exact or [a for a in results.audits if a.model == model]
    if not own:
        listed = "; ".join(f"{a.name} ({a.model_key})" for a in results.audits)
        raise BadInput(f"nothing has been analysed for the model {model!r}", hint=f"There is: {listed}.")
    # Read again for the notices of these alone; the names stay those that tell them from the others.
    keys, collections, arms = ([getattr(a, name) for a in own] for name in ("model_key", "collection", "arm"))
    alone = read(study, results.specs, models=keys, codings=codings, collections=collections, arms=arms)
    return replace(alone, audits=tuple(own))


def _whose(results: Results, audit: Audit, coding: str) -> str:
    """Whose figure it is, once it has left the report."""
    return f"{audit.name}, {results.texts.coding(coding).lower()} coding"
