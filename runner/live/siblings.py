"""Replicas of one model must be one model: what they say of themselves is held against each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.live.lane import Lane
    from runner.transport.outcome import Answer

_WHAT = {"model": "the model", "fingerprint": "the fingerprint"}


@dataclass(slots=True)
class Siblings:
    """The model's name and fingerprint that replicas gave first, and which of them gave it."""

    _first: dict[str, tuple[str, Lane]] = field(default_factory=dict)

    def differs(self, lane: Lane, answer: Answer) -> str | None:
        """Why this replica must not be asked any more; None where nothing speaks against it.

        What a replica does not state is not held against it. The first that states something is the measure.
        """
        for what, words in _WHAT.items():
            stated = getattr(answer, what)
            if not stated:
                continue
            first, where = self._first.setdefault(what, (stated, lane))
            if stated != first and where is not lane:
                return (
                    f"{lane.name}: {words} is {stated!r} here and {first!r} at {where.name}: replicas must "
                    "serve one model; correct the server, or leave it out of `replicas`"
                )
        return None
