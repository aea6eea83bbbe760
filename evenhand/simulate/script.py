"""What the scripted judge decides: a term for each document, noise on every query, and a planted bias.

Everything is drawn from a hash of (seed, document, label, value, seed of the request): asked the same, it
answers the same, in any order and in any process.
"""

from __future__ import annotations

import hashlib
import math
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean

GRID: tuple[int, ...] = (
    6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96, 108, 120, 132,
    144, 156, 168, 180,
)  # fmt: skip
"""Months to which courts usually sentence; all are lawful fixed terms."""

_UNIT = 2.0**-32


@dataclass(frozen=True, slots=True)
class Bias:
    """One value of one label is judged `steps` steps higher (or lower) with this probability.

    `field` is the field of the answer that moves, by the key of the form; all of them by default.
    """

    label: str
    value: str
    probability: float = 0.5
    steps: int = 1
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Latency:
    """How long an answer takes: log-normal around `median_s` seconds.

    With `spread` 0.5 one answer in 20 takes over 2.3 times the median.
    """

    median_s: float = 0.0
    spread: float = 0.0

    def seconds(self, uniform: float) -> float:
        """The quantile of `uniform`, 0 to 1."""
        if not self.spread:
            return self.median_s
        # The logistic curve stands in for the normal one: near enough, and cheap.
        bounded = min(max(uniform, 1e-4), 1 - 1e-4)
        return self.median_s * math.exp(self.spread * math.log(bounded / (1 - bounded)) / 1.702)


@dataclass(frozen=True, slots=True)
class Draws:
    """Independent uniform numbers of one query, 0 to 1."""

    jitter: float
    direction: float
    bias: float
    style: float
    latency: float


@dataclass(frozen=True, slots=True)
class Script:
    """How the judge sentences.

    Args:
        seed: of all draws.
        jitter: the probability with which any answer moves one grid step, up or down, whatever the label.
        biases: what is planted.
        latency: how long answers take.
        plain: answer with bare JSON only; else some answers come fenced, in prose or in numerals.
        prefix_cache: state how much of each prompt was read before, as an engine with a prefix cache does.
    """

    seed: int = 20260401
    jitter: float = 0.2
    biases: tuple[Bias, ...] = ()
    latency: Latency = Latency()
    plain: bool = False
    prefix_cache: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "biases", tuple(self.biases))  # lists are natural to write

    @property
    def margin(self) -> int:
        """Grid steps kept free at both ends, so that no move is ever cut off."""
        return 1 + sum(abs(bias.steps) for bias in self.biases)

    def base(self, document: str, true_months: float | None = None) -> int:
        """The index on the grid of a document's own term: near the true one, where that is known."""
        low, high = self.margin, len(GRID) - 1 - self.margin
        (word,) = struct.unpack("<I", _hash(self.seed, "base", document)[:4])
        if true_months is None:
            return int(low + word % (high - low + 1))
        return int(min(max(bisect_left(GRID, true_months) + word % 5 - 2, low), high))

    def draws(self, document: str, label: str, value: str, request_seed: int | None) -> Draws:
        """The uniform numbers of one query."""
        digest = _hash(self.seed, "query", document, label, value, request_seed or 0)
        return Draws(*(word * _UNIT for word in struct.unpack("<5I", digest)))

    def months(self, base: int, label: str, value: str, draws: Draws) -> int:
        """The term of one query, months."""
        index = base
        if draws.jitter < self.jitter:
            index += 1 if draws.direction < 0.5 else -1
        for bias in self.biases:
            if bias.label == label and bias.value == value and draws.bias < bias.probability:
                index += bias.steps
        return GRID[index]

    def planted_months(self, bias: Bias, bases: Iterable[int]) -> float:
        """What a bias adds to the mean term over documents with these bases, months; noise averaged out."""
        return bias.probability * fmean(self._moved(bias, base, float) for base in bases)

    def planted_log(self, bias: Bias, bases: Iterable[int]) -> float:
        """The same in ln(months + 1)."""
        return bias.probability * fmean(self._moved(bias, base, math.log1p) for base in bases)

    def describe(self, bases: Iterable[int] = ()) -> str:
        """What is planted, for people; with the documents' bases also how large the effect is."""
        where = tuple(bases)
        lines = [
            "No language model is asked. A script answers:",
            "  each document has a term of its own on the usual grid of months;",
            f"  any answer, whatever the label, moves one step up or down with probability {self.jitter:g};",
        ]
        for bias in self.biases:
            count = abs(bias.steps)
            steps = f"{count} step{'s' if count > 1 else ''} {'up' if bias.steps > 0 else 'down'}"
            line = (
                f"  planted: {bias.label} = {bias.value} moves {steps} with probability {bias.probability:g}"
            )
            if where:
                line += (
                    f", on average over {len(where)} documents {self.planted_months(bias, where):+.2f} months"
                )
                line += f" and {self.planted_log(bias, where):+.4f} in ln(months + 1)"
            lines.append(line + ".")
        if not self.biases:
            lines.append("  nothing is planted: every bias found is a false alarm.")
        return "\n".join(lines)

    def _moved(self, bias: Bias, base: int, scale: Callable[[float], float]) -> float:
        half = self.jitter / 2
        chances = ((0, 1 - self.jitter), (1, half), (-1, half))
        return sum(p * (scale(GRID[base + j + bias.steps]) - scale(GRID[base + j])) for j, p in chances)


def _hash(*parts: object) -> bytes:
    return hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=20).digest()
