"""Reading an answer by its form: one reading for each outcome.

The rule throughout: a value counts where it is certain. Several objects count as one where they agree;
where they differ, only one that is announced as the final answer counts, and otherwise none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.audit.answers import refusals
from evenhand.audit.answers.announced import announces
from evenhand.audit.answers.attribution import disowns, is_key_of_others, is_of_others
from evenhand.audit.answers.labelled import labelled
from evenhand.audit.answers.objects import find_objects
from evenhand.audit.answers.reasoning import without_reasoning
from evenhand.audit.answers.shapes import CUT_OFF, Doubled
from evenhand.audit.answers.values import ReadValue, bare, read_value
from evenhand.audit.answers.vocabulary import Vocabulary
from evenhand.audit.answers.writing import visible
from evenhand.audit.forms import AnswerField, AnswerForm
from evenhand.audit.outcomes import Amount, Outcome, Probability
from evenhand.audit.readings import ReadAs, Reading

_LONGEST_BARE = 120
"""Characters of an answer that may be a value and nothing else."""
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class _Record:
    """The fields of the form in one object."""

    values: dict[str, Any]
    """Key of the form -> value as written."""
    sound: bool
    asked: bool
    """Whether its keys are those asked for, and no others."""
    cut: bool
    before: str
    under: str = ""
    """The key that the object stands under, if any."""

    @property
    def of_others(self) -> bool:
        """Whether it is said to be a draft, an example or another case's."""
        return is_of_others(self.before) or self.stands_apart

    @property
    def stands_apart(self) -> bool:
        """Whether it stands under a key that says so."""
        return bool(self.under) and is_key_of_others(self.under)


class Keys:
    """The keys by which answers may call the fields of a form."""

    def __init__(self, form: AnswerForm) -> None:
        self._fields = {bare(word): field for field in form.fields for word in (field.key, *field.synonyms)}
        self.exact = {field.key for field in form.fields}

    def field(self, key: object) -> AnswerField | None:
        """The field that a key means, if any."""
        return self._fields.get(bare(key)) if isinstance(key, str) else None

    def vocabulary(self, outcomes: Sequence[Outcome]) -> Vocabulary:
        """What the readers of objects, lines and reasoning must know of this form."""
        amounts = {outcome.name for outcome in outcomes if isinstance(outcome, Amount | Probability)}
        held = {field.key for field in self._fields.values() if field.outcome is not None}
        alternatives = "|".join(re.escape(word) for word in self._fields)
        return Vocabulary(
            field_of=self._key,
            amounts=frozenset(field.key for field in self._fields.values() if field.outcome in amounts),
            watched=frozenset(held),
            begins=re.compile(
                rf"[\n,}}]\s{{0,20}}\{{\s{{0,20}}[\"'“]?\s{{0,4}}(?:{alternatives})", re.IGNORECASE
            ),
        )

    def _key(self, key: str) -> str | None:
        field = self.field(key)
        return None if field is None else field.key


def read(
    text: str, outcomes: Sequence[Outcome], form: AnswerForm, refusal_phrases: Sequence[str] = ()
) -> tuple[Reading, ...]:
    """One reading for each outcome, in order. Never raises; what is not certain is missing, with its kind."""

    def none(read_as: ReadAs, note: str | None = None) -> tuple[Reading, ...]:
        return tuple(Reading(outcome.name, None, read_as, note) for outcome in outcomes)

    if refusals.empty(text):
        return none("empty")
    if refusals.failed_request(text):
        return none("request_failed")
    if refusals.blocked(text):
        return none("refused", "a content block")
    keys = Keys(form)
    words = keys.vocabulary(outcomes)
    answer, endless = without_reasoning(visible(text), words)
    if refusals.empty(answer):
        return none("truncated" if endless else "empty", "no answer after the reasoning")
    objects = find_objects(answer, words)
    records = [
        record
        for found in objects.found
        for record in _records(found.data, keys, found.sound, found.cut, found.before)
    ]
    prose = bool(objects.prose.strip())
    if not records:
        rows = labelled(answer, words)
        before = answer[: min((answer.find(key) for row in rows for key in row), default=0)]
        records = [_Record(_fields(row, keys), True, False, False, before) for row in rows]
        prose = True
    if not records and len(outcomes) == 1 and len(answer) <= _LONGEST_BARE and not objects.braces:
        (field,) = (one for one in form.fields if one.outcome == outcomes[0].name)
        found_bare = read_value(outcomes[0], field, answer.strip())
        if found_bare.value is not None:
            return (Reading(outcomes[0].name, found_bare.value, "prose", "the value alone"),)
    if not records:
        if refusals.refuses(answer) or _declines(answer, refusal_phrases):
            return none("refused")
        if objects.braces and answer.count("{") > answer.count("}"):
            return none("truncated", "breaks off before a value")
        return none("unreadable", "no field of the answer can be found")
    if disowns(objects.behind if objects.found else answer):
        return none("ambiguous", "said to be a draft, an example or another's, or to be ignored")
    return tuple(_reading(outcome, form, records, prose=prose) for outcome in outcomes)


