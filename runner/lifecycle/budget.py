"""The money of a run: what is in flight is reserved at its dearest, so that no limit is ever passed.

Two limits may be kept at once: `--max-cost` over this run, `--max-total-cost` over all runs of the study,
live and by batch. What a request costs counts whatever became of it; where its cost is not known, what was
reserved for it counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.costs import Spent
from store.errors import BadInput

if TYPE_CHECKING:
    from runner.lifecycle.options import RunOptions
    from runner.providers.file import Route
    from runner.providers.schema import Prices

_MORE = 1.5
"""So much more than is needed is noted as unsettled at once, so that this is noted a few times in a run."""
_FIRST_BYTES_PER_TOKEN = 2.0
"""Before a prompt's tokens are known: more of them than tokenizers make of Chinese or English."""
_FRAME_TOKENS = 16
"""What a server's chat template adds to a prompt."""


def check_priced(route: Route, options: RunOptions) -> None:
    """Raises BadInput where a limit of money is to be kept, and the model has no price here."""
    for option, limit in (("--max-cost", options.max_cost), ("--max-total-cost", options.max_total_cost)):
        if limit is not None and route.prices is None:
            raise BadInput(
                f"{option} cannot be kept: {route.provider} states no price of {route.model}.",
                hint="Add `prices = { input = ..., output = ... }` to the model in providers.toml.",
            )


class Dearest:
    """The most that one request to an endpoint may cost, in US dollars; 0 where it has no prices.

    It learns from each reply that states its use: the longest answer, and the most tokens to a character.
    """

    def __init__(self, prices: Prices | None, *, longest_answer: int = 0, share: float = 1.0) -> None:
        self.longest_answer = longest_answer
        """In tokens; some servers write more than they were told to."""
        self._input = 0.0 if prices is None else share * max(prices.input, prices.cache_write or 0.0) / 1e6
        self._output = 0.0 if prices is None else share * prices.output / 1e6
        self._per_char: float | None = None

    def of(self, chars: int, utf8_per_char: float, max_tokens: int) -> float:
        """Of a prompt of so many characters, and an answer of up to `max_tokens`."""
        per_char = self._per_char
        if per_char is None:
            per_char = utf8_per_char / _FIRST_BYTES_PER_TOKEN
        longest = max_tokens if max_tokens > self.longest_answer else self.longest_answer
        return (chars * per_char + _FRAME_TOKENS) * self._input + longest * self._output

    def learn(self, chars: int, prompt_tokens: int | None, completion_tokens: int | None) -> None:
        """A request with so long a prompt has used so much."""
        if completion_tokens is not None and completion_tokens > self.longest_answer:
            self.longest_answer = completion_tokens
        if prompt_tokens is not None and chars:
            per_char = prompt_tokens / chars
            if self._per_char is None or per_char > self._per_char:
                self._per_char = per_char


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit that binds: what it is called, its amount, and how much of it this run may spend."""

    option: str
    usd: float
    for_this_run: float

    def __str__(self) -> str:
        return f"{self.option} {self.usd:g}"


def binding(max_cost: float | None, max_total_cost: float | None, before: float) -> Limit | None:
    """Which of the limits ends this run first, where `before` was spent in earlier ones."""
    limits = []
    if max_cost is not None:
        limits.append(Limit("--max-cost", max_cost, max_cost))
    if max_total_cost is not None:
        limits.append(Limit("--max-total-cost", max_total_cost, max_total_cost - before))
    return min(limits, key=lambda limit: limit.for_this_run, default=None)


class Budget:
    """US dollars over all models of a run. `settled` is called when money that was waited for came free.

    Args:
        max_cost: the limit of this run, if any.
        max_total_cost: the limit of all runs of the study, if any.
        before: what earlier runs spent.
        note_unsettled: called, before more goes out, with the most that may be spent beyond what is stored.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_total_cost: float | None = None,
        *,
        before: Spent | None = None,
        note_unsettled: Callable[[float], None] | None = None,
    ) -> None:
        self.before = before
        self.limit = binding(max_cost, max_total_cost, before.total if before else 0.0)
        self.spent = 0.0
        self.assumed = 0.0
        """Of that, what is not known, and counts at the most that it may have been."""
        self.reserved = 0.0
        self.wanted = 0.0
        """What the request that did not fit may have cost."""
        self._most = math.inf if self.limit is None else self.limit.for_this_run
        self._open = 0
        self.settled: list[Callable[[], None]] = []
        self._waited_for = False
        self._note_unsettled = note_unsettled
        self._stored = 0.0
        self._noted = 0.0

    def reserve(self, dearest: float) -> bool:
        """Set so much aside for a request; False if that could pass the limit."""
        if self.spent + self.reserved + dearest > self._most:
            self._waited_for = True
            self.wanted = dearest
            return False
        self.reserved += dearest
        self._open += 1
        if self._note_unsettled is not None and (need := self.unsettled) > self._noted:
            self._noted = max(need, min(need * _MORE, self._most - self._stored))
            self._note_unsettled(self._noted)
        return True

    @property
    def exhausted(self) -> bool:
        """Nothing in flight can set money free: what was asked for does not fit."""
        return self._waited_for and self._open == 0

    @property
    def unsettled(self) -> float:
        """The most that may be spent beyond what is stored."""
        return max(self.reserved + self.spent - self._stored, 0.0)

    def settle(self, reserved: float, cost: float, assumed: float = 0.0) -> None:
        """A request came to its end and cost so much, or may have cost what is assumed."""
        self._open -= 1
        self.reserved = max(self.reserved - reserved, 0.0) if self._open else 0.0
        self.spent += cost + assumed
        self.assumed += assumed
        if self._waited_for:
            self._waited_for = False
            for call in self.settled:
                call()

    def stored(self, usd: float) -> None:
        """So much of what was spent is in the study now. Only the writer's thread calls this."""
        self._stored += usd

    # What to tell

    @property
    def never_fits(self) -> bool:
        """Not even the whole limit pays for one query."""
        return self.limit is not None and 0 <= self._most >= self.spent and self.wanted > self.limit.usd

    def why(self, max_tokens: int, longest_answer: int = 0) -> str:
        """Why the run ended at its limit, and how to go on."""
        limit, before = self.limit, self.before
        assert limit is not None, "without a limit no money runs out"
        if self.spent > max(self._most, 0.0):
            return passed(limit, self.spent, max_tokens, longest_answer) + go_on(limit)
        if self.never_fits:
            return never_fits(limit, self.wanted, max_tokens, longest_answer)
        if limit.option == "--max-cost" or before is None:
            return reached(limit, Spent(self.spent - self.assumed, self.assumed), self.wanted)
        return reached(limit, before.and_more(self.spent - self.assumed, self.assumed), self.wanted)


