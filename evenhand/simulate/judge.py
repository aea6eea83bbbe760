"""The scripted judge's server: OpenAI's chat completions on loopback, answered by a script.

    GET  /health, /v1/models      POST /v1/chat/completions

A prompt that is not in the book is refused (400): an answer made up would hide an error of the client.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import orjson

from evenhand.simulate.forms import FormJudge, word
from evenhand.simulate.http import Connection, Request, error, reply
from evenhand.simulate.prefix_cache import PrefixCache
from evenhand.simulate.prompts import PromptBook, digest
from evenhand.simulate.script import Script
from evenhand.simulate.wording import answer, style_at

if TYPE_CHECKING:
    from store import Selection, Study

MODEL = "scripted-judge"
_BACKLOG = 2048
_CACHED_ANSWERS = 50_000
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a completion, and the answer that the script has for it."""

    digest: int
    """Of the prompt."""
    seed: int | None
    number: int
    """Completions asked for until now, this one included."""
    api_key: Callable[[], str]
    model: str
    prompt_tokens: int
    most_tokens: int
    """`max_tokens` of the request; 0 where it has none."""
    completion_tokens: int
    answer: bytes
    """The body of a good reply."""


class SimulatedJudge:
    """The server, as an async context manager; `in_thread` runs it beside synchronous code.

    Args:
        script: how it judges.
        prompts: what it knows; `of_study` makes it from a study.
        port: on 127.0.0.1; a free one by default.

    Raises BadInput where the script plants a bias on a value that no prompt has.
    """

    def __init__(self, script: Script, prompts: PromptBook, port: int = 0) -> None:
        prompts.check(script)
        self.script = script
        self.prompts = prompts
        self.model_name = MODEL
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        self._served = 0
        self._bases = prompts.bases(script)
        self._contents: dict[tuple[str, int, str], tuple[bytes, int]] = {}
        self._cache = PrefixCache() if script.prefix_cache else None
        forms = {id(form): form for form in prompts.forms if form is not None}
        self._forms = {key: FormJudge(script, form) for key, form in forms.items()}

    @classmethod
    def of_study(cls, study: Study, script: Script | None = None, selection: Selection | None = None) -> Self:
        """A judge that knows the prompts of a study."""
        return cls(script or Script(), PromptBook.of_study(study, selection))

    @property
    def base_url(self) -> str:
        """Up to and without /chat/completions."""
        if self._server is None:
            raise RuntimeError("the scripted judge is not running")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def served(self) -> int:
        """Completions asked for so far."""
        return self._served

    def describe(self) -> str:
        """What is planted and how large its effect is in these documents, for people."""
        return self.script.describe(self._bases)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self.handle, self._connections), "127.0.0.1", self._port, backlog=_BACKLOG
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in tuple(self._connections):
            connection.reset()
        await self._server.wait_closed()
        self._server = None

    @contextmanager
    def in_thread(self) -> Iterator[Self]:
        """Run in a thread of its own for as long as the block lasts."""
        ready = threading.Event()
        loop = asyncio.new_event_loop()
        stop: asyncio.Event = asyncio.Event()

        async def serve() -> None:
            async with self:
                ready.set()
                await stop.wait()

        thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
        thread.start()
        if not ready.wait(10):
            raise RuntimeError("the scripted judge did not start")
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(10)
            loop.close()

    def handle(self, connection: Connection, request: Request) -> None:
        """Answer one request to any path."""
        if request.method == "POST" and request.path.endswith("/chat/completions"):
            self._complete(connection, request)
        elif request.path.endswith("/models"):
            models = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "evenhand"}]}
            connection.send(reply(200, orjson.dumps(models)))
        elif request.path.endswith("/health"):
            connection.send(reply(200, b'{"status":"ok"}'))
        else:
            connection.send(error(404, "not_found", f"There is nothing at {request.path}."))

    def _complete(self, connection: Connection, request: Request) -> None:
        try:
            body = orjson.loads(request.body)
            user = _user_text(body).encode()
        except (ValueError, LookupError, TypeError, AttributeError):
            connection.send(error(400, "invalid_request", "The body is not a chat completion's."))
            return
        known = digest(user)
        seed = body.get("seed")
        self._served += 1
        place = self.prompts.place(known)
        if place is None:
            self.refused(known, seed)
            connection.send(error(400, "unknown_prompt", "The scripted judge does not know this prompt."))
            return
        draws = self.script.draws(self.prompts.documents[place.document], place.label, place.value, seed)
        plain = self.script.plain or "response_format" in body or "grammar" in body
        style = "bare" if plain else style_at(draws.style)
        form = self.prompts.forms[place.document]
        if form is None:
            months = self.script.months(self._bases[place.document], place.label, place.value, draws)
            content, completion_tokens = self._content(self.prompts.charges[place.document], months, style)
        else:
            document = self.prompts.documents[place.document]
            decision = self._forms[id(form)].decide(document, place.label, place.value, draws)
            text = word(decision, style)
            content, completion_tokens = orjson.dumps(text), tokens(text.encode())
        prompt_tokens = tokens(user)
        model = str(body.get("model") or MODEL)
        good = (
            b'{"id":"sim-%d","object":"chat.completion","created":%d,"model":%s,"system_fingerprint":"scripted",'
            b'"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],'
            b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,'
            b'"prompt_tokens_details":{"cached_tokens":%d}}}'
        ) % (
            self._served,
            time.time(),
            orjson.dumps(model),
            content,
            prompt_tokens,
            completion_tokens,
            prompt_tokens + completion_tokens,
            0 if self._cache is None else self._cache.read(user) // BYTES_PER_TOKEN,
        )
        asked = Asked(
            digest=known,
            seed=seed,
            number=self._served,
            api_key=lambda: request.key,
            model=model,
            prompt_tokens=prompt_tokens,
            most_tokens=int(body.get("max_tokens") or body.get("max_completion_tokens") or 0),
            completion_tokens=completion_tokens,
            answer=good,
        )
        go = self.prepare(connection, asked)
        delay = self.script.latency.seconds(draws.latency)
        if delay > 0:
            asyncio.get_running_loop().call_later(delay, go)
        else:
            go()

    def prepare(self, connection: Connection, asked: Asked) -> Callable[[], object]:
        """Take in a request for a completion; the result sends the reply, when its time has come."""
        return partial(connection.send, reply(200, asked.answer))

    def refused(self, known: int, seed: int | None) -> None:
        """Take note of a prompt that is not in the book: its digest, and the seed of the request."""

    def _content(self, charge: str, months: int, style: str) -> tuple[bytes, int]:
        made = self._contents.get((charge, months, style))
        if made is None:
            if len(self._contents) >= _CACHED_ANSWERS:
                self._contents.clear()
            text = answer(charge, months, style)
            made = self._contents[charge, months, style] = (orjson.dumps(text), tokens(text.encode()))
        return made


def tokens(utf8: bytes) -> int:
    """A token for every 4 bytes: near enough to current tokenizers for Chinese and for English."""
    return len(utf8) // BYTES_PER_TOKEN + 1


def _user_text(body: dict[str, Any]) -> str:
    for message in reversed(body["messages"]):
        if message["role"] == "user":
            content = message["content"]
            return content if isinstance(content, str) else "".join(part["text"] for part in content)
    raise LookupError("no user message")
