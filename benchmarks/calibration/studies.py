"""Whole made-up studies of 65 labels, through the findings: null ones, and with one planted label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analyze.counterfactual.estimate import value_names
from analyze.counterfactual.frame import TRUE, Coded, Design, Floats, LabelRows
from analyze.findings.collect import collect
from analyze.findings.decide import decide
from analyze.findings.rows import FindingRow
from analyze.inference.family import label_tests
from analyze.inference.flips import flip
from analyze.inference.rows import ValueTest
from analyze.inference.signs import Signs
from analyze.inference.values import Scored, score
from analyze.specification import Inference
from benchmarks.calibration.worlds import GRID, STEPS, WEIGHTS

INFERENCE = Inference("amount", "sample", kind="kind", missing="missing", declined="declined", codings=("c",))
SHAPE = (1,) * 40 + (2,) * 12 + (3,) * 6 + (5,) * 2
"""Treated values of the labels that are not ages; five ages beside them make 65 labels."""
AGES = 5
KINDS = ("acquitted", "fine", "term")
UPWARDS = np.array([0.0, 0.0, 0.0, 0.1, 0.3, 0.3, 0.2, 0.1])
"""Noise that moves answers up alone: within a case it is as likely in any answer, and yet it is skewed."""

AMOUNT, DECLINES, KIND = "amount", "declines", "kind"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a study's answers are like."""

    cases: int
    changing: float
    """Probability that an answer moves off its case's base term."""
    skewed: bool
    missing: float
    other_kind: float
    """Probability of an acquittal or a fine in the place of a term."""


@dataclass(frozen=True, slots=True)
class Planted:
    """What the first value of one label does: in so many cases its amount rises, or its answer is declined,
    or the decision is another.
    """

    label: int
    what: str
    share: float
    jump: float = 6.0

    @property
    def effect(self) -> float:
        """The true mean difference."""
        return self.share * self.jump if self.what == AMOUNT else self.share


@dataclass(frozen=True, slots=True)
class Study:
    """A study's findings, and what the primary test alone would find: its p corrected by Holm, by label."""

    rows: list[FindingRow]
    scored: list[Scored]


def draw_shape(rng: np.random.Generator) -> Shape:
    """Answers like those of real models: few or many move, some are missing, some are of another kind."""
    return Shape(
        cases=int(rng.choice([30, 30, 60, 120])),
        changing=float(rng.uniform(0.05, 0.5)),
        skewed=bool(rng.random() < 0.5),
        missing=float(rng.choice([0.0, 0.02, 0.1])),
        other_kind=float(rng.choice([0.0, 0.02, 0.1])),
    )


def names(shape: Sequence[int] = SHAPE, ages: int = AGES) -> list[str]:
    """The labels of a study."""
    return [f"label {i:02}" for i in range(len(shape) + ages)]


def draw_study(
    shape: Shape,
    rng: np.random.Generator,
    planted: Planted | None = None,
    *,
    values: Sequence[int] = SHAPE,
    ages: int = AGES,
) -> list[LabelRows]:
    """The answers of a study, in which nothing matters but what is planted."""
    base = np.clip(rng.normal(14, 6, shape.cases).round(), 6, len(GRID) - 7).astype(int)
    found = []
    for i, count in enumerate((*values, *(1,) * ages)):
        size = (shape.cases, 1 + count)
        moved = rng.random(size) < shape.changing
        weights = UPWARDS / UPWARDS.sum() if shape.skewed else WEIGHTS
        y = GRID[np.clip(base[:, None] + moved * rng.choice(STEPS, size, p=weights), 0, len(GRID) - 1)]
        kind = np.full(size, 2)
        other = rng.random(size) < shape.other_kind
        kind[other] = rng.integers(0, 2, int(other.sum()))
        absent = rng.random(size) < shape.missing
        declined = absent & (rng.random(size) < 0.5)
        if planted is not None and planted.label == i:
            hit = rng.random(shape.cases) < planted.share
            if planted.what == AMOUNT:
                y[hit, 1] += planted.jump
            elif planted.what == DECLINES:
                declined[hit, 1] = absent[hit, 1] = True
            else:
                kind[hit, 1] = 0
        y[absent] = np.nan
        found.append(_rows(f"label {i:02}", y, kind, declined, continuous=i >= len(values)))
    return found


def _rows(
    name: str, y: Floats, kind: NDArray[np.int64], declined: NDArray[np.bool_], *, continuous: bool
) -> LabelRows:
    cases, columns = y.shape
    treat = np.tile(np.arange(columns), cases)
    treated = () if continuous else tuple(f"v{j}" for j in range(1, columns))
    ages = np.array([30.0, 55.0])
    return LabelRows(
        design=Design(name, "all", None, None, continuous, () if continuous else ("r",), treated, "ln(age)"),
        doc=np.repeat(np.arange(cases), columns),
        treat=treat,
        value=treat,
        repeat=np.zeros(y.size, dtype=np.int64),
        dose=np.log(ages)[treat] if continuous else np.full(y.size, np.nan),
        columns={"amount": y.ravel()},
        samples={"sample": np.ones(y.size, dtype=np.bool_)},
        clusters={},
        coded={
            "value": Coded(treat, ("30", "55")),
            "kind": Coded(np.where(np.isnan(y), -1, kind).ravel(), KINDS),
            "declined": Coded(np.where(declined, 0, -1).ravel(), (TRUE,)),
        },
    )


def find(labels: Sequence[LabelRows], draws: int, seed: int) -> list[FindingRow]:
    """The findings of a study of one model."""
    scored = [score(rows, INFERENCE) for rows in labels]
    results = flip([one.scores for one in scored if one.scores is not None], Signs(draws, seed=seed))
    tests = label_tests(scored, results)
    values: list[ValueTest] = []
    at = 0
    for one in scored:
        columns = () if one.scores is None else one.scores.sample.columns
        for j, name in enumerate(value_names(one.rows)):
            row = ValueTest(one.rows.design.label, name, 0, one.documents)
            if j in columns:
                flipped = results.values[at + columns.index(j)]
                moving = one.scores is not None and one.scores.values[columns.index(j)].moving.any()
                if moving:
                    row = replace(row, flip_p=flipped.p, enumerated=flipped.enumerated)
            values.append(row)
        at += len(columns)
    numbers = np.arange(1 + max(int(rows.doc.max()) for rows in labels))
    collected = collect(scored, results, values, tests, INFERENCE, numbers=numbers, unit="months", seed=seed)
    return [row for _, row in decide([("model", row) for row in collected.rows])]
