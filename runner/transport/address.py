"""Where and how the requests of a lane go, and the session they go through."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from runner.providers.file import Route, check_key
from runner.providers.urls import proxy_for, with_path
from runner.transport.deadlines import Deadlines

USER_AGENT = "evenhand/0.1"


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
            headers[self.key_header] = self.key_value()
        return headers

    def key_value(self) -> str:
        """What the key's header says."""
        assert self.key is not None
        return self.key_prefix + os.environ.get(self.key, "").strip()


def address_of(route: Route, key: str | None, path: str = "/chat/completions") -> Address:
    """The address of a route with one of its keys.

    Proxies are looked up here, once, as the environment names them (HTTPS_PROXY, NO_PROXY and so on);
    aiohttp's own `trust_env` would do it for every request. This machine is never reached through a proxy.

    Raises BadInput when the key has characters that no header can carry, or a proxy's variable no proxy.
    """
    assert route.base_url is not None, "usable() gives no route without an address"
    if key is not None:
        check_key(key)
    url = with_path(route.base_url, path)
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


def new_session(limit: int = 0, resolver: AbstractResolver | None = None) -> aiohttp.ClientSession:
    """A session for our own headers; cookies are ignored.

    Args:
        limit: the most connections at once; 0 for any number, as the lanes limit how much is open.
        resolver: looks up the names of hosts; one of its own unless given.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=limit, keepalive_timeout=60, ttl_dns_cache=300, resolver=resolver
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": USER_AGENT},
    )
