"""One exchange with a server: whatever it sends, the reply is an answer or a fault, in bounded memory."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from runner_world import completion, providers

from runner.completion import LONGEST_BODY, Sent, address_of, complete, new_session
from runner.outcome import Answer, Fault, Kind
from runner.redact import Redactor


@asynccontextmanager
async def serving(*pieces: bytes) -> AsyncIterator[str]:
    """A server that answers every request with these bytes; its base_url."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass  # the other side has had enough
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def exchange(*pieces: bytes) -> Sent:
    async with serving(*pieces) as base_url, new_session() as session:
        route = providers(a={"base_url": base_url}).resolve("judge").routes[0]
        return await complete(session, address_of(route, None), b"{}", Redactor(()))


def head(*headers: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: application/json", *headers, "", ""]).encode()


async def test_a_compressed_reply_is_read() -> None:
    body = gzip.compress(json.dumps(completion("有期徒刑一年")).encode())
    sent = await exchange(head(f"Content-Length: {len(body)}", "Content-Encoding: gzip"), body)
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "有期徒刑一年"


async def test_a_reply_without_a_length_is_read() -> None:
    body = json.dumps(completion("拘役三个月"), ensure_ascii=False).encode()
    sent = await exchange(head("Connection: close"), body[:20], body[20:])
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "拘役三个月"


async def test_a_reply_that_unpacks_to_no_end_does_not_fill_the_memory() -> None:
    bomb = gzip.compress(bytes(8 * LONGEST_BODY))
    tracemalloc.start()
    sent = await exchange(head(f"Content-Length: {len(bomb)}", "Content-Encoding: gzip"), bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(sent.result, Fault)
    assert (sent.result.kind, sent.result.message) == (Kind.BAD_BODY, "the body is longer than 8 MB")
    assert peak < 4 * LONGEST_BODY


async def test_a_reply_longer_than_any_answer_is_not_read_to_its_end() -> None:
    pieces = [b" " * (1 << 20)] * (2 * LONGEST_BODY >> 20)
    sent = await exchange(head(f"Content-Length: {2 * LONGEST_BODY}"), *pieces)
    assert isinstance(sent.result, Fault)
    assert sent.result.message == "the body is longer than 8 MB"
