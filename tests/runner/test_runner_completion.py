"""One exchange with a server: whatever it sends, the reply is an answer or a fault, in bounded memory."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from runner_world import completion, providers

from runner.transport import posting
from runner.transport.address import Address, address_of, new_session
from runner.transport.completion import Sent, complete
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.posting import LONGEST_BODY, Poster
from runner.transport.redact import Redactor

Exchange = Callable[..., Awaitable[Sent]]
Answerer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(answer: Answerer, **how: Any) -> AsyncIterator[str]:
    """A server that hands each connection to `answer`; its base_url."""
    async with await asyncio.start_server(answer, "127.0.0.1", **how) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def requests(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[tuple[list[str], bytes]]:
    """The requests of a connection until the other side ends it, which closes it here too."""
    try:
        while True:
            yield await _request(reader)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


@asynccontextmanager
async def serving(*pieces: bytes) -> AsyncIterator[str]:
    """A server that answers every request with these bytes; its base_url."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass  # the other side has had enough
        finally:
            writer.close()

    async with listening(answer) as base_url:
        yield base_url


async def _request(reader: asyncio.StreamReader) -> tuple[list[str], bytes]:
    """The head of a request, line by line, and its body."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
    lengths = [int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")]
    return lines, await reader.readexactly(lengths[0])


@pytest.fixture(params=["direct", "session"])
def direct(request: pytest.FixtureRequest) -> bool:
    """Both ways of sending must be alike."""
    return bool(request.param == "direct")


@pytest.fixture
def exchange(direct: bool) -> Exchange:
    async def once(*pieces: bytes) -> Sent:
        async with serving(*pieces) as base_url, new_session() as session:
            poster = Poster(session, address(base_url), direct)
            assert poster.is_direct is direct
            return await complete(poster, b"{}", Redactor(()))

    return once


def address(base_url: str, **entry: object) -> Address:
    route = providers(a={"base_url": base_url, **entry}).resolve("judge").routes[0]
    return address_of(route, route.keys[0] if route.keys else None)


def head(*headers: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: application/json", *headers, "", ""]).encode()


def whole(data: dict[str, Any]) -> bytes:
    body = json.dumps(data).encode()
    return head(f"Content-Length: {len(body)}") + body


async def test_a_compressed_reply_is_read(exchange: Exchange) -> None:
    body = gzip.compress(json.dumps(completion("有期徒刑一年")).encode())
    sent = await exchange(head(f"Content-Length: {len(body)}", "Content-Encoding: gzip"), body)
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "有期徒刑一年"


async def test_a_reply_without_a_length_is_read(exchange: Exchange) -> None:
    body = json.dumps(completion("拘役三个月"), ensure_ascii=False).encode()
    sent = await exchange(head("Connection: close"), body[:20], body[20:])
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "拘役三个月"


async def test_a_reply_that_unpacks_to_no_end_does_not_fill_the_memory(exchange: Exchange) -> None:
    bomb = gzip.compress(bytes(8 * LONGEST_BODY))
    tracemalloc.start()
    sent = await exchange(head(f"Content-Length: {len(bomb)}", "Content-Encoding: gzip"), bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(sent.result, Fault)
    assert (sent.result.kind, sent.result.message) == (Kind.BAD_BODY, "the body is longer than 8 MB")
    assert peak < 4 * LONGEST_BODY


async def test_a_reply_longer_than_any_answer_is_not_read_to_its_end(exchange: Exchange) -> None:
    pieces = [b" " * (1 << 20)] * (2 * LONGEST_BODY >> 20)
    sent = await exchange(head(f"Content-Length: {2 * LONGEST_BODY}"), *pieces)
    assert isinstance(sent.result, Fault)
    assert sent.result.message == "the body is longer than 8 MB"


async def test_a_reply_in_chunks_is_read(exchange: Exchange) -> None:
    body = json.dumps(completion("有期徒刑三年")).encode()
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:])]
    sent = await exchange(head("Transfer-Encoding: chunked"), *chunks, b"0\r\n\r\n")
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "有期徒刑三年"


async def test_an_interim_reply_is_passed_over(exchange: Exchange) -> None:
    body = json.dumps(completion("无罪")).encode()
    sent = await exchange(b"HTTP/1.1 103 Early Hints\r\n\r\n", head(f"Content-Length: {len(body)}"), body)
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "无罪"


@pytest.mark.parametrize(
    ("pieces", "kind", "says"),
    [
        ([], Kind.CONNECTION, "ServerDisconnectedError"),
        ([b"SSH-2.0-OpenSSH_9.6\r\n\r\n"], Kind.BAD_BODY, "no HTTP"),
        ([head("Content-Length: 900"), b'{"id": 1'], Kind.BAD_BODY, "the body broke off"),
        ([head("Transfer-Encoding: chunked"), b"zz\r\n"], Kind.BAD_BODY, "chunk size"),
        ([head("Content-Length: 9", "Content-Encoding: gzip"), b"no gzip!!"], Kind.BAD_BODY, "broke off"),
        ([head("Content-Length: 0")], Kind.BAD_BODY, "an empty body"),
        ([b"HTTP/1.1 204 No Content\r\n\r\n"], Kind.BAD_BODY, "an empty body"),
        ([b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"], Kind.REDIRECTED, "points to"),
        ([b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"], Kind.SERVER_ERROR, "busy"),
    ],
)
async def test_what_is_no_answer_is_the_same_fault_either_way(
    exchange: Exchange, pieces: list[bytes], kind: Kind, says: str
) -> None:
    sent = await exchange(*pieces)
    assert isinstance(sent.result, Fault)
    assert sent.result.kind is kind
    assert says in sent.result.message


async def test_the_headers_of_a_reply_that_breaks_off_are_heard(exchange: Exchange) -> None:
    sent = await exchange(head("Content-Length: 900", "x-ratelimit-remaining-requests: 0"), b"{")
    assert sent.headers["X-RateLimit-Remaining-Requests"] == "0"


async def test_a_server_that_is_not_there_was_not_reached(direct: bool) -> None:
    async with serving() as base_url:
        pass
    async with new_session() as session:
        sent = await complete(Poster(session, address(base_url), direct), b"{}", Redactor(()))
    assert isinstance(sent.result, Fault)
    assert (sent.result.kind, sent.result.unreached) == (Kind.CONNECTION, True)


async def test_both_ways_send_the_same_and_keep_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-planted-0123456789")
    seen: list[tuple[int, list[str], bytes]] = []
    connections = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        async for lines, sent in requests(reader, writer):
            seen.append((connections, lines, sent))
            writer.write(whole(completion("{}")))

    async with listening(answer) as base_url:
        target = address(base_url, keys=["A_KEY"], headers={"X-Title": "審計", "user-agent": "mine"})
        for direct in (True, False):
            async with new_session() as session:
                poster = Poster(session, target, direct)
                for sent in ('{"n": 1}', '{"n": 2, "事": "实"}'):
                    got = await complete(poster, sent.encode(), Redactor(("A_KEY",)))
                    assert isinstance(got.result, Answer)
                assert "planted" not in repr(vars(poster))
    assert [number for number, *_ in seen] == [1, 1, 2, 2]
    first, second, third, fourth = ((sorted(lines), sent) for _, lines, sent in seen)
    assert (first, second) == (third, fourth)
    assert first[1] == b'{"n": 1}'
    assert "Authorization: Bearer sk-planted-0123456789" in first[0]
    assert first[0].count("X-Title: 審計") == 1
    assert [line for line in first[0] if line.lower().startswith("user-agent")] == ["user-agent: mine"]


async def test_a_second_reply_to_an_earlier_query_is_read_as_nobodys_answer() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _, asked in requests(reader, writer):
            reply = whole(completion(asked.decode()))
            writer.write(reply)
            await asyncio.sleep(0.02)
            writer.write(reply)

    async with listening(answer) as base_url, new_session() as session:
        poster = Poster(session, address(base_url))
        for number in range(4):
            sent = await complete(poster, str(number).encode(), Redactor(()))
            assert isinstance(sent.result, Answer)
            assert sent.result.text == str(number)
            await asyncio.sleep(0.08)


@pytest.mark.parametrize("gateway", [True, False])
async def test_no_reply_too_many_moves_answers_to_the_next_query(gateway: bool) -> None:
    """A gateway that gives up and passes the answer on later, or a server that sends each reply twice."""
    asked = itertools.count()
    gone: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def later(reply: bytes) -> None:
            await asyncio.sleep(0.003)
            writer.write(reply)

        async for _, sent in requests(reader, writer):
            odd = not gateway or next(asked) % 7 == 3
            await asyncio.sleep(0.002)
            reply = whole(completion(sent.decode()))
            late = b"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n"
            writer.write(late if odd and gateway else reply)
            if odd:
                gone.add(asyncio.create_task(later(reply)))

    results: dict[str, str] = {}
    async with listening(answer) as base_url, new_session() as session:
        poster = Poster(session, address(base_url))

        async def ask(numbers: Iterator[int]) -> None:
            for number in numbers:
                for _ in range(20):
                    got = await complete(poster, str(number).encode(), Redactor(()))
                    if isinstance(got.result, Answer):
                        results[str(number)] = got.result.text
                        break

        numbers = iter(range(200))
        await asyncio.gather(*(ask(numbers) for _ in range(4)))
        await asyncio.gather(*gone, return_exceptions=True)
    assert results == {str(number): str(number) for number in range(200)}


async def test_a_server_with_one_id_for_all_is_let_pass() -> None:
    always = whole(completion("{}"))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in requests(reader, writer):
            writer.write(always)

    async with listening(answer) as base_url, new_session() as session:
        poster = Poster(session, address(base_url))
        kinds = [isinstance((await complete(poster, b"{}", Redactor(()))).result, Answer) for _ in range(20)]
    assert kinds == [True, False, *[True] * 18], "asked once more on another connection, and believed"


async def test_a_server_that_answers_before_it_has_read_gets_no_more_on_that_connection() -> None:
    connections = []
    done = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(whole(completion("早")))
        await done.wait()
        writer.close()

    async with listening(answer, limit=1 << 16) as base_url, new_session() as session:
        poster = Poster(session, address(base_url))
        for _ in range(2):
            sent = await complete(poster, b" " * (32 << 20), Redactor(()))
            assert isinstance(sent.result, Answer)
    done.set()
    assert len(connections) == 2


async def test_a_request_that_is_given_up_closes_its_connection(direct: bool) -> None:
    closed = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)
        assert await reader.read() == b""  # the other side has closed
        closed.set()
        writer.close()

    async with listening(hang) as base_url:
        slow = address(base_url, timeouts={"first_byte": 0.2, "total": 5})
        async with new_session() as session:
            sent = await complete(Poster(session, slow, direct), b"{}", Redactor(()))
            await asyncio.wait_for(closed.wait(), 5)
    assert isinstance(sent.result, Fault)
    assert sent.result.kind is Kind.TIMEOUT


async def test_an_aiohttp_without_the_inner_calls_and_a_proxy_are_used_as_promised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert posting.inner_calls_are_known()
    async with new_session() as session:
        here = address("http://127.0.0.1:9/v1")
        assert Poster(session, here).is_direct
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:3128")
        assert not Poster(session, address("https://far.example/v1")).is_direct
        monkeypatch.setattr(aiohttp.BaseConnector, "connect", lambda self, req: None)
        assert not posting.inner_calls_are_known()
        assert not Poster(session, here).is_direct
