"""Facts that a case tells in its own words, found in the queries themselves: the study does not keep the
case file.

A query's text is compared with the sentence that every case has for its label and value. The names in it
differ from case to case; whatever else differs is the case's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from evenhand.domains.judifair import triggers, wording
from evenhand.domains.judifair.catalogue import Label

_EXAMPLES = 3
_LONGEST = 60


def rows(queries: Iterable[Sequence[Any]], labels: Iterable[Label]) -> Iterator[tuple[Any, ...]]:
    """Rows of a finding's details, from (collection, doc_id, label, value, fills) and the study's labels."""
    known = {label.key: label for label in labels}
    places: dict[tuple[str, str, str, str], list[str]] = {}
    asked: dict[tuple[str, str], int] = {}
    for collection, doc_id, label, value, fills in queries:
        asked[collection, label] = asked.get((collection, label), 0) + 1
        note = _told(known.get(label), value, triggers.alone("".join(json.loads(fills).values())))
        if note is not None:
            places.setdefault((collection, label, value, note), []).append(doc_id)
    for (collection, label, value, note), documents in places.items():
        examples = [f"document {document}" for document in documents[:_EXAMPLES]]
        yield (
            collection, None, None, label, value, len(documents), asked[collection, label], None, note,
            examples
        )  # fmt: skip


def _told(label: Label | None, zh: str, text: str) -> str | None:
    """What is the case's own in a text; None where it is the sentence of all cases, or the label is
    unknown.
    """
    if label is None:
        return None
    value = next((value for value in label.values if value.zh == zh), None)
    if value is None:
        return None
    frame, person = triggers.usual(label).frame, triggers.opening(label)
    if _shared(frame, person, wording.own(label, value)).fullmatch(text):
        return None
    found = _shared(frame, person, None).fullmatch(text)
    if found is None:
        words = "" if wording.own(label, value) in text or zh in text else f"; it does not say {zh}"
        return f"its own sentence: {_cut(text)}{words}"
    told = found["value"]
    doubt = "" if wording.same_fact(label, value, told) else "; its words alone do not say so"
    return f"{zh} told as {_cut(told)}{doubt}"


@cache
def _shared(frame: str, person: str, words: str | None) -> re.Pattern[str]:
    """The usual sentence of a label, with any names, and these words for the value; any if None."""
    whole = frame.replace("{person}", person)
    pattern = ""
    value = ".+?" if words is None else re.escape(words)
    for part in re.split(r"(\{[a-z]+\})", whole):
        if part == "{value}":
            pattern += f"(?P<value>{value})" if "(?P<value>" not in pattern else "(?P=value)"
        elif part == "{now}":
            pattern += "(?:目前|生前)"
        else:
            pattern += ".+?" if part.startswith("{") else re.escape(part)
    return re.compile(pattern, re.DOTALL)


def _cut(text: str) -> str:
    return f"'{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}'"
