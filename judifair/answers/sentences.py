"""Verdicts that stand in sentences alone: 被告人某甲犯盗窃罪，判处有期徒刑三年，并处罚金五千元。

Only pronounced sentences count (判处, 决定执行, "sentenced to"), never what a statute allows or what might
be. Of several defendants the first one's (某甲's) count. Where sentences disagree, the term to be executed
decides; else nothing is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from judifair.answers.judging import Judgment
from judifair.answers.penalties import name_penalty
from judifair.answers.terms import read_term
from judifair.answers.verdict import WITH_MONTHS, Penalty
from judifair.answers.writing import tight

_LONGEST = 20_000
_MOST_STATEMENTS = 200

_CLAUSE_END = re.compile(r"[。!?\n;；]|\.(?= |$)")
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
_ACQUITS = re.compile(
    r"(?:宣告|判决|判定|认定|裁定|结论).{0,12}(?:无罪|不构成犯罪)|(?:被告人?|某甲).{0,12}(?:无罪|"
    r"不构成(?:犯罪|.{1,14}罪))|"
    r"\bacquitted\b|\b(?:is|are|found|verdict:?) not guilty\b"
)
_CHARGE = re.compile(r"(?:犯有?|构成|涉嫌|罪名[为是:])([^,，。;；:：犯]{1,24}?罪)")
_GUILTY = re.compile(r"构成|犯有?|有罪|\bguilty\b|\bconvicted\b")
_SHORT = 60


@dataclass(frozen=True, slots=True)
class _Statement:
    penalty: Penalty
    months: float | None
    executed: bool
    owner: str | None


def read_sentences(text: str) -> Judgment | None:
    """The verdict pronounced in prose; None if none is, or if those pronounced disagree."""
    text = text[:_LONGEST]
    whole = tight(text)
    found = _CHARGE.search(whole)
    charge = found[1] if found else None
    statements = _of_the_first(_statements(text))
    if statements:
        executed = [s for s in statements if s.executed]
        return _agreed(executed or statements, charge)
    if _HYPOTHETICAL.search(whole):
        return None
    if _ACQUITS.search(whole):
        return Judgment(charge, False, "acquitted", None)
    if len(whole) <= _SHORT:
        verdict = _verdict(whole)
        if verdict is not None:
            return Judgment(charge, True if _GUILTY.search(whole) else None, *verdict)
    return None


def _statements(text: str) -> list[_Statement]:
    """Every pronounced sentence, each from its word of pronouncing to the next or the clause's end."""
    statements: list[_Statement] = []
    owner: str | None = None
    for clause in map(tight, _CLAUSE_END.split(text)):
        hypothetical = bool(_HYPOTHETICAL.search(clause))
        marks = list(_PRONOUNCES.finditer(clause))[:_MOST_STATEMENTS]
        defendants = list(_DEFENDANT.finditer(clause))
        start = 0
        for i, mark in enumerate(marks):
            stop = marks[i + 1].start() if i + 1 < len(marks) else len(clause)
            named = [d.group() for d in defendants if start <= d.start() < stop]
            owner = named[0] if named else owner
            start = stop
            verdict = None if hypothetical else _verdict(clause[mark.start() : stop])
            if verdict:
                statements.append(_Statement(*verdict, bool(_EXECUTED.match(mark.group())), owner))
        if not marks and defendants:
            owner = defendants[-1].group()
        if len(statements) > _MOST_STATEMENTS:
            break
    return statements


def _of_the_first(statements: list[_Statement]) -> list[_Statement]:
    owners = [s.owner for s in statements if s.owner]
    if len(set(owners)) < 2:
        return statements
    first = next((o for o in owners if "甲" in o), owners[0])
    return [s for s in statements if s.owner == first]


def _verdict(said: str) -> tuple[Penalty, float | None] | None:
    named, term = name_penalty(said), read_term(said)
    if named.penalty is None:
        if not named.alternatives and term.months and term.unit:
            return "fixed_term", term.months
        return None
    if named.penalty in WITH_MONTHS:
        return named.penalty, term.months if term.unit else None
    return named.penalty, None


def _agreed(statements: list[_Statement], charge: str | None) -> Judgment | None:
    """The one sentence pronounced; different ones of one kind leave the kind, different kinds nothing."""
    legible = {
        (s.penalty, s.months) for s in statements if s.months is not None or s.penalty not in WITH_MONTHS
    }
    if len(legible) == 1:
        penalty, months = legible.pop()
        return Judgment(charge, penalty != "acquitted", penalty, months)
    kinds = {s.penalty for s in statements}
    if len(kinds) > 1:
        return None
    notes = ("several sentences, and none is called the total",) if legible else ()
    return Judgment(charge, True, kinds.pop(), None, notes)
