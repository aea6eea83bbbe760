"""Figures in running text: `<data>` elements with the full figure and where it stands in the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from analyze.report import numbers
from analyze.report.shapes import Audit, Estimate, ModelMetric, Reading, Results


def figure(value: float | int | None, text: str, source: str) -> Markup:
    """A figure in running text: rounded for the reader, whole for whoever checks it against `source`."""
    return Markup('<data value="{}" data-from="{}">{}</data>').format(numbers.exact(value), source, text)


def metric(found: ModelMetric, text: str, column: str = "value", *, at: str = "") -> Markup:
    """A figure of `model_metrics` in running text; `at` is the model's anchor, where none is around it."""
    threshold = "" if found.threshold is None else f"{found.threshold:g}"
    source = f"{at + '/' if at else ''}model_metrics/{found.metric}/{found.group}/{threshold}/{column}"
    return figure(getattr(found, column), text, source)


def estimate(found: Estimate, column: str, text: str) -> Markup:
    """A figure of `estimates` in running text."""
    return figure(
        getattr(found, column), text, f"estimates/{found.label}/{found.value}/{found.variant}/{column}"
    )


def p_of(found: Estimate) -> Markup:
    """Its p, with the sign before it: = 0.012, < 0.001."""
    text = numbers.p_value(found.p)
    return estimate(found, "p", text.replace("<", "< ") if text.startswith("<") else f"= {text}")


def power(p: float | None) -> Markup:
    """A probability that may be very small, with its power of ten set as one."""
    mantissa, _, exponent = numbers.tiny(p).partition("×10^")
    minus = exponent.replace("-", numbers.MINUS)
    return Markup("{}×10<sup>{}</sup>").format(mantissa, minus) if exponent else escape(mantissa)


def further_rows(results: Results, audit: Audit, reading: Reading, name: str) -> list[Mapping[str, Any]]:
    """The rows of a further table that are of an audit under a coding."""
    key = (*audit.answers, reading.coding)
    rows = results.further.get(name, ())
    return [row for row in rows if (row["collection"], row["model_key"], row["arm"], row["coding"]) == key]
