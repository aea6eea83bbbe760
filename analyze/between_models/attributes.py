"""Attributes of models, from a TOML file, and one of them at a time against one metric.

    [model."Phi 4"]
    also = ["phi-4"]         # other names of the same model
    parameters = 14          # a number: billions, say
    released = 2024-12-12    # a date
    origin = "United States" # a text
    open_weights = true      # yes or no

With sixteen models a regression on several attributes fits noise: each is tested alone, by permutation.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from analyze.between_models.ranks import PERFECT, between_share, spearman
from analyze.between_models.rows import AttributeTest
from analyze.counterfactual.frame import Floats
from analyze.inference.multiplicity import holm
from store.input_files import read_toml

Attribute = float | datetime.date | str
NUMBER, DATE, CATEGORY = "number", "date", "category"
TOO_FEW = "too few models, or no spread"
HINT = (
    'The file has a table [model."NAME"] for each model, with a number, a date, a text, true or false a key.'
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A model of the file: the names that it goes by, the first its own, and what is known of it."""

    names: tuple[str, ...]
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a file says of models."""

    models: tuple[Listed, ...] = ()

    def of(self, model: str) -> Listed | None:
        """What is known of a model, by one of its names; failing that, by a name spelt otherwise.

        Case, blanks, dots and dashes are spelling. A spelling that stands for two models stands for neither.
        """
        for found in self.models:
            if model in found.names:
                return found
        alike = [m for m in self.models if any(_spelt(name) == _spelt(model) for name in m.names)]
        return alike[0] if len(alike) == 1 else None


def _attribute(value: object) -> Attribute:
    """A value of the file as an attribute: true and false are the categories yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    if isinstance(value, str | datetime.date):
        return value
    raise ValueError("must be a number, a date, a text, true or false")


class _ModelTable(BaseModel):
    """`[model."NAME"]`: other names of the model, and whatever attributes the file has."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Annotated[Any, AfterValidator(_attribute)]]

    also: list[str] = Field(default_factory=list)

    def listed(self, name: str) -> Listed:
        return Listed(tuple(dict.fromkeys([name, *self.also])), dict(self.__pydantic_extra__ or {}))


class _File(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: dict[str, _ModelTable] = Field(default_factory=dict)

    def listed(self) -> tuple[Listed, ...]:
        return tuple(table.listed(name) for name, table in self.model.items())

    @model_validator(mode="after")
    def _agree(self) -> _File:
        owner: dict[str, str] = {}
        kinds: dict[str, str] = {}
        for model in self.listed():
            own = model.names[0]
            for name in model.names:
                if owner.setdefault(name, own) != own:
                    raise PydanticCustomError(
                        "shared_name",
                        "{one} and {other} both go by '{name}'; a name must stand for one model",
                        {"one": owner[name], "other": own, "name": name, "path": ("model", own)},
                    )
            for key, value in model.attributes.items():
                if kinds.setdefault(key, _kind(value)) != _kind(value):
                    raise PydanticCustomError(
                        "mixed_kinds",
                        "is a {kind}, and a {before} for another model; write the same kind for all",
                        {"kind": _kind(value), "before": kinds[key], "path": ("model", own, key)},
                    )
        return self


def load_attributes(path: Path | str) -> Attributes:
    """The models of a file.

    Raises:
        BadInput: something is no number, date, text or yes-or-no, two models have one name, or an
            attribute is a number here and a date there; it names the file, the line, the model and the key.
    """
    return Attributes(read_toml(Path(path), _File, hint=HINT).listed())


def _kind(value: Attribute) -> str:
    if isinstance(value, str):
        return CATEGORY
    return DATE if isinstance(value, datetime.date) else NUMBER


def _spelt(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def written(value: Attribute) -> str:
    """An attribute as people read it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def attribute_tests(
    attributes: Attributes, metrics: Mapping[str, Mapping[str, float]]
) -> list[AttributeTest]:
    """A row for each attribute and metric; `metrics` maps metric -> model -> value.

    Models of which the attribute is not known are left out of its rows.
    """
    known = {model: attributes.of(model) for by_model in metrics.values() for model in by_model}
    found = []
    for attribute in _attributes(known.values()):
        for metric, by_model in metrics.items():
            values: list[Attribute] = []
            outcome: list[float] = []
            for model, amount in by_model.items():
                listed = known[model]
                if listed is not None and attribute in listed.attributes:
                    values.append(listed.attributes[attribute])
                    outcome.append(amount)
            if values:
                found.append(_test(attribute, metric, values, np.array(outcome, dtype=np.float64)))
    return _with_holm(found)


def _attributes(models: Iterable[Listed | None]) -> list[str]:
    return [*dict.fromkeys(key for model in models if model is not None for key in model.attributes)]


def _test(attribute: str, metric: str, values: list[Attribute], outcome: Floats) -> AttributeTest:
    kind = _kind(values[0])
    row = AttributeTest(attribute, metric, kind, len(values), None, None, None, TOO_FEW)
    if kind == CATEGORY:
        share = between_share(outcome, np.array([str(value) for value in values]))
        if share is None:
            return row
        rho, p, count = share
        method = f"share of the rank variance between categories; {count:,} random orders"
        return replace(row, rho=rho, p=p, permutations=count, method=method, note=None)
    numbers = np.array([v.toordinal() if isinstance(v, datetime.date) else float(v) for v in values])
    found = spearman(numbers.astype(np.float64), outcome)
    if found is None:
        return row
    return replace(
        row,
        rho=found.rho,
        p=found.p,
        low=found.low,
        high=found.high,
        permutations=found.permutations,
        method=f"Spearman's rank correlation; {found.how}",
        note=None if found.low is not None else PERFECT,
    )


def _with_holm(rows: list[AttributeTest]) -> list[AttributeTest]:
    at = [i for i, row in enumerate(rows) if row.p is not None]
    adjusted = holm(np.array([rows[i].p for i in at], dtype=np.float64))
    for i, p in zip(at, adjusted, strict=True):
        rows[i] = replace(rows[i], holm_p=float(p))
    return rows
