"""The body of a chat completion, as the route wants it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from runner.providers.file import Route
from runner.providers.settings import ModelSettings
from runner.transport.grammar import Unsupported, grammar

if TYPE_CHECKING:
    from store.pending_queries import PendingQuery


class Bodies:
    """Makes the bodies of one model by one route: what never changes is put together once."""

    def __init__(self, settings: ModelSettings, route: Route) -> None:
        style = route.style
        fixed: dict[str, Any] = {"model": route.model_id}
        if settings.temperature is not None and style.temperature:
            fixed["temperature"] = settings.temperature
        if settings.top_p is not None and style.top_p:
            fixed["top_p"] = settings.top_p
        if settings.reasoning is not None:
            fixed.update(style.reasoning[settings.reasoning])
        fixed.update(style.body)
        fixed.update(settings.extra)
        self._fixed = fixed
        self._tokens_name = style.max_tokens_name
        self._max_tokens = settings.max_tokens
        self._seed = settings.seed if style.seed else None
        self._system = settings.system_text
        self._format = settings.answer_format
        self._formats: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        self._frames: dict[tuple[Any, ...], tuple[bytes, bytes, Any]] = {}

    def message_list(self, query: PendingQuery, user_text: Any) -> list[dict[str, Any]]:
        """The messages: a system text where there is one, then the prompt, never shortened."""
        system = "\n\n".join(text for text in (self._system, query.system_text) if text)
        user = {"role": "user", "content": user_text}
        return [{"role": "system", "content": system}, user] if system else [user]

    def plain(self, query: PendingQuery, max_tokens: int | None = None) -> dict[str, Any]:
        """The body as a dictionary."""
        return self._plain(query, max_tokens, query.user_text)

    def _plain(self, query: PendingQuery, max_tokens: int | None, user_text: Any) -> dict[str, Any]:
        body = {
            **self._fixed,
            self._tokens_name: self._max_tokens if max_tokens is None else max_tokens,
            "messages": self.message_list(query, user_text),
        }
        if self._seed is not None:
            body["seed"] = self._seed + query.repeat
        if self._format != "none" and query.answer_schema is not None:
            body.update(self._answer_format(query.answer_schema))
        return body

    def body(self, query: PendingQuery, max_tokens: int | None = None) -> bytes:
        """`plain` as UTF-8 JSON: escapes (what `json=` sends) would double Chinese text.

        What stands around the user message is the same for all queries of a template, and is written once.
        """
        schema = query.answer_schema
        repeat = 0 if self._seed is None else query.repeat
        frame = self._frames.get(alike := (max_tokens, repeat, query.system_text, id(schema)))
        if frame is None:
            mark = uuid.uuid4().bytes.hex().encode()
            body = self._plain(query, max_tokens, orjson.Fragment(b'"' + mark + b'"'))
            before, after = orjson.dumps(body).split(mark)
            frame = self._frames[alike] = (before, after, schema)  # kept, so that its id stays its own
        return b"".join((frame[0], query.user_json, frame[1]))

    def _answer_format(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        # Queries of one template share one schema object, which is kept here so that its id stays its own.
        made = self._formats.get(id(schema))
        if made is None:
            made = self._formats[id(schema)] = (schema, answer_format(self._format, schema))
        return made[1]


def answer_format(form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """What holds an answer to its schema: `response_format`, or llama.cpp's `grammar` or `json_schema`."""
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    if form == "json_schema":
        strict = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": strict}}
    try:
        return {"grammar": grammar(schema)}
    except Unsupported:
        return {"json_schema": schema}
