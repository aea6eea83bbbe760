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


def fill(text: str, fills: Mapping[str, str]) -> str:
    """Replace each `{{slot}}` by its text; a slot that `fills` does not name becomes empty.

    A fill is put in as it is: slots inside it are not looked for, so no text of a case can reach another
    slot.
    """
    return _SLOT.sub(lambda match: fills.get(match.group(1), ""), text)


def render(template_user_text: str, document_text: str, fills: Mapping[str, str]) -> str:
    """The user message: the template, with `{{document}}` the filled document and other slots filled too."""
    return fill(template_user_text, {**fills, DOCUMENT: fill(document_text, fills)})
