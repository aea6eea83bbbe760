"""Models side by side on the cases that all of them have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from analyze.counterfactual.frame import Cell
from analyze.findings.collect import Contrast, Moves


@dataclass(frozen=True, slots=True)
class SharedEffect:
    """One model's effect in one contrast; the columns are described in migrations/0010_findings.sql."""

    label: str
    value: str
    contrast: str
    model: str
    temperature: float | None
    model_key: str
    models: int
    n_compared: int
    effect: float
    n_shared: int
    ups: int
    downs: int
    shared_effect: float | None


def shared_effects(moves: Mapping[Cell, Sequence[Moves]]) -> Iterator[SharedEffect]:
    """A row for each model and contrast that several models of `moves`, all of one collection, have."""
    contrasts: dict[tuple[str, str, str], list[tuple[Cell, Contrast]]] = {}
    for cell, labels in moves.items():
        for label in labels:
            for value, one in label.contrasts.items():
                if len(one.differences):
                    contrasts.setdefault((label.label, value, one.contrast), []).append((cell, one))
    for (label_name, value, contrast), members in contrasts.items():
        if len(members) < 2:
            continue
        shared = reduce(np.intersect1d, [one.documents for _, one in members])
        for cell, one in members:
            of_all = one.differences[np.isin(one.documents, shared)]
            yield SharedEffect(
                label=label_name,
                value=value,
                contrast=contrast,
                model=cell.model,
                temperature=cell.temperature,
                model_key=cell.model_key,
                models=len(members),
                n_compared=len(one.differences),
                effect=float(one.differences.mean()),
                n_shared=len(shared),
                ups=int((of_all > 0).sum()),
                downs=int((of_all < 0).sum()),
                shared_effect=float(of_all.mean()) if len(of_all) else None,
            )
