"""From an object of any shape to records: one for each verdict that the object states.

The object asked for is flat; what comes may wrap it ({"判决结果": {...}}), hold one for each defendant or
for each charge, put the penalty into an object of its own, or name fields in ways of its own. A record
keeps the values as they are; `judging` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.audit.answers.attribution import OTHERS_KEY
from evenhand.audit.answers.shapes import CUT_OFF, Doubled
from evenhand.audit.answers.writing import tight
from evenhand.domains.judifair.answers.fields import ASKED, field_of, is_placeholder, read_guilt
from evenhand.domains.judifair.answers.lengths import OTHER_UNIT, Unit, has_several_units, unit_of
from evenhand.domains.judifair.answers.missing import Missing
from evenhand.domains.judifair.answers.penalties import is_blank, name_penalty
from evenhand.domains.judifair.answers.terms import read_term

_ASKED = set(ASKED)
_MOST_KEYS = 60
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Record:
    """The values of one verdict as they stand in an object; None where the field is missing.

    `extras` are texts of other fields (reasons, notes): prose inside the object. `suspended`: a field of
    its own says that the sentence is. `asked`: the keys are the four asked for. `known`: how many of the
    four fields are present. `missing`: why its term is not certain, as its keys have it. `cut`: the text
    ends inside the object.
    """

    charge: Any = None
    guilty: Any = None
    penalty: Any = None
    term: Any = None
    unit: Unit | None = None
    total: bool = False
    owner: str | None = None
    suspended: bool = False
    extras: tuple[str, ...] = ()
    asked: bool = False
    known: int = 0
    missing: Missing | None = None
    cut: bool = False

    def is_template(self) -> bool:
        """Whether two or more of its fields hold the name of what belongs there, or a choice of kinds."""
        values = (self.charge, self.guilty, self.penalty, self.term)
        return sum(is_placeholder(v) for v in values) >= 2


@dataclass(frozen=True, slots=True)
class _Term:
    """A value under a key that asks for a term."""

    key: str
    value: Any
    unit: Unit | None
    total: bool


@dataclass(slots=True)
class _Slots:
    values: dict[str, Any] = field(default_factory=dict)
    unit: Unit | None = None
    total: bool = False
    owner: str | None = None
    suspended: bool = False
    extras: list[str] = field(default_factory=list)
    unknown: list[tuple[str, Any]] = field(default_factory=list)
    terms: list[_Term] = field(default_factory=list)
    missing: Missing | None = None
    inner: list[tuple[str, Any]] = field(default_factory=list)
    cut_off: bool = False


def records(data: Any) -> list[Record]:
    """The verdicts in the data of one object, in order; empty where it holds none."""
    return list(_records(data, 0))[:_MOST_KEYS]


def _records(data: Any, depth: int) -> Iterator[Record]:
    if depth > _DEEPEST:
        return
    if isinstance(data, list):
        for item in data[:_MOST_KEYS]:
            yield from _records(item, depth + 1)
    elif isinstance(data, Mapping):
        yield from _of_object(data, depth)


def _of_object(data: Mapping[Any, Any], depth: int) -> Iterator[Record]:
    if "properties" in data and "type" in data:
        return  # a JSON schema
    slots = _sort(data)
    _settle_terms(slots)
    _settle_doubled(slots)
    if slots.cut_off:  # a total that is not whole, say, beside single terms that are
        slots.missing = Missing.CUT_OFF
    _by_value(slots)
    own = _record(slots, asked={k for k in data if k != "truncation"} == _ASKED)
    inner = [(k, list(_records(v, depth + 1))) for k, v in slots.inner]
    inner = [(k, found) for k, found in inner if found]
    if not inner:
        if own.known:
            yield own
        return
    if (own.penalty is not None and own.term is not None) or own.total:
        yield own
    elif len(inner) == 1 and len(inner[0][1]) == 1 and own.known:
        key, (only,) = inner[0]
        whole = _filled(own, only)
        yield replace(whole, missing=Missing.DRAFT) if _OF_OTHERS_KEY.search(key) else whole
    else:
        for key, found in inner:
            above = replace(own, term=None, unit=None)
            if _OWNER_KEY.search(key):
                above = replace(above, owner=key)
            elif key.endswith("罪"):
                above = replace(above, charge=key)
            for record in found:
                whole = _filled(record, above)
                yield replace(whole, missing=Missing.DRAFT) if _OF_OTHERS_KEY.search(key) else whole


# What others ask for or asked for, another case, or a first try: no sentence of this judgment.
_OF_OTHERS_KEY = re.compile(
    rf"{OTHERS_KEY}|检察|公诉|控方|辩护|辩方|原审|一审|prosecut|defen[cs]e|原[判刑]", re.IGNORECASE
)
_BOUND_KEY = re.compile(
    r"最[高低长短大小少多]|[上下]限|至[少多]|幅度|范围|法定|起点|基准|\bmin|\bmax|lower|upper|range|statut",
    re.IGNORECASE,
)
_UNIT_KEY = re.compile(
    r"(?:刑期|时间|计量|期限|刑罚)?的?单位|(?:(?:term|sentence|time)[ _])?units?", re.IGNORECASE
)

# Objects that hold no principal penalty: {"附加刑": {"类型": "罚金", "金额": 5000}}
_ADDITIONAL_KEY = re.compile(
    r"附加|罚金|没收|缓|考验|剥夺|additional|fine|probation|suspen|confisc", re.IGNORECASE
)

_OWNER_KEY = re.compile(r"被告|某[甲乙丙丁戊己]|defendant")


def _sort(data: Mapping[Any, Any]) -> _Slots:
    """Each value to the field that its key asks for; the first stays, but a total replaces a term."""
    slots = _Slots()
    ambiguous: list[tuple[str, Any, Unit | None, bool]] = []
    crimes: list[tuple[str, Any]] = []
    totals: list[tuple[str, Any, Unit | None]] = []
    for key, value in list(data.items())[:_MOST_KEYS]:
        name = str(key)[:60]
        asked = field_of(name)
        if value == CUT_OFF and asked.field in ("term", "total", "sentence"):
            slots.cut_off = True
        if _is_nested(value) and _ADDITIONAL_KEY.search(name):
            continue
        own = asked.field in ("term", "sentence") and _is_term(value)
        if _is_nested(value) and not (own or (asked.field == "term" and _is_only_a_term(value))):
            slots.inner.append((name, value))
            if asked.field == "charge":
                slots.values.setdefault("charge", value)
        elif asked.field == "owner":
            slots.owner = str(value)[:40]
        elif asked.field == "term":
            if asked.unclear:
                slots.missing = slots.missing or Missing.UNCLEAR_WORDS
                slots.extras.append(_text(value))
            else:
                _put_term(slots, name, value, asked.unit, asked.total)
        elif asked.field == "sentence" and _OF_OTHERS_KEY.search(name):
            slots.missing = slots.missing or Missing.DRAFT
            slots.extras.append(_text(value))
        elif asked.field == "sentence":
            ambiguous.append((name, value, asked.unit, asked.total))
        elif asked.field == "crime":
            crimes.append((name, {"罪名": name, "刑罚": value}))
        elif asked.field == "total":
            if name_penalty(_text(value)).penalty or read_term(value, asked.unit).months is not None:
                totals.append((name, value, asked.unit))
            else:
                slots.extras.append(_text(value))
        elif asked.field == "penalty" and name in _BARE_KIND and not _names_penalty(value):
            slots.unknown.append((name, value))
        elif asked.field is not None:
            slots.values.setdefault(asked.field, value)
        elif asked.other:
            if _UNIT_KEY.fullmatch(name.strip()):
                _put_unit(slots, _text(value))
            slots.extras.append(_text(value))
            slots.suspended = slots.suspended or (
                "缓" in name and read_guilt(value) is not False and not is_blank(_text(value))
            )
        else:
            slots.unknown.append((name, value))
    for name, value, unit in totals:
        _put_sentence(slots, name, value, unit, total=True)
    for name, value, unit, total in ambiguous:
        _put_sentence(slots, name, value, unit, total)
    if not totals:
        slots.inner.extend(crimes)
    elif "charge" not in slots.values and crimes:
        slots.values["charge"] = [name for name, _ in crimes]
    return slots


_BARE_KIND = frozenset({"type", "Type", "类型", "种类", "类别"})  # {"type":"object","value":{...}}


def _names_penalty(value: Any) -> bool:
    named = name_penalty(_text(value))
    return bool(named.penalty or named.alternatives or named.suspended or named.generic)


def _put_unit(slots: _Slots, said: str) -> None:
    unit = unit_of(tight(said[:20]))
    if unit is None and not is_blank(said):
        slots.missing = Missing.UNCLEAR_UNIT
    slots.unit = slots.unit or unit


def _put_term(slots: _Slots, key: str, value: Any, unit: Unit | None, total: bool) -> None:
    if _OF_OTHERS_KEY.search(key):
        slots.missing = Missing.DRAFT
        slots.extras.append(_text(value))
        return
    if _BOUND_KEY.search(key):
        slots.missing = slots.missing or Missing.RANGE
        slots.extras.append(_text(value))
        return
    slots.terms.append(_Term(key, value, unit, total))
    # {"有期徒刑": "三年"}: the key itself names the penalty.
    named = name_penalty(key).penalty
    if named and "刑期" not in key and "penalty" not in slots.values and not is_blank(_text(value)):
        slots.values["penalty"] = key


def _settle_terms(slots: _Slots) -> None:
    """The one term of all that were stated: the total where one is called so, else they must agree."""
    if not slots.terms:
        return
    from_others, slots.missing = slots.missing, None
    if from_others == Missing.UNCLEAR_UNIT:
        slots.missing = from_others
    stated = [(t, read_term(t.value, t.unit or slots.unit)) for t in slots.terms]
    said = [(t, r) for t, r in stated if r.months is not None or r.missing is not None or _is_list(t.value)]
    totals = [(t, r) for t, r in said if t.total]
    chosen = totals or said or stated
    term, read = chosen[0]
    if len({(r.months, r.missing) for _, r in chosen}) > 1:
        slots.missing = Missing.SEVERAL_TERMS
    if totals and read.months is not None:
        single = [r.months for t, r in said if not t.total and r.months is not None]
        if any(m > read.months for m in single):
            slots.missing = Missing.CONTRADICTION
    if read.unit is None or term.unit is not None:
        if OTHER_UNIT.search(tight(term.key)) or (has_several_units(tight(term.key)) and read.unit is None):
            slots.missing = Missing.UNCLEAR_UNIT
        if term.unit and slots.unit and term.unit != slots.unit:
            slots.missing = Missing.UNCLEAR_UNIT
    elif slots.missing == Missing.UNCLEAR_UNIT:
        slots.missing = None  # the value has its own
    slots.extras.extend(_text(t.value) for t, _ in stated if t is not term)
    slots.values["term"], slots.total = term.value, term.total
    slots.unit = term.unit or slots.unit


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1


def _settle_doubled(slots: _Slots) -> None:
    """Keys that stand twice: the crimes of one object if the charge does too, else they must agree."""
    charge = slots.values.get("charge")
    crimes = isinstance(charge, Doubled) and len({str(c) for c in charge}) == len(charge)
    for name in ("guilty", "penalty", "term"):
        value = slots.values.get(name)
        if not isinstance(value, Doubled):
            continue
        if crimes and isinstance(charge, list) and len(value) == len(charge):
            slots.values[name] = list(value)
        elif len({str(v) for v in value}) == 1:
            slots.values[name] = value[0]
        else:
            slots.missing = Missing.SEVERAL_TERMS if name == "term" else Missing.CONTRADICTION


def _put_sentence(slots: _Slots, key: str, value: Any, unit: Unit | None, total: bool) -> None:
    """A field such as 刑罚 or `sentence`: by its value a term, a penalty, a finding of guilt, or prose."""
    text = _text(value)
    named = name_penalty(text)
    if "penalty" not in slots.values and (named.penalty or named.alternatives or named.suspended):
        slots.values["penalty"] = value
    elif read_term(value, unit).months is not None:
        _put_term(slots, key, value, unit, total)
    elif "guilty" not in slots.values and len(text) > 1 and read_guilt(value) is not None:
        slots.values["guilty"] = value
    else:
        if "penalty" not in slots.values and not isinstance(value, bool):
            slots.values["penalty"] = value
        slots.extras.append(text)


def _by_value(slots: _Slots) -> None:
    """A value under a key that is not understood counts where it alone can fill a field that is missing."""
    if len(slots.values) >= 2:
        if "penalty" not in slots.values:
            named = [
                v for _, v in slots.unknown if isinstance(v, str) and len(v) <= 30 and name_penalty(v).penalty
            ]
            if len(named) == 1:
                slots.values["penalty"] = named[0]
        if "term" not in slots.values:
            lengths = [v for k, v in slots.unknown if _is_length(k, v)]
            if len(lengths) == 1:
                slots.values["term"] = lengths[0]
    slots.extras.extend(_text(v) for _, v in slots.unknown)


def _is_length(key: str, value: Any) -> bool:
    """Whether a value is a term by itself: a value without key, or one that names its penalty."""
    if isinstance(value, str) and (len(value) > 20 or not value.strip()):
        return False
    named = key == "?" or (isinstance(value, str) and name_penalty(value).penalty is not None)
    return named and read_term(value).months is not None


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and any(isinstance(v, Mapping) for v in value)
    )


def _is_term(value: Any) -> bool:
    """Whether an object is a length (年 and 月, value and unit) and not a penalty with its term inside."""
    if not isinstance(value, Mapping) or read_term(value).months is None:
        return False
    return not any(field_of(str(k)).field in ("penalty", "guilty", "charge") for k in value)


def _is_only_a_term(value: Any) -> bool:
    """Whether an object can be nothing but a length, though perhaps none that can be read: its keys name no
    field of a verdict but the term."""
    if not isinstance(value, Mapping) or read_term(value).missing is None:
        return False
    return not any(
        _is_nested(v) or field_of(str(k)).field in ("penalty", "guilty", "charge", "sentence")
        for k, v in value.items()
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:2000]
    if isinstance(value, list):
        return "、".join(_text(v) for v in value[:20])
    return "" if value is None else str(value)[:200]


def _record(slots: _Slots, *, asked: bool) -> Record:
    values = slots.values
    return Record(
        charge=values.get("charge"),
        guilty=values.get("guilty"),
        penalty=values.get("penalty"),
        term=values.get("term"),
        unit=slots.unit,
        total=slots.total,
        owner=slots.owner,
        suspended=slots.suspended,
        extras=tuple(e for e in slots.extras if e),
        asked=asked,
        known=len(values),
        missing=slots.missing,
    )


def merged(parts: list[Record]) -> list[Record]:
    """Records that are pieces of one verdict ({"罪名": …}, {"是否有罪": …}, {"刑期": 36}) put together.

    A piece lacks its penalty or its term, and the next one holds nothing that it has already.
    """
    whole: list[Record] = []
    for record in parts:
        if whole and _is_piece(whole[-1]) and _is_piece(record) and not _overlap(whole[-1], record):
            whole[-1] = replace(_filled(whole[-1], record), known=whole[-1].known + record.known)
        else:
            whole.append(record)
    return whole


def _is_piece(record: Record) -> bool:
    return record.known < 4 and not (
        record.penalty is not None and record.term is not None and record.charge is not None
    )


def _overlap(one: Record, other: Record) -> bool:
    fields = ("charge", "guilty", "penalty", "term")
    return any(getattr(one, f) is not None and getattr(other, f) is not None for f in fields)


def is_verdict(record: Record) -> bool:
    """Whether a record says anything of guilt, penalty or term; a charge alone is no verdict."""
    return record.penalty is not None or record.term is not None or record.guilty is not None


def _filled(record: Record, other: Record) -> Record:
    """The record with what it lacks taken from another."""
    taken = {
        name: getattr(other, name)
        for name in ("charge", "guilty", "penalty", "term", "owner")
        if getattr(record, name) is None and getattr(other, name) is not None
    }
    if "term" in taken:
        taken["unit"] = other.unit
    return replace(
        record,
        **taken,
        extras=record.extras + other.extras,
        known=max(record.known, other.known),
        missing=record.missing or other.missing,
        asked=False,
    )
