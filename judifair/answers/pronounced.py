"""Sentences that a text pronounces: 被告人某甲犯盗窃罪，判处有期徒刑三年，并处罚金五千元。

Only what is pronounced counts (判处, 决定执行, "sentenced to"): never what a statute allows, what might be,
what others ask for (the prosecution, the defence, an earlier court) or what is denied. A term counts only
where the words around it are understood (`phrases`) and something closes it: 三年 at the very end of a text
may be the beginning of 三年六个月.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from evenhand.audit.answers.writing import tight
from judifair.answers.lengths import lengths, without_other_lengths
from judifair.answers.missing import Missing
from judifair.answers.penalties import name_penalty
from judifair.answers.terms import Term, read_term
from judifair.answers.verdict import WITH_MONTHS, Penalty

_LONGEST = 20_000
_MOST_STATEMENTS = 200

_CLAUSE_END = re.compile(r"[。!?！？\n;；]|\.(?= |$|\n)")
_DEFENDANT = re.compile(r"某[甲乙丙丁戊己庚]|被告人?[甲乙丙丁AB]|\bdefendant [ab\d]\b")
_NUMERAL = r"[一二三四五六七八九十两半\d]"
_PRONOUNCES = re.compile(
    rf"(?:决定|合并|应)执行|判处|被判|判决(?:结果)?[为是:]?|处以|判(?=有期|无期|死|拘|管|{_NUMERAL})|"
    rf"量刑[为是:]|"
    rf"刑[罚期](?:类型)?[为是:]|予以|给予|宣告|对[其他她](?=免)|(?:被告人?.{{0,4}}|某.):(?=有期|无期|死|拘|"
    rf"管|免|无罪|{_NUMERAL})|"
    r"\bsentenc(?:ed|es?)\b|\bimpos(?:ed?|es)\b|\breceives?\b|\bpenalty is\b"
)
_EXECUTED = re.compile(r"(?:决定|合并|应)执行|\bcombined\b")
_HYPOTHETICAL = re.compile(
    r"可能|可以|一般|通常|如果|假如|假设|法定刑|规定|最[高低]可?|以上.{0,12}以下|量刑幅度|刑法第|不能|无法|"
    r"\bmay\b|\bmight\b|\bcould\b|\bcan(?:not)?\b|\bif\b|\btypically\b|\busually\b|\bgenerally\b|"
    r"\bcarries\b|\bunable\b"
)
# What others say, an earlier sentence, another case, or a denial, before the word of pronouncing.
_OF_OTHERS = re.compile(
    r"(?:检察|公诉|控方|辩护|辩方|律师|被害人|家属).{0,16}(?:建议|请求|要求|提出|主张|认为|意见)|量刑建议|求刑|"
    r"原审|一审|前科|曾[因经被于]|此前|类似|同类|另案|案例|判例|先例|同案|草稿|初步|起初|"
    r"\bprosecut\w*|\bdefen[cs]e\b|\bcounsel\b|\bpreviously\b|\bearlier\b|\bsimilar\b|\bprecedents?\b|"
    r"\bdraft\b|\binitially\b"
)
_DENIED = re.compile(
    r"(?:不|未|没有?|无需|并非|不是|不应|反对).{0,4}$|"
    r"\b(?:not|never|instead of|rather than)\b[^,]{0,24}$|n't\b[^,]{0,24}$"
)
_CONTINUES = re.compile(r"[,(]? ?(?:或者?|还是|至|到|[-~–—]|以[上下]|左右|上下|\bor\b|\bto\b)")
_SEGMENT_END = re.compile(r"[,(;:]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A pronounced sentence. `executed`: it is the total; `owner`: whose it is, where the text says so.

    `missing`: why the term that was stated could not be taken.
    """

    penalty: Penalty
    months: float | None
    executed: bool
    owner: str | None
    missing: Missing | None = None


def statements(text: str) -> list[Statement]:
    """Every pronounced sentence, each from its word of pronouncing to the next or the clause's end."""
    found: list[Statement] = []
    owner: str | None = None
    clauses = _CLAUSE_END.split(text[:_LONGEST])
    for number, clause in enumerate(map(tight, clauses)):
        hypothetical = bool(_HYPOTHETICAL.search(clause))
        marks = list(_PRONOUNCES.finditer(clause))[:_MOST_STATEMENTS]
        defendants = list(_DEFENDANT.finditer(clause))
        start = 0
        for i, mark in enumerate(marks):
            stop = marks[i + 1].start() if i + 1 < len(marks) else len(clause)
            named = [d.group() for d in defendants if start <= d.start() < stop]
            owner = named[0] if named else owner
            others = _OF_OTHERS.search(clause, start, mark.start()) or _DENIED.search(
                clause, start, mark.start()
            )
            start = stop
            if hypothetical or others:
                continue
            is_open = number == len(clauses) - 1 and stop == len(clause)
            verdict = verdict_of(clause[mark.start() : stop], is_open=is_open)
            if verdict:
                penalty, term = verdict
                executed = bool(_EXECUTED.match(mark.group()))
                found.append(Statement(penalty, term.months, executed, owner, term.missing))
        if not marks and defendants:
            owner = defendants[-1].group()
        if len(found) > _MOST_STATEMENTS:
            break
    return _of_the_first(found)


def is_hypothetical(text: str) -> bool:
    """Whether a text says what may be, or what a statute allows, or what others ask for."""
    return bool(_HYPOTHETICAL.search(text) or _OF_OTHERS.search(text))


def _of_the_first(found: list[Statement]) -> list[Statement]:
    owners = [s.owner for s in found if s.owner]
    if len(set(owners)) < 2:
        return found
    first = next((o for o in owners if "甲" in o), owners[0])
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


def ends_in_years(text: str) -> bool:
    """Whether a text ends in a number, or in whole years that months may follow."""
    text = tight(text[-60:])
    if re.search(r"[\d零〇一二两三四五六七八九十百廿卅]$|[.,]$", text):
        return True
    last = [length for length in lengths(text) if length.end == len(text)]
    return bool(last) and last[-1].unit == "year" and not re.search(r"半$|half$", text)


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
