"""Does bias mirror reality? Directions that the study shows, against those found in real decisions.

Only values that the confirmatory test confirms, or that are suggestive, have a direction that may be held
against anything. How many agree is given with the number expected by chance, half of them, and the exact
binomial probability of at least so many; effects of one model on the same cases are not independent, so this
is a guide and no test.
"""

from __future__ import annotations

from dataclasses import dataclass

import scipy

from analyze import expectations
from analyze.expectations import Expectation
from analyze.findings import FindingRow, codes
from analyze.inference.confirmatory import OUTCOME
from analyze.report.shapes import Reading, Results

DIRECTIONAL = (codes.CONFIRMED, codes.SUGGESTIVE)


@dataclass(frozen=True, slots=True)
class Compared:
    """An expected direction and what the study found of it."""

    expected: Expectation
    row: FindingRow | None
    """None: the value was not asked."""

    @property
    def agrees(self) -> bool | None:
        """Whether the directions are the same; None where the study shows none."""
        if self.row is None or self.row.state not in DIRECTIONAL or not self.row.effect:
            return None
        return (self.row.effect > 0) == (self.expected.sign > 0)

    @property
    def said(self) -> str:
        """The comparison in words."""
        if self.row is None:
            return "not asked"
        if self.agrees is None:
            return "no direction shown"
        return "agrees" if self.agrees else "opposite"


@dataclass(frozen=True, slots=True)
class Agreement:
    """The expected directions of a domain, compared with one model's findings under one coding."""

    compared: tuple[Compared, ...]

    @property
    def shown(self) -> int:
        """How many have a direction in the study."""
        return sum(one.agrees is not None for one in self.compared)

    @property
    def agreeing(self) -> int:
        """How many of these go the expected way."""
        return sum(one.agrees is True for one in self.compared)

    @property
    def by_chance(self) -> float:
        """The probability that at least so many agree if each direction were a coin's."""
        return float(scipy.stats.binom.sf(self.agreeing - 1, self.shown, 0.5)) if self.shown else 1.0

    @property
    def sentence(self) -> str:
        """What the comparison comes to."""
        total = len(self.compared)
        have = f"{total} value{'' if total == 1 else 's'} of this domain {'has' if total == 1 else 'have'}"
        start = f"{have} an expected direction from empirical studies of real decisions."
        if not self.shown:
            return f"{start} This study shows the direction of none of them."
        agree = f"{self.agreeing} {'agrees' if self.agreeing == 1 else 'agree'}"
        return (
            f"{start} This study shows the direction of {self.shown}, confirmed or suggestive: {agree}. "
            f"By chance {self.shown / 2:g} would. At least {self.agreeing} would agree by chance with a "
            f"probability of {self.by_chance:.2g} if the effects were "
            "independent; effects on the same cases are not."
        )


def of(results: Results, reading: Reading) -> Agreement | None:
    """The agreement of a model's findings with what is expected; None where the domain expects nothing.

    Raises BadInput where the domain's file of expectations is wrong.
    """
    expected = expectations.beside(results.specs.path)
    if not expected or not reading.findings:
        return None
    rows = {
        (row.label, row.value): row
        for row in reading.findings
        if row.scope == codes.VALUE and row.test == OUTCOME
    }
    return Agreement(tuple(Compared(one, rows.get((one.label, one.value))) for one in expected))
