"""From the JSON schema of an answer to a compact llama.cpp grammar (GBNF).

Compact: no white space between tokens, keys in the order of the schema, strings bounded. A small model held
to this wastes no token on layout and always ends. Numbers whose minimum is 0 or more keep to their bounds.
Only the part of JSON schema that answers use is known: objects with properties, strings, enumerations,
booleans, integers, numbers, arrays and `anyOf` of these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

LONGEST_STRING = 60

_PRIMITIVES = {
    "boolean": '("true" | "false")',
    "null": '"null"',
    "integer": '("-"? ("0" | [1-9] [0-9]{0,8}))',
    "number": '("-"? ("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,6})?)',
}
_LARGEST = 999_999_999
_FRACTION = '("." [0-9]{1,6})?'
_CHARACTER = r'[^"\\\x00-\x1F]'


class Unsupported(ValueError):
    """The schema has something that this translation does not know; ask for the schema itself instead."""


def grammar(schema: Mapping[str, Any]) -> str:
    """A GBNF grammar whose every sentence is JSON of this schema. Raises Unsupported."""
    return f"root ::= {_rule(schema)}\n"


def _literal(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _rule(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return "(" + " | ".join(_literal(value) for value in schema["enum"]) + ")"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return "(" + " | ".join(_rule(option) for option in schema[key]) + ")"
    kind = schema.get("type")
    if isinstance(kind, list):
        return "(" + " | ".join(_rule({**schema, "type": one}) for one in kind) + ")"
    if kind == "object":
        return _object(schema)
    if kind == "array":
        item = _rule(schema.get("items", {"type": "string"}))
        more = max(int(schema.get("maxItems", 8)) - 1, 0)
        return f'("[" ({item} ("," {item}){{0,{more}}})? "]")'
    if kind == "string":
        longest = int(schema.get("maxLength", LONGEST_STRING))
        return rf'("\"" {_CHARACTER}{{{int(schema.get("minLength", 0))},{longest}}} "\"")'
    if kind in ("integer", "number") and schema.get("minimum", -1) >= 0:
        return _bounded(kind, schema["minimum"], schema.get("maximum", _LARGEST))
    if isinstance(kind, str) and kind in _PRIMITIVES:
        return _PRIMITIVES[kind]
    raise Unsupported(f"no grammar for {dict(schema)!r}")


def _object(schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    if not properties:
        raise Unsupported("an object without properties")
    pieces = [f'{_literal(name)} ":" {_rule(part)}' for name, part in properties.items()]
    return '("{" ' + ' "," '.join(pieces) + ' "}")'


def _bounded(kind: str, minimum: float, maximum: float) -> str:
    """A number of these bounds; the largest of a fraction is below the largest whole one."""
    low, high = math.ceil(minimum), math.floor(maximum)
    if low > high:
        raise Unsupported(f"no whole number from {minimum} to {maximum}")
    if kind == "integer":
        return f"({_whole(low, high)})"
    fractions = f"({_whole(low, high - 1)}) {_FRACTION} | " if low < high else ""
    return f'({fractions}"{high}")'


def _whole(low: int, high: int) -> str:
    """The whole numbers from `low` (0 or more) to `high`, without leading zeros: one alternative or more.

    Cut where the number of digits changes; lengths that are taken whole are one alternative.
    """
    found: list[str] = []
    whole: list[int] = []
    for length in range(len(str(low)), len(str(high)) + 1):
        shortest = 0 if length == 1 else 10 ** (length - 1)
        first, last = max(low, shortest), min(high, 10**length - 1)
        if length > 1 and (first, last) == (shortest, 10**length - 1):
            whole.append(length - 1)
        else:
            found += _same_length(str(first), str(last))
    if whole:
        found.append(f"[1-9] {_digits(whole[0], whole[-1])}")
    return " | ".join(found)


def _same_length(low: str, high: str) -> list[str]:
    """The alternatives for the digits from `low` to `high`, which are of one length."""
    left = len(low) - 1
    if not left:
        return [_digit(low, high)]
    first, last = int(low[0]), int(high[0])
    if first == last:
        return [f'"{first}" {rest}' for rest in _grouped(low[1:], high[1:])]
    found: list[str] = []
    if low[1:] != "0" * left:
        found += [f'"{first}" {rest}' for rest in _grouped(low[1:], "9" * left)]
        first += 1
    top = high[1:] != "9" * left
    if first <= last - top:
        found.append(f"{_digit(str(first), str(last - top))} {_digits(left, left)}")
    if top:
        found += [f'"{last}" {rest}' for rest in _grouped("0" * left, high[1:])]
    return found


def _grouped(low: str, high: str) -> list[str]:
    found = _same_length(low, high)
    return found if len(found) == 1 else ["(" + " | ".join(found) + ")"]


def _digit(low: str, high: str) -> str:
    return f'"{low}"' if low == high else f"[{low}-{high}]"


def _digits(least: int, most: int) -> str:
    if (least, most) == (1, 1):
        return "[0-9]"
    return f"[0-9]{{{least}}}" if least == most else f"[0-9]{{{least},{most}}}"
