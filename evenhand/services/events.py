"""What a service says while it works: progress and notices, as objects. A service prints nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the work begins."""

    name: str
    """read, estimate, report."""
    subject: str = ""
    """What it is about, such as the domain."""


@dataclass(frozen=True, slots=True)
class Progress:
    """So much of a stage is done; `total` is None where it is not known."""

    stage: str
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person should know besides the result: a sentence."""

    text: str


Event = Stage | Progress | Notice
Listener = Callable[[Event], None]
"""Called with each event, from the thread in which the work is done."""


def silent(event: Event) -> None:
    """Hear nothing."""
    del event
