"""What a study knows of a model before it is asked again."""

from __future__ import annotations

from dataclasses import dataclass

from store.sql import statement
from store.study import Study


@dataclass(frozen=True, slots=True)
class Known:
    """Of one model key."""

    served_by: frozenset[str]
    """The lanes that have answered."""
    longest_answer: int | None
    """In tokens; of tries that gave no answer too."""


def answers_of(study: Study, model_key: str) -> Known:
    """What the stored answers of a model tell."""
    cursor = study.cursor()
    try:
        rows = cursor.execute(statement("answers_of_model"), {"model_key": model_key}).fetchall()
    finally:
        cursor.close()
    longest = [tokens for _, tokens, _ in rows if tokens is not None]
    answered = frozenset(lane for lane, _, has_answered in rows if lane is not None and has_answered)
    return Known(answered, max(longest, default=None))
