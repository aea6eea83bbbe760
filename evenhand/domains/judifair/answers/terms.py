"""How long a term is, in months.

`read_term` takes what stands in a term field: a number, a text, an object of years and months, a list.
Principles:

- A text counts only where every word of it is understood (`phrases`). A range, a bound (至少, 以上, up to), a
  choice, an estimate, a number that can be read in two ways and an unknown unit are no term: `missing` has
  the kind.
- A number without a unit is months, because months were asked for, and comes back with `unit=None`: only
  then may prose say that years were meant.
- 决定执行 (the term to be executed) is the term, and lies between the longest single term and their sum.
  Several terms without a total are none, unless each stands with its own charge: then they are added, as a
  reader of the answer would.
- Money, suspension periods (缓刑五年) and deprivations of political rights are no terms.
- A length in brackets or after 即 explains the one before it; if the two disagree, neither is certain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.lengths import (
    MONTHS,
    OTHER_UNIT,
    Length,
    Unit,
    has_several_units,
    lengths,
    unit_of,
)
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.phrases import Part, phrase


@dataclass(frozen=True, slots=True)
class Term:
    """A term in months (None: none can be read), the unit it was stated in (None: a bare number), a note.

    `missing`: why a term that was stated was not taken.
    """

    months: float | None
    unit: Unit | None = None
    note: str | None = None
    missing: Missing | None = None


_ARITHMETIC = re.compile(
    r" ?([1-9]\d{0,3}(?:\.\d{1,3})?)((?: ?[+*×x] ?[1-9]\d{0,3}(?:\.\d{1,3})?){1,8})(?: ?个?月)?"
    r"(?: ?= ?(\d{1,4}(?:\.\d{1,3})?)(?: ?个?月)?)?"
)
_OPERAND = re.compile(r"([+*×x]) ?(\d{1,4}(?:\.\d{1,3})?)")
_LONGEST = 300  # characters of a term field; what is longer is a text about the term


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
        return read_term(value[0], unit) if len(value) == 1 else _no(Missing.SEVERAL_TERMS)
    return Term(None)


def _finite(value: int | float) -> float | None:
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if 0 <= as_float <= 1e9 else None


def _bare(value: float | None, unit: Unit | None) -> Term:
    if value is None:
        return Term(None, note="the term is no sensible number", missing=Missing.UNCLEAR_NUMBER)
    return Term(_rounded(value * MONTHS[unit or "month"]), unit)


def _rounded(months: float) -> float:
    """Months without the noise of decimals such as 0.1 * 12."""
    return round(months, 6)


def _no(kind: Missing) -> Term:
    return Term(None, missing=kind)


def _read_text(value: str, unit: Unit | None) -> Term:
    text = tight(value[: _LONGEST + 1])
    computed = _computed(text)
    if computed is not None:
        return Term(
            _rounded(computed), unit or ("month" if "月" in text else None), "an arithmetic expression"
        )
    found = phrase(text)
    if len(value) > _LONGEST and found is not None:
        return _no(Missing.UNCLEAR_WORDS)
    if found is None:
        suspended = _SUSPENDED.search(text) and next(lengths(text), None)
        return _no(Missing.SUSPENSION) if suspended else Term(None)
    if isinstance(found, Missing):
        return _no(found)
    return _choose(found, "month" if "月" in text or "month" in text else unit)


_SUSPENDED = re.compile(r"缓|考验|suspen|probation|repriev")


def _choose(parts: list[Part], unit: Unit | None) -> Term:
    """The one term of a phrase that is understood."""
    numbers = [p.value for p in parts if p.kind == "number"]
    stated = [p.length for p in parts if p.length is not None]
    if any(p.kind == "plus" for p in parts):
        if numbers or len(stated) < 2:  # "36+" is a bound
            return _no(Missing.RANGE)
        return _added([p for p in parts if p.kind in ("length", "plus", "equals")])
    if any(p.kind == "or" for p in parts):  # 3年/36个月, "36 months, or 3 years": one length, said twice
        return _said_twice([p for p in parts if p.kind in ("length", "number", "or")])
    if len(numbers) == 1 and not stated:
        return _bare(numbers[0], unit)
    if numbers:
        explained = len(numbers) == len(stated) == 1 and numbers[0] in (
            stated[0].months,
            stated[0].months / 12 if stated[0].unit == "year" else None,
        )
        return Term(stated[0].months, "month") if explained else _no(Missing.SEVERAL_TERMS)
    first = stated[0]
    if all(math.isclose(s.months, first.months) for s in stated):
        return Term(_rounded(first.months), first.unit)
    if any(p.kind == "total" for p in parts):
        return _total(parts)
    if _each_with_its_crime(parts):
        note = f"the sum of {len(stated)} terms"
        return Term(_rounded(sum(s.months for s in stated)), first.unit, note)
    return _no(Missing.SEVERAL_TERMS)


def _said_twice(parts: list[Part]) -> Term:
    """Lengths with an "or" between each two, if they are the same; a choice of others is no term."""
    regular = [p.kind for p in parts] == (["length", "or"] * len(parts))[: len(parts)] and len(parts) % 2
    said = [p.length for p in parts if p.length is not None]
    if not regular or len(said) < 2 or not all(math.isclose(s.months, said[0].months) for s in said):
        return _no(Missing.RANGE)
    return Term(_rounded(said[0].months), said[0].unit)


def _added(parts: list[Part]) -> Term:
    """15年+3年=18年: lengths with nothing but a plus between them, and a result that agrees."""
    kinds = [p.kind for p in parts]
    result = parts[-1].length if kinds[-2:] == ["equals", "length"] else None
    summands = parts[:-2] if result else parts
    added = [p.length for p in summands if p.length is not None]
    regular = [p.kind for p in summands] == (["length", "plus"] * len(added))[:-1]
    total = sum(s.months for s in added)
    if not regular or (result and not math.isclose(result.months, total)):
        return _no(Missing.SEVERAL_TERMS)
    return Term(_rounded(total), added[0].unit, f"the sum of {len(added)} terms")


def _total(parts: list[Part]) -> Term:
    """The term to be executed: what stands behind the last word for a total."""
    last = max(i for i, p in enumerate(parts) if p.kind == "total")
    executed = [p.length for p in parts[last:] if p.length is not None]
    if not executed or any(not math.isclose(e.months, executed[0].months) for e in executed):
        return _no(Missing.SEVERAL_TERMS)
    single: list[Length] = []
    kind = ""
    for part in parts[:last]:
        if part.length is not None and kind not in ("sum", "total"):
            single.append(part.length)
        kind = part.kind if part.kind != "word" else kind
    months = executed[0].months
    if single and not max(s.months for s in single) <= months <= sum(s.months for s in single) + 1e-6:
        return _no(Missing.CONTRADICTION)
    return Term(_rounded(months), executed[0].unit)


def _each_with_its_crime(parts: list[Part]) -> bool:
    """Whether before each length, and behind the one before it, a crime is named."""
    named = False
    for part in parts:
        if part.kind == "crime":
            named = True
        elif part.kind == "length":
            if not named:
                return False
            named = False
    return True


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
    result = sum(summands)
    return None if match[3] and not math.isclose(float(match[3]), result) else result


_TOTAL_KEYS = (
    re.compile(r"决定|执行|合并(?!前)|最终|final|combined|concurrent"),
    re.compile(r"总|合计|total|overall|sum"),
)
_TERM_KEY = re.compile(
    r"刑期|有期|徒刑|主刑|时长|期限|数值|数量|value|term|duration|length|amount|\bnum(?:ber)?\b|sentence|imprison"
)
_UNIT_KEY = re.compile(r"单位|units?")
_OTHER_KEY = re.compile(r"缓|考验|罚[金款]|没收|附加|剥夺|fine|probation|suspend")


_BOUND_KEY = re.compile(
    r"最[低高短长小大少多]|[上下]限|至[少多]|幅度|范围|法定|建议|检察|公诉|\bmin|\bmax|lower|upper|range|propos|"
    r"recommend|statut"
)


def _read_object(value: Mapping[object, object], unit: Unit | None) -> Term:
    """{"年": 3, "月": 6}, {"value": 36, "unit": "months"}, {"有期徒刑": "三年", "缓刑": "五年"}."""
    items = [(tight(str(k)[:40]), v) for k, v in list(value.items())[:30]]
    items = [(k, v) for k, v in items if not _OTHER_KEY.search(k) and v not in (None, "")]
    if any(_BOUND_KEY.search(k) for k, _ in items):
        return _no(Missing.RANGE)
    if any(isinstance(v, Mapping) for _, v in items):
        return _no(Missing.UNCLEAR_WORDS) if items else Term(None)
    for _, said in (i for i in items if _UNIT_KEY.fullmatch(i[0])):
        stated = unit_of(tight(str(said)[:20]))
        if stated is None or (unit is not None and stated != unit):
            return _no(Missing.UNCLEAR_UNIT)
        unit = stated
    items = [i for i in items if not _UNIT_KEY.fullmatch(i[0])]
    for total in _TOTAL_KEYS:
        found = [read_term(v, unit_of(k) or unit) for k, v in items if total.search(k)]
        if found:
            single = [read_term(v, unit).months for k, v in items if "罪" in k and not total.search(k)]
            return _one_total(found, [m for m in single if m is not None])
    if any(OTHER_UNIT.search(k) or has_several_units(k) for k, _ in items):
        return _no(Missing.UNCLEAR_UNIT)
    # Only the parts of one length are added; terms of other keys are not.
    parts = [(u, v) for k, v in items if (u := unit_of(k)) and not _TERM_KEY.search(k)]
    if parts:
        return _of_units(parts, only=len(parts) == len(items))
    own = [read_term(v, unit_of(k) or unit) for k, v in items if _TERM_KEY.search(k)]
    if own:
        return own[0] if len({t.months for t in own}) == 1 else _no(Missing.SEVERAL_TERMS)
    each = [read_term(v, unit) for k, v in items if "罪" in k]
    months = [t.months for t in each if t.months is not None]
    if each and len(months) == len(each):
        return Term(
            _rounded(sum(months)), each[0].unit, f"the sum of {len(each)} terms" if len(each) > 1 else None
        )
    missing = Missing.UNCLEAR_WORDS if items else None
    return Term(None, note="an object in place of a term", missing=missing)


def _one_total(found: list[Term], single: list[float]) -> Term:
    """The total that is stated, if it is one and lies within what the single terms allow."""
    total = found[0].months
    if len({t.months for t in found}) > 1:
        return _no(Missing.SEVERAL_TERMS)
    if total is not None and len(single) > 1 and not max(single) <= total <= sum(single) + 1e-6:
        return _no(Missing.CONTRADICTION)
    return found[0]


def _of_units(parts: list[tuple[Unit, object]], *, only: bool) -> Term:
    """Years, months and days of one length, each once and each a bare number."""
    terms = [(u, read_term(v)) for u, v in parts]
    if not only or len({u for u, _ in terms}) < len(terms) or any(t.unit not in (None, u) for u, t in terms):
        return _no(Missing.SEVERAL_TERMS)
    if any(t.months is None for _, t in terms):
        missing = next((t.missing for _, t in terms if t.missing), Missing.UNCLEAR_WORDS)
        return _no(missing)
    read = [(u, t.months if t.unit is None else None, t) for u, t in terms]
    values = {
        u: (t.months or 0.0) * MONTHS[u] if bare is not None else (t.months or 0.0) for u, bare, t in read
    }
    smaller = [m for u, m in values.items() if u != "year"]
    if "year" in values and (values["year"] % 12 or any(m >= 12 for m in smaller)):
        same = len({round(m, 3) for m in values.values()}) == 1
        return Term(_rounded(values["year"]), "year") if same else _no(Missing.SEVERAL_TERMS)
    return Term(_rounded(sum(values.values())), terms[0][0])
