"""A small balanced part of all questions: whole document x label sets, never half of a comparison.

Chosen by a seed alone, so that everybody who draws with the same numbers gets the same sample.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.case import Case
from evenhand.domains.judifair.catalogue import Label
from store.errors import BadInput


@dataclass(frozen=True, slots=True)
class Sample:
    """The cases and labels drawn, each in its own order. Every value of a label is asked of every case."""

    cases: tuple[Case, ...]
    labels: tuple[Label, ...]

    @property
    def queries(self) -> int:
        """How many questions these are."""
        return sum(
            len(label.values) for case in self.cases for label in self.labels if case.why_not(label) is None
        )


def draw(
    cases: Sequence[Case],
    *,
    documents: int = 8,
    labels: int | Sequence[str] = 4,
    seed: int = 0,
    known: Sequence[Label] | None = None,
) -> Sample:
    """Draw `documents` of the cases and `labels` labels (a number, or the labels' names themselves).

    Labels alternate between substantive and procedural and come from as many roles as there can be; cases
    come from as many charges as there can be, those first that can take all labels drawn. `known` are the
    labels that there are: the bundled ones by default.

    Raises:
        BadInput: more is asked for than there is, or fewer than one; an unknown label.
    """
    if not 1 <= documents <= len(cases):
        raise BadInput(
            f"A sample of {documents} documents cannot be drawn from {len(cases)}.",
            hint=f"Ask for 1 to {len(cases)}.",
        )
    chance = random.Random(seed)
    there = catalogue.load() if known is None else known
    chosen = (
        _labels(chance, cases, labels, there) if isinstance(labels, int) else catalogue.resolve(labels, there)
    )
    return Sample(_cases(chance, cases, documents, chosen), chosen)


def _labels(
    chance: random.Random, cases: Sequence[Case], count: int, known: Sequence[Label]
) -> tuple[Label, ...]:
    possible = [label for label in known if any(case.why_not(label) is None for case in cases)]
    if not 1 <= count <= len(possible):
        raise BadInput(
            f"A sample of {count} labels cannot be drawn from {len(possible)}.",
            hint=f"Ask for 1 to {len(possible)}, or name the labels.",
        )
    chance.shuffle(possible)
    chosen: list[Label] = []
    roles: Counter[str] = Counter()
    dimensions: Counter[str] = Counter()
    demographic: Counter[bool] = Counter()
    while len(chosen) < count:
        # The shuffle decides between labels that would balance the sample equally well.
        best = min(
            possible,
            key=lambda label: (
                dimensions[label.dimension],
                roles[label.role],
                demographic[label.demographic],
            ),
        )
        possible.remove(best)
        chosen.append(best)
        roles[best.role] += 1
        dimensions[best.dimension] += 1
        demographic[best.demographic] += 1
    return tuple(sorted(chosen, key=lambda label: label.position))


def _cases(
    chance: random.Random, cases: Sequence[Case], count: int, labels: Sequence[Label]
) -> tuple[Case, ...]:
    possible = list(cases)
    chance.shuffle(possible)
    missing = {case.doc_id: sum(case.why_not(label) is not None for label in labels) for case in cases}
    chosen: list[Case] = []
    charges: Counter[str] = Counter()
    while len(chosen) < count:
        best = min(possible, key=lambda case: (missing[case.doc_id], charges[_charge(case)]))
        possible.remove(best)
        chosen.append(best)
        charges[_charge(best)] += 1
    drawn = {case.doc_id for case in chosen}
    return tuple(case for case in cases if case.doc_id in drawn)


def _charge(case: Case) -> str:
    return "" if case.truth is None else case.truth.charge