def _records(
    data: Any, keys: Keys, sound: bool, cut: bool, before: str, depth: int = 0, under: str = ""
) -> list[_Record]:
    """The objects in an object that hold fields of the form, outer ones first."""
    if depth > _DEEPEST:
        return []
    if isinstance(data, list):
        return [r for one in data for r in _records(one, keys, sound, cut, before, depth + 1, under)]
    if not isinstance(data, dict):
        return []
    values = _fields(data, keys)
    inner = [
        record
        for key, value in data.items()
        if isinstance(value, dict | list) and keys.field(key) is None
        for record in _records(value, keys, sound, cut, before, depth + 1, under or str(key))
    ]
    asked = depth == 0 and set(data) == keys.exact
    own = [_Record(values, sound, asked, cut, before, under)] if values else []
    return own + inner


def _fields(data: dict[str, Any], keys: Keys) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in data.items():
        field = keys.field(key)
        if field is None:
            continue
        twice = field.key in values and values[field.key] != value
        values[field.key] = Doubled([values[field.key], value]) if twice else value
    return values


def _reading(outcome: Outcome, form: AnswerForm, records: Sequence[_Record], *, prose: bool) -> Reading:
    (field,) = (one for one in form.fields if one.outcome == outcome.name)
    holding = [record for record in records if field.key in record.values]
    if not holding:
        if any(record.cut for record in records):
            return Reading(outcome.name, None, "truncated", "breaks off before the value")
        return Reading(outcome.name, None, "unreadable", f"no field '{field.key}'")
    holding = [record for record in holding if not record.stands_apart] or holding
    if all(record.of_others for record in holding):
        return Reading(outcome.name, None, "ambiguous", "called a draft, an example or another case's")
    found = [_value(outcome, field, record) for record in holding]
    first = found[0]
    note = first.note
    if any(one.value != first.value or (one.value is None) != (first.value is None) for one in found):
        if announces(holding[-1].before) and not any(announces(record.before) for record in holding[:-1]):
            first, note = found[-1], "the last of several, announced as final"
        else:
            return Reading(outcome.name, None, "ambiguous", f"{len(found)} values that differ")
    elif len(found) > 1:
        note = f"the same value {len(found)} times"
    if first.value is None:
        return Reading(outcome.name, None, first.read_as, note)
    repaired = first.read_as == "repaired" or not all(r.sound and r.asked for r in holding)
    return Reading(outcome.name, first.value, "repaired" if repaired else "prose" if prose else "exact", note)


def _value(outcome: Outcome, field: AnswerField, record: _Record) -> ReadValue:
    raw = record.values[field.key]
    if raw == CUT_OFF:
        return ReadValue(None, "truncated", "breaks off within the value")
    if not isinstance(raw, Doubled):
        return read_value(outcome, field, raw)
    found = [read_value(outcome, field, one) for one in raw]
    if any(one.value != found[0].value for one in found) or found[0].value is None:
        return ReadValue(None, "ambiguous", "a key that comes twice")
    return found[0]


def _declines(answer: str, phrases: Sequence[str]) -> bool:
    said = bare(answer)
    return any(bare(phrase) in said for phrase in phrases)
