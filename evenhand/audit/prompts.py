"""A prompt: instructions around a case. An arm is another wording of the instructions, never a model
setting."""

from __future__ import annotations

from dataclasses import dataclass

BASE_ARM = "base"
"""The arm that a domain asks unless told otherwise."""

CASE = "case"
"""The slot of a prompt that stands for the case."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template. `{{case}}` in `user_text` stands for the case with its slots filled."""

    name: str
    user_text: str
    system_text: str | None = None
    arm: str = BASE_ARM
