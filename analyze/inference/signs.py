"""Random signs, one for each document and draw, the same for every value, label and model.

Under the hypothesis that an answer's difference from the reference is symmetric about zero, flipping the
signs of documents changes nothing; that all share the signs keeps the dependence between values, labels and
models as it is. A counter-based generator makes block b of seed s the same wherever it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyze.frame import Ints


@dataclass(frozen=True, slots=True)
class Signs:
    """Draws of signs for `documents` documents."""

    documents: int
    draws: int = 99_999
    seed: int = 20_26
    block: int = 2_048

    def blocks(self, used: Ints) -> Iterator[NDArray[np.float32]]:
        """Signs of the documents `used`, -1 and 1, as arrays of (draws of the block, documents used)."""
        width = (self.documents + 7) // 8
        for number, start in enumerate(range(0, self.draws, self.block)):
            size = min(self.block, self.draws - start)
            generator = np.random.Generator(np.random.Philox(key=[self.seed, number]))
            packed = np.frombuffer(generator.bytes(self.block * width), dtype=np.uint8)
            bits = np.unpackbits(packed.reshape(self.block, width)[:size], axis=1, count=self.documents)
            signs = bits[:, used].astype(np.float32)
            signs *= 2
            signs -= 1
            yield signs
