"""The JSON objects of an answer: found wherever they stand, mended where they are broken.

A text is split at its fences, because no object crosses one, and each block is read from left to right. At
each opening brace a sound object is taken as it is. A broken one is taken up to its closing brace, or the
next object or the end of the block, and mended: escapes that stand outside strings are undone, then
json-repair has it, and where not even that finds a field of the answer, the labels in it are read as lines.

All work is bounded: braces tried, characters mended, nesting.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import Any

from evenhand.audit.answers.labelled import labelled
from evenhand.audit.answers.shapes import CUT_OFF, Doubled
from evenhand.audit.answers.vocabulary import Vocabulary
from evenhand.audit.answers.writing import ascii_punctuation


@dataclass(frozen=True, slots=True)
class Found:
    """One object: its data, the block it stands in, whether it was sound JSON, whether it breaks off."""

    data: Any
    block: int
    sound: bool
    cut: bool
    before: str
    """The prose between the object before it, or the beginning, and this one; fences left out."""
    text: str = ""
    """As it was written."""


@dataclass(frozen=True, slots=True)
class Objects:
    """All objects of a text, and the prose (and comments) around them."""

    found: tuple[Found, ...]
    prose: str
    braces: bool
    """Whether an opening brace stands anywhere: an object was at least begun."""
    behind: str = ""
    """The prose behind the last object."""
    more: bool = False
    """Whether more was to come: an array of objects, or an object behind the last one, is never closed, or
    the text ends in a colon."""


_FENCE = re.compile(r"`{3,}[ \t]*(?:[A-Za-z][\w+-]{0,15})?|'{3}(?:json)?|~{3,}(?:json)?")
_ENTITY = re.compile(r"&(?:quot|amp|lt|gt|apos|nbsp|#\d{1,5}|#x[0-9a-fA-F]{1,4});")
_DOUBLED = re.compile(r"\"\"(?=[^\s:,，：}\]])|(?<=[^\s:,，：{\[])\"\"|/\"")
_LITERAL_ESCAPE = re.compile(r"\\+(?:[nrt](?![a-zA-Z])|u([0-9a-fA-F]{4})|([\"'{}\[\]_:,/<>-]))")
_COMMENT = re.compile(r"(?://|#)([^\n]{0,400})|/\*(.{0,400}?)\*/|<!--(.{0,400}?)-->", re.DOTALL)
_ENDS_IN_COLON = re.compile(r"[:：][\s*_`]*\Z")
_OPEN_ARRAY = re.compile(r"\[\s{0,9}\{[^\]]{0,20000}\Z")
_WRAPS = re.compile(r"\{\s{0,9}[\"“'][^\"”'{}]{1,40}[\"”']\s{0,9}[:：]\s{0,9}\[?\s{0,9}\{")
_BRACE = re.compile(r"[{}]")

_MOST_BRACES_TRIED = 120
_MOST_OBJECTS = 40
_LONGEST_OBJECT = 20_000
_MOST_MENDED = 24_000  # characters given to json-repair for one answer
_LONGEST_LABELLED = 3000
_DEEPEST = 40


class _Budget:
    """What is left of the work allowed for one answer."""

    def __init__(self) -> None:
        self.braces = _MOST_BRACES_TRIED
        self.mended = _MOST_MENDED


def _merge(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Keeps every value of a key that comes twice: two crimes written into one object look like that."""
    data = dict(pairs)
    if len(data) == len(pairs):
        return data
    values: dict[str, list[Any]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return {key: each[0] if len(each) == 1 else Doubled(each) for key, each in values.items()}


_decoder = json.JSONDecoder(strict=False, object_pairs_hook=_merge)


def find_objects(text: str, words: Vocabulary) -> Objects:
    """The objects of a text and the prose around them."""
    budget = _Budget()
    blocks = _FENCE.split(text)
    found: list[Found] = []
    prose: list[str] = []
    gap: list[str] = []
    for number, block in enumerate(blocks):
        position = start = 0
        while len(found) < _MOST_OBJECTS and budget.braces > 0:
            start = block.find("{", start)
            if start < 0:
                break
            budget.braces -= 1
            taken = _take(block, start, budget, words)
            if taken is None:
                start += 1
                continue
            data, end, sound, closed = taken
            gap.append(block[position:start])
            if not sound:
                prose.extend(c for m in _COMMENT.finditer(block, start, end) for c in m.groups() if c)
            cut = number == len(blocks) - 1 and not closed and not block[end:].strip()
            if cut:
                _leave_out_what_is_open(data, block[start:end], words)
            found.append(Found(data, number, sound, cut, "\n".join(gap), block[start:end]))
            prose.extend(gap)
            gap.clear()
            position = start = end
        gap.append(block[position:])
    prose.extend(gap)
    behind = "\n".join(gap)
    in_array = bool(found) and found[0].before.rstrip().endswith("[") and "]" not in behind
    begun = bool(found) and "{" in behind and "}" not in behind[behind.rfind("{") :]
    announced = bool(found) and _ENDS_IN_COLON.search(behind) is not None
    open_array = bool(found) and found[-1].cut and _OPEN_ARRAY.search(found[-1].text) is not None
    # A wrapper that was taken apart at the objects in it, and is not closed behind the last of them.
    wrapped = len(found) > 1 and "}" not in behind and _is_open_wrapper(found[0].text)
    more = in_array or begun or announced or open_array or wrapped
    return Objects(tuple(found), "\n".join(p for p in prose if p.strip()), "{" in text, behind, more)


def _is_open_wrapper(text: str) -> bool:
    return _WRAPS.match(text) is not None and text.count("{") > text.count("}")


_LAST_PAIR = re.compile(r"([^\s:：={},，\[\]\"'“”]{1,40})[\"'”]?\s{0,9}[:：=]\s{0,9}([^:：]{0,600})\Z")
_QUOTED = re.compile(r"[\"“'](.*)\Z", re.DOTALL)


def _leave_out_what_is_open(data: Any, span: str, words: Vocabulary) -> None:
    """Takes the last value of a cut object away unless something closes it: 1 may be the beginning of 12.

    A quoted value is closed by its quote, a number by what cannot belong to it, a list or object by its
    bracket. Data that hold no such key, so that nothing can be told, lose their last value.
    """
    text = _unescape(span) if "\\" in span else span
    pair = _LAST_PAIR.search(text)
    where = data[-1] if isinstance(data, list) and data else data
    while isinstance(where, dict) and where:
        last = where[list(where)[-1]]
        inner = last[-1] if isinstance(last, list) and last else last
        if not isinstance(inner, dict):
            break
        where = inner
    if not isinstance(where, dict) or not where:
        return
    if where is not data and isinstance(data, dict) and text.count("{") - text.count("}") > 1:
        # 3 years of a term whose months are still to come
        key = list(data)[-1]
        if words.field_of(str(key)) in words.nested:
            data[key] = CUT_OFF
            return
    if pair is None or not _is_closed(pair[2]) or _is_in_quotes(text, pair.start(2)):
        where[list(where)[-1]] = CUT_OFF


def _is_in_quotes(text: str, position: int) -> bool:
    """Whether a quote that nothing closes opens before a position: the colon in "Imprisonment: 3 is none."""
    straight = text.count('"') % 2 == 1 and text.rfind('"') < position
    return straight or (text.count("“") > text.count("”") and text.rfind("“") < position)


def _is_closed(value: str) -> bool:
    quoted = _QUOTED.match(value)
    if quoted:
        return bool(re.search(r"[\"”'][\s,，;；.\w-]*\Z", quoted[1]))
    if value.startswith(("[", "{")):
        return value.rstrip().endswith(("]", "}"))
    if re.fullmatch(r"[\d.]+\s+", value):
        return True
    return bool(re.search(r"[,，;；}\]\n]\s*\Z", value))


def _take(block: str, start: int, budget: _Budget, words: Vocabulary) -> tuple[Any, int, bool, bool] | None:
    """The object at a brace: data, end, whether sound, whether closed; None if nothing of an answer is in
    it."""
    try:
        data, end = _decoder.raw_decode(block, start)
    except (ValueError, RecursionError):
        pass
    else:
        return (data, end, True, True) if _speaks(data, words) else None
    following = block[start + 1 : start + 12].lstrip(" \\\n")
    if following.startswith("{"):
        return None  # {{...}} or \boxed{\{...\}}: the inner brace is tried next
    end, closed = _end(block, start, words)
    data = _mend(block[start:end], budget, words)
    return None if data is None else (data, end, False, closed)


def _end(block: str, start: int, words: Vocabulary) -> tuple[int, bool]:
    """Where a broken object ends, and whether a brace closes it. Quotes are not trusted here."""
    limit = min(len(block), start + _LONGEST_OBJECT)
    depth = 0
    for match in _BRACE.finditer(block, start, limit):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end(), True
        if depth > _DEEPEST:
            break
    another = words.begins.search(block, start + 1, limit) or words.last_field.search(block, start + 1, limit)
    if another is None:
        return limit, False
    return (another.end() if another.re is words.last_field else another.start() + 1), False


def _mend(span: str, budget: _Budget, words: Vocabulary) -> Any:
    """The data of a broken object, None if there is nothing of an answer in it."""
    if ":" not in span and "：" not in span and "=" not in span:
        return None
    candidate = _unescape(span) if "\\" in span else span
    if "&" in candidate and _ENTITY.search(candidate):
        candidate = html.unescape(candidate)
    if len(_DOUBLED.findall(candidate)) >= 4:  # {""罪名"":""盗窃罪""} of a table, {/"罪名/":/"盗窃罪/"}
        candidate = _DOUBLED.sub('"', candidate)
    best: Any = None
    for attempt in (_strict, _strict_ascii, _repaired, _repaired_ascii):
        if attempt in (_repaired, _repaired_ascii):
            budget.mended -= len(candidate)
            if budget.mended < 0 or candidate.count("{") + candidate.count("[") > 2 * _DEEPEST:
                break
        data = attempt(candidate, words)
        if data is not None and _fields(data, words) > _fields(best, words):
            best = data
        if _fields(best, words) >= 3:
            break
    if _fields(best, words) < 4:
        lines = labelled(candidate[:_LONGEST_LABELLED], words)
        if lines and _fields(lines[0], words) > _fields(best, words):
            best = lines[0] if len(lines) == 1 else lines
    return best if best is not None and _speaks(best, words) else None


def _unescape(span: str) -> str:
    r"""Undoes `\"`, `\n`, `\{` and `\u7f6a` of a text that was encoded once too often."""

    def plain_character(match: re.Match[str]) -> str:
        if match[1]:
            character = chr(int(match[1], 16))
            return "" if "\ud800" <= character <= "\udfff" else character
        return match[2] or "\n"

    return _LITERAL_ESCAPE.sub(plain_character, span)


def _strict(span: str, words: Vocabulary) -> Any:
    del words
    try:
        return _decoder.decode(span)
    except (ValueError, RecursionError):
        return None


def _strict_ascii(span: str, words: Vocabulary) -> Any:
    changed = ascii_punctuation(span)
    return None if changed == span else _strict(changed, words)


def _repaired(span: str, words: Vocabulary) -> Any:
    from json_repair import loads  # noqa: PLC0415 - most answers are sound and need none of it

    try:
        data = loads(span, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, KeyError, AttributeError):
        return None
    return (
        _as_written(data, span, words) if isinstance(data, dict) else data if isinstance(data, list) else None
    )


def _repaired_ascii(span: str, words: Vocabulary) -> Any:
    changed = ascii_punctuation(span)
    return None if changed == span else _repaired(changed, words)


_VALUE = r"(?:[\"'“”\s]{0,6}[:：=]\s{0,4}|[\"'”]\s{0,4})((?:[^,，}\n]|[,，](?=\d)){1,40})"
_A_COMMENT = re.compile(r"//|#|/\*")
# Behind a closing quote: what is no end of a value, as in {"刑期":"3年"或"5年"}
_GOES_ON = re.compile(
    r"\A[\"'“]([^\"'“”]{1,30})[\"'”][^\S\n]*(?=[^\s,，;；:：}\]\"'“”/#\\])([^,，}\n]{1,40})", re.DOTALL
)
_SAYS_MORE = re.compile(
    r"[\d零一二两三四五六七八九十百年月或至到~～约余多起]|左右|上下|以[上下内]|暂[定拟]|"
    r"\b(?:or|to|and|years?|months?|about|approx\w*|max\w*|min\w*|least|most|over|under)\b"
)
# A second value without a key: {"刑期":"36","48"}
_FURTHER = re.compile(
    r"\A[\"'“][^\"'“”]{1,30}[\"'”]\s{0,9}[,，]\s{0,9}[\"'“]([^\"'“”:：]{1,20})[\"'”]\s{0,9}[,，}\]]"
)

_LAST_VALUE = re.compile(r"[,，]\s{0,9}[\"'“]?([^:：,，{}\[\]\"'“”]{1,20})[\"'”]?\s{0,9}\}?\s{0,9}\Z")


def _as_written(data: dict[str, Any], span: str, words: Vocabulary) -> dict[str, Any]:
    """Puts back what the repair cuts off: the rest of `180+36`, a key's second value, a value without key, a
    comment that states an amount of its own."""
    if not any(words.field_of(key) in words.amounts for key in data):
        last = _LAST_VALUE.search(span)
        if last and words.read_amount(last[1]) is not None:
            data["?"] = last[1]
    for key, value in data.items():
        field = words.field_of(key)
        if field not in words.watched or isinstance(value, bool):
            continue
        written = [
            [part.strip(" \t\"'“”;；*/") for part in _A_COMMENT.split(m[1], maxsplit=1)]
            for m in re.finditer(r"(?<![\w-])" + re.escape(key) + _VALUE, span)
        ]
        values = [parts[0] for parts in written]
        comment = written[0][1] if field in words.amounts and len(written) == 1 < len(written[0]) else ""
        said = words.read_amount(comment) if comment else None
        if said is not None and said != words.read_amount(value):
            data[key] = f"{value} ({comment})"
        elif len(set(values)) > 1:
            data[key] = Doubled(values)
        elif field in words.amounts and isinstance(value, str):
            at = re.search(r"(?<![\w-])" + re.escape(key) + r"[\"'”]?\s{0,4}[:：=]\s{0,4}", span)
            goes_on = _GOES_ON.match(span[at.end() : at.end() + 90]) if at else None
            further = _FURTHER.match(span[at.end() : at.end() + 90]) if at else None
            if further and words.read_amount(further[1]) is not None:
                data[key] = Doubled([value, further[1]])
            elif goes_on and _SAYS_MORE.search(goes_on[2]):
                data[key] = goes_on[1] + goes_on[2]
            else:
                data[key] = _A_COMMENT.split(value)[0].strip()
        elif field in words.amounts and isinstance(value, (int, float)) and values and values[0]:
            data[key] = value if words.read_amount(values[0]) == value else values[0]
    return data


def _fields(data: Any, words: Vocabulary) -> int:
    """How many fields of the answer are known at the top of an object (or of the first of a list)."""
    if isinstance(data, list):
        return max((_fields(d, words) for d in data[:5] if isinstance(d, dict)), default=0)
    if not isinstance(data, dict):
        return 0
    return len({words.field_of(str(key)) for key in list(data)[:60] if words.holds(key)})


def _speaks(data: Any, words: Vocabulary, depth: int = 0) -> bool:
    """Whether anything of an answer is in the data, at any depth within reason."""
    if depth > 6:
        return False
    if isinstance(data, dict):
        if _fields(data, words):
            return True
        return any(_speaks(v, words, depth + 1) for v in list(data.values())[:60])
    if isinstance(data, list):
        return any(_speaks(v, words, depth + 1) for v in data[:60])
    return False
