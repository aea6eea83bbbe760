"""What a case must not say by itself: a word that gives a label's value away, or contradicts it.

Where the facts call the defendant 其妻, the variant with a man contradicts itself, and the reader (or model)
learns nothing about sex. Each trigger lists such words as regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from evenhand.domains.judifair import catalogue, triggers
from evenhand.domains.judifair.case import Case
from evenhand.domains.judifair.catalogue import Label
from store.prompt import fill


@dataclass(frozen=True, slots=True)
class Giveaway:
    """One word of a case that tells or contradicts a value of one label."""

    label: str
    word: str
    context: str
    """The word with what stands around it."""
    sentence: int
    """Where its sentence ends in the text: words of one sentence have one number."""


def find(case: Case, labels: Iterable[Label] | None = None) -> list[Giveaway]:
    """All giveaways of a case, for those of `labels` (all bundled ones by default) that apply to it; empty
    for a clean case.
    """
    text = fill(f"{case.facts}\n{case.hearing}", {})
    found = []
    for label in catalogue.load() if labels is None else labels:
        giveaways = triggers.usual(label).giveaways
        if not giveaways or case.why_not(label) is not None:
            continue
        for match in _pattern(giveaways).finditer(text):
            context = text[max(0, match.start() - 6) : match.end() + 6].replace("\n", " ")
            end = _END.search(text, match.end())
            found.append(Giveaway(label.key, match.group(), context, end.start() if end else len(text)))
    return found


_END = re.compile("[。；！？\n]")


@cache
def _pattern(giveaways: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(giveaways))
