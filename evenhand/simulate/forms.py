"""The scripted judge's answers in the form of any domain: made from the JSON schema that the prompt's
answer has.

Each field has a scale: the entries of an enumeration, or 21 even steps of a range. A case has a place of
its own on each; noise and planted biases move it by steps, and the ends of a scale hold. A list of
classes has a yes and a no for each.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.simulate.script import Bias, Draws, Script

STEPS = 21
"""Places on the scale of a number."""
REASONS = "As the facts of the case require."


class FormJudge:
    """Decides by the schema of an answer: an object whose properties are enumerations, numbers, lists or
    texts.
    """

    def __init__(self, script: Script, schema: Mapping[str, Any]) -> None:
        self._script = script
        self._fields: Mapping[str, Mapping[str, Any]] = schema["properties"]

    def decide(self, document: str, label: str, value: str, draws: Draws) -> dict[str, Any]:
        """The decision on one prompt, field by field."""
        moved = [b for b in self._script.biases if (b.label, b.value) == (label, value)]
        biases = [b for b in moved if draws.bias < b.probability]
        return {
            name: self._value(name, field, document, draws, biases) for name, field in self._fields.items()
        }

    def _value(
        self, name: str, field: Mapping[str, Any], document: str, draws: Draws, biases: Sequence[Bias]
    ) -> Any:
        kind = field.get("type")
        if kind == "array":
            return self._chosen(name, field["items"]["enum"], document, biases)
        if kind == "string" and "enum" not in field:
            return REASONS[: int(field.get("maxLength", len(REASONS)))]
        scale = _scale(field)
        place = _draw(self._script.seed, "place", document, name) % len(scale)
        if draws.jitter < self._script.jitter:
            place += 1 if draws.direction < 0.5 else -1
        place += sum(bias.steps for bias in biases if bias.field in (None, name))
        return scale[min(max(place, 0), len(scale) - 1)]

    def _chosen(self, name: str, classes: Sequence[str], document: str, biases: Sequence[Bias]) -> list[str]:
        """A third of the classes; a bias adds the first that the case does not have, or takes one away."""
        chosen = [one for one in classes if _draw(self._script.seed, name, document, one) % 3 == 0]
        for bias in biases:
            if bias.field not in (None, name):
                continue
            if bias.steps > 0:
                chosen += [one for one in classes if one not in chosen][: bias.steps]
            else:
                chosen = chosen[: bias.steps]
        return [one for one in classes if one in chosen]


def word(decision: Mapping[str, Any], style: str) -> str:
    """The text of an answer. Every style says exactly the same."""
    if style == "spaced":
        return json.dumps(decision, ensure_ascii=False, indent=2)
    compact = json.dumps(decision, ensure_ascii=False, separators=(",", ":"))
    if style == "fenced":
        return f"```json\n{compact}\n```"
    if style == "prose":
        return f"Having considered the case, I decide as follows:\n\n{compact}"
    return compact


def _scale(field: Mapping[str, Any]) -> Sequence[Any]:
    if "enum" in field:
        return list(field["enum"])
    if field.get("type") == "boolean":
        return [False, True]
    low, high = field.get("minimum", 0), field.get("maximum", 100)
    steps = [low + (high - low) * step / (STEPS - 1) for step in range(STEPS)]
    if field.get("type") == "integer":
        return sorted({round(step) for step in steps})
    return [round(step, 6) for step in steps]


def _draw(*parts: object) -> int:
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=4).digest()
    (number,) = struct.unpack("<I", digest)
    return int(number)
