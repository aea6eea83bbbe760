"""The calls of the OpenAI Batch interface, one method each, and what providers say of whole batches.

No retries: who calls decides.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from yarl import URL

from runner.batch.records import TooLongRecord, records, unpacked
from runner.providers.file import Route
from runner.providers.urls import proxy_for, with_path
from runner.transport.address import address_of
from runner.transport.compression import BadGzip
from runner.transport.connection_fault import connection_fault
from runner.transport.outcome import Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import REDIRECTS, read

UPLOAD_S = 7200.0
"""A file of 200 MB over a slow line."""
SILENCE_S = 120.0
"""A download that brings nothing for so long has broken off."""
MOST_REDIRECTS = 5
_PAGES = 50
_PAGE = 100
ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})
"""States of which a batch does not come back."""


class ApiFault(Exception):
    """A call that failed; the message of the fault is redacted."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


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
        page_of = {"limit": str(_PAGE)}
        for _ in range(_PAGES):
            page = await self._call("GET", "/batches", page_of=page_of)
            listed = page.get("data")
            if not isinstance(listed, list):
                raise ApiFault(Fault(Kind.BAD_BODY, "the list of batches has no data", 200))
            entries = [entry for entry in listed if isinstance(entry, dict)]
            found += [entry for entry in entries if entry.get("input_file_id") == input_file_id]
            if found or not page.get("has_more") or not entries:
                break
            page_of["after"] = str(entries[-1].get("id"))
        return found

    async def results(self, file_id: str) -> AsyncGenerator[bytes]:
        """The records of a file of results as they arrive; nothing but the present one is held.

        Redirects are followed, also those that name a path only; an address elsewhere, such as a signed URL
        of a store of files, is not shown the key.
        """
        url = URL(with_path(self._base, f"/files/{file_id}/content"))
        home = url.origin()
        for _ in range(MOST_REDIRECTS + 1):
            at_home = url.origin() == home
            try:
                async with self._session.get(
                    url,
                    headers=self._headers() if at_home else {},
                    timeout=aiohttp.ClientTimeout(
                        total=None, sock_connect=self._timeouts.connect, sock_read=SILENCE_S
                    ),
                    proxy=self._address.proxy if at_home else proxy_for(str(url)),
                    allow_redirects=False,
                ) as response:
                    if response.status in REDIRECTS:
                        url = self._target(response)
                        continue
                    if response.status != 200:
                        body = await response.read()
                        raise ApiFault(self._fault(response.status, response.headers, body, url))
                    async for record in records(unpacked(response.content.iter_any())):
                        yield record
                    return
            except (BadGzip, TooLongRecord) as error:
                raise ApiFault(Fault(Kind.BAD_BODY, str(error), 200)) from None
            except (aiohttp.ClientError, OSError, ValueError) as error:
                address = self._address if at_home else replace(self._address, url=url.with_user(None))
                raise ApiFault(connection_fault(error, address, self._redactor)) from None
        message = f"the file was redirected more than {MOST_REDIRECTS} times"
        raise ApiFault(Fault(Kind.REDIRECTED, message))

    @staticmethod
    def _target(response: aiohttp.ClientResponse) -> URL:
        """Where a redirect leads. Raises ApiFault where that is no address of a file."""
        named = response.headers.get("Location", "").strip()
        problem = "the server redirects and does not say where to"
        if named:
            try:
                # A signature may not survive being quoted anew.
                target = response.url.join(URL(named, encoded=named.isascii() and " " not in named))
            except ValueError:
                problem = "the server redirects to an address that is no URL"
            else:
                if target.scheme in ("http", "https") and target.host:
                    return target
                problem = f"the server redirects to an address that is not HTTP ({target.scheme}:)"
        raise ApiFault(Fault(Kind.REDIRECTED, problem, response.status))

    def _headers(self, json: bool = False) -> dict[str, str]:
        headers = dict(self._address.fixed_headers)
        if json:
            headers["Content-Type"] = "application/json"
        if self._address.key is not None:
            value = os.environ.get(self._address.key, "").strip()
            headers[self._address.key_header] = self._address.key_prefix + value
        return headers

    async def _call(
        self,
        method: str,
        path: str,
        *,
        data: Any = None,
        page_of: Mapping[str, str] | None = None,
        total_s: float | None = None,
    ) -> dict[str, Any]:
        try:
            async with self._session.request(
                method,
                with_path(self._base, path),
                data=data,
                params=page_of,
                headers=self._headers(json=isinstance(data, bytes)),
                timeout=aiohttp.ClientTimeout(
                    total=total_s or self._timeouts.total, sock_connect=self._timeouts.connect
                ),
                proxy=self._address.proxy,
                allow_redirects=False,
            ) as response:
                body = await response.read()
                if not 200 <= response.status < 300:
                    raise ApiFault(self._fault(response.status, response.headers, body, response.url))
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

    def _fault(self, status: int, headers: Mapping[str, str], body: bytes, url: URL) -> Fault:
        found = read(status if status >= 300 else 500, headers, body, self._redactor, str(url))
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
