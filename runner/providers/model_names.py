"""Whether the model that a server says has answered is the one that was asked.

A date or version at the end (gpt-4o-mini-2024-07-18), a provider before it (openai/gpt-4o-mini), a file's
ending (.gguf) and the case of letters make no other model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_SERVED_AS = re.compile(r":(?:latest|free|nitro|floor|online|extended)$|\.gguf$")
_LATEST = re.compile(r"-(?:latest|preview)$")
_DATE = re.compile(
    r"(?:[-_]preview)?[-_@](\d{8}|\d{6}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{4}|\d{3})$"
)


def is_same(returned: str, asked: str) -> bool:
    """Whether both names mean one model. Two that differ in their dates do not."""
    one, its_date = _parts(returned)
    other, other_date = _parts(asked)
    return one == other and (its_date is None or other_date is None or its_date == other_date)


def others(returned: Counter[str], asked: Iterable[str]) -> dict[str, int]:
    """Of the names that came back, with their counts, those of other models, the most frequent first."""
    known = tuple(asked)
    counts = sorted(returned.copy().items(), key=lambda pair: -pair[1])
    return {name: count for name, count in counts if not any(is_same(name, one) for one in known)}


def _parts(name: str) -> tuple[str, str | None]:
    """The name without provider, and its date, if it has one."""
    bare = _SERVED_AS.sub("", name.strip().lower().replace("\\", "/").rpartition("/")[2])
    dated = _DATE.search(bare)
    if dated is None:
        return _LATEST.sub("", bare), None
    return bare[: dated.start()], re.sub(r"\D", "", dated[1])
