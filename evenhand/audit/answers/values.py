"""One value of an answer, as its outcome understands it: certain, or missing with the reason.

Words are accepted, not excluded: a value counts only where all of it is understood. "yes", "2 years 6
months" and "community service" (a synonym) do; "yes or no", "2 to 3 years" and "not detention" do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from evenhand.audit.answers.numerals import NUMBER, number
from evenhand.audit.answers.writing import plain
from evenhand.audit.forms import AnswerField
from evenhand.audit.outcomes import Amount, Classes, OneClass, Ordinal, Outcome, Probability, Value, YesNo
from evenhand.audit.readings import ReadAs

_YES = ("yes", "true", "是")
_NO = ("no", "false", "否")
_MARGIN = " \t\r\n\"'“”‘’「」*_`.。!！,，;；:："
_SEPARATORS = re.compile(r"\s*[,，;；、\n]\s*|\s+and\s+|\s*和\s*")
_SPACES = re.compile(r"[\s_-]+")
_PER_CENT = re.compile(rf"({NUMBER})\s*(?:%|percent|per cent|per cent\.)")
_LONGEST = 400


class ReadValue(NamedTuple):
    """A value, or None with the way in which it is missing; and what was unusual."""

    value: Value | None
    read_as: ReadAs
    note: str | None = None


def read_value(outcome: Outcome, field: AnswerField, raw: Any) -> ReadValue:
    """The value of a field of an answer. `raw` is as JSON has it. Never raises."""
    if raw is None or raw == "" or (isinstance(raw, str) and not raw.strip(_MARGIN)):
        if isinstance(outcome, Classes):
            return ReadValue(None, "unreadable", "the field is empty")
        return ReadValue(None, "unreadable", "the field is empty")
    if isinstance(raw, str) and len(raw) > _LONGEST:
        return ReadValue(None, "unreadable", "a text where a value was asked for")
    match outcome:
        case YesNo():
            return _yes_no(outcome, raw)
        case OneClass() | Ordinal():
            return _one_class(outcome, raw)
        case Classes():
            return _classes(outcome, raw)
        case Amount():
            return _amount(outcome, field, raw)
        case Probability():
            return _probability(raw)


def _yes_no(outcome: YesNo, raw: Any) -> ReadValue:
    if isinstance(raw, bool):
        return ReadValue(raw, "exact")
    if not isinstance(raw, str):
        return ReadValue(None, "unreadable", "neither yes nor no")
    word = bare(raw)
    yes = {bare(one) for one in (outcome.yes, *outcome.yes_synonyms, *_YES)}
    no = {bare(one) for one in (outcome.no, *outcome.no_synonyms, *_NO)}
    if word in yes and word not in no:
        return ReadValue(True, "exact" if raw == outcome.yes else "repaired")
    if word in no and word not in yes:
        return ReadValue(False, "exact" if raw == outcome.no else "repaired")
    return ReadValue(None, *_why_not(word, (*yes, *no)))


def _one_class(outcome: OneClass | Ordinal, raw: Any) -> ReadValue:
    if isinstance(raw, list) and len(raw) == 1:
        alone = _one_class(outcome, raw[0])
        return alone._replace(read_as="repaired") if alone.value is not None else alone
    if isinstance(raw, list) and len(raw) > 1:
        return ReadValue(None, "ambiguous", "several classes where one was asked for")
    if not isinstance(raw, str):
        return ReadValue(None, "unreadable", "no name of a class")
    words = _words(outcome)
    found = words.get(bare(raw))
    if found is not None:
        return ReadValue(found, "exact" if raw == found else "repaired")
    return ReadValue(None, *_why_not(bare(raw), words))


def _classes(outcome: Classes, raw: Any) -> ReadValue:
    exact = isinstance(raw, list)
    if isinstance(raw, str):
        if bare(raw) == bare(outcome.none):
            return ReadValue((), "repaired")
        words = _words(outcome)
        raw = (
            [raw] if bare(raw) in words else [part for part in _SEPARATORS.split(raw) if part.strip(_MARGIN)]
        )
    if not isinstance(raw, list):
        return ReadValue(None, "unreadable", "no list of classes")
    words = _words(outcome)
    chosen: set[str] = set()
    if len(raw) == 1 and isinstance(raw[0], str) and bare(raw[0]) == bare(outcome.none):
        return ReadValue((), "repaired")
    for one in raw:
        found = words.get(bare(one)) if isinstance(one, str) else None
        if found is None:
            return ReadValue(None, "unreadable", f"{str(one)[:40]!r} is no class")
        exact = exact and one == found
        chosen.add(found)
    value = tuple(name for name in outcome.names() if name in chosen)
    return ReadValue(value, "exact" if exact else "repaired")


def _amount(outcome: Amount, field: AnswerField, raw: Any) -> ReadValue:
    if isinstance(raw, bool | list | dict):
        return ReadValue(None, "unreadable", "no number")
    if isinstance(raw, int | float):
        return _in_range(outcome, float(raw), "exact")
    text = plain(str(raw)).strip(_MARGIN)
    pattern, units = _lengths(outcome.unit, tuple(field.units.items()))
    if re.fullmatch(NUMBER, text):
        value = number(text)
        return (
            ReadValue(None, "ambiguous", "an estimate")
            if value is None
            else _in_range(outcome, value, "repaired")
        )
    if not pattern.fullmatch(text):
        return ReadValue(None, *_number_trouble(text))
    total, smallest = 0.0, float("inf")
    for match in re.finditer(rf"({NUMBER})\s*({'|'.join(map(re.escape, units))})", text):
        value, size = number(match[1]), units[match[2]]
        if value is None or size >= smallest:
            return ReadValue(None, "ambiguous", "parts that do not make one amount")
        total, smallest = total + value * size, size
    return _in_range(outcome, total, "repaired")


def _probability(raw: Any) -> ReadValue:
    if isinstance(raw, bool | list | dict):
        return ReadValue(None, "unreadable", "no number")
    if isinstance(raw, int | float):
        value = float(raw)
    else:
        text = plain(str(raw)).strip(_MARGIN)
        share = _PER_CENT.fullmatch(text)
        found = number(share[1] if share else text) if share or re.fullmatch(NUMBER, text) else None
        if found is None:
            return ReadValue(None, *_number_trouble(text))
        value = found / 100 if share else found
    if not 0 <= value <= 1:
        note = "above 1 and not in per cent" if value > 1 else "below 0"
        return ReadValue(None, "out_of_range", note)
    return ReadValue(value, "exact" if not isinstance(raw, str) else "repaired")


def _in_range(outcome: Amount, value: float, read_as: ReadAs) -> ReadValue:
    if not outcome.minimum <= value <= outcome.maximum:  # also where it is not a number
        return ReadValue(
            None, "out_of_range", f"{value:g} is not from {outcome.minimum:g} to {outcome.maximum:g}"
        )
    return ReadValue(value, read_as)


def bare(text: str) -> str:
    """A word for comparing: lower case, half-width, without quotes and marks around it, single spaces in
    it."""
    return _SPACES.sub(" ", plain(text).strip(_MARGIN)).strip()


def _words(outcome: OneClass | Ordinal | Classes) -> Mapping[str, str]:
    """What each class may be called -> its name."""
    return _bare_words(
        tuple((word, one.name) for one in outcome.classes for word in (one.name, *one.synonyms))
    )


@lru_cache(maxsize=64)
def _bare_words(pairs: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return {bare(word): name for word, name in pairs}


def _why_not(word: str, known: Iterable[str]) -> tuple[ReadAs, str]:
    """Whether words that are known stand in it beside others, or none is."""
    inside = [one for one in known if one and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", word)]
    if inside:
        return "ambiguous", f"more than the value: {word[:60]!r}"
    return "unreadable", f"{word[:60]!r} is not among the answers"


def _number_trouble(text: str) -> tuple[ReadAs, str]:
    numbers = re.findall(NUMBER, text)
    if len(numbers) > 1:
        return "ambiguous", "a range, a bound or an alternative"
    if numbers:
        return "ambiguous", f"a number with words that are not understood: {text[:60]!r}"
    return "unreadable", "no number"


@lru_cache(maxsize=64)
def _lengths(unit: str, units: tuple[tuple[str, float], ...]) -> tuple[re.Pattern[str], Mapping[str, float]]:
    """The pattern of an amount with units ("2 years 6 months"), and the size of each unit."""
    sizes: dict[str, float] = {}
    for word, size in ((unit, 1.0), *units):
        key = plain(word)
        for form in (key, key.removesuffix("s"), key if key.endswith("s") else f"{key}s"):
            if form:
                sizes.setdefault(form, size)
    longest_first = dict(sorted(sizes.items(), key=lambda pair: -len(pair[0])))
    one = rf"{NUMBER}\s*(?:{'|'.join(map(re.escape, longest_first))})(?![a-z])"
    return re.compile(rf"{one}(?:\s*(?:,|and|，)?\s*{one})*"), longest_first
