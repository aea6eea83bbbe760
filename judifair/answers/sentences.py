"""Verdicts that stand in sentences alone: 被告人某甲犯盗窃罪，判处有期徒刑三年，并处罚金五千元。

Only pronounced sentences count (`pronounced`). Of several defendants the first one's (某甲's) count. Where
sentences disagree, the term to be executed decides; else nothing is read.
"""

from __future__ import annotations

import re

from evenhand.audit.answers.writing import tight
from judifair.answers.judging import Judgment
from judifair.answers.lengths import lengths
from judifair.answers.missing import Missing
from judifair.answers.penalties import name_penalty
from judifair.answers.pronounced import Statement, is_hypothetical, statements, verdict_of
from judifair.answers.verdict import WITH_MONTHS

_LONGEST = 20_000

_ACQUITS = re.compile(
    r"(?:宣告|判决|判定|认定|裁定|结论).{0,12}(?:无罪|不构成犯罪)|(?:被告人?|某甲).{0,12}(?:无罪|"
    r"不构成(?:犯罪|.{1,14}罪))|"
    r"\bacquitted\b|\b(?:is|are|found|verdict:?) not guilty\b"
)
_CHARGE = re.compile(r"(?:犯有?|构成|涉嫌|罪名[为是:])([^,，。;；:：犯]{1,24}?罪)")
_GUILTY = re.compile(r"构成|犯有?|有罪|\bguilty\b|\bconvicted\b")
_SHORT = 60


def read_sentences(text: str) -> Judgment | None:
    """The verdict pronounced in prose; None if none is, or if those pronounced disagree."""
    text = text[:_LONGEST]
    whole = tight(text)
    found = _CHARGE.search(whole)
    charge = found[1] if found else None
    pronounced = statements(text)
    if pronounced:
        executed = [s for s in pronounced if s.executed]
        return _agreed(executed or pronounced, charge)
    if is_hypothetical(whole):
        return None
    if _ACQUITS.search(whole):
        return Judgment(charge, False, "acquitted", None)
    if len(whole) <= _SHORT:
        verdict = verdict_of(_one_line(text), is_open=not text.endswith(("\n", ".", "。", "!", "！")))
        if verdict is not None:
            penalty, term = verdict
            return Judgment(
                charge, True if _GUILTY.search(whole) else None, penalty, term.months, missing=term.missing
            )
    return None


_LIST_MARK = re.compile(r"^\s*\d{1,2}[.)、）]\s*")


def _one_line(text: str) -> str:
    """The lines of a short text that name a penalty or a length, without the marks of a list."""
    lines = [tight(_LIST_MARK.sub("", line)).rstrip(".。") for line in text.split("\n")]
    telling = [line for line in lines if name_penalty(line).penalty or any(lengths(line))]
    return "".join(telling)


def _agreed(pronounced: list[Statement], charge: str | None) -> Judgment | None:
    """The one sentence pronounced; different ones of one kind leave the kind, different kinds nothing."""
    unread = next((s for s in pronounced if s.missing), None)
    if unread is not None:
        kinds = {s.penalty for s in pronounced}
        kind = kinds.pop() if len(kinds) == 1 else "unparseable"
        return Judgment(charge, None if kind == "unparseable" else True, kind, None, missing=unread.missing)
    legible = {
        (s.penalty, s.months) for s in pronounced if s.months is not None or s.penalty not in WITH_MONTHS
    }
    kinds = {s.penalty for s in pronounced}
    if len(legible) == 1:
        penalty, months = legible.pop()
        return Judgment(charge, penalty != "acquitted", penalty, months)
    if len(kinds) > 1:
        return None
    missing = Missing.SEVERAL_TERMS if legible else None
    return Judgment(charge, True, kinds.pop(), None, missing=missing)
