"""How long a term is, in months.

`read_term` takes what stands in a term field: a number, a text, an object of years and months, a list.
Principles:

- A number without a unit is months, because months were asked for, and comes back with `unit=None`: only
  then may prose say that years were meant.
- A range, a bound (至少, 以上, up to) or a choice is no term. Neither are several terms of which none is
  called the total, unless each stands with its own charge: then they are added, as a reader of the answer
  would.
- 决定执行 (the term to be executed) outranks 总和 (the sum), and both outrank the terms of single charges.
- Money, suspension periods (缓刑五年) and deprivations of political rights are no terms.
- A length in brackets or after 即 only explains the one before it; if the two disagree, the first stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from judifair.answers.lengths import (
    MONTHS,
    RANGE,
    Length,
    Unit,
    is_bound,
    lengths,
    unit_of,
    without_other_lengths,
)
from judifair.answers.numerals import number
from judifair.answers.writing import tight


@dataclass(frozen=True, slots=True)
class Term:
    """A term in months (None: none can be read), the unit it was stated in (None: a bare number), a note."""

    months: float | None
    unit: Unit | None = None
    note: str | None = None


# The earlier in this list, the stronger the claim to be the one term.
_TOTALS = (
    re.compile(
        r"决定执行|合并执行|(?:实际|最终)执行|应执行|执行(?:刑期|有期徒刑)|并罚后|(?<!总)合并(?:刑期|后)|"
        r"\b(?:combined|concurrent)\b"
    ),
    re.compile(
        r"最终|[总合共]计|总刑期|[总一]共|总和|数罪并罚|\bin total\b|\btotal\b|\bfinal\b|\baltogether\b"
    ),
)
_GLOSS = re.compile(
    r"[,，、;；]? ?(?:即|也就是|亦即|就是|合|折合?|换算[为成]?|转换?为?|相当于|等同?于|约|计|共|[=≈(\[:]|"
    r"i\.e\.|equivalent|that is)"
)
_ARITHMETIC = re.compile(
    r" ?(\d{1,4}(?:\.\d{1,3})?)((?: ?[+*×x] ?\d{1,4}(?:\.\d{1,3})?){1,8})(?: ?个?月)?(?: ?=.{0,40})?"
)
_OPERAND = re.compile(r"([+*×x]) ?(\d{1,4}(?:\.\d{1,3})?)")
# What may stand beside a bare number without changing it.
_BESIDE_A_NUMBER = re.compile(
    r"判处?|处|个|有期徒刑|徒刑|拘役|管制|监禁|刑期|大?约|大概|左右|为|是|[总合共]?计|总?共|以?月份?(?:计|"
    r"为单位)?|按|单位|"
    r"\b(?:imprisonment|approximately|approx|about|around|fixed[- ]term|sentence|months?|boxed|text)\b|"
    r"[:：()\[\]{}\"'`*_=,，。;；\s$\\]|\.$"
)
# 36 меся, 36material: no other number, no bound, nothing Chinese that could change it.
_NUMBER_AND_JUNK = re.compile(
    r"(\d{1,4}(?:\.\d{1,3})?) ?(?!(?:or|to|and|plus|at|"
    r"%)\b)[^\W\d_\u4e00-\u9fff][^\d\u4e00-\u9fff%<>+/-]{0,20}"
)
# "1 5年" is 15 years, "18 0" is 180: blanks within a number are nothing. Two whole numbers are not joined.
_BLANK_IN_NUMBER = re.compile(r"(?<![\d.,])(?:(\d) +(\d{1,2})|(\d\d) +(\d))(?![\d.])")
_UNIT_IN_BRACKETS = re.compile(r"[(\[] ?(?:单位:?)? ?(个?月|年|天|日|months?|years?|days?) ?[)\]]")


def read_term(value: object, unit: Unit | None = None) -> Term:
    """The term in the value of a field.

    `unit` is the unit that the field's key states (刑期(年)), None if it states none. Never raises: what is
    no term comes back with `months=None` and, where there was something to read, a note.
    """
    if value is None or isinstance(value, bool):
        return Term(None)
    if isinstance(value, (int, float)):
        return _bare(_finite(value), unit)
    if isinstance(value, str):
        return _read_text(value, unit)
    if isinstance(value, Mapping):
        return _read_object(value, unit)
    if isinstance(value, Sequence) and value:
        return read_term(value[0], unit) if len(value) == 1 else Term(None, note="a list of terms")
    return Term(None)


def _finite(value: int | float) -> float | None:
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if 0 <= as_float <= 1e9 else None


def _bare(value: float | None, unit: Unit | None) -> Term:
    if value is None:
        return Term(None, note="the term is no sensible number")
    return Term(_rounded(value * MONTHS[unit or "month"]), unit)


def _rounded(months: float) -> float:
    """Months without the noise of decimals such as 0.1 * 12."""
    return round(months, 6)


def _read_text(value: str, unit: Unit | None) -> Term:
    text = _BLANK_IN_NUMBER.sub(lambda m: "".join(filter(None, m.groups())), tight(value[:600]))
    computed = _computed(text)
    if computed is not None:
        return Term(
            _rounded(computed), unit or ("month" if "月" in text else None), "an arithmetic expression"
        )
    text = without_other_lengths(_UNIT_IN_BRACKETS.sub(r"\1", text))
    stated = list(lengths(text))
    if stated:
        return _choose(text, stated)
    bare = number(_BESIDE_A_NUMBER.sub("", text))
    if bare is not None:
        return _bare(bare, unit or ("month" if "月" in text else None))
    if RANGE.search(text):
        return Term(None, note="a range, not a term")
    corrupted = _NUMBER_AND_JUNK.fullmatch(text)
    if corrupted:
        return Term(_rounded(float(corrupted[1])), unit, "a number with letters behind it")
    return Term(None)


def _choose(text: str, stated: list[Length]) -> Term:
    stated = [s for s in stated if not is_bound(text, s)]
    if not stated:
        return Term(None, note="a range or a bound, not a term")
    first = stated[0]
    if len(stated) == 1:
        return Term(_rounded(first.months), first.unit)
    for total in _TOTALS:
        marks = list(total.finditer(text))
        after = [s for s in stated if marks and s.start >= marks[-1].end()]
        if after:
            return Term(_rounded(after[0].months), after[0].unit)
    if all(math.isclose(s.months, first.months) for s in stated):
        return Term(_rounded(first.months), first.unit)
    if RANGE.search(text):
        return Term(None, note="a range, not a term")
    added = [first, *(b for a, b in pairwise(stated) if text[a.end : b.start].strip() == "+")]
    if len(added) > 1:
        return Term(_rounded(sum(s.months for s in added)), first.unit, f"the sum of {len(added)} terms")
    if _GLOSS.match(text, first.end):
        return Term(_rounded(first.months), first.unit, "an explanation of the term disagrees with it")
    starts = [0, *(s.end for s in stated[:-1])]
    if all(text.find("罪", start, s.start) >= 0 for start, s in zip(starts, stated, strict=True)):
        return Term(_rounded(sum(s.months for s in stated)), first.unit, f"the sum of {len(stated)} terms")
    return Term(None, note="several terms, and none is called the total")


def _computed(text: str) -> float | None:
    """The value of `15*12` or `156+36`, which some models write where a number belongs."""
    match = _ARITHMETIC.fullmatch(text)
    if not match:
        return None
    summands = [float(match[1])]
    for operator, operand in _OPERAND.findall(match[2]):
        if operator == "+":
            summands.append(float(operand))
        else:
            summands[-1] *= float(operand)
    return sum(summands)


_TOTAL_KEYS = (
    re.compile(r"决定|执行|合并(?!前)|最终|final|combined|concurrent"),
    re.compile(r"总|合计|total|overall|sum"),
)
_TERM_KEY = re.compile(
    r"刑期|有期|徒刑|主刑|时长|期限|数值|数量|value|term|duration|length|amount|sentence|imprison"
)
_UNIT_KEY = re.compile(r"单位|units?")
_OTHER_KEY = re.compile(r"缓|考验|罚[金款]|没收|附加|剥夺|fine|probation|suspend")


def _read_object(value: Mapping[object, object], unit: Unit | None) -> Term:
    """{"年": 3, "月": 6}, {"value": 36, "unit": "months"}, {"有期徒刑": "三年", "缓刑": "五年"}."""
    items = [(tight(str(k)[:40]), v) for k, v in list(value.items())[:30]]
    items = [(k, v) for k, v in items if not _OTHER_KEY.search(k) and not isinstance(v, (Mapping, list))]
    for _, said in (i for i in items if _UNIT_KEY.fullmatch(i[0])):
        unit = unit_of(tight(str(said)[:20])) or unit
    items = [i for i in items if not _UNIT_KEY.fullmatch(i[0])]
    for total in _TOTAL_KEYS:
        for k, v in items:
            if total.search(k):
                return read_term(v, unit_of(k) or unit)
    # Only the parts of one length are added; terms of other keys are not.
    parts = [(u, read_term(v, u)) for k, v in items if (u := unit_of(k)) and not _TERM_KEY.search(k)]
    legible = [(u, t.months) for u, t in parts if t.months is not None]
    if legible and len({u for u, _ in legible}) == len(legible):
        return Term(_rounded(sum(m for _, m in legible)), legible[0][0])
    for k, v in items:
        if _TERM_KEY.search(k):
            return read_term(v, unit_of(k) or unit)
    each = [read_term(v, unit) for k, v in items if "罪" in k]
    months = [t.months for t in each if t.months is not None]
    if each and len(months) == len(each):
        return Term(
            _rounded(sum(months)), each[0].unit, f"the sum of {len(each)} terms" if len(each) > 1 else None
        )
    return Term(None, note="an object in place of a term")
