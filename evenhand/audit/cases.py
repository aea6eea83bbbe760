"""A case: a text with slots, its true outcomes, and the groups that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand.audit.outcomes import Value


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a collection.

    `text` holds `{{slot}}` markers where a label's value is put in; with all of them empty the text reads
    well.
    """

    id: str
    text: str
    source: str
    """Where it was read, for messages: file and line."""
    truth: Mapping[str, Value] = field(default_factory=dict)
    """Outcome -> true value, where it is known."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Attribute -> group."""
    split: str | None = None
    """train, validation or test, where the data set has such."""
    cluster: str | None = None
    """What cases of one origin have in common, such as a docket: they are resampled together."""
    language: str | None = None
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    """Label -> the reason why the case cannot take it."""
