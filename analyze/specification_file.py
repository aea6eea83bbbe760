"""What may stand in a file of specifications (`specifications.toml`): pydantic models, a table each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from store.input_files import near

ERRORS = re.compile(r"robust|clustered:([A-Za-z_][A-Za-z0-9_]*)")
"""Standard errors; the group is the column to cluster by."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VIEW = re.compile(r"([A-Za-z_][A-Za-z0-9_]*\.)?[A-Za-z_][A-Za-z0-9_]*")


def _fits(pattern: re.Pattern[str], what: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise PydanticCustomError("form", "'{text}' {what}", {"text": text, "what": what})
        return text

    return AfterValidator(check)


def _one_expression(text: str) -> str:
    if ";" in text or "--" in text:
        raise PydanticCustomError("sql", "must be one SQL expression, without ';' or '--'")
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Sql = Annotated[Text, AfterValidator(_one_expression)]
Name = Annotated[Text, _fits(_NAME, "may hold small letters, digits and underscores only")]
Column = Annotated[Text, _fits(_COLUMN, "is not a plain name of a column")]
View = Annotated[Text, _fits(_VIEW, "is not a plain name of a view")]
Errors = Annotated[Text, _fits(ERRORS, "is no standard error: it must be 'robust' or 'clustered:<column>'")]


class Table(BaseModel):
    """A table of the file: no unknown keys, and nothing taken for what it is not."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def given(self) -> dict[str, Any]:
        """The keys that the file has."""
        return {key: getattr(self, key) for key in self.model_fields_set}


class FrameTable(Table):
    """`[frame]`."""

    view: View
    designs: View
    values: View
    groups: Column
    unit: Text
    primary: Text
    level: Text
    error: Text | None = None
    alias: Column | None = None
    value_alias: Column | None = None
    note: Column | None = None
    dose: Column | None = None
    dose_name: Text | None = None


class CodingTable(Table):
    """`[[coding]]`."""

    name: Name
    description: Text


class SpecificationTable(Table):
    """`[[specification]]`."""

    name: Name
    outcome: Sql
    sample: Sql
    treatment: Literal["dummies"]
    standard_error: Errors
    codings: list[str] | None = Field(default=None, min_length=1)
    description: Text | None = None
    title: Text | None = None
    smallest_of: list[str] = Field(default_factory=list)


class MetricTable(Table):
    """`[metrics.mae]` and `[metrics.mape]`."""

    value: Sql
    sample: Sql


class InconsistencyTable(MetricTable):
    """`[metrics.inconsistency]`."""

    one_answer: list[str] | None = Field(default=None, min_length=1)


class MetricsTable(Table):
    """`[metrics]`."""

    inconsistency: InconsistencyTable
    mae: MetricTable
    mape: MetricTable


class InferenceTable(Table):
    """`[inference]`."""

    outcome: Sql
    sample: Sql
    rank: Sql | None = None
    kind: Sql | None = None
    truth: Sql | None = None
    missing: Sql | None = None
    declined: Sql | None = None
    converted: Sql | None = None
    carrier: Sql | None = None
    placebos: View | None = None
    placebo_outcome: Sql | None = None
    demographic: Sql | None = None
    role: Sql | None = None
    margin: float = Field(default=0.05, gt=0, lt=1)
    codings: list[str] | None = Field(default=None, min_length=1)
    shares: dict[str, Sql] = Field(default_factory=dict)
    """The name of a class -> whether an answer is of it."""
    sets: bool = False

    @model_validator(mode="after")
    def _placebos(self) -> InferenceTable:
        if (self.placebos is None) != (self.placebo_outcome is None):
            raise PydanticCustomError("together", "placebos and placebo_outcome must stand together")
        return self


class File(Table):
    """The whole file."""

    outcome: Name | None = None
    frame: FrameTable
    coding: list[CodingTable] = Field(min_length=1)
    specification: list[SpecificationTable] = Field(min_length=1)
    metrics: MetricsTable
    inference: InferenceTable | None = None
    report: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names(self) -> File:
        codings = _distinct("coding", [one.name for one in self.coding])
        variants = _distinct("specification", [one.name for one in self.specification])
        for key in ("primary", "level", "error"):
            if (name := getattr(self.frame, key)) is not None:
                _known(name, variants, "[[specification]]", ("frame", key))
        for i, one in enumerate(self.specification):
            _all_known(one.codings, codings, ("specification", i, "codings"))
            for name in one.smallest_of:
                others = [other for other in variants if other != one.name]
                _known(name, others, "other [[specification]]", ("specification", i, "smallest_of"))
        _all_known(self.metrics.inconsistency.one_answer, codings, ("metrics", "inconsistency", "one_answer"))
        if self.inference is not None:
            _all_known(self.inference.codings, codings, ("inference", "codings"))
        return self


def _distinct(table: str, names: Sequence[str]) -> Sequence[str]:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise PydanticCustomError(
                "twice",
                "'{name}' is the name of an earlier one too",
                {"name": name, "path": (table, i, "name")},
            )
    return names


def _all_known(names: Sequence[str] | None, codings: Sequence[str], path: tuple[str | int, ...]) -> None:
    for name in names or ():
        _known(name, codings, "[[coding]]", path)


def _known(name: str, known: Sequence[str], what: str, path: tuple[str | int, ...]) -> None:
    if name not in known:
        raise PydanticCustomError(
            "unknown_name",
            "'{name}' is the name of no {what} ({near})",
            {"name": name, "what": what, "near": near(name, known), "path": path},
        )
