"""Takes keys out of any text before it is stored or shown: providers and models can echo them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_SHAPES = re.compile(
    r"""(?ix)
    (?: \b(?:sk|pk|rk|gsk|xai|hf|key|AIza)[-_][A-Za-z0-9_*.\-]{6,}  # the usual shapes, masked ones too
      | \bAIza[A-Za-z0-9_\-]{10,}
      | (?<=bearer\s)[^\s"',;]{4,}
      | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                              # a name and password in a (proxy's) URL
    )"""
)
_MASKED = re.compile(r"([A-Za-z0-9_-]*)(?:[.*•]{2,}|…+)([A-Za-z0-9_-]*)")
"""What is left of a word of which the middle, or the beginning, was hidden."""
_UNSHOWN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_MARK = "[redacted]"
_REMOVED = "[key removed]"
_SHORTEST = 4
_SHORTEST_IN_ANSWERS = 8
"""A shorter key may be a word that answers have by chance."""
_LONG_PART = 12
"""Of so many characters at the beginning or the end of a key, none is shown."""
_TELLING = 3
"""So many characters left of a masked key are taken out."""


class Redactor:
    """Knows the names of the variables that hold keys; reads their values only while it cleans."""

    def __init__(self, variables: Iterable[str]) -> None:
        self._variables = tuple(dict.fromkeys(variables))

    def clean(self, text: str, limit: int = 500) -> str:
        """An error's text without keys, on one line, cut to `limit` characters.

        A key is found whole, masked ("abcd****wxyz"), and cut off at the end of the text.
        """
        values = [value for value in self._values() if len(value) >= _SHORTEST]
        for value in values:
            text = text.replace(value, _MARK)
            text = _MASKED.sub(lambda found, key=value: _unmasked(found, key), text)  # type: ignore[misc]
            text = _without_parts(_without_beginning(text, value), value)
        text = _UNSHOWN.sub("\ufffd", " ".join(_SHAPES.sub(_MARK, text).split()))
        return text if len(text) <= limit else text[: limit - 1] + "…"

    def keys(self) -> list[str]:
        """The keys in use, for `without_keys` of all texts of one answer; not to be kept."""
        return [value for value in self._values() if len(value) >= _SHORTEST_IN_ANSWERS]

    def _values(self) -> list[str]:
        return [os.environ.get(name, "").strip() for name in self._variables]


def without_keys(text: str, keys: Iterable[str]) -> str:
    """A model's own text, unchanged but for keys that it repeats."""
    for key in keys:
        if key in text:
            text = text.replace(key, _REMOVED)
    return text


def _unmasked(found: re.Match[str], key: str) -> str:
    start, end = found.groups()
    left = len(start) + len(end)
    if _TELLING <= left < len(key) and key.startswith(start) and key.endswith(end):
        return _MARK
    return found[0]


def _without_beginning(text: str, key: str) -> str:
    """The text without a key of which its end has only the beginning, as a long body was cut within it."""
    for length in range(len(key) - 1, _SHORTEST_IN_ANSWERS - 1, -1):
        if text.endswith(key[:length]):
            return text[:-length] + _MARK
    return text


def _without_parts(text: str, key: str) -> str:
    """The text without what some servers leave of a key: its beginning or its end."""
    for cut in (slice(None, -1), slice(1, None)):
        part = key[cut]
        while len(part) >= _LONG_PART:
            if part in text:
                text = text.replace(part, _MARK)
                break
            part = part[cut]
    return text
