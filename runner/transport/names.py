"""Looks up the names of hosts once for all connections, and no longer than a connection may take."""

from __future__ import annotations

import asyncio
import itertools
import socket

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

KEPT_S = 300.0


class SharedNames(AbstractResolver):
    """aiohttp's own look-up, in threads, behind one cache: each pool of connections would have its own."""

    def __init__(self) -> None:
        self._resolver = aiohttp.ThreadedResolver()
        self._known: dict[tuple[str, int, int], tuple[float, asyncio.Task[list[ResolveResult]]]] = {}
        self._turn = itertools.count()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host, another one first each time. Raises OSError."""
        now = asyncio.get_running_loop().time()
        until, looked_up = self._known.get(key := (host, port, int(family)), (0.0, None))
        failed = looked_up is not None and looked_up.done() and looked_up.exception() is not None
        if looked_up is None or now > until or failed:
            looked_up = asyncio.create_task(self._resolver.resolve(host, port, family))
            self._known[key] = (now + KEPT_S, looked_up)
        found = await asyncio.shield(looked_up)
        first = next(self._turn) % len(found) if found else 0
        return found[first:] + found[:first]

    async def close(self) -> None:
        """Nothing is held open."""
        await self._resolver.close()
