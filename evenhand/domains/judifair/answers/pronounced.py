"""Sentences that a text pronounces: 被告人某甲犯盗窃罪，判处有期徒刑三年，并处罚金五千元。

Only what is pronounced counts (判处, 决定执行, "sentenced to"): never what a statute allows, what might be,
what others ask for, what is asked or denied (`attribution`). Where words stand before it that are not
understood, it is not sure whose it is: such a sentence is never read, but it may contradict one that was.
A term counts only where the words around it are understood (`phrases`) and something closes it: 三年 at the
very end of a text may be the beginning of 三年六个月.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from evenhand.audit.answers.numerals import NUMBER
from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.attribution import is_of_another, is_own, is_supposed, is_taken_back
from evenhand.domains.judifair.answers.lengths import lengths, without_other_lengths
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.penalties import name_penalty
from evenhand.domains.judifair.answers.phrases import is_harmless
from evenhand.domains.judifair.answers.terms import Term, read_term
from evenhand.domains.judifair.answers.verdict import WITH_MONTHS, Penalty

_LONGEST = 20_000
_MOST_STATEMENTS = 200

_CLAUSE_END = re.compile(r"([。!?！？\n;；]|(?<!\bmr)(?<!\bms)\.(?= |$|\n))", re.IGNORECASE)
_FIRST = re.compile(r"[甲A1]|\b[a1]$")
_DEFENDANT = re.compile(r"某[甲乙丙丁戊己庚]|被告人?[甲乙丙丁AB]|\bdefendant [ab\d]\b")
_NUMERAL = r"[一二三四五六七八九十两半\d]"
_PRONOUNCES = re.compile(
    rf"(?:决定|合并|应)执行|判处|被判|判决(?:结果)?[为是:]?|处以|判(?=有期|无期|死|拘|管|{_NUMERAL})|"
    rf"量刑[为是:]|"
    rf"刑[罚期](?:类型)?(?:应当?)?[为是:]|予以|给予|宣告|对[其他她](?=免)|(?:被告人?.{{0,4}}|某.):(?=有期|无期|死|拘|"
    rf"管|免|无罪|{_NUMERAL})|"
    r"\bsentenc(?:ed|es?)\b|\bimpos(?:ed?|es)\b|\breceives?\b|\bserves?\b|\bpenalty is\b"
)
_EXECUTED = re.compile(r"(?:决定|合并|应)执行|\bcombined\b")
_CONTINUES = re.compile(r"[,(]? ?(?:或者?|还是|至|到|[-~–—]|以[上下]|左右|上下|\bor\b|\bto\b)")
_SEGMENT_END = re.compile(r"[,(;:]")
_LEAD_BEGINS = re.compile(r"[,(;]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A pronounced sentence. `executed`: it is the total; `owner`: whose it is, where the text says so.

    `sure`: every word before it is understood, and nothing behind it takes it back, so that it is the judge's
    own. `missing`: why the term that was stated could not be taken.
    """

    penalty: Penalty
    months: float | None
    executed: bool
    owner: str | None
    missing: Missing | None = None
    sure: bool = True


def statements(text: str) -> list[Statement]:
    """Every pronounced sentence, each from its word of pronouncing to the next or the clause's end."""
    found: list[Statement] = []
    owner: str | None = None
    parts = _CLAUSE_END.split(text[:_LONGEST])
    for number in range(0, len(parts), 2):
        clause, ending = tight(parts[number]), parts[number + 1] if number + 1 < len(parts) else ""
        marks = list(_PRONOUNCES.finditer(clause))[:_MOST_STATEMENTS]
        supposed = bool(marks) and (ending in ("?", "？") or is_supposed(clause))
        defendants = list(_DEFENDANT.finditer(clause))
        start = last = 0
        for i, mark in enumerate(marks):
            stop = marks[i + 1].start() if i + 1 < len(marks) else len(clause)
            named = [d.group() for d in defendants if last <= d.start() < stop]
            owner = named[0] if named else owner
            last = stop
            begin, start = start, mark.end()
            if supposed or is_of_another(clause, begin, mark.start()) or _is_long_ago(clause, begin, mark):
                continue
            verdict = verdict_of(clause[mark.start() : stop], is_open=not ending and stop == len(clause))
            if verdict:
                penalty, term = verdict
                if (
                    not ending
                    and stop == len(clause)
                    and penalty in WITH_MONTHS
                    and not (term.months or term.missing)
                ):
                    term = Term(None, missing=Missing.CUT_OFF)
                executed = bool(_EXECUTED.match(mark.group()))
                sure = _is_sure(clause, begin, mark, stop)
                if not ending and not _is_whole(clause[mark.end() : stop]):
                    sure = False
                found.append(Statement(penalty, term.months, executed, owner, term.missing, sure))
            elif found and not ending and stop == len(clause):  # a further sentence was to come
                found.append(Statement("unparseable", None, False, owner, Missing.CUT_OFF, sure=False))
        if not marks and defendants:
            owner = defendants[-1].group()
        if len(found) > _MOST_STATEMENTS:
            break
    return _of_the_first(found)


