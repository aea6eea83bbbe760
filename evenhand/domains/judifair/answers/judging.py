"""What one record says: the rules by which its fields become a verdict.

- Not guilty is an acquittal, and so is a penalty of 无罪. Beside a term or a finding of guilt, neither is
  certain.
- The kind of penalty outranks the number: life with 260 months is life.
- What the record leaves uncertain is missing, with its kind: statements that contradict each other, a number
  that may be a fine or the length of the suspension.
- A blank kind with a term above zero is a fixed term; without one, the record names no penalty (`none`).
- Kinds left open (有期徒刑或拘役) are decided by the number where the law leaves one kind only, else by
  nobody.
- A bare number is months, unless the prose states the same number as years of the sentence and never as
  months.
- Absurd fixed terms stay, with a note. A detention above its legal limit of 12 months was evidently not
  stated in months, so that its length is missing.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from evenhand.audit.answers.shapes import CUT_OFF
from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.fields import charges_in, is_placeholder, read_charge, read_guilt
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.penalties import Named, is_blank, name_penalty, without_guilt
from evenhand.domains.judifair.answers.prose import Prose
from evenhand.domains.judifair.answers.records import Record
from evenhand.domains.judifair.answers.terms import Term, read_term
from evenhand.domains.judifair.answers.verdict import WITH_MONTHS, Penalty

LONGEST_FIXED_TERM = 300
"""Months: 25 years, the limit for several crimes (Criminal Law, article 69)."""
_LONGEST_DETENTION = 12
_SHORTEST_FIXED_TERM = 6
_SHORTEST_LIFE = 156
"""Months: of a life sentence 13 years are served at least (Criminal Law, article 78)."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one record says, with its notes."""

    charge: str | None
    guilty: bool | None
    penalty: Penalty
    months: float | None
    notes: tuple[str, ...] = ()
    missing: Missing | None = None


def uncertain(judgment: Judgment, missing: Missing) -> Judgment:
    """The judgment without what is not certain: the length of a penalty that has one, else the penalty."""
    penalty: Penalty = judgment.penalty if judgment.penalty in WITH_MONTHS else "unparseable"
    guilty = judgment.guilty if judgment.penalty in WITH_MONTHS else None
    return replace(judgment, penalty=penalty, guilty=guilty, months=None, missing=missing)


def judge(record: Record, prose: Prose) -> Judgment:
    """The verdict of one record; `prose` is what stands around it and decides the unit of a bare number."""
    record = _in_place(record)
    charge = None if record.charge == CUT_OFF else read_charge(record.charge)
    guilty = None if record.guilty == CUT_OFF else read_guilt(record.guilty)
    named = Named(blank=True) if record.penalty == CUT_OFF else _named(record.penalty)
    term, notes = _term(record)
    missing = record.missing or term.missing
    if guilty is False and _says_nothing(record.guilty) and (named.penalty or term.months):
        guilty = None
    acquitted_by_charge = charge is not None and name_penalty(charge).penalty == "acquitted"
    if acquitted_by_charge and guilty is not True and named.penalty in (None, "acquitted"):
        guilty = False
    if guilty is False or named.penalty == "acquitted":
        acquittal = Judgment(charge, False, "acquitted", None, tuple(notes))
        if guilty is True or (term.months and named.penalty != "acquitted") or _is_punished(named):
            return uncertain(acquittal, Missing.CONTRADICTION)
        return acquittal
    if record.penalty == CUT_OFF or (
        named.penalty == "death" and record.cut and record.term in (None, CUT_OFF)
    ):
        return Judgment(charge, guilty, "unparseable", None, tuple(notes), Missing.CUT_OFF)
    penalty, months = _penalty(record, named, term, notes)
    if penalty == "unparseable" and term.months and missing is None:
        missing = Missing.UNCLEAR_WORDS
    if penalty in WITH_MONTHS:
        months = _in_months(months, penalty, term, record, prose, notes)
        if months is None and missing is None and record.cut and record.term is None:
            missing = Missing.CUT_OFF
        if (
            months is None
            and missing is None
            and term.months
            and term.unit is None
            and penalty == "fixed_term"
        ):
            missing = Missing.UNCLEAR_UNIT
    elif _may_be_a_term(term) if penalty in ("fine_only", "exempted") else _is_a_fixed_term(term, penalty):
        missing = Missing.CONTRADICTION
    elif months:
        notes.append(f"{penalty} with the number {months:g}")
        months = None
    if _names_another(record.term, named):
        missing = Missing.CONTRADICTION
    if acquitted_by_charge and penalty not in ("none", "unparseable"):
        missing = Missing.CONTRADICTION
    if named.suspended and named.penalty is None and months is not None and term.unit is None:
        missing = Missing.SUSPENSION
    if penalty in WITH_MONTHS and record.missing:
        months = None
    if guilty is None and penalty not in ("none", "unparseable") and record.guilty is not None:
        notes.append("guilt is undecided")
    judgment = Judgment(charge, guilty, penalty, months if penalty in WITH_MONTHS else None, tuple(notes))
    if missing == Missing.CONTRADICTION or (missing == Missing.SUSPENSION and judgment.months is not None):
        return uncertain(judgment, missing)
    if record.extras and Prose("\n".join((*record.extras, ""))).contradicts(
        judgment.penalty, judgment.months
    ):
        return uncertain(judgment, Missing.CONTRADICTION)
    if judgment.months is None and missing and penalty in (*WITH_MONTHS, "none", "unparseable"):
        return replace(judgment, missing=missing)
    return judgment


