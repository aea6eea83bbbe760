"""One chat completion: bytes out, an answer or a fault back. No retries, no limits: those are the lane's."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from runner.deadlines import Deadlines
from runner.outcome import Answer, Fault, Kind
from runner.providers import Route
from runner.redact import Redactor
from runner.reply import read
from store.errors import BadInput

USER_AGENT = "evenhand/0.1"
LONGEST_BODY = 8 << 20
"""Bytes of a reply, unpacked, that are read; a few MB compressed can be many GB."""
_NO_HEADERS: Mapping[str, str] = {}
_HERE = ("127.", "localhost", "::1", "[::1]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where and how to send: everything about a lane that one request needs. The key is named, not held."""

    url: URL
    connect: aiohttp.ClientTimeout
    deadlines: Deadlines
    proxy: str | None
    key: str | None
    key_header: str
    key_prefix: str
    fixed_headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Address({self.url}, key from {self.key})"

    def headers(self) -> dict[str, str]:
        """The headers of one request; the key is read from the environment now and kept nowhere."""
        headers = {"Content-Type": "application/json", **self.fixed_headers}
        if self.key is not None:
            headers[self.key_header] = self.key_prefix + os.environ.get(self.key, "").strip()
        return headers


@dataclass(slots=True)
class Sent:
    """What one request came to. `latency_s` is from sending to the last byte, or to the fault."""

    result: Answer | Fault
    headers: Mapping[str, str]
    latency_s: float


def address_of(route: Route, key: str | None, path: str = "/chat/completions") -> Address:
    """The address of a route with one of its keys.

    Proxies are looked up here, once, as the environment names them (HTTPS_PROXY, NO_PROXY and so on);
    aiohttp's own `trust_env` would do it for every request. This machine is never reached through a proxy.

    Raises BadInput when the key has characters that no header can carry.
    """
    assert route.base_url is not None, "usable() gives no route without an address"
    if key is not None:
        value = os.environ.get(key, "").strip()
        if not (value.isascii() and value.isprintable()):
            raise BadInput(
                f"The key in {key} has characters that no HTTP header can carry.",
                hint=f"Set {key} again, without line breaks or quotes.",
            )
    url = route.base_url + path
    timeouts = route.timeouts
    return Address(
        url=URL(url),
        connect=aiohttp.ClientTimeout(total=None, sock_connect=timeouts.connect),
        deadlines=Deadlines(timeouts.first_byte, timeouts.total),
        proxy=proxy_for(url),
        key=key,
        key_header=route.key_header,
        key_prefix=route.key_prefix,
        fixed_headers=dict(route.headers),
    )


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for this URL, if any."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host.startswith(_HERE) or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def new_session() -> aiohttp.ClientSession:
    """The session of a run. The lanes limit how much is open, so the pool does not; cookies are ignored."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60, ttl_dns_cache=300),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": USER_AGENT},
    )


async def complete(session: aiohttp.ClientSession, address: Address, body: bytes, redactor: Redactor) -> Sent:
    """Send one body and read the reply. Raises nothing but CancelledError."""
    exchange = address.deadlines.start()
    started = time.perf_counter()
    headers = _NO_HEADERS
    try:
        async with session.post(
            address.url,
            data=aiohttp.BytesPayload(body),  # as it would become, without looking for its kind
            headers=address.headers(),
            timeout=address.connect,
            proxy=address.proxy,
            allow_redirects=False,
        ) as response:
            exchange.begun = True
            headers = response.headers
            result = read(response.status, headers, await _whole(response), redactor)
    except asyncio.CancelledError:
        if not exchange.given_up():
            raise
        result = Fault(Kind.TIMEOUT, str(exchange.too_late))
    except TimeoutError:
        message = f"no connection within {address.connect.sock_connect:g} s"
        result = Fault(Kind.TIMEOUT, message, unreached=True)
    except _TooLong:
        result = Fault(Kind.BAD_BODY, f"the body is longer than {LONGEST_BODY >> 20} MB")
    except aiohttp.ClientPayloadError as error:
        result = Fault(Kind.BAD_BODY, redactor.clean(f"the body broke off: {_says(error)}"))
    except aiohttp.ClientResponseError as error:
        result = Fault(Kind.BAD_BODY, redactor.clean(f"no HTTP: {error.message}"))
    except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError, ValueError) as error:
        unreached = isinstance(error, aiohttp.ClientConnectorError)
        result = Fault(Kind.CONNECTION, redactor.clean(_says(error)), unreached=unreached)
    finally:
        address.deadlines.end(exchange)
    return Sent(result, headers, time.perf_counter() - started)


class _TooLong(Exception):
    pass


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    length = response.content_length
    if length is not None and length <= LONGEST_BODY and "Content-Encoding" not in response.headers:
        return await response.read()
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LONGEST_BODY:
            raise _TooLong
        parts.append(part)
    return b"".join(parts)


def _says(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
