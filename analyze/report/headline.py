"""What a reader is told first: values that moved every document alike, and answers missing with a value.

Neither shows in the counts of p values. Where every document moves by the same amount there is no spread, so
the regression has no standard error and no p, although no finding could be clearer; the sign flips test it.
Where answers are missing under one value more often than under the reference, the two are compared in other
documents than were asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from analyze.estimate import NO_SPREAD
from analyze.inference.multiplicity import holm
from analyze.report import data_flow, numbers
from analyze.report.figures import estimate, figure, further_rows
from analyze.report.shapes import Audit, Estimate, Reading, Results

SHOWN = 5
"""Values named of each kind; the tables have all."""


def alike(results: Results, reading: Reading) -> list[Estimate]:
    """The values of the primary variant that moved every document alike, and so have no p."""
    return [
        e
        for e in reading.estimates
        if e.variant == results.specs.frame.primary and e.p is None and e.coef and _no_spread(e)
    ]


def sentences(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    """Both kinds, each in a sentence."""
    found = alike(results, reading)
    said = [_alike(results, audit, reading, one) for one in found[:SHOWN]]
    if len(found) > SHOWN:
        said.append(Markup("{} more values moved every {} alike.").format(
            figure(len(found) - SHOWN, str(len(found) - SHOWN), "derived/more_alike"), results.texts.document
        ))  # fmt: skip
    return said + _missing(results, audit, reading)


def subject(reading: Reading, label: str, value: str) -> Markup:
    """A label's value against its reference."""
    design = reading.designs.get(label)
    if design is None:
        return Markup("<b>{}: {}</b>").format(label, value)
    versus = "" if design.continuous else ", ".join(design.value_en(v) for v in design.reference)
    return Markup("<b>{}: {}</b>{}").format(
        design.name_en, design.value_en(value), f" instead of {versus}" if versus else ""
    )


def _alike(results: Results, audit: Audit, reading: Reading, primary: Estimate) -> Markup:
    texts = results.texts
    level = reading.estimate(primary.label, primary.value, results.specs.frame.level)
    by = level if level is not None and level.coef else primary
    assert by.coef is not None
    sentence = Markup("{}: {} is {} by {}{}{} in every one of {} {}").format(
        subject(reading, primary.label, primary.value),
        texts.measure,
        texts.higher if by.coef > 0 else texts.lower,
        estimate(by, "coef", numbers.decimal(abs(by.coef), 2)),
        f" {results.unit}" if by is level else f" ({texts.variant(primary.variant)})",
        "" if _no_spread(by) else " on average",
        estimate(primary, "documents", numbers.count(primary.documents)),
        texts.counted(primary.documents),
    )
    test = _row(further_rows(results, audit, reading, "flips"), primary.label, primary.value)
    if test is not None and test["flip_p"] is not None:
        at = f"value_tests/{primary.label}/{primary.value}"
        sentence += Markup(" ({} up, {} down; sign flips, p {})").format(
            *(figure(test[name], numbers.count(test[name]), f"{at}/{name}") for name in ("ups", "downs")),
            figure(test["flip_p"], numbers.with_sign(test["flip_p"]), f"{at}/flip_p"),
        )
    return sentence + ". As all moved alike, the regression has no standard error, and its p is missing."


def _missing(results: Results, audit: Audit, reading: Reading) -> list[Markup]:
    rows = [
        row
        for row in further_rows(results, audit, reading, "missing_tests")
        if row["kind"] == "any" and row["p"] is not None
    ]
    if not rows:
        return []
    adjusted = holm(np.array([row["p"] for row in rows], dtype=np.float64))
    held = sorted((row for row, p in zip(rows, adjusted, strict=True) if p < 0.05), key=lambda row: row["p"])
    counted = {(c.label, c.value): c for c in data_flow.value_counts(reading)}
    found = []
    for row in held[:SHOWN]:
        label, value = row["label"], row["value"]
        design = reading.designs.get(label)
        own = counted.get((label, value))
        others = [counted[label, v] for v in (design.reference if design else ()) if (label, v) in counted]
        if own is None or design is None or not others:
            continue
        gone = sum(c.rows - c.usable for c in others) / sum(c.rows for c in others)
        at = f"frame/missing_share/{label}"
        found.append(
            Markup(
                "<b>{}</b>: {}% of the answers for {} could not be used, {}% of those for {} (p {}). What is "
                "compared is what is left."
            ).format(
                design.name_en,
                figure(own.missing_share, numbers.percent(own.missing_share), f"{at}/{value}"),
                design.value_en(value),
                figure(gone, numbers.percent(gone), f"{at}/reference"),
                ", ".join(design.value_en(v) for v in design.reference),
                figure(row["p"], numbers.with_sign(row["p"]), f"missing_tests/{label}/{value}/any/p"),
            )
        )
    if len(held) > SHOWN:
        more = len(held) - SHOWN
        found.append(Markup("Of {} more values answers are missing more often, or less.").format(
            figure(more, str(more), "derived/more_missing")
        ))  # fmt: skip
    return found


def _row(rows: list[Mapping[str, Any]], label: str, value: str) -> Mapping[str, Any] | None:
    return next((row for row in rows if (row["label"], row["value"]) == (label, value)), None)


def _no_spread(found: Estimate) -> bool:
    return (found.note or "").startswith(NO_SPREAD)
