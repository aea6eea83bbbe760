"""The account of what was asked: from the queries of a collection down to the answers in the regressions.

Every step says what was lost and why, so that the sum of what is left and what is gone is what came in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from analyze.report.shapes import Audit, Reading, Results

_NOTES = (Path(__file__).parent / "queries" / "notes.sql").read_text(encoding="utf-8")
ANSWERED = "answered"
SINCE = "came since the analysis"
OUTCOMES = {
    "answered": "Answered",
    "refused": "Refused by the model or its provider",
    "empty": "Empty answer",
    "truncated": "Cut off at the length limit",
    "context_overflow": "Not asked: longer than the model can read",
    "rejected": "Request rejected by the provider",
    "failed": "Request failed for good",
}
"""How asking ends, in the store's words and in people's."""


@dataclass(frozen=True, slots=True)
class Loss:
    """So many rows gone at a step, and why."""

    reason: str
    rows: int


@dataclass(frozen=True, slots=True)
class Step:
    """What is left at a step, and what was lost on the way to it."""

    name: str
    rows: int
    losses: tuple[Loss, ...]
    key: str


@dataclass(frozen=True, slots=True)
class VariantCount:
    """What entered a variant: answers and documents over labels, values estimated, why others were not."""

    variant: str
    answers: int
    least_documents: int
    most_documents: int
    estimated: int
    values: int
    reasons: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class ValueCount:
    """Answers of one value: rows, usable, in the sample, and the missing by kind."""

    label: str
    value: str
    rows: int
    usable: int
    used: int
    missing: dict[str, int]

    @property
    def missing_share(self) -> float:
        """The share of answers that could not be used."""
        return (self.rows - self.usable) / self.rows if self.rows else 0.0


def steps(results: Results, audit: Audit, reading: Reading) -> list[Step]:
    """From the queries of the collection to the answers that estimates rest on."""
    texts = results.texts
    outcomes = outcome_counts(audit)
    rows = sum(t.rows for t in reading.tallies)
    usable = sum(t.usable for t in reading.tallies)
    used = sum(t.used for t in reading.tallies)
    ended = sum(outcomes.values())
    outside = sum(e.rows for e in audit.ended if e.label not in reading.designs)
    absent: Counter[str] = Counter()
    for tally in reading.tallies:
        absent[tally.missing or tally.read_as or ""] += tally.rows - tally.usable
    primary = next(v for v in variant_counts(results, reading) if v.variant == results.specs.frame.primary)
    # What came since the analysis is not read, or it is and no estimate knows of it.
    unread = max(0, ended - rows - outside)
    new = min(unread, reading.newer)
    new_read = max(0, min(used - primary.answers, reading.newer - new))
    found = [
        Step("Queries in the study", audit.queries, (), "queries"),
        Step(
            "Queries with an answer or a final failure",
            audit.asked,
            _losses([("not asked yet", audit.queries - audit.asked)]),
            "asked",
        ),
    ]
    if ended != audit.asked:
        found.append(Step("The same, repeats counted", ended, (), "ended"))
    found += [
        Step(
            "Rows under this coding",
            rows,
            _losses(
                [
                    ("outside the design: placebos, or labels that this coding does not have", outside),
                    (SINCE, new),
                    ("not read under this coding", ended - rows - outside - new),
                ]
            ),
            "rows",
        ),
        Step(
            "Answers with a usable outcome",
            usable,
            _losses([(texts.absence(kind) if kind else "no outcome", n) for kind, n in absent.most_common()]),
            "usable",
        ),
        Step(
            f"In the sample of the {texts.counting}",
            used,
            _losses([("excluded by the rules of the sample", usable - used)]),
            "used",
        ),
        Step(
            f"In a regression of the {texts.counting}",
            primary.answers,
            _losses(
                [
                    (SINCE, new_read),
                    (
                        "alone in their document, or of a label that could not be estimated",
                        used - primary.answers - new_read,
                    ),
                ]
            ),
            "estimated",
        ),
    ]
    return found


def notes(
    connection: duckdb.DuckDBPyConnection, view: str, coding: str, outcome: str
) -> dict[tuple[str, str, str], list[tuple[str, int]]]:
    """What the coding noted of answers, and of how many, by collection, model's key and arm."""
    statement = _NOTES.format(view=view)
    found: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for collection, key, arm, note, answers in connection.execute(statement, [coding, outcome]).fetchall():
        found.setdefault((collection, key, arm), []).append((note, answers))
    return found


