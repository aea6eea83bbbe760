"""A reply that came as a stream though none was asked for: its chunks are joined to one completion.

Some gateways stream whatever is asked, as server-sent events (https://html.spec.whatwg.org/#server-sent-events)
or as a JSON object a line, under any content type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_FIELD = re.compile(r"\s*(?:data|event|id|retry)?:")
_LINE_END = re.compile(r"\r\n|\n|\r")
_COMMENTS = re.compile(r"(?:\s*:[^\r\n]*(?:\r\n|\n|\r))+\s*(?=\{)")
_DONE = "[DONE]"
NO_END = "the stream ended without [DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


class BrokenStream(ValueError):
    """An event that is no JSON, or chunks that do not belong together; says which."""


class Joined(NamedTuple):
    """A completion as if it had come in one piece. `missing`: what the end of the stream lacks."""

    completion: dict[str, Any]
    missing: str | None


def joined(text: str) -> Joined | None:
    """The completion that a stream spells out; None if the text is no stream.

    A stream that holds an error gives the error. Raises BrokenStream.
    """
    if (comments := _COMMENTS.match(text)) and (whole := _whole(text[comments.end() :])) is not None:
        return Joined(whole, None)
    if _FIELD.match(text):
        chunks, done = _of_events(text)
        missing = None if done else NO_END
    elif (of_lines := _of_lines(text)) is not None:
        chunks, missing = of_lines, None
    else:
        return None
    if not chunks:
        raise BrokenStream("an event stream without a chunk")
    error = next((chunk for chunk in chunks if chunk.get("error")), None)
    if error is not None:
        return Joined(error, None)
    return Joined(_Joiner().all(chunks), missing)


def _of_events(text: str) -> tuple[list[dict[str, Any]], bool]:
    """The chunks up to `[DONE]`, and whether that came."""
    chunks: list[dict[str, Any]] = []
    for data in _events(text):
        for one in _parts(data):
            if one.strip() == _DONE:
                return chunks, True
            chunks.append(_object(one))
    return chunks, False


def _whole(text: str) -> dict[str, Any] | None:
    """The object that the rest of a text is, after comments that kept its connection open; else None."""
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _events(text: str) -> Iterator[str]:
    """The data of each event; comments and other fields are passed over.

    The data of an event that is called an error are put into a chunk as its error.
    """
    data: list[str] = []
    is_error = False
    for line in [*_LINE_END.split(text.lstrip()), ""]:
        if not line:
            if data:
                yield _as_error("\n".join(data)) if is_error else "\n".join(data)
            data, is_error = [], False
        field, colon, value = line.partition(":")
        if field == "data" and colon:
            data.append(value.removeprefix(" "))
        elif field == "event" and value.strip() == "error":
            is_error = True


def _as_error(data: str) -> str:
    found = _whole(data)
    if found is None:
        return json.dumps({"error": {"message": data}})
    return data if found.get("error") else json.dumps({**found, "error": found})


def _parts(data: str) -> list[str]:
    """An event's data whole or, where blank lines between events are left out, line by line."""
    lines = data.split("\n")
    if len(lines) > 1 and (_is_json(lines[0]) or lines[-1].strip() == _DONE):
        return [line for line in lines if line.strip()]
    return [data] if data.strip() else []


def _read(text: str) -> Any:
    return json.loads(text, strict=False, parse_constant=str)


def _is_json(text: str) -> bool:
    try:
        _read(text)
    except (ValueError, RecursionError):
        return False
    return True


def _object(data: str) -> dict[str, Any]:
    try:
        found = _read(data)
    except (ValueError, RecursionError):
        raise BrokenStream(f"an event that is no JSON: {data[:200]}") from None
    if not isinstance(found, dict):
        raise BrokenStream(f"an event that is no object: {data[:200]}")
    return found


def _of_lines(text: str) -> list[dict[str, Any]] | None:
    """The chunks of a stream with one JSON object a line; None if it is none."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
        return None
    try:
        chunks = [_read(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    return chunks if all("choices" in chunk or chunk.get("error") for chunk in chunks) else None


class _Joiner:
    """Puts the pieces of the first choice together."""

    def __init__(self) -> None:
        self._whole: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._parts: list[Any] = []
        self._calls: dict[Any, dict[str, Any]] = {}
        self._filters: list[Any] = []
        self._index: Any = None

    def all(self, chunks: list[dict[str, Any]]) -> dict[str, Any]:
        """The completion. Raises BrokenStream where a chunk has not the form of one."""
        try:
            for chunk in chunks:
                self._take(chunk)
        except (TypeError, AttributeError):
            raise BrokenStream("an event that is no chunk of a completion") from None
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._texts.items()}
        if self._parts:
            message["content"] = [*([text] if (text := message.get("content")) else []), *self._parts]
        if self._calls:
            message["tool_calls"] = list(self._calls.values())
        if function := message.pop("function_call", None):
            message["function_call"] = {"arguments": function}
        choice = {**self._choice, "message": message, "content_filter_results": self._filters}
        choices = [choice] if self._index is not None else []
        return {**self._whole, "choices": choices}

    def _take(self, chunk: dict[str, Any]) -> None:
        for name, value in chunk.items():
            if name != "choices" and value is not None:
                self._whole[name] = value
        for choice in chunk.get("choices") or []:
            index = choice.get("index") or 0
            if self._index is None:
                self._index = index
            if index == self._index:
                self._take_choice(choice)

    def _take_choice(self, choice: dict[str, Any]) -> None:
        for name, value in choice.items():
            if name == "content_filter_results":
                self._filters.append(value)
            elif name not in ("delta", "message", "text", "index") and value is not None:
                self._choice[name] = value
        if isinstance(text := choice.get("text"), str):
            self._add("content", text)
        delta = choice.get("delta") or {}
        for name in _TEXTS:
            value = delta.get(name)
            if isinstance(value, str):
                self._add(name, value)
            elif name == "content" and isinstance(value, list):
                self._parts += value
            elif name == "content" and isinstance(value, dict):
                self._parts.append(value)
        for call in delta.get("tool_calls") or []:
            self._add_call(call)
        arguments = (delta.get("function_call") or {}).get("arguments")
        if isinstance(arguments, str):
            self._add("function_call", arguments)
        if isinstance(message := choice.get("message"), dict):
            self._take_message(message)

    def _take_message(self, message: dict[str, Any]) -> None:
        """A message beside, or in the place of, the pieces: it repeats them, or there were none."""
        for name in _TEXTS:
            value, had = message.get(name), "".join(self._texts.get(name, []))
            if isinstance(value, str) and value:
                if not value.startswith(had):
                    raise BrokenStream("a message that is not what its chunks spell out")
                self._texts[name] = [value]
            elif isinstance(value, list) and not had:
                self._parts = list(value)
        for call in [] if self._calls else message.get("tool_calls") or []:
            self._add_call(call)

    def _add(self, name: str, text: str) -> None:
        self._texts.setdefault(name, []).append(text)

    def _add_call(self, call: dict[str, Any]) -> None:
        known = self._calls.get(key := call.get("index", call.get("id")))
        if known is None:
            function = dict(call.get("function") or {})
            self._calls[key] = {
                **call,
                "function": {**function, "arguments": function.get("arguments") or ""},
            }
            return
        more = (call.get("function") or {}).get("arguments")
        if isinstance(more, str):
            known["function"]["arguments"] += more
