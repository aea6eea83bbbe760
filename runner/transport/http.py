"""Chat completions over HTTP, by aiohttp's public interface: one connection for each request that is open.

HTTP/1.1 pairs replies with requests by their order alone. After one reply too many (a gateway that gave up
and passes the answer on later, a server that sends twice) every later answer of that connection would be
stored under the wrong query, and a pool does not say which connection a reply came over. So each line, a
session with a pool of one, serves one request at a time, and is left where its order is in doubt:

- A reply that was there before the request went out: the event loop has to turn at least once before
  anything can come in reply to it.
- The same body twice on a line. Completions have an id and a time, so that no two are alike; a server whose
  are is found out by the same body on two lines, and let pass.
- After a 408 or 5xx, the answer may follow.

A reply to an earlier query is a fault of the present one, which is asked again and may have been paid. So
from the first one on, no line is used twice, unless the server's bodies turn out to be all alike.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from runner.transport.address import Address, new_session
from runner.transport.compression import LONGEST_BODY, TooLong
from runner.transport.connection_fault import connection_fault
from runner.transport.deadlines import Exchange
from runner.transport.names import SharedNames
from runner.transport.outcome import Fault, Kind
from runner.transport.port import Sent, Transports
from runner.transport.redact import Redactor
from runner.transport.reply import read

_DONE = re.compile(rb"^data:\s*\[DONE\]", re.MULTILINE)
_LONGEST_DONE = 32
_MOST_RECENT = 512
_SECOND_REPLY = "the server sent a reply too many on its connection, so none to this query is certain"
_LONGEST_CLOSE_S = 2.0


class SecondReply(Exception):
    """What came belongs to an earlier query."""


class SecondReplies:
    """Tells replies that belong to an earlier query of the same line: the same body came there before."""

    def __init__(self) -> None:
        self._recent: dict[int, int] = {}
        self._older: dict[int, int] = {}
        self.bodies_differ = True

    def has(self, line: int, body: bytes) -> bool:
        """Whether this body came on the line of this number before."""
        if not self.bodies_differ:
            return False
        first = self._recent.get(key := hash(body), self._older.get(key))
        if first is None:
            self._recent[key] = line
            if len(self._recent) >= _MOST_RECENT:
                self._older, self._recent = self._recent, {}
        elif first != line:
            self.bodies_differ = False
        return first == line


@dataclass(slots=True)
class _Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Line:
    """A session with a pool of one connection, for one request at a time."""

    __slots__ = ("number", "session", "was_used")

    def __init__(self, number: int, session: aiohttp.ClientSession) -> None:
        self.number = number
        self.session = session
        self.was_used = False


class HttpTransport:
    """The way to one address over HTTP. Needs a running loop."""

    def __init__(self, address: Address, redactor: Redactor, names: SharedNames) -> None:
        self._address = address
        self._url = str(address.url)
        self._redactor = redactor
        self._names = names
        self._idle: list[_Line] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count()
        self._second_replies = SecondReplies()
        self._had_earlier = self._had_second = False

    def __repr__(self) -> str:
        return f"HttpTransport({self._address})"

    async def ask(self, body: bytes) -> Sent:
        """Send one body and read the reply. Raises nothing but CancelledError."""
        address = self._address
        exchange = address.deadlines.start()
        started = time.perf_counter()
        try:
            reply = await self._post(body, exchange)
            result = read(reply.status, reply.headers, reply.body, self._redactor, self._url)
        except asyncio.CancelledError:
            if not exchange.given_up():
                raise
            result = Fault(Kind.TIMEOUT, str(exchange.too_late))
        except TooLong as error:
            result = Fault(Kind.BAD_BODY, str(error), 200)
        except SecondReply:
            result = Fault(Kind.CONNECTION, _SECOND_REPLY)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            result = connection_fault(error, address, self._redactor)
        finally:
            address.deadlines.end(exchange)
        return Sent(result, time.perf_counter() - started, exchange.headers or {})

    async def close(self) -> None:
        """End its connections."""
        while self._idle:
            self._leave(self._idle.pop())
        if self._closing:
            await asyncio.wait(self._closing, timeout=_LONGEST_CLOSE_S)

    async def _post(self, body: bytes, exchange: Exchange) -> _Reply:
        """One exchange over a line of its own. The exchange gets the headers as soon as they are there.

        Raises:
            TimeoutError: no connection in time.
            aiohttp.ClientError, OSError: no connection, or it broke off, or what came is no HTTP.
            TooLong, SecondReply: as they say.
        """
        address = self._address
        line = self._idle.pop() if self._idle else self._new_line()
        stays = False
        turned: list[bool] = []
        self._loop.call_soon(turned.append, True)
        try:
            async with line.session.post(
                address.url,
                data=aiohttp.BytesPayload(body),  # as it would become, without looking for its kind
                headers=address.headers(),
                timeout=address.connect,
                proxy=address.proxy,
                allow_redirects=False,
            ) as response:
                if line.was_used and not turned:
                    self._had_earlier = True
                    raise SecondReply
                exchange.headers = response.headers
                reply = _Reply(response.status, response.headers, await _whole(response))
                is_read = response.content.at_eof()
            if reply.status == 200 and self._second_replies.has(line.number, reply.body):
                self._had_second = True
                raise SecondReply
            stays = is_read and self._may_stay(reply.status)
        finally:
            if stays:
                line.was_used = True
                self._idle.append(line)
            else:
                self._leave(line)
        return reply

    def _may_stay(self, status: int) -> bool:
        """Whether the next reply on the line is surely that to the next request."""
        in_doubt = self._had_earlier or (self._had_second and self._second_replies.bodies_differ)
        return not in_doubt and status < 500 and status != 408

    def _new_line(self) -> _Line:
        return _Line(next(self._numbers), new_session(limit=1, resolver=self._names))

    def _leave(self, line: _Line) -> None:
        """Close its connection. Bytes that nobody reads can hold that up, so nobody waits for it."""
        task = self._loop.create_task(line.session.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


@asynccontextmanager
async def http_transports(redactor: Redactor) -> AsyncIterator[Transports]:
    """The transports of a run over HTTP."""
    names = SharedNames()
    try:
        yield lambda address: HttpTransport(address, redactor, names)
    finally:
        await names.close()


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    """The body. A stream is whole with its last event, though the server may keep it open. Raises TooLong."""
    parts, size, tail, content = [], 0, b"", response.content
    streams = "event-stream" in response.headers.get("Content-Type", "")
    while not content.at_eof():
        part = await content.readany()
        size += len(part)
        if size > LONGEST_BODY:
            raise TooLong
        parts.append(part)
        if streams and _DONE.search(tail := tail[-_LONGEST_DONE:] + part):
            break
    return parts[0] if len(parts) == 1 else b"".join(parts)