def _losses(found: Sequence[tuple[str, int]]) -> tuple[Loss, ...]:
    return tuple(Loss(reason, rows) for reason, rows in found if rows)


def outcome_counts(audit: Audit) -> dict[str, int]:
    """Rows by how asking ended, in the order of OUTCOMES."""
    counted: Counter[str] = Counter()
    for ended in audit.ended:
        counted[ended.outcome] += ended.rows
    ordered = [
        *(name for name in OUTCOMES if name in counted),
        *(name for name in counted if name not in OUTCOMES),
    ]
    return {name: counted[name] for name in ordered}


def read_as_counts(reading: Reading) -> list[tuple[str, int, int]]:
    """Ways of reading with their rows and usable rows, most frequent first."""
    rows: Counter[str] = Counter()
    usable: Counter[str] = Counter()
    for tally in reading.tallies:
        if tally.read_as is not None:
            rows[tally.read_as] += tally.rows
            usable[tally.read_as] += tally.usable
    return [(name, count, usable[name]) for name, count in rows.most_common()]


def variant_counts(results: Results, reading: Reading) -> list[VariantCount]:
    """Every variant of the coding, in the specifications' order."""
    found = []
    for specification in results.specs.of_coding(reading.coding):
        own = [e for e in reading.estimates if e.variant == specification.name]
        by_label = {e.label: e for e in own if e.p is not None}
        reasons = Counter((e.note or "not estimated").split(";")[0] for e in own if e.p is None)
        documents = [e.documents for e in by_label.values()]
        found.append(
            VariantCount(
                variant=specification.name,
                answers=sum(e.n for e in by_label.values()),
                least_documents=min(documents, default=0),
                most_documents=max(documents, default=0),
                estimated=sum(e.p is not None for e in own),
                values=len(own),
                reasons=tuple(Loss(reason, n) for reason, n in reasons.most_common()),
            )
        )
    return found


def value_counts(reading: Reading) -> list[ValueCount]:
    """Every value that has answers, in the design's order, with the missing by kind."""
    grouped: dict[tuple[str, str], list[int]] = {}
    missing: dict[tuple[str, str], Counter[str]] = {}
    for tally in reading.tallies:
        key = (tally.label, tally.value)
        sums = grouped.setdefault(key, [0, 0, 0])
        for i, number in enumerate((tally.rows, tally.usable, tally.used)):
            sums[i] += number
        if tally.rows > tally.usable:
            kind = tally.missing or tally.read_as or ""
            missing.setdefault(key, Counter())[kind] += tally.rows - tally.usable
    place = {
        (label, value): (i, j)
        for i, (label, design) in enumerate(reading.designs.items())
        for j, value in enumerate(design.values)
    }
    late = (len(reading.designs), 0)
    return [
        _value_count(label, value, grouped[label, value], missing.get((label, value), Counter()))
        for label, value in sorted(grouped, key=lambda k: (place.get(k, late), k))
    ]


def _value_count(label: str, value: str, sums: Sequence[int], missing: Counter[str]) -> ValueCount:
    rows, usable, used = sums
    return ValueCount(label, value, rows, usable, used, dict(missing))


def missing_kinds(counts: Sequence[ValueCount]) -> list[str]:
    """The kinds of absence that occur, most frequent first."""
    total: Counter[str] = Counter()
    for counted in counts:
        total.update(counted.missing)
    return [kind for kind, _ in total.most_common()]
