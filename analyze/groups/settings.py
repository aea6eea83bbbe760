"""How much is drawn, and from which random numbers."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from analyze.groups.data import Floats, Variant


@dataclass(frozen=True, slots=True)
class Settings:
    """Draws and variants of an analysis."""

    permutations: int = 9_999
    """Draws of each permutation and swap test; 0: no tests."""
    bootstraps: int = 2_000
    """Draws of each interval; 0: no intervals."""
    drift_draws: int = 999
    """Divisions of the rows for the floor of label drift."""
    variants: tuple[Variant, ...] = tuple(Variant)
    seed: int = 0
    """Of the random numbers."""

    def __post_init__(self) -> None:
        if min(self.permutations, self.bootstraps, self.drift_draws) < 0:
            raise ValueError("numbers of draws cannot be negative")

    def generator(self, *names: object) -> np.random.Generator:
        """Random numbers of one purpose: the same whatever else is analyzed, and in whatever order."""
        return np.random.default_rng([self.seed, *(zlib.crc32(str(name).encode()) for name in names)])


def known(value: float | Floats) -> float | None:
    """The number, None for NaN."""
    number = float(value)
    return None if np.isnan(number) else number
