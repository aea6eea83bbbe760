"""One exchange with a server: whatever it sends, the reply is an answer or a fault, in bounded memory."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import itertools
import json
import shutil
import socket
import ssl
import subprocess
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvloop
from runner_world import completion, providers

from runner.transport.address import Address, address_of
from runner.transport.compression import LONGEST_BODY
from runner.transport.connection_fault import connection_fault
from runner.transport.http import http_transports
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.port import Sent, Transport
from runner.transport.redact import Redactor

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


@asynccontextmanager
async def transport_to(target: Address, *keys: str) -> AsyncIterator[Transport]:
    """A transport to an address, closed at the end."""
    async with http_transports(Redactor(keys)) as transports:
        transport = transports(target)
        yield transport
        await transport.close()


async def exchange(*pieces: bytes) -> Sent:
    """What comes of one request to a server that answers with these bytes."""
    async with serving(*pieces) as base_url, transport_to(address(base_url)) as transport:
        return await transport.ask(b"{}")


def address(base_url: str, **entry: object) -> Address:
    route = providers(a={"base_url": base_url, **entry}).resolve("judge").routes[0]
    return address_of(route, route.keys[0] if route.keys else None)


def head(*headers: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: application/json", *headers, "", ""]).encode()


def whole(data: dict[str, Any]) -> bytes:
    body = json.dumps(data).encode()
    return head(f"Content-Length: {len(body)}") + body


async def test_a_compressed_reply_is_read() -> None:
    body = gzip.compress(json.dumps(completion("有期徒刑一年")).encode())
    sent = await exchange(head(f"Content-Length: {len(body)}", "Content-Encoding: gzip"), body)
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "有期徒刑一年"


async def test_a_reply_that_is_compressed_without_a_word_is_read() -> None:
    body = gzip.compress(json.dumps(completion("有期徒刑一年")).encode())
    sent = await exchange(head(f"Content-Length: {len(body)}"), body)
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "有期徒刑一年"
    for broken in (body[:2] + b"no gzip at all", gzip.compress(bytes(2 * LONGEST_BODY))):
        sent = await exchange(head(f"Content-Length: {len(broken)}"), broken)
        assert isinstance(sent.result, Fault)
        assert sent.result.kind is Kind.BAD_BODY


async def test_a_stream_is_whole_with_its_last_event_though_it_is_kept_open() -> None:
    choice = {"index": 0, "delta": {"content": "拘役 data: [DONE]"}, "finish_reason": "stop"}
    event = f"data: {json.dumps({'choices': [choice]})}\n\n".encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in requests(reader, writer):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n" + event)
            for piece in (b"data: [DO", b"NE]\n\n"):
                await writer.drain()
                await asyncio.sleep(0.05)
                writer.write(piece)

    async with listening(answer) as base_url:
        target = address(base_url, timeouts={"first_byte": 5, "total": 5})
        async with transport_to(target) as transport:
            for _ in range(2):
                sent = await transport.ask(b"{}")
                assert isinstance(sent.result, Answer)
                assert (sent.result.outcome, sent.result.text) == ("answered", "拘役 data: [DONE]")
                assert sent.latency_s < 4


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


async def test_a_reply_in_chunks_is_read() -> None:
    body = json.dumps(completion("有期徒刑三年")).encode()
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:])]
    sent = await exchange(head("Transfer-Encoding: chunked"), *chunks, b"0\r\n\r\n")
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "有期徒刑三年"


async def test_an_interim_reply_is_passed_over() -> None:
    body = json.dumps(completion("无罪")).encode()
    sent = await exchange(b"HTTP/1.1 103 Early Hints\r\n\r\n", head(f"Content-Length: {len(body)}"), body)
    assert isinstance(sent.result, Answer)
    assert sent.result.text == "无罪"


@pytest.mark.parametrize(
    ("pieces", "kind", "says"),
    [
        ([], Kind.CONNECTION, "closed the connection without a reply"),
        ([b"SSH-2.0-OpenSSH_9.6\r\n\r\n"], Kind.BAD_BODY, "does not speak HTTP"),
        ([head("Content-Length: 900"), b'{"id": 1'], Kind.BAD_BODY, "the body broke off"),
        ([head("Transfer-Encoding: chunked"), b"zz\r\n"], Kind.BAD_BODY, "chunk size"),
        ([head("Content-Length: 9", "Content-Encoding: gzip"), b"no gzip!!"], Kind.BAD_BODY, "broke off"),
        ([head("Content-Length: 0")], Kind.BAD_BODY, "an empty body"),
        ([b"HTTP/1.1 204 No Content\r\n\r\n"], Kind.BAD_BODY, "an empty body"),
        ([b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"], Kind.REDIRECTED, "points to"),
        ([b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"], Kind.SERVER_ERROR, "busy"),
    ],
)
async def test_what_is_no_answer_is_a_fault(pieces: list[bytes], kind: Kind, says: str) -> None:
    sent = await exchange(*pieces)
    assert isinstance(sent.result, Fault)
    assert sent.result.kind is kind
    assert says in sent.result.message


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (aiohttp.ServerDisconnectedError(), "closed the connection without a reply"),
        (aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer"), "broke off: connection reset"),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), "broke off: connection reset"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "broke off: broken pipe"),
        (aiohttp.ServerTimeoutError("slow"), "ServerTimeoutError: slow"),
    ],
)
def test_a_connection_that_broke_off_is_named_with_its_address(error: Exception, says: str) -> None:
    fault = connection_fault(error, address("http://127.0.0.1:9/v1"), Redactor(()))
    assert "http://127.0.0.1:9/v1" in fault.message
    assert says in fault.message
    assert not fault.unreached


async def test_the_headers_of_a_reply_that_breaks_off_are_heard() -> None:
    sent = await exchange(head("Content-Length: 900", "x-ratelimit-remaining-requests: 0"), b"{")
    assert sent.headers["X-RateLimit-Remaining-Requests"] == "0"


async def test_a_server_that_is_not_there_was_not_reached() -> None:
    async with serving() as base_url:
        pass
    async with transport_to(address(base_url)) as transport:
        sent = await transport.ask(b"{}")
    assert isinstance(sent.result, Fault)
    assert (sent.result.kind, sent.result.unreached) == (Kind.CONNECTION, True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def reason_of(base_url: str, **entry: object) -> str:
    """What is said of a server that cannot be reached."""
    async with transport_to(address(base_url, **entry)) as transport:
        sent = await transport.ask(b"{}")
    assert isinstance(sent.result, Fault)
    assert sent.result.unreached
    assert sent.result.kind in (Kind.CONNECTION, Kind.TIMEOUT)
    return sent.result.message


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_refused_connection_is_named_in_full(scheme: str) -> None:
    port = free_port()
    said = await reason_of(f"{scheme}://127.0.0.1:{port}/v1")
    assert said == f"{scheme}://127.0.0.1:{port}/v1 cannot be reached: connection refused"


async def test_a_host_whose_name_is_not_known_is_named() -> None:
    said = await reason_of("https://llm.invalid/v1")
    assert said.startswith(
        "https://llm.invalid/v1 cannot be reached: the name of its host cannot be looked up (DNS:"
    )


async def test_a_server_without_tls_is_named() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with listening(answer) as base_url:
        secure = base_url.replace("http:", "https:")
        said = await reason_of(secure)
        assert said.startswith(f"{secure} cannot be reached: no TLS there, or none that both sides speak (")
        assert "operation not permitted" not in said  # OpenSSL's error 1 is not the system's


@pytest.fixture
def untrusted(tmp_path: Path) -> ssl.SSLContext:
    """A server's TLS with a certificate of its own making."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([openssl, *make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def test_a_certificate_that_is_not_trusted_is_named(untrusted: ssl.SSLContext) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with listening(answer, ssl=untrusted) as base_url:
        said = await reason_of(base_url.replace("http:", "https:"))
    assert "its certificate is not trusted; SSL_CERT_FILE" in said


