"""What JSON has no value for: a key that stands twice, and a value that the end of the text cuts off."""

from __future__ import annotations

from typing import Any

CUT_OFF = "\x00"
"""Stands for a value that nothing closes, so that it may be the beginning of another."""


class Doubled(list[Any]):
    """The values of a key that stands more than once in one object."""
