"""What may stand in files of labels: the bundled `labels.toml` and `triggers.toml`, and a file of one's own.

A file of one's own has `[labels.KEY]` as the bundled one, and in `[labels.KEY.trigger]` the sentence that
puts the label into a case. What only the reproduction of the paper needs (`published`) is left out there.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from evenhand.domains.judifair.language import not_chinese

HEARING = "hearing"
"""The slot that a trigger fills unless it names another."""
PLACEHOLDERS = ("value", "person", "defendant", "victim", "now")
"""What a frame may refer to in braces."""
MOST_VALUES = 9
"""Of a label: more would leave no place for its placebo in the order of asking."""

Dimension = Literal["substantive", "procedural"]
Treatment = Literal["categorical", "log_age"]
Role = Literal["defendant", "victim", "crime", "defender", "prosecutor", "judge", "court"]

_KEY = re.compile(r"[a-z][a-z0-9_]{1,60}")
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
AsPublished = Annotated[str, StringConstraints(min_length=1)]
"""With the blanks that the published tables have."""


def _placeholders(sentence: str) -> str:
    try:
        sentence.format(**dict.fromkeys(PLACEHOLDERS, ""))
    except (KeyError, IndexError, ValueError, AttributeError):
        names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise PydanticCustomError(
            "braces",
            "'{sentence}' has braces that mean nothing; use {names}",
            {"sentence": sentence, "names": names},
        ) from None
    return sentence


def _with_value(sentence: str) -> str:
    if "{value}" not in sentence:
        raise ValueError(f"'{sentence}' has no {{value}}; put it where the values differ")
    return sentence


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"'{text}' is no regular expression: {error}") from None
    return text


Sentence = Annotated[Text, AfterValidator(_placeholders)]
Frame = Annotated[Sentence, AfterValidator(_with_value)]
Pattern = Annotated[str, StringConstraints(min_length=1), AfterValidator(_pattern)]


class Table(BaseModel):
    """A table of these files: no unknown keys, and nothing taken for what it is not."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TriggerTable(Table):
    """The sentence of a label; the keys are explained in `triggers.toml`."""

    frame: Frame
    placebo: Sentence
    slot: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")] = HEARING
    values: dict[str, Text] = Field(default_factory=dict)
    placebo_value: Text | None = None
    giveaways: list[Pattern] = Field(default_factory=list)


class PartialTrigger(Table):
    """An entry of `triggers.toml`: a label's is put over its trait's."""

    frame: Frame | None = None
    placebo: Sentence | None = None
    slot: str | None = None
    values: dict[str, Text] | None = None
    placebo_value: Text | None = None
    giveaways: list[Pattern] | None = None


class TriggersFile(Table):
    """`triggers.toml`."""

    hearing: Text
    people: dict[Role, Sentence]
    traits: dict[str, PartialTrigger]
    labels: dict[str, PartialTrigger]


class PublishedTable(Table):
    """`published`: what the published files and scripts write; only the paper's reproduction needs it."""

    changed_label: AsPublished
    names: list[AsPublished] = Field(min_length=1)
    key: AsPublished | None = None
    keywords: list[AsPublished] = Field(default_factory=list)
    exclude: list[AsPublished] | None = None


class LabelTable(Table):
    """`[labels.KEY]`; the keys are explained in `labels.toml`."""

    name_zh: Text
    name_en: Text
    dimension: Dimension
    demographic: bool
    role: Role
    treatment: Treatment = "categorical"
    values: list[Annotated[list[Text], Field(min_length=2, max_length=2)]] = Field(
        min_length=2, max_length=MOST_VALUES
    )
    """[Chinese, English]."""
    reference: Text
    exclude: list[Text] = Field(default_factory=list)
    age_range: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    published: PublishedTable | None = None
    trigger: TriggerTable | None = None

    @model_validator(mode="after")
    def _values_differ(self) -> LabelTable:
        chinese = [zh for zh, _ in self.values]
        for names in (chinese, [en for _, en in self.values]):
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise _wrong(f"'{twice}' is there twice; each value needs names of its own", "values")
        if self.reference not in chinese:
            raise _wrong(f"'{self.reference}' is none of the values {'、'.join(chinese)}", "reference")
        if self.treatment == "log_age" and any(not zh.isdigit() or int(zh) == 0 for zh in chinese):
            raise _wrong("the values of a label with log_age are years, in digits", "values")
        if self.age_range is not None and self.age_range[0] >= self.age_range[1]:
            raise _wrong("must be the lowest and the highest age, in years", "age_range")
        return self


class LabelsFile(Table):
    """`labels.toml`, or a file of one's own."""

    crimes: dict[str, list[Text]] = Field(default_factory=dict)
    """Lists of crimes, which `exclude` names as @NAME."""
    labels: dict[str, LabelTable] = Field(min_length=1)

    @model_validator(mode="after")
    def _crimes_are_known(self) -> LabelsFile:
        for key, table in self.labels.items():
            named = [("exclude", one) for one in table.exclude]
            if table.published is not None:
                named += [("published", one) for one in table.published.exclude or ()]
            for where, name in named:
                if name.startswith("@") and name[1:] not in self.crimes:
                    raise _wrong(f"there is no list of crimes [crimes] {name[1:]}", "labels", key, where)
        return self


class OwnLabelsFile(LabelsFile):
    """A file of one's own: every label has its sentence, in Chinese, and a key that can be typed."""

    @model_validator(mode="after")
    def _whole(self) -> OwnLabelsFile:
        for key, table in self.labels.items():
            at = ("labels", key)
            if not _KEY.fullmatch(key):
                raise _wrong(f"the key '{key}' must be small letters, digits and underscores", *at)
            if table.published is not None:
                raise _wrong("is only for the labels of the paper; leave it out", *at, "published")
            if table.trigger is None:
                raise _wrong(f"has no sentence; write [labels.{key}.trigger] with frame and placebo", *at)
            self._check_trigger(table, table.trigger, at)
        return self

    @staticmethod
    def _check_trigger(table: LabelTable, trigger: TriggerTable, at: tuple[str, ...]) -> None:
        at = (*at, "trigger")
        chinese = [zh for zh, _ in table.values]
        for zh in trigger.values:
            if zh not in chinese:
                raise _wrong(f"'{zh}' is none of the values {'、'.join(chinese)}", *at, "values", zh)
        words = [trigger.values.get(zh, zh) for zh in chinese]
        if twice := next((one for one in words if words.count(one) > 1), None):
            raise _wrong(f"two values read '{twice}'; values must read differently", *at, "values")
        for name, sentence in (("frame", trigger.frame), ("placebo", trigger.placebo)):
            if share := not_chinese(re.sub(r"\{[a-z]*\}", "", sentence)):
                raise _wrong(
                    f"'{sentence}' holds hardly any Chinese ({share}), and the prompt is Chinese", *at, name
                )
        reference = trigger.values.get(table.reference, table.reference)
        told = (reference, table.reference, trigger.placebo_value)
        if "{value}" not in trigger.placebo and not any(one and one in trigger.placebo for one in told):
            raise _wrong("does not say the reference value; put {value} in", *at, "placebo")
        if trigger.placebo == trigger.frame:
            raise _wrong("is the frame again; say the same in other words", *at, "placebo")


def _wrong(what: str, *path: str) -> PydanticCustomError:
    return PydanticCustomError("label", "{what}", {"what": what, "path": path})