# In 2015 he was sentenced: a date, and the passive
_LONG_AGO = re.compile(r"(?:19|20)\d\d(?:年|\b)|[一二]年前|\b(?:19|20)\d\d\b")


def _is_long_ago(clause: str, begin: int, mark: re.Match[str]) -> bool:
    """Whether a sentence is told as one of the past: 2015年因盗窃罪被判处."""
    before = clause[begin : mark.start()]
    passive = mark.group().startswith("被") or re.search(r"被$|\b(?:was|been) $", before)
    return bool(passive) and _LONG_AGO.search(before) is not None


def _is_sure(clause: str, begin: int, mark: re.Match[str], stop: int) -> bool:
    """Whether the words between the mark before and this one are understood, and nothing takes it back."""
    before = clause[begin : mark.start()]
    cut = max((m.end() for m in _LEAD_BEGINS.finditer(before)), default=0)
    lead = before[cut:]
    return is_own(lead) and not is_taken_back(clause[mark.end() : stop])


def _is_whole(said: str) -> bool:
    """Whether nothing behind the first segment of an unclosed clause may begin something else."""
    _, *rest = _SEGMENT_END.split(without_other_lengths(said))
    return "罪" not in said and is_harmless(",".join(rest))


def _of_the_first(found: list[Statement]) -> list[Statement]:
    """The first defendant's statements of several; those of one who is not the first are not sure."""
    owners = [s.owner for s in found if s.owner]
    first = next((o for o in owners if _FIRST.search(o)), owners[0] if owners else None)
    if len(set(owners)) < 2:
        of_another = first is not None and not _FIRST.search(first)
        return [replace(s, sure=False) for s in found] if of_another else found
    return [s for s in found if s.owner == first]


def verdict_of(said: str, *, is_open: bool) -> tuple[Penalty, Term] | None:
    """The penalty and term that a piece of a clause names. `is_open`: the text ends with it, unclosed."""
    named, term = name_penalty(said), _term_of(said)
    if term.months is not None and term.unit is None:
        term = Term(None, missing=Missing.UNCLEAR_UNIT)
    if is_open and said and _ends_in_its_term(said, term):
        term = Term(None, missing=Missing.CUT_OFF)
    if named.penalty is None:
        stated = term.months or next(lengths(said), None)
        if not named.alternatives and stated and (term.months or term.missing):
            return "fixed_term", term
        return None
    if named.penalty == "death" and is_open:  # 死刑 may be the beginning of 死刑，缓期二年执行
        return "unparseable", Term(None, missing=Missing.CUT_OFF)
    return named.penalty, term if named.penalty in WITH_MONTHS else Term(None)


_ENDS_IN_A_NUMBER = re.compile(rf"(?:{NUMBER}|[.,]|[\d百千]|\bhundred(?: and)?)$")


def ends_in_years(text: str) -> bool:
    """Whether a text ends in a number, or in whole years that months may follow."""
    text = tight(text[-60:])
    if _ENDS_IN_A_NUMBER.search(text):
        return True
    last = [length for length in lengths(text) if length.end == len(text)]
    return bool(last) and last[-1].unit == "year" and not re.search(r"半$|half$|月$|months?$", text)


def _ends_in_its_term(said: str, term: Term) -> bool:
    return (term.months is not None or term.missing is not None) and ends_in_years(said)


def _term_of(said: str) -> Term:
    """The term of a piece of a clause: of all of it if that is understood, else of its first segment.

    What follows the first segment may be anything but another length or the rest of a range.
    """
    whole = read_term(said)
    if whole.missing not in (Missing.UNCLEAR_WORDS, Missing.RANGE):
        return whole
    text = without_other_lengths(said)
    first = next(lengths(text), None)
    if first is None:
        return whole
    end = _SEGMENT_END.search(text, first.end)
    if end is None or _CONTINUES.match(text, end.start()):
        return whole
    head = read_term(text[: end.start()])
    if head.months is None:
        return whole if whole.missing == Missing.RANGE else head
    if any(not math.isclose(o.months, head.months) for o in lengths(text[end.start() :])):
        return Term(None, missing=Missing.SEVERAL_TERMS)
    return head
