"""Simulated answers of realistic shape.

Terms on a grid, heavy-tailed moves, gaps, siblings that misbehave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyze.counterfactual.frame import Design, LabelRows
from analyze.inference.scores import LabelScores, ValueScores, label_scores

GRID = np.array(
    [0, *range(4, 10), *range(10, 24, 2), *range(24, 84, 6), *range(84, 181, 12), 240, 300, 400, 600],
    dtype=float,
)
STEPS = np.array([-6, -3, -2, -1, 1, 2, 3, 6])
WEIGHTS = np.array([0.02, 0.06, 0.12, 0.3, 0.3, 0.12, 0.06, 0.02])


@dataclass(frozen=True, slots=True)
class World:
    """The shape of one label's answers."""

    documents: int
    values: int
    changing: float
    """Probability that an answer moves off its document's base term, up or down alike."""
    missing: float
    biased_sibling: bool
    """The last value moves up in a third of the documents, on top of the noise."""
    noisy_sibling: bool
    """The last value moves three times as often."""
    missing_with_sibling: bool
    """The last value is missing in a fifth of the documents: unbalanced."""

    @property
    def null_values(self) -> int:
        """How many of the values, from the first, have no effect.

        A noisier value is none: the grid widens upwards, so that moving more often raises the mean.
        """
        return self.values - 1 if self.biased_sibling or self.noisy_sibling else self.values


def draw_world(rng: np.random.Generator) -> World:
    """A shape within the range of the published data: 5 to 60% of documents changing, 3% missing."""
    values = int(rng.choice([1, 1, 1, 2, 2, 3, 5]))
    sibling = rng.random() if values > 1 else 1.0
    share = rng.uniform(0.05, 0.6)
    return World(
        documents=int(rng.choice([60, 120, 300, 700, 1100])),
        values=values,
        changing=float(1 - np.sqrt(1 - share)),
        missing=0.03,
        biased_sibling=sibling < 0.4,
        noisy_sibling=0.4 <= sibling < 0.7,
        missing_with_sibling=bool(rng.random() < 0.3),
    )


def answers(
    world: World, rng: np.random.Generator, effect: float = 0.0, jump: float = 0.0
) -> LabelScores | None:
    """Answers of a world as scores.

    With `effect`, that share of documents moves the first value by `jump`.
    """
    documents, values = world.documents, world.values
    base = np.clip(rng.normal(14, 6, documents).round(), 6, len(GRID) - 7).astype(int)
    chance = np.full(values + 1, world.changing)
    if world.noisy_sibling:
        chance[-1] = min(1.0, 3 * chance[-1])
    moved = rng.random((documents, values + 1)) < chance
    step = moved * rng.choice(STEPS, (documents, values + 1), p=WEIGHTS)
    if world.biased_sibling:
        step[:, -1] += rng.random(documents) < 1 / 3
    at = np.clip(base[:, None] + step, 0, len(GRID) - 1)
    y = GRID[at]
    if effect:
        y[:, 1] += jump * (rng.random(documents) < effect)
    y[rng.random(y.shape) < world.missing] = np.nan
    if world.missing_with_sibling and values > 1:
        y[rng.random(documents) < 0.2, -1] = np.nan
    return scores_of(y)


def scores_of(y: NDArray[np.float64]) -> LabelScores | None:
    """Scores of answers (documents, 1 + values), the first column the reference, NaN where missing."""
    documents, columns = y.shape
    doc = np.repeat(np.arange(documents), columns)
    treat = np.tile(np.arange(columns), documents)
    treated = tuple(f"v{j}" for j in range(1, columns))
    rows = LabelRows(
        design=Design("label", "group", None, None, False, ("r",), treated),
        doc=doc,
        treat=treat,
        value=treat,
        repeat=np.zeros_like(doc),
        dose=np.full(len(doc), np.nan),
        columns={},
        samples={},
        clusters={},
    )
    return label_scores(rows, y.ravel(), np.ones(y.size, dtype=bool))


def correlated_pairs(
    documents: int, values: int, correlation: float, rng: np.random.Generator
) -> list[LabelScores]:
    """A model whose labels all compare with answers that share their noise: null, with that correlation.

    Each difference is a label's own sparse, heavy-tailed move minus a move of the document that all labels
    share; the shared part has the variance that gives the correlation.
    """
    own = rng.choice([0, *STEPS], (documents, values), p=[0.75, *(0.25 * WEIGHTS)]) * 6.0
    often = 0.25 * correlation / (1 - correlation)
    shared = rng.choice([0, *STEPS], documents, p=[1 - often, *(often * WEIGHTS)]) * 6.0
    difference = own - shared[:, None]
    doc = np.arange(documents)
    found = []
    template = scores_of(np.column_stack([np.full(documents, 20.0), 20.0 + difference[:, 0]]))
    assert template is not None
    half = np.full(documents, 0.5)
    small = documents / (documents - 1) * (2 * documents - 1) / (2 * documents - 2)
    for j in range(values):
        d = difference[:, j]
        s = d / 2
        value = ValueScores(f"label {j}", "v1", 0, doc, s, half, d, small, True, 2 * documents)
        centred = s - s.mean()
        found.append(LabelScores(template.rows, template.sample, doc, s[:, None], centred[:, None], (value,)))
    return found
