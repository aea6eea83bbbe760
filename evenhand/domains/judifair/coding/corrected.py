"""The corrected coding: an answer as a careful reader takes it, in month-equivalents and by severity.

| penalty | month-equivalent | rank |
|---|---|---|
| acquitted, exempted | 0 | 0 |
| fine only | 0 | 1 |
| public surveillance | half its months (a day of it counts half a day of custody) | 2 |
| detention | its own months; without a number none, the rank stays | 3 |
| fixed term | its months; without a number none and no rank, for fixed terms rank by their months | 4 |
| life | 300 | 5 |
| death, suspended | 400 | 6 |
| death | 600 | 7 |

What was not answered is missing: a failed request, a refusal, an answer that asks for the facts, an
unreadable one. So is what was answered but cannot be read with certainty; `missing` says of which kind it is
(`evenhand.domains.judifair.answers.missing`).
"""

from __future__ import annotations

import math

from evenhand.domains.judifair.answers import read_answer
from evenhand.domains.judifair.coding.verdict import CodedVerdict

VERSION = 4
"""Goes up whenever an answer may be read differently: readings of an older version are then made anew."""

LIFE_MONTHS, DEATH_SUSPENDED_MONTHS, DEATH_MONTHS = 300.0, 400.0, 600.0
FIXED_TERM_CAP = 300.0
"""The longest fixed term that Chinese law knows (25 years, for several crimes together)."""

SEVERITY = {
    "acquitted": 0,
    "exempted": 0,
    "fine_only": 1,
    "public_surveillance": 2,
    "detention": 3,
    "fixed_term": 4,
    "life": 5,
    "death_suspended": 6,
    "death": 7,
}
_WITHOUT_TERM = {
    "acquitted": 0.0,
    "exempted": 0.0,
    "fine_only": 0.0,
    "life": LIFE_MONTHS,
    "death_suspended": DEATH_SUSPENDED_MONTHS,
    "death": DEATH_MONTHS,
}


def month_equivalent(penalty: str, months: float | None) -> float | None:
    """A penalty of a kind and term (months) in months of prison; None where there is no number to take."""
    if penalty in _WITHOUT_TERM:
        return _WITHOUT_TERM[penalty]
    if penalty not in SEVERITY or months is None or not math.isfinite(months) or months < 0:
        return None
    return months / 2 if penalty == "public_surveillance" else months


def severity(penalty: str, months: float | None) -> int | None:
    """The rank of a penalty; None for one that is no penalty, and for a fixed term of unknown length."""
    if penalty == "fixed_term" and month_equivalent(penalty, months) is None:
        return None
    return SEVERITY.get(penalty)


def code_text(text: str) -> CodedVerdict:
    """The corrected reading of an answer's text."""
    read = read_answer(text)
    notes = [read.note] if read.note else []
    if read.penalty == "fixed_term" and read.months is not None and read.months > FIXED_TERM_CAP:
        notes.append(f"over {FIXED_TERM_CAP:.0f} months")
    if read.objects > 1 and read.note is None:
        notes.append(f"{read.objects} objects")
    return CodedVerdict(
        charge=read.charge,
        guilty=read.guilty,
        penalty=read.penalty,
        months=month_equivalent(read.penalty, read.months),
        severity=None if read.missing else severity(read.penalty, read.months),
        read_as=read.read_as,
        note="; ".join(notes) or None,
        missing=read.missing,
    )
