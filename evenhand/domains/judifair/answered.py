"""The answers to single queries, with what a coding read in them: the evidence behind a number."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import BadInput

if TYPE_CHECKING:
    from store import Study

_ANSWERS = (Path(__file__).parent / "statements" / "answers_of_queries.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer that counts, or a query given up (then `text` is None and `reason` says why)."""

    query_id: uuid.UUID
    model: str
    model_key: str
    temperature: float | None
    repeat: int
    outcome: str
    text: str | None
    reason: str | None
    penalty: str | None
    months: float | None
    charge: str | None
    guilty: bool | None
    read_as: str | None
    missing: str | None
    note: str | None

    @property
    def reading(self) -> str:
        """What was read, in words."""
        if self.text is None:
            return f"given up: {self.reason}"
        if self.read_as is None:
            return "not read yet"
        parts = [self.penalty.replace("_", " ")] if self.penalty else []
        if self.months is not None:
            parts.append(f"{self.months:g} months")
        else:
            parts.append(f"no term: {self.missing or self.read_as}")
        parts += [self.charge] if self.charge else []
        return ", ".join(parts) + (f" ({self.note})" if self.note else "")


def answers(
    study: Study, queries: Sequence[uuid.UUID], *, coding: str = "corrected", model: str | None = None
) -> list[Answer]:
    """The answers to these queries, model by model (`model` is a name or key; all by default).

    Raises:
        BadInput: the study has no model of this name.
    """
    cursor = study.cursor()
    try:
        if model is not None:
            known = cursor.execute("SELECT model, model_key FROM models ORDER BY model").fetchall()
            if not any(model in row for row in known):
                names = ", ".join(dict.fromkeys(str(row[0]) for row in known))
                raise BadInput(f"The study has no model {model!r}.", hint=f"It has: {names or 'none'}.")
        parameters = {"queries": list(queries), "coding": coding, "model": model}
        return [Answer(*row) for row in cursor.execute(_ANSWERS, parameters).fetchall()]
    finally:
        cursor.close()
