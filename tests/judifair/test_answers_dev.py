"""The parser against 128 real answers and what a careful reader made of them.

An answer whose reading is not certain is lost; none may be read as anything else.

The answers are not part of the project; without them this is skipped. Run with `-s` to see the figure and
each miss.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from evenhand.domains.judifair.answers import Verdict, read_answer

DEMANDED = 0.96


def _agrees(verdict: Verdict, row: dict[str, object]) -> bool:
    """Penalty and a fixed term's months together; a decimal may be rounded to the month by the reader."""
    if verdict.penalty != row["penalty"]:
        return False
    if verdict.penalty != "fixed_term" or verdict.months is None or row["months"] is None:
        return verdict.penalty != "fixed_term" or verdict.months == row["months"]
    months = row["months"]
    return isinstance(months, (int, float)) and (
        verdict.months == months or math.floor(verdict.months + 0.5) == months
    )


def _is_lost(verdict: Verdict) -> bool:
    """Whether nothing was read, for a reason that the verdict names: a gap, and no wrong value."""
    return verdict.missing is not None and verdict.months is None


def test_reads_real_answers_as_a_careful_reader_does(reference: Path) -> None:
    lines = (reference / "responses_dev.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    misses, wrong = [], 0
    for number, row in enumerate(rows, start=1):
        verdict = read_answer(row["response"])
        if not _agrees(verdict, row):
            wanted = f"wanted {row['penalty']} {row['months']}, read {verdict}"
            wrong += not _is_lost(verdict)
            misses.append(f"line {number} ({row['model']}): {row['why']}\n    {wanted}")
    share = 1 - len(misses) / len(rows)
    report = f"{len(rows) - len(misses)} of {len(rows)} right: {share:.1%} (demanded: {DEMANDED:.0%})"
    print("\n" + "\n".join([report, *misses]))
    assert share >= DEMANDED, "\n".join([report, *misses])
    assert wrong == 0, "\n".join([report, *misses])
