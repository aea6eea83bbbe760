"""Typed outcomes: what a decision is, which decides how it is asked for, read, stored and analysed.

An outcome's value is a number (amount, probability), true or false (yes_no), the name of a class (class,
ordinal) or a tuple of such names (classes).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from evenhand.audit.names import Names

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")

Value = float | bool | str | tuple[str, ...]
"""A value of an outcome of any kind."""


def _identifier(text: str) -> str:
    if not _IDENTIFIER.match(text):
        raise PydanticCustomError(
            "identifier",
            "{text!r} must start with a small letter and hold only small letters, digits and underscores",
            {"text": text},
        )
    return text


Identifier = Annotated[str, AfterValidator(_identifier)]
"""A name that SQL takes without quotes: small letters, digits and underscores."""


class Strict(BaseModel):
    """A frozen model in which an unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Class(Strict):
    """One value of an outcome that is chosen from a list."""

    name: str = Field(min_length=1, max_length=80)
    """As it stands in prompts' answers and in tables."""
    title: Names = Field(default_factory=dict)
    synonyms: tuple[str, ...] = ()
    """Other words by which an answer may mean it."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        return {"name": given} if isinstance(given, str) else given


class _Outcome(Strict):
    name: Identifier
    title: Names = Field(default_factory=dict)
    description: str = ""


def _told_apart(meanings: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Raise ValueError where a word may mean two things, as answers are read: whatever their case, and the
    spaces, hyphens and marks in them."""
    from evenhand.audit.answers.values import bare  # noqa: PLC0415  (which reads values of these)

    known: dict[str, tuple[str, str]] = {}
    for meaning, words in meanings:
        for word in words:
            other, said = known.setdefault(bare(word), (meaning, word))
            if other != meaning:
                alike = f"'{word}'" if word == said else f"'{said}' and '{word}' are read alike, so that it"
                raise ValueError(f"{alike} means both '{other}' and '{meaning}'; leave it out of one")


class Amount(_Outcome):
    """A number with a unit: months, US dollars."""

    kind: Literal["amount"]
    unit: str = Field(min_length=1)
    """For people, in the plural: months."""
    minimum: float = 0.0
    maximum: float
    whole: bool = False
    """Ask for whole numbers."""
    transform: Literal["none", "log1p"] = "none"
    """Of the primary estimate: none, or ln(1 + amount) for amounts of very different size."""

    @model_validator(mode="after")
    def _range(self) -> Amount:
        if not self.minimum < self.maximum:
            raise ValueError(f"maximum = {self.maximum:g} must be above minimum = {self.minimum:g}")
        if self.transform == "log1p" and self.minimum < 0:
            raise ValueError("transform = 'log1p' needs a minimum of 0 or more")
        return self


class YesNo(_Outcome):
    """True or false. `yes` and `no` are the words asked for; synonyms are other words that mean the same."""

    kind: Literal["yes_no"]
    yes: str = "yes"
    no: str = "no"
    yes_synonyms: tuple[str, ...] = ()
    no_synonyms: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _apart(self) -> YesNo:
        _told_apart([(self.yes, (self.yes, *self.yes_synonyms)), (self.no, (self.no, *self.no_synonyms))])
        return self


class _Listed(_Outcome):
    classes: tuple[Class, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _distinct(self) -> _Listed:
        names = [one.name for one in self.classes]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the class '{name}' is listed twice")
        _told_apart([(one.name, (one.name, *one.synonyms)) for one in self.classes])
        return self

    def names(self) -> tuple[str, ...]:
        """The names of the classes, in order."""
        return tuple(one.name for one in self.classes)


class OneClass(_Listed):
    """One of several classes without an order: dismissal, civil rights, community service."""

    kind: Literal["class"]


class Ordinal(_Listed):
    """One of several classes in order, lowest first: low, medium, high."""

    kind: Literal["ordinal"]


class Classes(_Listed):
    """Any number of classes at once, none included: the articles that were violated."""

    kind: Literal["classes"]
    none: str = "none"
    """What the empty choice is called in tables and scores."""


class Probability(_Outcome):
    """A probability, from 0 to 1; answers may give it in per cent."""

    kind: Literal["probability"]


Outcome = Annotated[Amount | YesNo | OneClass | Ordinal | Classes | Probability, Field(discriminator="kind")]
"""An outcome of any kind."""

KINDS = ("amount", "yes_no", "class", "classes", "ordinal", "probability")
"""The kinds of outcomes, as `domain.toml` names them."""


def schema_of(outcome: Amount | YesNo | OneClass | Ordinal | Classes | Probability) -> dict[str, Any]:
    """The JSON schema of a value of this outcome, as a model is asked for it."""
    match outcome:
        case Amount():
            kind = "integer" if outcome.whole else "number"
            low = int(outcome.minimum) if outcome.whole else outcome.minimum
            high = int(outcome.maximum) if outcome.whole else outcome.maximum
            return {"type": kind, "minimum": low, "maximum": high}
        case YesNo():
            return {"type": "string", "enum": [outcome.yes, outcome.no]}
        case OneClass() | Ordinal():
            return {"type": "string", "enum": list(outcome.names())}
        case Classes():
            names = list(outcome.names())
            return {"type": "array", "items": {"type": "string", "enum": names}, "maxItems": len(names)}
        case Probability():
            return {"type": "number", "minimum": 0, "maximum": 1}


def check_value(outcome: Amount | YesNo | OneClass | Ordinal | Classes | Probability, given: Any) -> Value:
    """A value from a file (a truth, an expected reading) as this outcome has it.

    Raises:
        ValueError: it is no value of this outcome; the message says what one looks like.
    """
    match outcome:
        case Amount() | Probability():
            low, high = (outcome.minimum, outcome.maximum) if isinstance(outcome, Amount) else (0.0, 1.0)
            if isinstance(given, bool) or not isinstance(given, int | float) or not low <= given <= high:
                raise ValueError(f"{given!r} is no number from {low:g} to {high:g}")
            return float(given)
        case YesNo():
            if isinstance(given, bool):
                return given
            if given in (outcome.yes, outcome.no):
                return bool(given == outcome.yes)
            raise ValueError(f"{given!r} must be true or false, '{outcome.yes}' or '{outcome.no}'")
        case OneClass() | Ordinal():
            return _class(outcome, given)
        case Classes():
            if isinstance(given, str) or not isinstance(given, list | tuple):
                raise ValueError(f"{given!r} must be a list of classes; an empty list is '{outcome.none}'")
            chosen = {_class(outcome, one) for one in given}
            return tuple(name for name in outcome.names() if name in chosen)


def _class(outcome: _Listed, given: Any) -> str:
    names = outcome.names()
    if isinstance(given, str) and given in names:
        return given
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(names):
        return names[given]
    raise ValueError(
        f"{given!r} is no class of '{outcome.name}'; it must be one of {', '.join(names[:12])}"
        f"{', ...' if len(names) > 12 else ''}, or its place in the list, from 0"
    )