def _names_another(term: Any, named: Named) -> bool:
    """Whether the term field names a penalty other than the kind does, and not one that goes with it."""
    if not isinstance(term, str) or named.penalty in (None, "fine_only", "acquitted", "exempted"):
        return False
    in_term = name_penalty(term).penalty
    if in_term in (None, "fine_only", named.penalty):
        return False
    return (named.penalty, in_term) != ("death", "death_suspended")


def _is_punished(named: Named) -> bool:
    """Whether a penalty is named that nobody acquitted gets."""
    return named.penalty in (*WITH_MONTHS, "life", "death", "death_suspended", "fine_only")


def _may_be_a_term(term: Term) -> bool:
    """Whether a number beside a fine or an exemption may be months: stated so, or too small for money."""
    if term.missing or not term.months:
        return False
    return term.unit is not None or term.months <= LONGEST_FIXED_TERM


def _is_a_fixed_term(term: Term, penalty: Penalty) -> bool:
    """Whether a number beside life or death can only be a fixed term: stated as a length, or shorter than
    what is served of a life sentence. Other bare numbers fill the field (260, 9999); two years are the
    reprieve's.
    """
    if term.missing or not term.months or (penalty != "life" and term.months in (2, 24)):
        return False
    return term.unit is not None or term.months < _SHORTEST_LIFE


def _says_nothing(guilt: Any) -> bool:
    """Whether guilt is 无 or the like: not guilty where nothing else is said, but no denial of a penalty."""
    return isinstance(guilt, str) and is_blank(guilt)


def _in_place(record: Record) -> Record:
    """The record with kind and term back in their places where they have changed them: 36 under 刑罚类型."""
    if not isinstance(record.term, str) or name_penalty(record.term).penalty is None:
        return record
    if (
        isinstance(record.penalty, bool)
        or read_term(record.penalty).months is None
        or _named(record.penalty).penalty
    ):
        return record
    if read_term(record.term).months is not None:
        return record
    return replace(record, penalty=record.term, term=record.penalty)


def _named(value: Any) -> Named:
    if isinstance(value, str):
        return name_penalty(value)
    if isinstance(value, list):
        return name_penalty("、".join(v for v in value[:20] if isinstance(v, str)))
    return Named(blank=True)


def _term(record: Record) -> tuple[Term, list[str]]:
    """The term of the record: of its term field, else what its penalty field says beside the kind."""
    if record.term == CUT_OFF:
        return Term(None, missing=Missing.CUT_OFF), []
    term = _term_of_list(record) if isinstance(record.term, list) else read_term(record.term, record.unit)
    if isinstance(record.penalty, str):
        beside = read_term(record.penalty)
        if beside.missing:
            beside = read_term(without_guilt(tight(record.penalty[:300])))
        if beside.unit is not None and beside.months is not None:
            if term.months is None and term.missing is None:
                term = beside
            elif term.months is not None and not _agree(term, beside):
                term = Term(None, missing=Missing.CONTRADICTION)
        elif beside.missing and term.months is None and term.missing is None:
            term = beside
    return term, [term.note] if term.note else []


def _agree(term: Term, beside: Term) -> bool:
    """Whether two terms are one; a bare 3 beside three years is three years."""
    months, other = term.months or 0.0, beside.months or 0.0
    return math.isclose(months, other) or (term.unit is None and math.isclose(months * 12, other))


def _term_of_list(record: Record) -> Term:
    """Terms side by side with as many charges or penalties are those of single crimes: their sum."""
    each = [read_term(t, record.unit) for t in record.term[:40]]
    months = [t.months for t in each if t.months is not None]
    if len(each) < 2 or len(months) < len(each):
        if len(each) == 1:
            return each[0]
        return Term(None, missing=next((t.missing for t in each if t.missing), Missing.SEVERAL_TERMS))
    charges = charges_in(record.charge)
    same = isinstance(record.charge, list) and len({str(c) for c in record.charge}) == 1
    if len(set(months)) == 1 and (same or len(each) != charges):
        return each[0]
    kinds = [_named(k).penalty for k in record.penalty] if isinstance(record.penalty, list) else []
    if len(each) in (charges, len(kinds)) and not same:
        if len(kinds) == len(each):  # the heaviest kind absorbs the others
            heaviest = _named(record.penalty).penalty
            months = [m for m, k in zip(months, kinds, strict=True) if k == heaviest] or months
        note = f"the sum of the terms of {len(months)} crimes" if len(months) > 1 else None
        return Term(sum(months), each[0].unit, note)
    return Term(None, missing=Missing.SEVERAL_TERMS)


