"""URLs as people write them: what can be one, a path put to its end, and the proxy that stands before it."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from urllib.parse import SplitResult, urlsplit

from store.errors import BadInput

_HERE = ("127.", "localhost", "::1", "[::1]")
_LABEL = re.compile(r"[A-Za-z0-9_-]+\Z")
_LONGEST_LABEL = 63
_LONGEST_HOST = 253


class BadUrl(ValueError):
    """Why a text can be no URL, to be read after its name: "has a blank in it"."""


def parts_of(url: str) -> SplitResult:
    """The parts of a URL with a host that can be one and a port that is one. Raises BadUrl.

    A URL that passes is one for yarl and the resolver too: neither is to find fault with it later. It is not
    repeated in the error, as it may hold a password.
    """
    if any(char.isspace() or not char.isprintable() for char in url):
        raise BadUrl("has a blank or a line break in it: take it out")
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise BadUrl(
            "has brackets around what is no IPv6 address: write http://[::1]:8000"
            if "[" in url or "]" in url
            else "names a host that cannot be one"
        ) from None
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise BadUrl("has a port that cannot be one: it is a number from 1 to 65535")
    if "[" in parts.netloc:
        _check_brackets(parts.netloc.rpartition("@")[2])
    else:
        _check_host(host)
    return parts


def _check_brackets(netloc: str) -> None:
    found = re.match(r"\[([^\]]+)\](:[0-9]*)?\Z", netloc)
    try:
        ipaddress.IPv6Address(found[1] if found else "")
    except ValueError:
        raise BadUrl("has brackets around what is no IPv6 address: write http://[::1]:8000") from None


def _check_host(host: str) -> None:
    if not host.isascii():
        from yarl import URL  # noqa: PLC0415 - which writes it as the requests will; rare, and slow to load

        try:
            host = URL.build(scheme="http", host=host).raw_host or ""
        except ValueError:
            raise BadUrl("names a host that cannot be one") from None
    if not host:
        raise BadUrl("names no host")
    labels = host.removesuffix(".").split(".")
    if "" in labels:
        raise BadUrl(
            "names a host that cannot be one: there is nothing between two of its dots, or before the first"
        )
    if any(len(label) > _LONGEST_LABEL for label in labels) or len(host) > _LONGEST_HOST:
        raise BadUrl(
            f"names a host that cannot be one: more than {_LONGEST_LABEL} characters between two dots, "
            f"or {_LONGEST_HOST} in all"
        )
    if not all(_LABEL.match(label) for label in labels):
        raise BadUrl("names a host that cannot be one: it has letters, digits, hyphens and dots")
    if all(label.isdigit() for label in labels):
        try:
            socket.inet_aton(host)
        except OSError:
            raise BadUrl("names a host that cannot be one: an address has four numbers up to 255") from None


def place_of(url: str) -> str:
    """Where a server is, for people: host, port and path, without the `/v1` that all have."""
    parts = parts_of(url)
    return parts.netloc.rpartition("@")[2] + parts.path.rstrip("/").removesuffix("/v1")


def with_path(base_url: str, path: str) -> str:
    """The base URL with this at the end of its path, before its query (`?api-version=...`) if it has one."""
    base, mark, query = base_url.partition("?")
    return f"{base}{path}{mark}{query}"


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for this URL, if any. Raises BadInput where it names none."""
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - a client of its own, slow to load

    parts = urlsplit(url)
    host = parts.hostname or ""
    if host.startswith(_HERE) or proxy_bypass(host):
        return None
    proxies = getproxies()
    for kind in (parts.scheme, "all"):
        if proxy := proxies.get(kind):
            _check_proxy(kind, proxy, host)
            return proxy
    return None


def _check_proxy(kind: str, proxy: str, host: str) -> None:
    scheme, mark, _ = proxy.partition("://")
    try:
        if not mark:
            raise BadUrl("is no URL")
        if scheme.lower() not in ("http", "https"):
            socks = scheme.lower().startswith("socks")
            raise BadUrl("names a SOCKS proxy, which cannot be used here" if socks else "is of no HTTP proxy")
        parts_of(proxy)
    except BadUrl as error:
        variable = _variable(kind)
        raise BadInput(
            f"The proxy in {variable} {error}.",
            hint=f"Set {variable} to the URL of an HTTP proxy, http://HOST:PORT, or unset it; "
            f"to go past the proxy, add {host} to NO_PROXY.",
        ) from None


def _variable(kind: str) -> str:
    """The environment variable that names the proxies of this kind; small letters win, as in `getproxies`."""
    found = sorted(name for name, value in os.environ.items() if name.lower() == f"{kind}_proxy" and value)
    return found[-1] if found else f"the system's settings ({kind})"
