"""What may stand in the files of a domain that is a folder: pydantic models, one for each file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from evenhand.audit.forms import LONGEST_TEXT
from evenhand.audit.labels import Treatment
from evenhand.audit.names import Names
from evenhand.audit.outcomes import Identifier, Outcome, Strict

Design = Literal["counterfactual", "groups"]


class AnswerFieldTable(Strict):
    """`[[answer]]`: one key of the JSON object that is asked for."""

    field: str = Field(min_length=1)
    outcome: str | None = None
    synonyms: tuple[str, ...] = ()
    units: Mapping[str, float] = Field(default_factory=dict)
    max_length: int = Field(default=LONGEST_TEXT, ge=1, le=20_000)


class AttributeTable(Strict):
    """`[[attributes]]`: a way of grouping cases. `unidentified` groups are listed and not compared."""

    name: Identifier
    title: Names = Field(default_factory=dict)
    groups: tuple[str, ...] = Field(min_length=2)
    unidentified: tuple[str, ...] = ()
    omitted_in_print: tuple[str, ...] = ()
    """Groups that a published table leaves out although they are compared; for tables in its layout alone."""

    @model_validator(mode="after")
    def _known(self) -> AttributeTable:
        for group in self.omitted_in_print:
            if group not in self.groups:
                raise ValueError(f"omitted_in_print names '{group}', which is not among the groups")
        for group in self.unidentified:
            if group not in self.groups:
                raise ValueError(f"unidentified names '{group}', which is not among the groups")
        return self


class Columns(Strict):
    """`[columns]`: by which names the cases' file has what a case holds."""

    id: str = "id"
    text: str = "text"
    split: str = "split"
    cluster: str = "cluster"
    language: str = "language"
    truth: Mapping[str, str] = Field(default_factory=dict)
    """Outcome -> column; by default the outcome's name, or a key of the object `truth`."""
    groups: Mapping[str, str] = Field(default_factory=dict)
    """Attribute -> column; by default the attribute's name, or a key of the object `groups`."""
    also: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """What a case holds (text, id, the name of an outcome or an attribute) -> further names of its column."""

    def of(self, key: str) -> tuple[str, ...]:
        """The names that the column of a key may have, the usual one first."""
        if key in ("id", "text", "split", "cluster", "language"):
            usual: str = getattr(self, key)
        else:
            usual = self.truth.get(key) or self.groups.get(key) or key
        return (usual, *self.also.get(key, ()))


Rule = Literal["support", "union", "all"]
"""Which classes a macro-F1 is the mean of: those true in the group, those true or predicted in it, or all."""


class Scoring(Strict):
    """`[scoring]`: how classifiers are scored in the groups design."""

    rule: Rule = "support"
    positive: Mapping[str, str] = Field(default_factory=dict)
    """Outcome with two classes -> the favourable one. Of a yes_no outcome it is yes."""
    minimum_n: int = Field(default=1, ge=1)
    """Groups with fewer rows are shown and not compared."""


