"""A prefix cache as an engine has it: blocks of the prompt that were read before, from its beginning on."""

from __future__ import annotations

from collections import OrderedDict

BLOCK_BYTES = 128
"""About 32 tokens."""
MOST_BLOCKS = 100_000


class PrefixCache:
    """Remembers prompts by the hashes of their beginnings, the least used forgotten first."""

    def __init__(self, most_blocks: int = MOST_BLOCKS) -> None:
        self._blocks: OrderedDict[int, None] = OrderedDict()
        self._most = most_blocks

    def read(self, prompt: bytes) -> int:
        """How many bytes of the prompt's beginning were known; it is known from now on."""
        known, chain, hit = 0, 0, True
        for end in range(BLOCK_BYTES, len(prompt) + 1, BLOCK_BYTES):
            chain = hash((chain, prompt[end - BLOCK_BYTES : end]))
            if hit and chain in self._blocks:
                known = end
            else:
                hit = False
            self._blocks[chain] = None
            self._blocks.move_to_end(chain)
        while len(self._blocks) > self._most:
            self._blocks.popitem(last=False)
        return known
