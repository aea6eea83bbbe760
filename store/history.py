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
    """In tokens."""


def answers_of(study: Study, model_key: str) -> Known:
    """What the stored answers of a model tell."""
    cursor = study.cursor()
    try:
        rows = cursor.execute(statement("answers_of_model"), {"model_key": model_key}).fetchall()
    finally:
        cursor.close()
    longest = [tokens for _, tokens in rows if tokens is not None]
    return Known(frozenset(lane for lane, _ in rows if lane is not None), max(longest, default=None))
