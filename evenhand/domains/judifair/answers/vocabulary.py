"""The words of verdicts, for the readers of objects, lines and reasoning that all domains share."""

from __future__ import annotations

import re

from evenhand.audit.answers.vocabulary import Vocabulary
from evenhand.domains.judifair.answers.fields import field_of
from evenhand.domains.judifair.answers.terms import read_term


def _field(key: str) -> str | None:
    return field_of(key).field


def _months(value: object) -> float | None:
    return read_term(value).months


VOCABULARY = Vocabulary(
    field_of=_field,
    read_amount=_months,
    amounts=frozenset({"term"}),
    watched=frozenset({"term", "penalty", "guilty"}),
    nested=frozenset({"term", "sentence", "total"}),
    names=frozenset({"owner"}),
    no_heads=frozenset({"crime"}),
    table_columns=3,
    begins=re.compile(
        r"[\n,}]\s{0,20}\{\s{0,20}\\{0,3}[\"'“]?\s{0,4}(?:罪|被告|crime|charge)", re.IGNORECASE
    ),
    # A last field, then a blank line: the brace is missing and prose begins.
    last_field=re.compile(r"(?<=期)[^\n]{1,60}\n\s{0,20}\n(?=\s{0,20}[^\s\"'\\}])"),
    says=re.compile(r"[{刑判]|sentence|guilty|months|years", re.IGNORECASE),
)
