"""The row that a coding makes of an answer: a line of table `verdicts` without its key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodedVerdict:
    """What one coding makes of one answer. Months are null where the coding has no number for it.

    `missing`: the kind of doubt for which the corrected coding left something unread.
    """

    charge: str | None
    guilty: bool | None
    penalty: str | None
    months: float | None
    severity: int | None
    read_as: str
    note: str | None
    penalty_text: str | None = None
    full_months: float | None = None
    missing: str | None = None
