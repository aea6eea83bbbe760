"""Posts a body and brings the reply: aiohttp's pool, connections and parser, without its client around them.

`ClientSession.post` costs 65 us a request (Python 3.11, a fast core), of which two thirds make a request and
a response object, with cookies, redirects, tracing and a task that writes, none of which a chat completion
has. Here a connection is taken from the session's own connector, one prepared block of bytes is written, and
what the connection's parser makes of the reply is read: the same bytes out and in, at under half the cost.

These inner calls are aiohttp's, though not of its promised interface. So they are checked for once; where
they are not as expected, and for requests through a proxy, `ClientSession.post` is used.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDict

from runner.transport.address import Address
from runner.transport.deadlines import Exchange

_MOST_RECENT = 512
LONGEST_BODY = 8 << 20
"""Bytes of a reply, unpacked, that are read; a few MB compressed can be many GB."""


class TooLong(Exception):
    """The body of a reply is longer than `LONGEST_BODY`."""


class NoHttp(Exception):
    """What came is no HTTP."""


class SecondReply(Exception):
    """What came belongs to an earlier query."""


class SecondReplies:
    """Tells replies that belong to an earlier query of the same connection: the same body came there before.

    HTTP/1.1 pairs replies with requests by their order alone: after a reply too many, every later answer of
    the connection would be stored under the wrong query. Completions have an id and a time, so that no two
    are alike; a server whose are is found out by the same body on two connections, and let pass.
    """

    def __init__(self) -> None:
        self._recent: dict[int, Any] = {}
        self._older: dict[int, Any] = {}
        self._bodies_differ = True

    def has(self, connection: Any, body: bytes) -> bool:
        """Whether this body came on the connection before. Connections are held on to for a while."""
        if not self._bodies_differ:
            return False
        key = hash(body)
        first = self._recent.get(key, self._older.get(key))
        if first is None:
            self._recent[key] = connection
            if len(self._recent) >= _MOST_RECENT:
                self._older, self._recent = self._recent, {}
        elif first is not connection:
            self._bodies_differ = False
        return first is connection


@dataclass(slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Poster:
    """Posts to one address. Needs a running loop; one serves all requests of a lane."""

    def __init__(self, session: aiohttp.ClientSession, address: Address, direct: bool = True) -> None:
        self.address = address
        self._session = session
        self._connector: Any = session.connector
        self._request: Any = None
        self._head = b""
        self._second_replies = SecondReplies()
        if direct and address.proxy is None and inner_calls_are_known():
            self._prepare()

    @property
    def is_direct(self) -> bool:
        """Whether requests go out without `ClientSession.post`."""
        return self._request is not None

    async def post(self, body: bytes, exchange: Exchange) -> Reply:
        """Send the body and read the whole reply. The exchange gets its headers as soon as they are there.

        Raises:
            TimeoutError: no connection in time.
            aiohttp.ClientError, OSError: no connection, or it broke off.
            TooLong, NoHttp, SecondReply: as they say.
        """
        if self._request is None:
            return await self._post_by_session(body, exchange)
        connection = await self._connector.connect(self._request, [], self.address.connect)
        while len(connection.protocol):
            # A reply that nobody waits for, perhaps a second one to an earlier query: never read it as ours.
            connection.close()
            connection = await self._connector.connect(self._request, [], self.address.connect)
        try:
            protocol, transport = connection.protocol, connection.transport
            if transport is None:
                raise aiohttp.ServerDisconnectedError
            protocol.set_response_params(read_until_eof=True)
            transport.write(b"".join((self._head, self._key_line(), b"%d\r\n\r\n" % len(body), body)))
            message, payload = await protocol.read()
            while 100 <= message.code < 200 and message.code != 101:
                message, payload = await protocol.read()
            exchange.headers = message.headers
            reply = Reply(message.code, message.headers, await _whole(payload))
        except HttpProcessingError as error:
            connection.close()
            raise NoHttp(error.message) from error
        except aiohttp.EofStream as error:
            connection.close()
            raise aiohttp.ServerDisconnectedError from error
        except BaseException:
            connection.close()
            raise
        if reply.status == 200 and self._second_replies.has(protocol, reply.body):
            connection.close()
            raise SecondReply
        # What was answered before it was read has its rest still to go out.
        if transport.get_write_buffer_size() or _may_come_again(reply.status):
            connection.close()
        else:
            connection.release()
        return reply

    async def _post_by_session(self, body: bytes, exchange: Exchange) -> Reply:
        address = self.address
        try:
            async with self._session.post(
                address.url,
                data=aiohttp.BytesPayload(body),  # as it would become, without looking for its kind
                headers=address.headers(),
                timeout=address.connect,
                proxy=address.proxy,
                allow_redirects=False,
            ) as response:
                exchange.headers = response.headers
                reply = Reply(response.status, response.headers, await _whole(response.content))
                if _may_come_again(reply.status):
                    response.close()
                return reply
        except aiohttp.ClientResponseError as error:
            raise NoHttp(error.message) from error

    def _prepare(self) -> None:
        """Make what is alike in all requests; aiohttp chooses its headers as for any other."""
        address = self.address
        headers = CIMultiDict(self._session.headers)
        headers.update(address.headers())
        if address.key is not None:
            headers.popall(address.key_header, None)
        request = aiohttp.ClientRequest(
            "POST", address.url, headers=headers, loop=asyncio.get_running_loop(), session=self._session
        )
        lines = [f"POST {address.url.raw_path_qs} HTTP/1.1"]
        for name, value in request.headers.items():
            if name.lower() not in ("content-length", "transfer-encoding"):
                if not value.isprintable():
                    return  # `ClientSession.post` will say what is wrong with it
                lines.append(f"{name}: {value}")
        self._head = "\r\n".join(lines).encode() + b"\r\n"
        self._request = request

    def _key_line(self) -> bytes:
        address = self.address
        if address.key is None:
            return b"Content-Length: "
        return f"{address.key_header}: {address.key_value()}\r\nContent-Length: ".encode()


def _may_come_again(status: int) -> bool:
    """A gateway that has given up may send the answer after all: it would be read as the next query's."""
    return status >= 500 or status == 408


async def _whole(payload: aiohttp.StreamReader) -> bytes:
    if payload.is_eof():  # the usual reply, which came in one piece
        body = payload.read_nowait()
        if len(body) > LONGEST_BODY:
            raise TooLong
        return body
    parts, size = [], 0
    async for part in payload.iter_any():
        size += len(part)
        if size > LONGEST_BODY:
            raise TooLong
        parts.append(part)
    return b"".join(parts)


def inner_calls_are_known() -> bool:
    """Whether this aiohttp has the calls that a direct post makes."""
    try:
        connect = inspect.signature(aiohttp.BaseConnector.connect)
        connect.bind(None, None, [], None)
        inspect.signature(ResponseHandler.set_response_params).bind(None, read_until_eof=True)
        inspect.signature(ResponseHandler.read).bind(None)
        inspect.signature(ResponseHandler.__len__).bind(None)
        inspect.signature(aiohttp.ClientRequest).bind("POST", None, headers=None, loop=None, session=None)
    except (AttributeError, TypeError):
        return False
    return inspect.iscoroutinefunction(aiohttp.BaseConnector.connect)
