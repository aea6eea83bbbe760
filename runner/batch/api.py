"""The calls of the OpenAI Batch interface, one method each, and what providers say of whole batches.

No retries: who calls decides.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from runner.providers.file import Route
from runner.providers.urls import proxy_for
from runner.transport.address import address_of
from runner.transport.connection_fault import connection_fault
from runner.transport.outcome import Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import read

UPLOAD_S = 7200.0
"""A file of 200 MB over a slow line."""
SILENCE_S = 120.0
"""A download that brings nothing for so long has broken off."""
LONGEST_LINE = 64 * 2**20
_GZIP = b"\x1f\x8b\x08"
_GZIP_BITS = 31
_CHUNK = 2**20
_PAGES = 50
_PAGE = 100
ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})
"""States of which a batch does not come back."""


class ApiFault(Exception):
    """A call that failed; the message of the fault is redacted."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


async def _unpacked(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The bytes of a file; of one that is gzip, and was not declared to be, what is packed in it."""
    first = b""
    async for chunk in chunks:
        first += chunk
        if len(first) >= len(_GZIP):
            break
    if not first.startswith(_GZIP):
        if first:
            yield first
        async for chunk in chunks:
            yield chunk
        return
    unpack = zlib.decompressobj(_GZIP_BITS)
    try:
        for_now = first
        while True:
            while for_now:
                if unpack.eof:  # files of several parts, one after the other
                    unpack = zlib.decompressobj(_GZIP_BITS)
                if part := unpack.decompress(for_now, _CHUNK):
                    yield part
                for_now = unpack.unconsumed_tail or unpack.unused_data
            for_now = await anext(chunks, b"")
            if not for_now:
                break
        while part := unpack.decompress(b"", _CHUNK):
            yield part
    except zlib.error as error:
        raise ApiFault(Fault(Kind.BAD_BODY, f"the packed file cannot be read: {error}", 200)) from None
    if not unpack.eof:
        raise ApiFault(Fault(Kind.BAD_BODY, "the packed file broke off", 200))


class BatchApi:
    """A provider's batch interface with one of its keys (named, not held). Every call can raise ApiFault."""

    def __init__(
        self, session: aiohttp.ClientSession, route: Route, key: str | None, redactor: Redactor
    ) -> None:
        self._session = session
        self._address = address_of(route, key, "")
        self._base = str(route.base_url)
        self._timeouts = route.timeouts
        self._redactor = redactor

    async def upload(self, path: Path, name: str) -> str:
        """Send a file of requests, read from disk as it goes; returns the provider's id of it."""
        with path.open("rb") as file:
            form = aiohttp.FormData()
            form.add_field("purpose", "batch")
            form.add_field("file", file, filename=name, content_type="application/jsonl")
            found = await self._call("POST", "/files", data=form, total_s=UPLOAD_S)
        return self._id(found)

    async def submit(self, input_file_id: str, endpoint: str, metadata: Mapping[str, str]) -> dict[str, Any]:
        """Make a batch of an uploaded file; returns what the provider says of it."""
        body = {
            "input_file_id": input_file_id,
            "endpoint": endpoint,
            "completion_window": "24h",
            "metadata": dict(metadata),
        }
        found = await self._call("POST", "/batches", data=orjson.dumps(body))
        self._id(found)
        return found

    async def look(self, batch_id: str) -> dict[str, Any]:
        """What has become of a batch."""
        found = await self._call("GET", f"/batches/{batch_id}")
        if not isinstance(found.get("status"), str):
            raise ApiFault(Fault(Kind.BAD_BODY, "the provider's word on the batch has no status", 200))
        return found

    async def of_file(self, input_file_id: str) -> list[dict[str, Any]]:
        """The account's batches that were made of this file, the newest first.

        All pages are read: that a batch is missing from them may lead to its being paid for twice.
        """
        found: list[dict[str, Any]] = []
        after = ""
        for _ in range(_PAGES):
            page = await self._call("GET", f"/batches?limit={_PAGE}{after}")
            listed = page.get("data")
            if not isinstance(listed, list):
                raise ApiFault(Fault(Kind.BAD_BODY, "the list of batches has no data", 200))
            entries = [entry for entry in listed if isinstance(entry, dict)]
            found += [entry for entry in entries if entry.get("input_file_id") == input_file_id]
            if found or not page.get("has_more") or not entries:
                break
            after = f"&after={entries[-1].get('id')}"
        return found

    async def lines(self, file_id: str) -> AsyncGenerator[bytes]:
        """The lines of a file as they arrive; nothing but the present one is held."""
        rest = bytearray()
        try:
            async with self._session.get(
                f"{self._base}/files/{file_id}/content",
                headers=self._headers(),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=self._timeouts.connect, sock_read=SILENCE_S
                ),
                proxy=self._address.proxy,
                allow_redirects=False,
            ) as response:
                if response.status in (301, 302, 303, 307, 308):
                    # To a signed URL elsewhere, which must not be shown the key.
                    target = response.headers.get("Location", "")
                    async with self._session.get(
                        target,
                        timeout=aiohttp.ClientTimeout(total=None, sock_connect=15, sock_read=SILENCE_S),
                        proxy=proxy_for(target),
                    ) as elsewhere:
                        async for line in self._split(elsewhere, rest):
                            yield line
                else:
                    async for line in self._split(response, rest):
                        yield line
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise ApiFault(connection_fault(error, self._address, self._redactor)) from None
        if rest.strip():
            yield bytes(rest)

    async def _split(self, response: aiohttp.ClientResponse, rest: bytearray) -> AsyncIterator[bytes]:
        """Whole lines; what follows the last line feed is left in `rest`."""
        if response.status != 200:
            raise ApiFault(self._fault(response.status, response.headers, await response.read()))
        async for chunk in _unpacked(response.content.iter_any()):
            searched = len(rest)
            rest += chunk
            if b"\n" in chunk:
                start = 0
                while (end := rest.find(b"\n", max(start, searched))) >= 0:
                    if line := bytes(rest[start:end]).strip():
                        yield line
                    start = end + 1
                del rest[:start]
            if len(rest) > LONGEST_LINE:
                raise ApiFault(Fault(Kind.BAD_BODY, "a line of the file is longer than 64 MB", 200))

    def _headers(self, json: bool = False) -> dict[str, str]:
        headers = dict(self._address.fixed_headers)
        if json:
            headers["Content-Type"] = "application/json"
        if self._address.key is not None:
            value = os.environ.get(self._address.key, "").strip()
            headers[self._address.key_header] = self._address.key_prefix + value
        return headers

    async def _call(
        self, method: str, path: str, *, data: Any = None, total_s: float | None = None
    ) -> dict[str, Any]:
        try:
            async with self._session.request(
                method,
                self._base + path,
                data=data,
                headers=self._headers(json=isinstance(data, bytes)),
                timeout=aiohttp.ClientTimeout(
                    total=total_s or self._timeouts.total, sock_connect=self._timeouts.connect
                ),
                proxy=self._address.proxy,
                allow_redirects=False,
            ) as response:
                body = await response.read()
                if not 200 <= response.status < 300:
                    raise ApiFault(self._fault(response.status, response.headers, body))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise ApiFault(connection_fault(error, self._address, self._redactor)) from None
        try:
            found = orjson.loads(body)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            shown = body[:200].decode("utf-8", "replace")
            raise ApiFault(Fault(Kind.BAD_BODY, self._redactor.clean(f"no JSON object: {shown}"), 200))
        return found

    def _fault(self, status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        found = read(status if status >= 300 else 500, headers, body, self._redactor, self._base)
        return found if isinstance(found, Fault) else Fault(Kind.REJECTED, found.text, status)

    @staticmethod
    def _id(found: Mapping[str, Any]) -> str:
        value = found.get("id")
        if not isinstance(value, str) or not value:
            raise ApiFault(Fault(Kind.BAD_BODY, "the reply names no id", 200))
        return value


def _listed(info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    errors = info.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else errors
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def errors(info: Mapping[str, Any], redactor: Redactor) -> str:
    """What the provider says is wrong with the batch as a whole."""
    words = [f"{one.get('code') or 'error'}: {one.get('message') or ''}" for one in _listed(info)[:3]]
    return redactor.clean("; ".join(words)) if words else ""


def too_much_queued(info: Mapping[str, Any]) -> bool:
    """Whether it failed as the account may not have so many tokens waiting at once."""
    return any(
        "token_limit" in str(one.get("code")) or "nqueued" in str(one.get("message")) for one in _listed(info)
    )