async def test_a_server_that_takes_no_connection_in_time_is_named() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        base_url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        waiting = [socket.socket() for _ in range(8)]
        try:
            for one in waiting:  # so that its queue is full
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            timeouts = {"connect": 0.3, "first_byte": 5, "total": 5}
            said = await reason_of(base_url, timeouts=timeouts)
        finally:
            for one in waiting:
                one.close()
    assert said == f"{base_url} cannot be reached: no connection within 0.3 s"


async def test_a_proxy_that_cannot_be_reached_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = free_port()
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:hunter2@127.0.0.1:{port}")
    said = await reason_of("https://far.invalid/v1")
    assert said.startswith("https://far.invalid/v1 cannot be reached: its proxy ")
    assert f"127.0.0.1:{port}" in said
    assert "connection refused" in said
    assert "hunter2" not in said


async def test_names_are_looked_up_once_for_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = []

    async def resolve(self: object, host: str, port: int = 0, family: int = 0) -> list[dict[str, Any]]:
        looked_up.append(host)
        if len(looked_up) == 1:
            raise OSError("no server of names answers")
        return [
            {
                "hostname": host,
                "host": "127.0.0.1",
                "port": port,
                "family": socket.AF_INET,
                "proto": 0,
                "flags": 0,
            }
        ]

    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", resolve)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in requests(reader, writer):
            await asyncio.sleep(0.02)
            writer.write(whole(completion("{}")))

    async with (
        listening(answer) as base_url,
        transport_to(address(base_url.replace("127.0.0.1", "judge.example"))) as transport,
    ):
        failed = await transport.ask(b"{}")
        assert isinstance(failed.result, Fault), "a look-up that failed is not kept"
        found = await asyncio.gather(*(transport.ask(b"{}") for _ in range(9)))
    assert all(isinstance(sent.result, Answer) for sent in found)
    assert looked_up == ["judge.example"] * 2