def never_fits(limit: Limit, dearest: float, max_tokens: int, longest_answer: int = 0) -> str:
    """What to tell where the limit does not pay for one query."""
    if longest_answer > max_tokens:
        answer = (
            f"an answer of {longest_answer:,} tokens, as this model has written, whatever --max-tokens says"
        )
        lower = f"Raise {limit.option} above that."
    else:
        answer = f"an answer of --max-tokens {max_tokens:,}"
        lower = f"Lower --max-tokens, or raise {limit.option} above that."
    return (
        f"Stopped at {limit}: a single query may cost up to ${_up(dearest)} (its prompt and "
        f"{answer}, at the dearest price), which is set aside before it goes out. {lower}"
    )


def reached(limit: Limit, spent: Spent, wanted: float) -> str:
    """What to tell where the limit is reached: what was spent, why the rest was not, and how to go on.

    Args:
        limit: the limit that binds.
        spent: by this run, or by all runs of the study, as the limit has it.
        wanted: what the query that did not fit may have cost, in US dollars.
    """
    who = "this run has" if limit.option == "--max-cost" else "all runs of this study have"
    so_far = f"{who} cost ${spent.total:,.4f}{_not_known(spent)}"
    if spent.total >= limit.usd:
        return f"Stopped at {limit}: {so_far} already.{go_on(limit)}"
    next_one = f"the next query may cost up to ${_up(wanted)}, which is set aside before it goes out"
    return f"Stopped at {limit}: {so_far}, and {next_one}.{go_on(limit)}"


def _not_known(spent: Spent) -> str:
    """Which parts of what counts as spent are not known to be."""
    parts = [
        (spent.in_batches + spent.in_named_batches, "set aside for open batches"),
        (spent.unsettled, "for what was under way when a run was killed"),
        (spent.assumed, "assumed where a cost is not known"),
    ]
    named = [f"${usd:,.4f} {what}" for usd, what in parts if usd >= 0.00005]
    return f" (with {', '.join(named)})" if named else ""


def passed(limit: Limit, spent: float, max_tokens: int, longest_answer: int) -> str:
    """What to tell where the limit was passed: by how much, and why."""
    why = (
        f"answers took up to {longest_answer:,} tokens where --max-tokens asked for {max_tokens:,} at most"
        if longest_answer > max_tokens
        else "the provider counted more tokens than a prompt of that length comes to, or charged more than "
        "its prices in providers.toml say"
    )
    return f"Stopped at {limit}, which is passed by ${spent - limit.for_this_run:.4f}: {why}."


def go_on(limit: Limit) -> str:
    """What the same command does then."""
    if limit.option == "--max-cost":
        return (
            f" The same command goes on where it stopped, and may spend ${limit.usd:g} once more; "
            "--max-total-cost limits all runs of the study together."
        )
    return f" To go on, raise {limit.option}."


def _up(amount: float) -> str:
    """An amount with four digits that count, never rounded down: a limit of it is enough."""
    if amount <= 0:
        return "0"
    digits = max(3 - math.floor(math.log10(amount)), 0)
    return f"{math.ceil(amount * 10**digits) / 10**digits:.{digits}f}"
