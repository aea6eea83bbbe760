"""What the tests of runs share: a study with queries, a scripted server, providers of one model."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

import store
from runner.providers.file import Providers
from runner.providers.schema import File
from store import identity
from store.prompt import render

TEXT = "被告人李某于某日在商场内窃取手机一部。{{sex}}经鉴定，该手机价值人民币三千元。"
USER = "案情如下：\n{{document}}\n请以JSON作答。"
COLLECTION = "cases"
_numbers = itertools.count()
SCHEMA = {"type": "object", "properties": {"刑期": {"type": "integer"}}, "required": ["刑期"]}


def fill_study(
    study: store.Study, documents: int, values: int, text: str = TEXT, schema: dict[str, Any] | None = None
) -> list[str]:
    """So many documents, each asked with so many values of one label. Returns the query ids in order."""
    store.add_collection(study, COLLECTION, kind="own", description="for tests")
    docs = [store.Document(f"d{n}", n, text=f"{n}号案。{text}") for n in range(documents)]
    store.add_documents(study, COLLECTION, docs)
    template = store.add_template(
        study, name="t", system_text="你是法官。", user_text=USER, answer_schema=schema
    )
    queries: list[store.Query] = []
    for document in docs:
        for value in range(values):
            fills = {"sex": f"值{value}。"}
            prompt = identity.prompt_hash("你是法官。", render(USER, document.text or "", fills))
            queries.append(
                store.Query(document.doc_id, "sex", f"v{value}", len(queries), prompt, template, fills)
            )
    store.add_queries(study, COLLECTION, queries)
    return [str(query.query_id(COLLECTION)) for query in queries]


def completion(text: str = "有期徒刑六个月", finish: str = "stop", **usage: Any) -> dict[str, Any]:
    """The body of a completion."""
    return {
        "id": f"c-{next(_numbers)}",
        "object": "chat.completion",
        "model": "judge-1-0613",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 60, "completion_tokens": 5, "total_tokens": 65, **usage},
    }


def status(code: int, body: Any = None, **headers: str) -> web.Response:
    """An error reply."""
    shown = body if body is not None else {"error": {"message": f"status {code}"}}
    return web.json_response(shown, status=code, headers=headers)


@dataclass
class Call:
    """One request as the server saw it."""

    at: float
    key: str
    body: dict[str, Any]
    number: int

    @property
    def prompt(self) -> str:
        """The user message."""
        return self.body["messages"][-1]["content"]


Reply = Callable[[Call], Any]


@dataclass
class Scripted:
    """A server; `reply` is given each call and returns a body (or a web.Response, or an awaitable of one)."""

    reply: Reply
    calls: list[Call] = field(default_factory=list)
    base_url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        call = Call(
            asyncio.get_running_loop().time(),
            request.headers.get("Authorization", ""),
            json.loads(await request.read()),
            len(self.calls),
        )
        self.calls.append(call)
        given = self.reply(call)
        if isinstance(given, Awaitable):
            given = await given
        return given if isinstance(given, web.StreamResponse) else web.json_response(given)


def providers(**tables: dict[str, Any]) -> Providers:
    """Providers of one model, `judge`: `providers(a={"base_url": ..., "limits": {...}})`."""
    whole = {}
    for name, table in tables.items():
        offer = {"id": "judge-1", **table.get("offer", {})}
        rest = {key: value for key, value in table.items() if key != "offer"}
        whole[name] = {"models": {"judge": offer}, **rest}
    return Providers(Path("providers.toml"), File.model_validate({"providers": whole}).providers)


def rows(study: store.Study, sql: str) -> list[tuple[Any, ...]]:
    """What a query of the database gives."""
    return study.connection.execute(sql).fetchall()
