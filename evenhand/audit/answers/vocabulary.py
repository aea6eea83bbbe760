"""What the readers of objects, lines and reasoning must know of a domain's answers: which keys mean
something."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

NEVER = re.compile(r"(?!)")
"""Matches nothing."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Of one form of answers."""

    field_of: Callable[[str], str | None]
    """The field that a key means; None for a key that means none."""
    read_amount: Callable[[object], float | None] = field(default=lambda _: None)
    """The amount that the value of a field says, if it is certain."""
    amounts: frozenset[str] = frozenset()
    """Fields that hold an amount."""
    watched: frozenset[str] = frozenset()
    """Fields whose value as written is held against what a repair made of it; those of `amounts` among
    them."""
    nested: frozenset[str] = frozenset()
    """Fields that may hold an amount in parts ({"years": 3, "months": 6})."""
    names: frozenset[str] = frozenset()
    """Fields that say whose the answer is, and nothing of it."""
    no_heads: frozenset[str] = frozenset()
    """Fields that do not count in the head of a table."""
    table_columns: int = 2
    """So many fields the head of a table names at least."""
    begins: re.Pattern[str] = NEVER
    """How a further object begins inside one that is not closed."""
    last_field: re.Pattern[str] = NEVER
    """Where a last field ends and prose follows, though no brace closes the object."""
    says: re.Pattern[str] = re.compile(r"\{")
    """Signs of a decision in a text."""

    def means(self, key: object) -> bool:
        """Whether a key means a field."""
        return self.field_of(str(key)) is not None

    def holds(self, key: object) -> bool:
        """Whether a key means a field that says something of the answer."""
        found = self.field_of(str(key))
        return found is not None and found not in self.names

    def heads(self, key: object) -> bool:
        """Whether a key means a field that counts in the head of a table."""
        return self.holds(key) and self.field_of(str(key)) not in self.no_heads
