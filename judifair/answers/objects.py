"""The JSON objects of an answer: found wherever they stand, mended where they are broken.

A text is split at its fences, because no object crosses one, and each block is read from left to right. At
each opening brace a sound object is taken as it is. A broken one is taken up to its closing brace, or the
next object or the end of the block, and mended: escapes that stand outside strings are undone, then
json-repair has it, and where not even that finds a field of a verdict, the labels in it are read as lines.

All work is bounded: braces tried, characters mended, nesting.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import Any

from judifair.answers.fields import field_of
from judifair.answers.labels import labelled
from judifair.answers.terms import read_term
from judifair.answers.writing import ascii_punctuation


@dataclass(frozen=True, slots=True)
class Found:
    """One object: its data, the block it stands in, whether it was sound JSON, whether it breaks off."""

    data: Any
    block: int
    sound: bool
    cut: bool
    before: str
    """The prose between the object before it, or the beginning, and this one; fences left out."""


@dataclass(frozen=True, slots=True)
class Objects:
    """All objects of a text, and the prose (and comments) around them."""

    found: tuple[Found, ...]
    prose: str
    braces: bool
    """Whether an opening brace stands anywhere: an object was at least begun."""


_FENCE = re.compile(r"`{3,}[ \t]*(?:[A-Za-z][\w+-]{0,15})?|'{3}(?:json)?|~{3,}(?:json)?")
_ENTITY = re.compile(r"&(?:quot|amp|lt|gt|apos|nbsp|#\d{1,5}|#x[0-9a-fA-F]{1,4});")
_DOUBLED = re.compile(r"\"\"(?=[^\s:,，：}\]])|(?<=[^\s:,，：{\[])\"\"|/\"")
_LITERAL_ESCAPE = re.compile(r"\\+(?:[nrt](?![a-zA-Z])|u([0-9a-fA-F]{4})|([\"'{}\[\]_:,/<>-]))")
_COMMENT = re.compile(r"(?://|#)([^\n]{0,400})|/\*(.{0,400}?)\*/|<!--(.{0,400}?)-->", re.DOTALL)
_NEXT_OBJECT = re.compile(
    r"[\n,}]\s{0,20}\{\s{0,20}\\{0,3}[\"'“]?\s{0,4}(?:罪|被告|crime|charge)", re.IGNORECASE
)
# A last field, then a blank line: the brace is missing and prose begins.
_PROSE_BEHIND = re.compile(r"(?<=期)[^\n]{1,60}\n\s{0,20}\n(?=\s{0,20}[^\s\"'\\}])")
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
    return {key: each[0] if len(each) == 1 else each for key, each in values.items()}


_decoder = json.JSONDecoder(strict=False, object_pairs_hook=_merge)


def find_objects(text: str) -> Objects:
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
            taken = _take(block, start, budget)
            if taken is None:
                start += 1
                continue
            data, end, sound, closed = taken
            gap.append(block[position:start])
            if not sound:
                prose.extend(c for m in _COMMENT.finditer(block, start, end) for c in m.groups() if c)
            cut = number == len(blocks) - 1 and not closed and not block[end:].strip()
            found.append(Found(data, number, sound, cut, "\n".join(gap)))
            prose.extend(gap)
            gap.clear()
            position = start = end
        gap.append(block[position:])
    prose.extend(gap)
    return Objects(tuple(found), "\n".join(p for p in prose if p.strip()), "{" in text)


def _take(block: str, start: int, budget: _Budget) -> tuple[Any, int, bool, bool] | None:
    """The object at a brace: data, end, whether sound, whether closed; None if no verdict is in it."""
    try:
        data, end = _decoder.raw_decode(block, start)
    except (ValueError, RecursionError):
        pass
    else:
        return (data, end, True, True) if _speaks(data) else None
    following = block[start + 1 : start + 12].lstrip(" \\\n")
    if following.startswith("{"):
        return None  # {{...}} or \boxed{\{...\}}: the inner brace is tried next
    end, closed = _end(block, start)
    data = _mend(block[start:end], budget)
    return None if data is None else (data, end, False, closed)


def _end(block: str, start: int) -> tuple[int, bool]:
    """Where a broken object ends, and whether a brace closes it. Quotes are not trusted here."""
    limit = min(len(block), start + _LONGEST_OBJECT)
    depth = 0
    for match in _BRACE.finditer(block, start, limit):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end(), True
        if depth > _DEEPEST:
            break
    another = _NEXT_OBJECT.search(block, start + 1, limit) or _PROSE_BEHIND.search(block, start + 1, limit)
    if another is None:
        return limit, False
    return (another.end() if another.re is _PROSE_BEHIND else another.start() + 1), False


def _mend(span: str, budget: _Budget) -> Any:
    """The data of a broken object, None if there is nothing of a verdict in it."""
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
        data = attempt(candidate)
        if data is not None and _fields(data) > _fields(best):
            best = data
        if _fields(best) >= 3:
            break
    if _fields(best) < 4:
        lines = labelled(candidate[:_LONGEST_LABELLED])
        if lines and _fields(lines[0]) > _fields(best):
            best = lines[0] if len(lines) == 1 else lines
    return best if best is not None and _speaks(best) else None


def _unescape(span: str) -> str:
    r"""Undoes `\"`, `\n`, `\{` and `\u7f6a` of a text that was encoded once too often."""

    def plain_character(match: re.Match[str]) -> str:
        if match[1]:
            character = chr(int(match[1], 16))
            return "" if "\ud800" <= character <= "\udfff" else character
        return match[2] or "\n"

    return _LITERAL_ESCAPE.sub(plain_character, span)


def _strict(span: str) -> Any:
    try:
        return _decoder.decode(span)
    except (ValueError, RecursionError):
        return None


def _strict_ascii(span: str) -> Any:
    changed = ascii_punctuation(span)
    return None if changed == span else _strict(changed)


def _repaired(span: str) -> Any:
    from json_repair import loads  # noqa: PLC0415 - most answers are sound and need none of it

    try:
        data = loads(span, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, KeyError, AttributeError):
        return None
    return _as_written(data, span) if isinstance(data, dict) else data if isinstance(data, list) else None


def _repaired_ascii(span: str) -> Any:
    changed = ascii_punctuation(span)
    return None if changed == span else _repaired(changed)


_VALUE = r"(?:[\"'“”\s]{0,6}[:：=]\s{0,4}|[\"'”]\s{0,4})([^,，}\n]{1,40})"
_A_COMMENT = re.compile(r"//|#|/\*")


_LAST_VALUE = re.compile(r"[,，]\s{0,9}[\"'“]?([^:：,，{}\[\]\"'“”]{1,20})[\"'”]?\s{0,9}\}?\s{0,9}\Z")


def _as_written(data: dict[str, Any], span: str) -> dict[str, Any]:
    """Puts back what the repair cuts off: the rest of `180+36`, and a last value without a key."""
    if not any(field_of(key).field == "term" for key in data):
        last = _LAST_VALUE.search(span)
        if last and read_term(last[1]).months is not None:
            data["?"] = last[1]
    for key, value in data.items():
        if field_of(key).field != "term" or isinstance(value, bool):
            continue
        if isinstance(value, str):
            data[key] = _A_COMMENT.split(value)[0].strip()
        elif isinstance(value, (int, float)):
            match = re.search(r"(?<![\w-])" + re.escape(key) + _VALUE, span)
            written = _A_COMMENT.split(match[1])[0].strip(" \t\"'“”;；") if match else ""
            if written and read_term(written).months != value:
                data[key] = written
    return data


def _fields(data: Any) -> int:
    """How many fields of a verdict are known at the top of an object (or of the first of a list)."""
    if isinstance(data, list):
        return max((_fields(d) for d in data[:5] if isinstance(d, dict)), default=0)
    if not isinstance(data, dict):
        return 0
    return len({f for k in list(data)[:60] if (f := field_of(str(k)).field) and f != "owner"})


def _speaks(data: Any, depth: int = 0) -> bool:
    """Whether anything of a verdict is in the data, at any depth within reason."""
    if depth > 6:
        return False
    if isinstance(data, dict):
        if _fields(data):
            return True
        return any(_speaks(v, depth + 1) for v in list(data.values())[:60])
    if isinstance(data, list):
        return any(_speaks(v, depth + 1) for v in data[:60])
    return False
