"""From the JSON schema of an answer to a compact llama.cpp grammar (GBNF).

Compact: no white space between tokens, keys in the order of the schema, strings bounded. A small model held
to this wastes no token on layout and always ends. Only the part of JSON schema that answers use is known:
objects with properties, strings, enumerations, booleans, integers, numbers, arrays and `anyOf` of these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONGEST_STRING = 60

_PRIMITIVES = {
    "boolean": '("true" | "false")',
    "null": '"null"',
    "integer": '("-"? ("0" | [1-9] [0-9]{0,8}))',
    "number": '("-"? ("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,6})?)',
}
_UNSIGNED = {
    "integer": '("0" | [1-9] [0-9]{0,DIGITS})',
    "number": '("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,6})?',
}
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
    if kind in _UNSIGNED and schema.get("minimum", -1) >= 0:
        digits = len(str(int(schema.get("maximum", 999_999_999)))) - 1
        return "(" + _UNSIGNED[kind].replace("DIGITS", str(digits)) + ")"
    if isinstance(kind, str) and kind in _PRIMITIVES:
        return _PRIMITIVES[kind]
    raise Unsupported(f"no grammar for {dict(schema)!r}")


def _object(schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    if not properties:
        raise Unsupported("an object without properties")
    pieces = [f'{_literal(name)} ":" {_rule(part)}' for name, part in properties.items()]
    return '("{" ' + ' "," '.join(pieces) + ' "}")'
