"""Takes keys out of any text before it is stored or shown: providers' error bodies can echo them."""

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
_MARK = "[redacted]"
_SHORTEST = 4


class Redactor:
    """Knows the names of the variables that hold keys; reads their values only while it cleans."""

    def __init__(self, variables: Iterable[str]) -> None:
        self._variables = tuple(dict.fromkeys(variables))

    def clean(self, text: str, limit: int = 500) -> str:
        """The text without keys, on one line, cut to `limit` characters."""
        for name in self._variables:
            value = os.environ.get(name, "").strip()
            if len(value) >= _SHORTEST:
                text = text.replace(value, _MARK)
        text = " ".join(_SHAPES.sub(_MARK, text).split())
        return text if len(text) <= limit else text[: limit - 1] + "…"
