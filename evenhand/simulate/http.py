"""As much of HTTP/1.1 as a scripted server needs, with every byte in its own hands.

A web framework would cost several times the CPU (benchmarks share two cores with this server) and would not
let a reply be cut off in the middle. Requests need a Content-Length; each connection is served one at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus

import orjson

_REASONS = {status.value: status.phrase for status in HTTPStatus}
_LARGEST_HEAD = 65_536
_LARGEST_BODY = 64 << 20


class Request:
    """One request; header names in lower case."""

    __slots__ = ("_headers", "body", "head", "method", "path")

    def __init__(self, head: bytes, body: bytes) -> None:
        line = head[: head.find(b"\r\n") if b"\r\n" in head else len(head)].decode("latin-1").split(" ")
        self.method = line[0]
        self.path = line[1] if len(line) > 1 else "/"
        self.head = head
        self.body = body
        self._headers: dict[str, str] | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """Read when first asked for: most requests are served without."""
        if self._headers is None:
            self._headers = {}
            for line in self.head.decode("latin-1").split("\r\n")[1:]:
                name, _, value = line.partition(":")
                self._headers[name.strip().lower()] = value.strip()
        return self._headers

    @property
    def key(self) -> str:
        """The API key that was sent, without `Bearer`."""
        return self.headers.get("authorization", "").removeprefix("Bearer ").strip()


def reply(
    status: int,
    body: bytes,
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
    length: int | None = None,
) -> bytes:
    """The bytes of a reply; `length` other than the body's makes one that breaks off."""
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body) if length is None else length}\r\n{more}\r\n"
    )
    return head.encode("latin-1") + body


def error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A reply with OpenAI's error object."""
    body = orjson.dumps({"error": {"message": message, "type": code, "param": None, "code": code}})
    return reply(status, body, headers)


class Connection(asyncio.Protocol):
    """One client. `handle` gets each request and must end it once: `send`, or `reset`."""

    def __init__(self, handle: Callable[[Connection, Request], None], open_ones: set[Connection]) -> None:
        self._handle = handle
        self._open_ones = open_ones
        self._buffer = b""
        self._busy = False
        self._transport: asyncio.Transport | None = None

    @property
    def open(self) -> bool:
        """Whether the client is still there."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]
        self._open_ones.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's
        """Forget it."""
        self._transport = None
        self._open_ones.discard(self)

    def data_received(self, data: bytes) -> None:
        """Collect until a request is whole."""
        self._buffer = self._buffer + data if self._buffer else data
        if not self._busy:
            self._next()

    def send(self, data: bytes) -> bool:
        """Write the whole reply; whether the client was still there to get it."""
        sent = self.write(data)
        self.done()
        return sent

    def write(self, data: bytes) -> bool:
        """Write a part of a reply."""
        if not self.open:
            return False
        assert self._transport is not None
        self._transport.write(data)
        return True

    def done(self) -> None:
        """The reply is complete: go on with what the client may have sent meanwhile."""
        self._busy = False
        if self._buffer and self.open:
            self._next()

    def reset(self) -> None:
        """Break the connection off, as a crash would."""
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """End the connection after what was written."""
        if self._transport is not None:
            self._transport.close()

    def _next(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _LARGEST_HEAD:
                self.reset()
            return
        head = self._buffer[:end]
        length = _content_length(head)
        if length is None or length > _LARGEST_BODY:
            self.send(reply(411 if length is None else 413, b"{}"))
            self.close()
            return
        whole = end + 4 + length
        if len(self._buffer) < whole:
            if b"100-continue" in head and len(self._buffer) == end + 4:
                self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        body = self._buffer[end + 4 : whole]
        self._buffer = self._buffer[whole:]
        self._busy = True
        self._handle(self, Request(head, body))


def _content_length(head: bytes) -> int | None:
    lower = head.lower()
    at = lower.find(b"\r\ncontent-length:")
    if at < 0:
        return None if b"transfer-encoding" in lower else 0
    stop = lower.find(b"\r\n", at + 2)
    digits = lower[at + 17 : stop if stop > 0 else len(lower)].strip()
    return int(digits) if digits.isdigit() else None
