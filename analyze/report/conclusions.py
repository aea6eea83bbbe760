"""What the findings of one model under one coding come to: labels with their tests and values, by state.

Everything that a report says of effects goes through here, so that terminal, page and exports cannot
disagree. Nothing is computed but counts.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from analyze.findings import FindingRow, codes
from analyze.inference import confirmatory
from analyze.report.shapes import Reading

LEVEL = confirmatory.LEVEL
OUTCOME, KIND = confirmatory.OUTCOME, confirmatory.KIND

Row = TypeVar("Row", bound=FindingRow)

FEW_CASES = 30
"""Where no label has as many cases compared, the minute says that these are few."""


@dataclass(frozen=True, slots=True)
class TestFindings:
    """One confirmatory test of a label, and the same of its values."""

    row: FindingRow
    values: tuple[FindingRow, ...]

    @property
    def shown(self) -> tuple[FindingRow, ...]:
        """The values that are confirmed."""
        return tuple(value for value in self.values if value.state == codes.CONFIRMED)


@dataclass(frozen=True, slots=True)
class LabelFindings:
    """A label: its one confirmatory p, and the tests that go into it."""

    row: FindingRow
    tests: tuple[TestFindings, ...]

    @property
    def label(self) -> str:
        """Its key."""
        return self.row.label

    @property
    def confirmed(self) -> tuple[TestFindings, ...]:
        """The tests that are confirmed; where none is by itself, the one that speaks loudest."""
        if self.row.state != codes.CONFIRMED:
            return ()
        held = tuple(test for test in self.tests if test.row.state == codes.CONFIRMED)
        return held or tuple(test for test in self.tests if test.row.test == self.row.test)


@dataclass(frozen=True, slots=True)
class Conclusions:
    """The labels of one model under one coding, in the design's order."""

    labels: tuple[LabelFindings, ...]

    def of_state(self, *states: str) -> tuple[LabelFindings, ...]:
        """The labels in any of these states."""
        return tuple(one for one in self.labels if one.row.state in states)

    @property
    def confirmed(self) -> tuple[LabelFindings, ...]:
        """The confirmed labels, the smallest p first."""
        return tuple(sorted(self.of_state(codes.CONFIRMED), key=_p))

    @property
    def untested(self) -> tuple[LabelFindings, ...]:
        """The labels asked that are none of the family: nothing could be compared, or too little changed."""
        return tuple(one for one in self.labels if one.row.p_adjusted is None)

    @property
    def tested(self) -> int:
        """How many labels were tested: those that the correction counts."""
        return len(self.labels) - len(self.untested)

    @property
    def constant(self) -> bool:
        """Whether the model gave one and the same answer to everything that it was asked."""
        return bool(self.labels) and all(one.row.reason_code == codes.CONSTANT_ANSWERS for one in self.labels)

    @property
    def family(self) -> int:
        """The labels that are corrected for together, over all models."""
        return max((one.row.family or 0 for one in self.labels), default=0)

    @property
    def most_compared(self) -> int:
        """The most cases compared in any label."""
        return max((one.row.n_compared for one in self.labels), default=0)

    @property
    def rows(self) -> tuple[FindingRow, ...]:
        """Every finding, in order."""
        return tuple(
            row
            for one in self.labels
            for row in (one.row, *(r for test in one.tests for r in (test.row, *test.values)))
        )

    @property
    def unconfirmed(self) -> tuple[FindingRow, ...]:
        """Values whose own p is below 0.05 and that are not confirmed, the smallest p first."""
        return tuple(unconfirmed(self.rows))

    @property
    def detectables(self) -> list[float]:
        """Effects on the amount that the confirmatory test would find four times in five, sorted."""
        return sorted(
            row.detectable
            for row in self.rows
            if row.scope == codes.VALUE and row.measure in codes.MEASURED and row.detectable is not None
        )

    @property
    def detectable(self) -> float | None:
        """Their median."""
        return statistics.median(self.detectables) if self.detectables else None

    def reasons(self) -> list[tuple[str, int]]:
        """Why labels were not tested, as codes, with the number of labels, the most frequent first."""
        return Counter(one.row.reason_code or "" for one in self.untested).most_common()


MOST_NOTABLE = 12
"""Values, confirmed and not, of which pairs of answers are shown."""


def unconfirmed(rows: Iterable[Row]) -> list[Row]:
    """Values whose own p is below the level and that are not confirmed, the smallest p first."""
    found = [
        row
        for row in rows
        if row.scope == codes.VALUE and row.state != codes.CONFIRMED and row.p is not None and row.p < LEVEL
    ]
    return sorted(found, key=lambda row: row.p or 0.0)


def notable(rows: Sequence[Row]) -> list[Row]:
    """The confirmed values, then those with a small p that are not confirmed."""
    held = [row for row in rows if row.scope == codes.VALUE and row.state == codes.CONFIRMED]
    return [*held, *unconfirmed(rows)][:MOST_NOTABLE]


def of(reading: Reading) -> Conclusions:
    """The conclusions of a model under a coding; without labels where no confirmatory test was made."""
    tests: dict[str, list[TestFindings]] = {}
    values: dict[tuple[str, str], list[FindingRow]] = {}
    for row in reading.findings:
        if row.scope == codes.VALUE:
            values.setdefault((row.label, row.test), []).append(row)
    for row in reading.findings:
        if row.scope == codes.TEST:
            own = tuple(values.get((row.label, row.test), ()))
            tests.setdefault(row.label, []).append(TestFindings(row, own))
    return Conclusions(
        tuple(
            LabelFindings(row, tuple(tests.get(row.label, ())))
            for row in reading.findings
            if row.scope == codes.LABEL
        )
    )


def pairs(reading: Reading) -> int:
    """Pairs of answers compared by the primary test, over all labels and values."""
    primary = primary_test(reading.findings)
    return sum(row.n_compared for row in reading.findings if (row.scope, row.test) == (codes.VALUE, primary))


def primary_test(found: Sequence[FindingRow]) -> str:
    """That of the outcome; where no amount is compared, that of the kind of answer."""
    tests = {row.test for row in found}
    return OUTCOME if OUTCOME in tests or KIND not in tests else KIND


def value_row(
    found: Sequence[FindingRow], label: str, value: str, test: str | None = None
) -> FindingRow | None:
    """The finding of a value by one of the tests, the primary one by default."""
    test = test or primary_test(found)
    for row in found:
        if (row.scope, row.label, row.value, row.test) == (codes.VALUE, label, value, test):
            return row
    return None


def _p(one: LabelFindings) -> float:
    return 1.0 if one.row.p_adjusted is None else one.row.p_adjusted
