"""The form of an answer: one JSON object whose fields hold the outcomes, and perhaps reasons.

From it follow the JSON schema that an engine holds a model to and, with the outcomes, how an answer is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.audit.outcomes import Outcome, schema_of

LONGEST_TEXT = 400
"""Characters of a free field, unless the domain says otherwise."""


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One key of the object."""

    key: str
    """As the prompt asks for it."""
    outcome: str | None = None
    """The outcome that it holds; None for free text, such as reasons, which is not read."""
    synonyms: tuple[str, ...] = ()
    """Other keys by which answers may call it."""
    units: Mapping[str, float] = field(default_factory=dict)
    """Of an amount: words for units, and how much of the outcome's unit one of them is (`{"year": 12}`)."""
    max_length: int = LONGEST_TEXT


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The fields of an answer, in the order in which they are asked for."""

    fields: tuple[AnswerField, ...]

    def schema(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """The JSON schema of an answer. The order of the keys is that of the fields: reasons come before a
        decision only where the domain lists them first."""
        by_name = {outcome.name: outcome for outcome in outcomes}
        properties = {
            one.key: {"type": "string", "maxLength": one.max_length}
            if one.outcome is None
            else schema_of(by_name[one.outcome])
            for one in self.fields
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