class DomainFile(Strict):
    """`domain.toml`."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")
    title: Names
    description: str = ""
    languages: tuple[str, ...] = ("en",)
    designs: tuple[Design, ...] = ("counterfactual",)
    outcomes: tuple[Outcome, ...] = Field(min_length=1)
    answer: tuple[AnswerFieldTable, ...] = ()
    """By default one field for each outcome, called by its name."""
    attributes: tuple[AttributeTable, ...] = ()
    columns: Columns = Field(default_factory=Columns)
    scoring: Scoring = Field(default_factory=Scoring)
    refusals: tuple[str, ...] = ()
    """Phrases by which an answer declines, beside those that are known."""

    @model_validator(mode="after")
    def _fits(self) -> DomainFile:
        names = [outcome.name for outcome in self.outcomes]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the outcome '{name}' is described twice")
        held = [one.outcome for one in self.answer if one.outcome is not None]
        for name in held:
            if name not in names:
                raise ValueError(f"an answer field holds the outcome '{name}', which is not described")
            if held.count(name) > 1:
                raise ValueError(f"two answer fields hold the outcome '{name}'")
        if self.answer:
            for name in names:
                if name not in held:
                    raise ValueError(f"no answer field holds the outcome '{name}'")
        _fields_apart(self.answer)
        by_name = {outcome.name: outcome for outcome in self.outcomes}
        for name, favourable in self.scoring.positive.items():
            classes = getattr(by_name.get(name), "classes", ())
            if len(classes) != 2 or favourable not in [one.name for one in classes]:
                raise ValueError(
                    f"scoring.positive: '{favourable}' must be a class of '{name}', which must have two"
                )
        if "groups" in self.designs and not self.attributes:
            raise ValueError("the groups design needs [[attributes]]: by what the cases are grouped")
        return self


def _fields_apart(fields: tuple[AnswerFieldTable, ...]) -> None:
    """Raise ValueError where a key of an answer may mean two of its fields."""
    from evenhand.audit.answers.values import bare  # noqa: PLC0415  (which reads values of outcomes)

    known: dict[str, str] = {}
    for one in fields:
        for word in (one.field, *one.synonyms):
            other = known.setdefault(bare(word), one.field)
            if other != one.field:
                raise ValueError(
                    f"the key '{word}' may mean both the answer field '{other}' and '{one.field}': "
                    "leave it out of one"
                )


class ValueTable(Strict):
    """A value of a label; a plain text is its name and its wording at once."""

    name: str = Field(min_length=1)
    title: Names = Field(default_factory=dict)
    wording: str | None = None
    number: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        if isinstance(given, bool):
            raise ValueError("a value is a text, a number or a table")
        return {"name": str(given)} if isinstance(given, str | int | float) else given


class LabelTable(Strict):
    """`[KEY]` in `labels.toml`."""

    title: Names = Field(default_factory=dict)
    sentence: str
    """With {value}."""
    values: tuple[ValueTable, ...] = Field(min_length=2)
    reference: str
    slot: str | None = None
    """The slot that the sentence fills; the label's key by default."""
    placebo: str | None = None
    treatment: Treatment = "categorical"
    splits: Mapping[str, str] = Field(default_factory=dict)

    @field_validator("reference", mode="before")
    @classmethod
    def _text(cls, given: Any) -> Any:
        return str(given) if isinstance(given, int | float) and not isinstance(given, bool) else given

    @model_validator(mode="after")
    def _fits(self) -> LabelTable:
        names = [value.name for value in self.values]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the value '{name}' is listed twice")
        if self.reference not in names:
            raise ValueError(f"reference = '{self.reference}' is not among the values")
        for what, text in (("sentence", self.sentence), ("placebo", self.placebo)):
            if text is not None and "{value}" not in text:
                raise ValueError(f"{what} must hold {{value}}, which the value's wording replaces")
        if self.treatment != "categorical":
            for value in self.values:
                number = value.number if value.number is not None else _number(value.name)
                if number is None or (self.treatment == "log" and number <= 0):
                    raise ValueError(
                        f"treatment = '{self.treatment}' needs numbers"
                        f"{' above 0' if self.treatment == 'log' else ''}; '{value.name}' is none"
                    )
        return self


class CaseRow(Strict):
    """A line of `cases.jsonl`, after the columns have been renamed."""

    id: str
    text: str
    split: str | None = None
    cluster: str | None = None
    language: str | None = None
    truth: Mapping[str, JsonValue] = Field(default_factory=dict)
    groups: Mapping[str, str | int | None] = Field(default_factory=dict)
    not_applicable: Mapping[str, str] = Field(default_factory=dict)

    @field_validator("id", "split", "cluster", "language", mode="before")
    @classmethod
    def _text(cls, given: Any) -> Any:
        return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


class AnswerRow(Strict):
    """A line of `answers.jsonl`: a raw answer, and what a careful reader makes of it."""

    text: str
    expected: Mapping[str, JsonValue]
    """Outcome -> value; null where it must be missing."""
    comment: str = ""


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def number_of(value: ValueTable) -> float | None:
    """The value as a number: as stated, or read from its name."""
    return value.number if value.number is not None else _number(value.name)
