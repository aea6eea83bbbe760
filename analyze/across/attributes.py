"""Attributes of models, from a TOML file, and one of them at a time against one metric.

    [model."phi-4"]
    size = 14            # a number: billions of parameters, say
    released = 2024-12-12
    origin = "US"

With sixteen models a regression on several attributes fits noise: each is tested alone, by permutation.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from analyze.across.ranks import between_share, spearman
from analyze.across.rows import AttributeTest
from analyze.frame import Floats
from store.errors import BadInput

Attribute = float | datetime.date | str


def load_attributes(path: Path | str) -> dict[str, dict[str, Attribute]]:
    """Attributes by model name.

    Raises BadInput that names the file, the model and the key where something is no number, date or text.
    """
    path = Path(path)
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    models = raw.get("model", {})
    if set(raw) - {"model"} or not isinstance(models, dict):
        raise BadInput(f'{path} may hold tables [model."NAME"] only')
    found: dict[str, dict[str, Attribute]] = {}
    for name, attributes in models.items():
        if not isinstance(attributes, dict):
            raise BadInput(f'{path}: [model."{name}"] must be a table')
        for key, value in attributes.items():
            if isinstance(value, bool) or not isinstance(value, int | float | str | datetime.date):
                raise BadInput(f'{path}: [model."{name}"]: {key} must be a number, a date or a text')
            found.setdefault(name, {})[key] = float(value) if isinstance(value, int) else value
    return found


def attribute_tests(
    attributes: Mapping[str, Mapping[str, Attribute]], metrics: Mapping[str, Mapping[str, float]]
) -> list[AttributeTest]:
    """A row for each attribute and metric; `metrics` maps metric -> model -> value."""
    found = []
    for attribute in dict.fromkeys(key for of_model in attributes.values() for key in of_model):
        for metric, by_model in metrics.items():
            models = [m for m in by_model if attribute in attributes.get(m, {})]
            values = [attributes[m][attribute] for m in models]
            if values:
                outcome = np.array([by_model[m] for m in models])
                found.append(_test(attribute, metric, values, outcome))
    return found


def _test(attribute: str, metric: str, values: list[Attribute], outcome: Floats) -> AttributeTest:
    too_few = "too few models, or no spread"
    if any(isinstance(value, str) for value in values):
        share = between_share(outcome, np.array([str(value) for value in values]))
        rho, p, count = share or (None, None, None)
        return AttributeTest(
            attribute, metric, "category", len(values), rho, p, count, None if share else too_few
        )
    dates = any(isinstance(value, datetime.date) for value in values)
    numbers = np.array([v.toordinal() if isinstance(v, datetime.date) else float(v) for v in values])
    found = spearman(numbers.astype(np.float64), outcome)
    return AttributeTest(
        attribute,
        metric,
        "date" if dates else "number",
        len(values),
        None if found is None else found.rho,
        None if found is None else found.p,
        None if found is None else found.permutations,
        too_few if found is None else None,
    )
