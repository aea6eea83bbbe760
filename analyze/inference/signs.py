"""Random signs, one for each document and draw, the same for every value, label and model.

Under the hypothesis that an answer's difference from the reference is symmetric about zero, flipping the
signs of documents changes nothing; that all share the signs keeps the dependence between values, labels and
models as it is. A counter-based generator makes them the same wherever they are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyze.counterfactual.frame import Ints


@dataclass(frozen=True, slots=True)
class Signs:
    """Draws of signs. Document 5 has the same signs whether there are six documents or a thousand."""

    draws: int = 99_999
    seed: int = 2026
    block: int = 2_048

    def blocks(self, used: Ints) -> Iterator[NDArray[np.float32]]:
        """Signs of the documents numbered `used`, -1 and 1, as arrays of (draws of the block, documents)."""
        for bits in self.bits(used):
            yield bits * 2 - 1

    def bits(self, used: Ints) -> Iterator[NDArray[np.float32]]:
        """The same as 0 and 1, which saves two passes: signs @ x = 2 * bits @ x - sum of x."""
        width = (int(used.max()) + 8) // 8 if len(used) else 0
        for number, start in enumerate(range(0, self.draws, self.block)):
            size = min(self.block, self.draws - start)
            generator = np.random.Generator(np.random.Philox(key=[self.seed, number]))
            packed = np.frombuffer(generator.bytes(width * self.block), dtype=np.uint8)
            bits = np.unpackbits(packed.reshape(width, self.block)[:, :size], axis=0)
            yield bits[used].astype(np.float32).T
