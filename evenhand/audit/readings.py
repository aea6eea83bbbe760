"""A reading: what one answer says of one outcome, or why it says nothing that is certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.audit.outcomes import Value

ReadAs = Literal[
    "exact",
    "repaired",
    "prose",
    "refused",
    "empty",
    "truncated",
    "ambiguous",
    "out_of_range",
    "unreadable",
    "request_failed",
]
"""How an answer was read, or why its value is missing.

exact           one object with the keys asked for, in a fence or bare
repaired        an object with broken syntax, other keys or shapes, or words beside a value
prose           a sound object with prose around it, or a statement in prose alone
refused         the model declines to decide, or a provider withheld the answer
empty           nothing
truncated       the answer breaks off before the value is closed
ambiguous       several values that differ, a range, a bound or an alternative
out_of_range    a number outside the outcome's range
unreadable      no value of this outcome can be recognised
request_failed  the text of a failed request, no answer of a model
"""

MISSING: frozenset[str] = frozenset(
    {"refused", "empty", "truncated", "ambiguous", "out_of_range", "unreadable", "request_failed"}
)
"""The ways of reading that give no value."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Of one outcome. `value` is None exactly where `read_as` is one of `MISSING`."""

    outcome: str
    value: Value | None
    read_as: ReadAs
    note: str | None = None
    """What was unusual, in a few words."""
