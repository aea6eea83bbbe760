"""Rendering: a template, a document and the slot texts of one query become the prompt that is sent.

A study stores a document once and, for each query, only what fills its slots. Rendering is a pure function of
the three, so that a prompt can be shown, hashed and sent again, always the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import orjson

SLOT = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
"""A slot of a text, by its name."""

DOCUMENT = "document"
"""The slot of a template that stands for the filled document."""


def slots(text: str) -> list[str]:
    """The names of the slots of a text, in order of first appearance."""
    return list(dict.fromkeys(SLOT.findall(text)))


class Slotted:
    """A text taken apart at its slots, to be filled many times (5 times as fast as looking for them each
    time)."""

    __slots__ = ("_fixed_chars", "_json_parts", "_names", "_parts")

    _json_parts: list[bytes] | None

    def __init__(self, text: str) -> None:
        self._take(SLOT.split(text))

    def fill(self, fills: Mapping[str, str]) -> str:
        """As the function `fill`."""
        parts = self._parts.copy()
        for place, name in self._names:
            parts[place] = fills.get(name, "")
        return "".join(parts)

    def fill_json(self, fills: Mapping[str, str]) -> bytes:
        """`fill` as it stands between the quotes of a JSON string, in UTF-8.

        The long parts, which all queries of a document share, are encoded and escaped once.
        """
        if self._json_parts is None:
            self._json_parts = [_json_inside(part) for part in self._parts]
        parts = self._json_parts.copy()
        for place, name in self._names:
            parts[place] = _json_inside(fills.get(name, ""))
        return b"".join(parts)

    def chars(self, fills: Mapping[str, str]) -> int:
        """The length of `fill`, in characters."""
        return self._fixed_chars + sum([len(fills.get(name, "")) for _, name in self._names])

    def around(self, document: Slotted) -> Slotted:
        """This text as a template with the document in its place: `fill` of it is `render`."""
        parts = [""]
        for place, part in enumerate(self._parts):
            if place % 2 == 0:
                parts[-1] += part
            elif part == DOCUMENT:
                first, *rest = document._parts
                parts[-1] += first
                parts += rest
            else:
                parts += [part, ""]
        return Slotted._of(parts)

    @classmethod
    def _of(cls, parts: list[str]) -> Slotted:
        made = cls.__new__(cls)
        made._take(parts)
        return made

    def _take(self, parts: list[str]) -> None:
        """Parts: text and the name of a slot in turns, a text first and last."""
        self._parts = parts
        self._names = list(enumerate(parts))[1::2]
        self._fixed_chars = sum(map(len, parts[::2]))
        self._json_parts = None


def _json_inside(text: str) -> bytes:
    return orjson.dumps(text)[1:-1]


def fill(text: str, fills: Mapping[str, str]) -> str:
    """Replace each `{{slot}}` by its text; a slot that `fills` does not name becomes empty.

    A fill is put in as it is: slots inside it are not looked for, so no text of a case can reach another
    slot.
    """
    return Slotted(text).fill(fills)


def render(template_user_text: str, document_text: str, fills: Mapping[str, str]) -> str:
    """The user message: the template, with `{{document}}` the filled document and other slots filled too."""
    return Slotted(template_user_text).around(Slotted(document_text)).fill(fills)


def difference(here: str, there: str) -> tuple[str, str, str, str]:
    """What both texts begin with, what each has alone, what both end with."""
    shorter = min(len(here), len(there))
    start = next((i for i in range(shorter) if here[i] != there[i]), shorter)
    end = next((i for i in range(shorter - start) if here[-1 - i] != there[-1 - i]), shorter - start)
    cut_here, cut_there = len(here) - end, len(there) - end
    return here[:start], here[start:cut_here], there[start:cut_there], here[cut_here:]