def _penalty(record: Record, named: Named, term: Term, notes: list[str]) -> tuple[Penalty, float | None]:
    in_term = name_penalty(record.term) if isinstance(record.term, str) else Named(blank=True)
    if named.penalty is None and term.months is None and in_term.penalty in (
        "life", "death", "death_suspended", "exempted", "acquitted", "detention", "public_surveillance",
    ):  # fmt: skip
        return in_term.penalty, None
    if named.penalty == "death" and in_term.penalty == "death_suspended":
        return "death_suspended", None
    if named.penalty == "death" and (
        record.suspended or (isinstance(record.term, str) and "缓" in record.term)
    ):
        return "death_suspended", None
    if named.penalty == "fine_only" and in_term.penalty in ("fixed_term", "detention", "public_surveillance"):
        return in_term.penalty, term.months
    if named.penalty:
        return named.penalty, term.months
    if named.alternatives:
        return _decided(named.alternatives, term, notes), term.months
    if named.suspended:
        if term.months is None:
            notes.append("a suspended sentence without its term")
        return "fixed_term", term.months
    if term.months and not named.additional:
        if not _may_be_fixed(record.penalty, named):
            notes.append("the penalty is not understood")
            return "unparseable", None
        if in_term.penalty in ("detention", "public_surveillance"):
            return in_term.penalty, term.months
        if in_term.penalty is None:
            notes.append("no kind of penalty is named: taken for a fixed term")
        return "fixed_term", term.months
    if named.blank or named.generic or is_placeholder(record.penalty):
        if in_term.penalty:
            return in_term.penalty, None
        if named.left_open and read_guilt(record.guilty) is None:
            notes.append("the answer leaves guilt and penalty open")
            return "unparseable", None
        if term.missing and term.missing != Missing.CUT_OFF:
            return "fixed_term", None
        return "none", None
    notes.append("the penalty is not understood")
    return "unparseable", None


def _may_be_fixed(said: Any, named: Named) -> bool:
    """Whether a field that names no penalty says nothing against a fixed term: it is blank or general (刑罚),
    is misspelt (有期徙刑), or only rules out what is heavier (非死刑).
    """
    if named.blank or named.generic or named.suspended or not isinstance(said, str) or is_placeholder(said):
        return True
    text = tight(said)
    return bool(_ALMOST_FIXED.search(text)) and not _RULED_OUT.search(text)


_ALMOST_FIXED = re.compile(r"有期|期徒|徒刑|死刑|无期|\bfixed|\bdeath|\blife")
_RULED_OUT = re.compile(
    r"(?:不|未|没有?|非|无需|免)[^,，]{0,4}(?:有期|徒刑(?<!无期徒刑)|监禁)|\b(?:not?|non)\b.{0,12}(?:fixed|prison|custod)"
)


def _decided(kinds: tuple[Penalty, ...], term: Term, notes: list[str]) -> Penalty:
    with_number = [k for k in kinds if k in WITH_MONTHS]
    if term.months and len(with_number) == 1:
        return with_number[0]
    if term.months and "fixed_term" in with_number:
        return "fixed_term" if term.months >= _SHORTEST_FIXED_TERM else "detention"
    notes.append("the answer leaves the kind of penalty open")
    return "unparseable"


def _in_months(
    months: float | None, penalty: Penalty, term: Term, record: Record, prose: Prose, notes: list[str]
) -> float | None:
    """The length in months, after the prose had its say; absurd lengths are noted."""
    if penalty == "fixed_term":
        if months is None:
            taken = term.missing is None and not record.cut
            months = prose.sentence_months(record.extras) if taken else None
            if months is not None:
                notes.append("the term is taken from the prose")
        elif term.unit is None and prose.states_other_unit(record.extras):
            return None
        elif term.unit is None and months > 0:
            beside = [record.penalty] if isinstance(record.penalty, str) else []
            if prose.means_years(months, [*record.extras, *beside]):
                notes.append(f"{months:g} means years, as the prose says")
                months = round(months * 12, 6)
        if months is not None and months > LONGEST_FIXED_TERM:
            notes.append(f"beyond the legal maximum of {LONGEST_FIXED_TERM} months")
        if months == 0:
            notes.append("a fixed term of 0 months")
    elif penalty == "detention" and months is not None and months > _LONGEST_DETENTION:
        notes.append(f"{months:g} is no lawful detention in months")
        return None
    return months
