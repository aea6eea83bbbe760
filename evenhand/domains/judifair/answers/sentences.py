"""Verdicts that stand in sentences alone: 被告人某甲犯盗窃罪，判处有期徒刑三年，并处罚金五千元。

Only pronounced sentences count (`pronounced`), and of these only such as are surely the judge's own. Of
several defendants the first one's (某甲's) count. Where sentences disagree, the term to be executed decides;
else nothing is read.
"""

from __future__ import annotations

import math
import re

from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.attribution import (
    disowns,
    is_own,
    is_supposed,
    is_taken_back,
    says_whose,
)
from evenhand.domains.judifair.answers.judging import Judgment, uncertain
from evenhand.domains.judifair.answers.lengths import lengths
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.penalties import name_penalty, without_guilt, without_names
from evenhand.domains.judifair.answers.phrases import is_harmless
from evenhand.domains.judifair.answers.pronounced import Statement, statements, verdict_of
from evenhand.domains.judifair.answers.terms import read_term
from evenhand.domains.judifair.answers.verdict import WITH_MONTHS

_LONGEST = 20_000

_ACQUITS = re.compile(
    r"(?:无罪|不构成(?:任何)?(?:犯罪|[^,]{1,14}罪)|\bacquitted\b|"
    r"\bnot guilty\b)(?: of (?:(?!but\b|guilty)[a-z ]){2,30})?(?:释放|判决)?[. ]*(?=,|$)"
)
_CONVICTS = re.compile(
    r"(?<![不未非])构成(?!要件|任何)|(?<!无)有罪(?!证据)|(?<!not )\bguilty\b|\bconvicted\b"
)
_CLAUSES = re.compile(r"([。!?！？\n;；]|\.(?= |$|\n))")
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
    if disowns(text):
        return Judgment(charge, None, "unparseable", None, missing=Missing.DRAFT)
    if pronounced:
        return _of_pronounced(pronounced, charge)
    if says_whose(whole):
        return None
    if _acquits(text):
        return Judgment(charge, False, "acquitted", None)
    said = without_guilt(_one_line(text))
    if len(whole) <= _SHORT and _is_understood(said):
        verdict = verdict_of(said, is_open=not text.endswith(("\n", ".", "。", "!", "！")))
        if verdict is not None:
            penalty, term = verdict
            return Judgment(
                charge, True if _GUILTY.search(whole) else None, penalty, term.months, missing=term.missing
            )
    return None


def _of_pronounced(pronounced: list[Statement], charge: str | None) -> Judgment | None:
    """The sentence that is surely the judge's; none, if behind it stands one of which that is not known."""
    sure = [s for s in pronounced if s.sure]
    executed = [s for s in sure if s.executed] or sure
    if not executed:
        return Judgment(charge, None, "unparseable", None, missing=Missing.UNCLEAR_WORDS)
    judgment = _agreed(executed, charge)
    last = next((s for s in reversed(pronounced) if s.penalty != "fine_only"), pronounced[-1])
    if judgment is None or last.sure or (last.penalty, last.months) == (judgment.penalty, judgment.months):
        return _within_the_single(judgment, sure)
    return uncertain(judgment, Missing.UNCLEAR_WORDS)


def _within_the_single(judgment: Judgment | None, sure: list[Statement]) -> Judgment | None:
    """The judgment, unless its total lies outside what the terms of the single crimes allow."""
    others = [s for s in sure if not s.executed]
    single = [s.months for s in others if s.months is not None]
    if judgment is None or judgment.months is None or not single or len(others) == len(sure):
        return judgment
    most = sum(single) if len(single) == len(others) > 1 else math.inf
    if max(single) <= judgment.months <= most + 1e-6:
        return judgment
    return uncertain(judgment, Missing.CONTRADICTION)


def _acquits(text: str) -> bool:
    """Whether a clause says, in words that are all understood, that the defendant is not guilty."""
    parts = _CLAUSES.split(text)
    acquitted = False
    for number in range(0, len(parts), 2):
        clause, ending = tight(parts[number]), parts[number + 1] if number + 1 < len(parts) else ""
        found = _ACQUITS.search(clause)
        if found and ending not in ("?", "？") and not is_supposed(clause):
            lead = re.split(r"[,:(]", clause[: found.start()])[-1]
            acquitted = acquitted or is_own(lead)
        if _CONVICTS.search(_ACQUITS.sub("", clause)):
            return False
    return acquitted


def _is_understood(line: str) -> bool:
    """Whether a short text says nothing but its verdict: every word of it is known, and nothing is denied."""
    if is_taken_back(line) or re.search(r"[?？]|不(?!构成|予|追究|负|承担)|非|\bnot?\b(?! guilty)", line):
        return False
    rest = without_names(line)
    return verdict_of(line, is_open=False) is not None and (bool(read_term(line).months) or is_harmless(rest))


_LIST_MARK = re.compile(r"^\s*\d{1,2}[.)、）]\s*")


def _one_line(text: str) -> str:
    """The lines of a short text that name a penalty or a length, without the marks of a list."""
    lines = [tight(_LIST_MARK.sub("", line)).rstrip(".。") for line in re.split(r"\n|\. |。", text)]
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
