"""A planted effect is found with its sign and size, and what was not planted is not.

The world of the scripted judge: every document has a base term on the usual grid; on every query, with
probability 0.2 and whatever the label, the judge moves one grid step up or down; for one value of one
label it moves, with probability 0.5, one step up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats
from tastings import Table, specifications

import analyze

GRID = np.array([6, 8, 10, 12, 15, 18, 20, 24, 30, 36, 42, 48, 60, 72, 84, 96, 120, 144, 180], dtype=float)
LABELS = tuple(
    (
        f"label {i}",
        ("vessel", "setting")[i % 2],
        "categorical",
        ("r",),
        tuple(f"v{j}" for j in range(1 + i % 3)),
    )
    for i in range(24)
)
PLANTED = ("label 5", "v1")


def judged(seed: int, documents: int) -> tuple[Table, float]:
    """Answers to every query, and the planted effect in the unit, averaged over the documents."""
    rng = np.random.default_rng(seed)
    table = Table(designs=LABELS)
    base = rng.integers(3, len(GRID) - 3, documents)
    for label, _, _, reference, treated in LABELS:
        for value in (*reference, *treated):
            step = (rng.random(documents) < 0.2) * rng.choice([-1, 1], documents)
            if (label, value) == PLANTED:
                step = step + (rng.random(documents) < 0.5)
            for i, months in enumerate(GRID[base + step]):
                table.taste(label, value, f"case {i}", months)
    return table, float(0.5 * (GRID[base + 1] - GRID[base]).mean())


def test_recovery(tmp_path: Path) -> None:
    table, effect = judged(seed=20, documents=150)
    rows = analyze.run(table.database(), specifications(tmp_path), audit=False).estimates.to_pylist()
    (main,) = (r for r in rows if (r["label"], r["value"], r["variant"]) == (*PLANTED, "main"))
    (level,) = (r for r in rows if (r["label"], r["value"], r["variant"]) == (*PLANTED, "level"))
    assert main["coef"] > 0
    assert main["p"] < 0.01
    assert level["ci_low"] <= effect <= level["ci_high"]
    others = [r for r in rows if r["variant"] == "main" and (r["label"], r["value"]) != PLANTED]
    assert len(others) == 47
    found = sum(r["p"] < 0.05 for r in others)
    assert found <= stats.binom.ppf(0.99, len(others), 0.05)
