"""What a message says, wherever a server puts it: text, parts, an object, or the arguments of a call.

Servers that parse JSON themselves give an object as content; gateways turn an answer format into a tool, and
the answer into a call of it. Models that think give their reasoning beside the content, in parts of it, or
within `<think>` tags.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

_THINK_END = "</think>"
_TEXT_PARTS = frozenset({"text", "output_text", "input_text"})
_REASONING_PARTS = frozenset({"thinking", "reasoning", "reasoning_text", "redacted_thinking", "summary_text"})
_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call"})
_TEXT_KEYS = frozenset({"text", "annotations", "citations", "index", "id", "role"})
"""Of a part without a type, which is the answer itself where it has others."""
_MEDIA = ("image", "audio", "input_audio", "video", "file")
_WITHIN = ("json", "object", "value", "data", "parsed")


class Said(NamedTuple):
    """What a message says. `is_call`: the text is the arguments of its only call."""

    text: str
    reasoning: str | None
    refusal: str | None
    is_call: bool = False


class _Content:
    """What the parts of a content come to."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.reasoning: list[str] = []
        self.refusals: list[str] = []
        self.calls: list[Any] = []

    def add(self, part: Any) -> None:
        """Take one part: a text, or an object of one of many types. Raises TypeError for anything else."""
        if isinstance(part, str):
            self.texts.append(part)
        elif isinstance(part, dict):
            self._add_object(part)
        elif part is not None:
            raise TypeError("a part of the content is neither a text nor an object")

    def _add_object(self, part: dict[str, Any]) -> None:
        kind, text = part.get("type"), part.get("text")
        if isinstance(text, dict):
            text = text.get("value")
        if kind in _REASONING_PARTS or part.get("thought") is True:
            self.reasoning.append(_flat(part.get("thinking", part.get("reasoning", part.get("text")))))
        elif kind == "refusal":
            self.refusals.append(_flat(part.get("refusal")))
        elif kind in _CALL_PARTS:
            function = part.get("function")
            self.calls.append(function if isinstance(function, dict) else part)
        elif isinstance(text, str) and (isinstance(kind, str) or set(part) <= _TEXT_KEYS):
            self.texts.append(text)
        elif isinstance(kind, str) and (kind.startswith(_MEDIA) or kind in _TEXT_PARTS):
            return  # nothing to read
        else:
            within = [part[name] for name in _WITHIN if isinstance(part.get(name), dict | list)]
            self.texts.append(_json(within[0] if within and len(part) <= 2 else part))


def said(message: dict[str, Any]) -> Said:
    """What a message says. Raises TypeError where its content is neither text, parts, nor an object."""
    content = message.get("content")
    if isinstance(content, str):
        text, found = content, None
    else:
        found = _content(content)
        text = "".join(found.texts)
    reasoning = message.get("reasoning_content") or message.get("reasoning") or None
    if reasoning is not None and not isinstance(reasoning, str):
        reasoning = _json(reasoning)
    if found is not None and found.reasoning:
        reasoning = _joined(reasoning, "".join(found.reasoning))
    if _THINK_END in text or text.startswith("<think>"):
        thought, text = split_thinking(text)
        reasoning = thought if reasoning is None else f"{reasoning}\n{thought}"
    refusal = message.get("refusal") or (found is not None and "".join(found.refusals)) or None
    if refusal is not None and not isinstance(refusal, str):
        refusal = "" if refusal is True else _flat(refusal)
    if not text.strip() and (arguments := _only_call(message, found)) is not None:
        return Said(arguments, reasoning, refusal, is_call=True)
    return Said(text, reasoning, refusal)


def _content(content: Any) -> _Content:
    found = _Content()
    if (
        isinstance(content, dict)
        and isinstance(content.get("parts"), list)
        and set(content) <= {"parts", "role"}
    ):
        content = content["parts"]  # as Gemini has it
    if isinstance(content, list):
        for part in content:
            found.add(part)
    elif isinstance(content, dict):
        # An object is an answer, or a single part that was not put into a list.
        if isinstance(content.get("type"), str) or set(content) == {"text"}:
            found.add(content)
        else:
            found.texts.append(_json(content))
    elif content is not None:
        raise TypeError("content is neither a text nor a list of parts")
    return found


def _only_call(message: dict[str, Any], found: _Content | None) -> str | None:
    """The arguments of the only call; None where there is none, or several that differ."""
    calls: list[Any] = list(found.calls) if found is not None else []
    if isinstance(listed := message.get("tool_calls"), list):
        for call in listed:
            inner = call.get("function", call.get("custom", call)) if isinstance(call, dict) else None
            calls.append(inner)
    calls.append(message.get("function_call"))
    texts = {text for call in calls if isinstance(call, dict) and (text := _arguments(call))}
    return texts.pop() if len(texts) == 1 else None


def _arguments(call: dict[str, Any]) -> str | None:
    """A call's arguments as text; None for a call without."""
    given = next((call[name] for name in ("arguments", "input", "args") if call.get(name)), None)
    if isinstance(given, str):
        return given if given.strip() else None
    return None if given is None else _json(given)


def _joined(first: str | None, second: str) -> str:
    return second if first is None else f"{first}\n{second}"


def _flat(value: Any) -> str:
    """The text of a reasoning or refusal, which may be in parts of its own."""
    if isinstance(value, list):
        return "".join(_flat(one.get("text") if isinstance(one, dict) else one) for one in value)
    return value if isinstance(value, str) else "" if value is None else _json(value)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def split_thinking(text: str) -> tuple[str, str]:
    """A text that begins with thinking in `<think>` tags, as (thinking, answer).

    Some chat templates put the opening tag into the prompt, so it can be missing; a truncated answer can lack
    the closing one.
    """
    thought, end, rest = text.partition(_THINK_END)
    thought = thought.strip().removeprefix("<think>").strip()
    return (thought, rest.strip()) if end else (thought, "")
