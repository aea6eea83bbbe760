"""The exact ledger of what the scripted judge served: for every prompt and seed, each reply by kind.

With it a test proves that no query was answered twice and none was forgotten, whatever the client believes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

SETTLED: Final[Mapping[str, str]] = {
    "answered": "a",
    "drip": "d",
    "content_filter": "c",
    "empty": "e",
    "truncated": "t",
    "context_overflow": "o",
}
"""Replies that settle a query, for any client; with the letter that stands for each in a history."""

UNCLEAR: Final[Mapping[str, str]] = {"no_choices": "n", "wrong_content_type": "w", "unknown_prompt": "u"}
"""Replies that a client may take as final or not."""

UNSETTLED: Final[Mapping[str, str]] = {
    "limit_requests": "R",
    "limit_tokens": "K",
    "rate_limited": "L",
    "rate_limited_wait": "W",
    "error_500": "5",
    "error_502": "2",
    "error_503": "3",
    "error_529": "9",
    "reset_before": "B",
    "reset_during": "D",
    "hang": "H",
    "cut_body": "C",
    "not_json": "J",
    "html": "X",
    "empty_body": "E",
    "gone": "G",
    "model_gone": "M",
    "key_dead": "Q",
}
"""Replies (or none: `gone` is a client that left before its reply) after which a query is still open."""

_LETTER = {**SETTLED, **UNCLEAR, **UNSETTLED}
_KIND = {ord(letter): kind for kind, letter in _LETTER.items()}
_SETTLED_LETTERS = "".join(SETTLED.values()).encode()
_UNCLEAR_LETTERS = "".join(UNCLEAR.values()).encode()
assert len(_KIND) == len(_LETTER)


def prompt_key(digest: int, seed: int | None) -> int:
    """One number for a prompt and the seed it was asked with; repeats of a query differ in the seed."""
    return digest << 32 | (seed or 0) & 0xFFFFFFFF


@dataclass(slots=True)
class Ledger:
    """What was served."""

    history: dict[int, bytes] = field(default_factory=dict)
    """For each `prompt_key`, a letter for each reply in order."""
    in_flight: int = 0
    peak_in_flight: int = 0

    def record(self, key: int, kind: str) -> None:
        """Note a reply."""
        self.history[key] = self.history.get(key, b"") + _LETTER[kind].encode()

    def faults(self, key: int) -> int:
        """Replies to this prompt so far that left it open; refusals by a limit or a dead key do not count."""
        letters = self.history.get(key, b"")
        return len(letters) - sum(letters.count(letter) for letter in b"RKMQ" + _SETTLED_LETTERS)

    def kinds(self, key: int) -> tuple[str, ...]:
        """The replies to one prompt, in order."""
        return tuple(_KIND[letter] for letter in self.history.get(key, b""))

    def tally(self) -> Counter[str]:
        """Replies by kind."""
        counts: Counter[str] = Counter()
        for letters in self.history.values():
            counts.update(letters)  # type: ignore[arg-type]
        return Counter({_KIND[letter]: n for letter, n in counts.items()})  # type: ignore[index]

    def settled(self, key: int) -> int:
        """How often this prompt got a reply that settles it."""
        letters = self.history.get(key, b"")
        return sum(letters.count(letter) for letter in _SETTLED_LETTERS)

    def settled_twice(self) -> list[int]:
        """Prompts settled more than once: none but those in flight when a client was killed."""
        return [key for key in self.history if self.settled(key) > 1]

    def never_settled(self, keys: Iterable[int]) -> list[int]:
        """Those of `keys` that no clear or unclear reply has settled."""
        final = _SETTLED_LETTERS + _UNCLEAR_LETTERS
        return [key for key in keys if not any(letter in final for letter in self.history.get(key, b""))]

    def summary(self) -> dict[str, object]:
        """Counts, for a client in another process."""
        return {
            "prompts": len(self.history),
            "replies": sum(map(len, self.history.values())),
            "settled": sum(1 for key in self.history if self.settled(key)),
            "settled_twice": len(self.settled_twice()),
            "extra": sum(max(self.settled(key) - 1, 0) for key in self.history),
            "in_flight": self.in_flight,
            "peak_in_flight": self.peak_in_flight,
            "kinds": dict(sorted(self.tally().items())),
        }