async def test_what_is_sent_is_what_is_meant_and_the_connection_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_KEY", "sk-planted-0123456789")
    seen: list[tuple[int, list[str], bytes]] = []
    connections = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        async for lines, sent in requests(reader, writer):
            seen.append((connections, lines, sent))
            writer.write(whole(completion("{}")))

    bodies = [b'{"n": 1}', '{"n": 2, "事": "实"}'.encode()]
    async with listening(answer) as base_url:
        target = address(base_url, keys=["A_KEY"], headers={"X-Title": "審計", "user-agent": "mine"})
        async with transport_to(target, "A_KEY") as transport:
            for body in bodies:
                assert isinstance((await transport.ask(body)).result, Answer)
            assert "planted" not in repr(vars(transport))
    assert [(number, sent) for number, _, sent in seen] == [(1, body) for body in bodies]
    for _, lines, body in seen:
        assert lines[0] == "POST /v1/chat/completions HTTP/1.1"
        assert "Authorization: Bearer sk-planted-0123456789" in lines
        assert "Content-Type: application/json" in lines
        assert f"Content-Length: {len(body)}" in lines
        assert lines.count("X-Title: 審計") == 1
        assert [line for line in lines if line.lower().startswith("user-agent")] == ["user-agent: mine"]


async def test_a_second_reply_to_an_earlier_query_is_read_as_nobodys_answer() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _, asked in requests(reader, writer):
            reply = whole(completion(asked.decode()))
            writer.write(reply)
            await asyncio.sleep(0.02)
            writer.write(reply)

    async with listening(answer) as base_url, transport_to(address(base_url)) as transport:
        for number in range(4):
            sent = await transport.ask(str(number).encode())
            if number == 1:  # found out, and asked again
                assert isinstance(sent.result, Fault)
                sent = await transport.ask(str(number).encode())
            assert isinstance(sent.result, Answer)
            assert sent.result.text == str(number)
            await asyncio.sleep(0.08)


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("alike", [True, False])
def test_a_reply_that_nobody_asked_for_is_read_as_nobodys_answer(
    loop: Callable[[], asyncio.AbstractEventLoop], alike: bool
) -> None:
    """It lies there before the next request: another body than any, or the same once more."""
    asked: list[tuple[int, str]] = []
    connections = itertools.count(1)
    was_read, there = asyncio.Event(), asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = next(connections)
        async for _, sent in requests(reader, writer):
            asked.append((connection, sent.decode()))
            reply = whole(completion(sent.decode()))
            writer.write(reply)
            await was_read.wait()
            was_read.clear()
            writer.write(reply if alike else whole(completion("nobody's")))
            with contextlib.suppress(ConnectionError):  # the other side has left
                await writer.drain()
            there.set()

    async def ask() -> list[str]:
        texts = []
        async with listening(answer) as base_url, transport_to(address(base_url)) as transport:
            for number in (0, 1, 1, 2, 3, 4):
                sent = await transport.ask(str(number).encode())
                if isinstance(sent.result, Fault):
                    texts.append(sent.result.message)
                    continue
                texts.append(sent.result.text)
                was_read.set()
                await there.wait()
                there.clear()
                for _ in range(5):  # until the loop has read it, however late it runs
                    await asyncio.sleep(0.005)
        return texts

    with asyncio.Runner(loop_factory=loop) as runner:
        fault = "the server sent a reply too many on its connection, so none to this query is certain"
        assert runner.run(ask()) == ["0", fault, "1", "2", "3", "4"]
    # The request that found it out may have reached the server, or not.
    again = [one for one in asked if one != (1, "1")]
    assert again == [(1, "0"), (2, "1"), (3, "2"), (4, "3"), (5, "4")], "no line is used twice"


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
    async with listening(answer) as base_url, transport_to(address(base_url)) as transport:

        async def ask(numbers: Iterator[int]) -> None:
            for number in numbers:
                for _ in range(20):
                    got = await transport.ask(str(number).encode())
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

    async with listening(answer) as base_url, transport_to(address(base_url)) as transport:
        kinds = [isinstance((await transport.ask(b"{}")).result, Answer) for _ in range(20)]
    assert kinds == [True, False, *[True] * 18], "asked once more on another connection, and believed"


async def test_a_server_that_answers_before_it_has_read_gets_no_more_on_that_connection() -> None:
    connections = []
    done = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(whole(completion("早")))
        await done.wait()
        writer.close()

    async with listening(answer, limit=1 << 16) as base_url, transport_to(address(base_url)) as transport:
        for _ in range(2):
            sent = await transport.ask(b" " * (32 << 20))
            assert isinstance(sent.result, Answer)
    done.set()
    assert len(connections) == 2


async def test_a_request_that_is_given_up_closes_its_connection() -> None:
    closed = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _request(reader)
        assert await reader.read() == b""  # the other side has closed
        closed.set()
        writer.close()

    async with listening(hang) as base_url:
        slow = address(base_url, timeouts={"first_byte": 0.2, "total": 5})
        async with transport_to(slow) as transport:
            sent = await transport.ask(b"{}")
            await asyncio.wait_for(closed.wait(), 5)
    assert isinstance(sent.result, Fault)
    assert sent.result.kind is Kind.TIMEOUT
