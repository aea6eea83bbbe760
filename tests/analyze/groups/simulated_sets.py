"""Made-up rows with known properties, for the tests of group analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyze.groups import Answer, Attribute, Classes, GroupData, Predictions, Rule

SHARES = np.array([0.1, 0.4, 0.3, 0.2])


def confusion(accuracy: float, classes: int = 4) -> Any:
    """P(predicted | true): right with this probability, else any class evenly."""
    return accuracy * np.eye(classes) + (1 - accuracy) / classes


def answers_to(rng: np.random.Generator, truth: Any, table: Any) -> Any:
    return (table.cumsum(axis=1)[truth] < rng.random(len(truth))[:, None]).sum(axis=1)


def single(
    rng: np.random.Generator,
    sizes: tuple[int, ...],
    accuracies: tuple[float, ...],
    shares: tuple[Any, ...] | None = None,
    models: tuple[tuple[str, int | None], ...] = (("m", None),),
    unanswered: float = 0.0,
    rule: Rule = Rule.SUPPORT,
    **more: Any,
) -> GroupData:
    """One class a row; each group with its own accuracy and, if given, its own label shares."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    drawn = [SHARES] * len(sizes) if shares is None else shares
    truth = np.concatenate([rng.choice(4, size, p=share) for size, share in zip(sizes, drawn, strict=True)])
    predictions = []
    for model, seed in models:
        values = np.empty(len(truth), dtype=np.int64)
        for group, accuracy in enumerate(accuracies):
            inside = groups == group
            values[inside] = answers_to(rng, truth[inside], confusion(accuracy))
        gone = rng.random(len(truth)) < unanswered
        kind = np.where(gone, rng.choice([Answer.MISSING, Answer.INVALID], len(truth)), Answer.VALID)
        predictions.append(Predictions(model, seed, values, kind.astype(np.int8)))
    attribute = Attribute("group", tuple(f"g{k}" for k in range(len(sizes))), groups)
    return GroupData(
        "made-up", Classes(("a", "b", "c", "d")), truth, (attribute,), tuple(predictions), rule, **more
    )


def several(rng: np.random.Generator, rows: int, unanswered: float = 0.0, seeds: int = 1) -> GroupData:
    """Several classes a row, with a class of rows without any."""
    truth = rng.random((rows, 5)) < np.array([0.5, 0.3, 0.2, 0.1, 0.03])
    predictions = []
    for seed in range(seeds):
        values = truth ^ (rng.random((rows, 5)) < 0.1)
        gone = rng.random(rows) < unanswered
        kind = np.where(gone, rng.choice([Answer.MISSING, Answer.INVALID], rows), Answer.VALID)
        predictions.append(Predictions("m", seed + 1, values, kind.astype(np.int8)))
    attribute = Attribute("group", ("not known", "x", "y", "z"), rng.integers(-1, 4, rows), frozenset({0}))
    classes = Classes(("a", "b", "c", "d", "e"), several=True, none_name="none")
    return GroupData("made-up", classes, truth, (attribute,), tuple(predictions), Rule.ALL)
