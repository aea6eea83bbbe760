"""A label: one fact that is varied, the values that it takes, and how a value is put into a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Treatment = Literal["categorical", "linear", "log"]
"""categorical: each value against the reference; linear, log: one slope over the values as numbers, or over
their logarithms."""


@dataclass(frozen=True, slots=True)
class LabelValue:
    """One value of a label."""

    name: str
    """As it stands in queries and tables."""
    names: Mapping[str, str] = field(default_factory=dict)
    """By language, for people."""
    wording: str = ""
    """What stands for {value} in the sentence."""
    number: float | None = None
    """Of a label with a slope."""


@dataclass(frozen=True, slots=True)
class Label:
    """One fact that is varied. The sentences of its values differ in the fact alone."""

    key: str
    values: tuple[LabelValue, ...]
    reference: str
    """The name of the value that the others are compared with."""
    slot: str
    """The slot of the case's text that the sentence fills."""
    sentence: str
    """With {value}, which the value's wording replaces."""
    names: Mapping[str, str] = field(default_factory=dict)
    placebo: str | None = None
    """The same sentence in other words: what changes between the two is noise."""
    treatment: Treatment = "categorical"
    splits: Mapping[str, str] = field(default_factory=dict)
    """By what the domain counts its labels: dimension, role, whether demographic, or whatever it calls
    them."""

    def value(self, name: str) -> LabelValue:
        """The value of this name. Raises KeyError where there is none."""
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(f"{self.key} has no value {name!r}")

    def fill(self, value: LabelValue) -> str:
        """The sentence with a value in it."""
        return self.sentence.replace("{value}", value.wording or value.name)

    def fill_placebo(self) -> str | None:
        """The placebo sentence with the reference value in it, if the label has one."""
        if self.placebo is None:
            return None
        reference = self.value(self.reference)
        return self.placebo.replace("{value}", reference.wording or reference.name)
