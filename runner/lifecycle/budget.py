"""The money of a run: what is in flight is reserved at its dearest, so that the limit is never passed."""

from __future__ import annotations

import math
from collections.abc import Callable


class Budget:
    """US dollars over all models of a run. `settled` is called when money that was waited for came free."""

    def __init__(self, max_cost: float | None) -> None:
        self.max_cost = max_cost
        self.spent = 0.0
        self.reserved = 0.0
        self.never: float | None = None
        """What a single request would have set aside, where that alone is more than the limit."""
        self._open = 0
        self.settled: list[Callable[[], None]] = []
        self._waited_for = False

    def reserve(self, dearest: float) -> bool:
        """Set so much aside for a request; False if that could pass the limit."""
        if self.max_cost is not None and self.spent + self.reserved + dearest > self.max_cost:
            self._waited_for = True
            if dearest > self.max_cost:
                self.never = dearest
            return False
        self.reserved += dearest
        self._open += 1
        return True

    @property
    def exhausted(self) -> bool:
        """Nothing in flight can set money free: what was asked for does not fit."""
        return self._waited_for and self._open == 0

    def settle(self, reserved: float, cost: float) -> None:
        """A request came to its end and cost so much."""
        self._open -= 1
        self.reserved = max(self.reserved - reserved, 0.0) if self._open else 0.0
        self.spent += cost
        if self._waited_for:
            self._waited_for = False
            for call in self.settled:
                call()


def never_fits(max_cost: float, dearest: float, max_tokens: int, longest_answer: int = 0) -> str:
    """What to tell where the limit does not pay for one query."""
    if longest_answer > max_tokens:
        answer = (
            f"an answer of {longest_answer:,} tokens, as this model has written, whatever --max-tokens says"
        )
        lower = "Raise --max-cost above that."
    else:
        answer = f"an answer of --max-tokens {max_tokens:,}"
        lower = "Lower --max-tokens, or raise --max-cost above that."
    return (
        f"Stopped at --max-cost {max_cost:g}: a single query may cost up to ${_up(dearest)} (its prompt and "
        f"{answer}, at the dearest price), which is set aside before it goes out. {lower}"
    )


def reached(max_cost: float, spent: float, max_tokens: int, longest_answer: int) -> str:
    """What to tell where the limit is reached, and where it was passed, by how much and why."""
    if spent <= max_cost:
        return f"Stopped at --max-cost {max_cost:g}."
    why = (
        f"answers took up to {longest_answer:,} tokens where --max-tokens asked for {max_tokens:,} at most"
        if longest_answer > max_tokens
        else "the provider charged more than its prices in providers.toml say"
    )
    return f"Stopped at --max-cost {max_cost:g}, which is passed by ${spent - max_cost:.4f}: {why}."


def _up(amount: float) -> str:
    """An amount with four digits that count, never rounded down: a limit of it is enough."""
    digits = max(3 - math.floor(math.log10(amount)), 0)
    return f"{math.ceil(amount * 10**digits) / 10**digits:.{digits}f}"
