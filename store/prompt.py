"""Rendering: a template, a document and the slot texts of one query become the prompt that is sent.

A study stores a document once and, for each query, only what fills its slots. Rendering is a pure function of
the three, so that a prompt can be shown, hashed and sent again, always the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SLOT = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")

DOCUMENT = "document"
"""The slot of a template that stands for the filled document."""


def slots(text: str) -> list[str]:
    """The names of the slots of a text, in order of first appearance."""
    return list(dict.fromkeys(_SLOT.findall(text)))


class Slotted:
    """A text taken apart at its slots, to be filled many times (5 times as fast as looking for them each
    time)."""

    __slots__ = ("_names", "_parts")

    def __init__(self, text: str) -> None:
        parts = _SLOT.split(text)
        self._parts = parts
        self._names = list(enumerate(parts))[1::2]

    def fill(self, fills: Mapping[str, str]) -> str:
        """As the function `fill`."""
        parts = self._parts.copy()
        for place, name in self._names:
            parts[place] = fills.get(name, "")
        return "".join(parts)

    def render(self, document: Slotted, fills: Mapping[str, str]) -> str:
        """As the function `render`, this text being the template."""
        return self.fill({**fills, DOCUMENT: document.fill(fills)})


def fill(text: str, fills: Mapping[str, str]) -> str:
    """Replace each `{{slot}}` by its text; a slot that `fills` does not name becomes empty.

    A fill is put in as it is: slots inside it are not looked for, so no text of a case can reach another
    slot.
    """
    return Slotted(text).fill(fills)


def render(template_user_text: str, document_text: str, fills: Mapping[str, str]) -> str:
    """The user message: the template, with `{{document}}` the filled document and other slots filled too."""
    return Slotted(template_user_text).render(Slotted(document_text), fills)
