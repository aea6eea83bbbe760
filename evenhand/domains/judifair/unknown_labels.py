"""Answers of labels and values that neither this installation's catalogue nor the study's own labels have.

Another version of Evenhand, with other labels, may have asked them. Whoever analyses the study here would
drop them without a word, and their earlier results with them. Published files may hold such labels too:
the import says so, they are stored, and no design compares them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.build import PLACEBO

if TYPE_CHECKING:
    from store import Study

_COUNTED = (Path(__file__).parent / "statements" / "counted_by_value.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Unknown:
    """A label, or with `value` a value of a known label, that the catalogue does not have."""

    collection: str
    label: str
    value: str | None
    built: bool
    """It was asked from cases; if not, it came with an import."""
    answers: int
    """Those that count, and queries given up."""

    @property
    def name(self) -> str:
        """`defendant_height`, or `defendant_sex = X`."""
        return self.label if self.value is None else f"{self.label} = {self.value}"


def find(study: Study, models: Sequence[str] | None = None) -> list[Unknown]:
    """What the catalogue does not have, of the answers that count; `models` are names or keys, all by
    default.
    """
    found: dict[tuple[str, str, str | None, bool], int] = {}
    cursor = study.cursor()
    try:
        known = {label.key: label for label in catalogue.of_study(cursor)}
        rows = cursor.execute(_COUNTED, {"models": None if models is None else list(models)}).fetchall()
    finally:
        cursor.close()
    for collection, asked, value, built, answers in rows:
        label = known.get(asked.removeprefix(PLACEBO))
        if label is not None and _has(label, value):
            continue
        key = (collection, asked, None if label is None else value, built)
        found[key] = found.get(key, 0) + answers
    return [Unknown(*key, answers) for key, answers in sorted(found.items(), key=lambda item: str(item[0]))]


def _has(label: catalogue.Label, value: str) -> bool:
    if label.treatment != "log_age":
        return any(known.zh == value for known in label.values)
    try:
        return 0 < float(value) < math.inf
    except ValueError:
        return False
