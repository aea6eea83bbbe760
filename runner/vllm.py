"""A vLLM server: the one that runs at the provider's address, or one that we start and stop.

    async with VllmServer(route, options) as server:
        ...  # POST {server.base_url}/chat/completions

Prefix caching is on: a document's queries go out together and differ late, so what they share is read once.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import aiohttp

from runner.completion import address_of, new_session
from runner.providers import Route
from runner.schema import Vllm
from store.errors import BadInput, RunFailed

_LOOK_S = 1.0
_KNOCK_S = 3.0
_STOP_S = 20.0
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
_LOG_TAIL = 15


class VllmServer:
    """Uses what serves the route's model at its address; starts `vllm serve` there if nothing does.

    Raises (on entering):
        BadInput: another model is served there, or nothing is and vllm is not installed here.
        RunFailed: vllm did not start; its last lines say why.
    """

    def __init__(self, route: Route, options: Vllm, log_folder: Path | None = None) -> None:
        assert route.base_url is not None, "a vllm provider has an address"
        self.base_url = route.base_url
        self.started = False
        """Whether this server is ours."""
        self._route = route
        self._options = options
        self._log = (log_folder or Path(tempfile.gettempdir())) / f"evenhand-vllm-{os.getpid()}.log"
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        served = await self._served()
        if served is None:
            await self._start()
        elif self._route.model_id not in served:
            raise BadInput(
                f"The server at {self.base_url} serves {', '.join(served) or 'nothing'}, "
                f"not {self._route.model_id}.",
                hint="Start it with that model, or give the provider another base_url.",
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def _served(self) -> list[str] | None:
        """The models that the server at the address offers; None if none answers."""
        keys = self._route.keys_set()
        address = address_of(self._route, keys[0] if keys else None, "/models")
        timeout = aiohttp.ClientTimeout(total=_KNOCK_S)
        try:
            async with (
                new_session() as session,
                session.get(
                    address.url, headers=address.headers(), proxy=address.proxy, timeout=timeout
                ) as reply,
            ):
                if reply.status != 200:
                    return None
                data = await reply.json(content_type=None)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return None
        found = data.get("data") if isinstance(data, dict) else None
        return [str(model.get("id")) for model in found or [] if isinstance(model, dict)]

    def command(self) -> list[str]:
        """What is started. Raises BadInput where it cannot be."""
        parts = urlsplit(self.base_url)
        program = shutil.which("vllm")
        if program is None and importlib.util.find_spec("vllm") is None:
            raise BadInput(
                f"No server answers at {self.base_url}, and vllm is not installed here.",
                hint="Start one (`vllm serve MODEL`), or `pip install 'evenhand[vllm]'` and it is started for you.",
            )
        if not self._options.start or parts.hostname not in _HERE:
            raise BadInput(
                f"No server answers at {self.base_url}.",
                hint="Start it there, or set `vllm.start = true` and an address on this machine.",
            )
        begin = [program] if program else [sys.executable, "-m", "vllm.entrypoints.cli.main"]
        where = ["--host", str(parts.hostname), "--port", str(parts.port or 8000)]
        return [
            *begin, "serve", self._route.model_id, *where, "--enable-prefix-caching", *self._options.arguments
        ]  # fmt: skip

    async def _start(self) -> None:
        command = self.command()
        with self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self.started = True
        deadline = time.monotonic() + self._options.startup_s
        try:
            while await self._served() is None:
                if self._process.returncode is not None:
                    raise RunFailed(
                        f"vllm ended with code {self._process.returncode}: {self._last_lines()}",
                        hint=f"All it said is in {self._log}.",
                    )
                if time.monotonic() > deadline:
                    raise RunFailed(
                        f"vllm was not ready within {self._options.startup_s:g} s: {self._last_lines()}",
                        hint=f"All it said is in {self._log}; `vllm.startup_s` gives it longer.",
                    )
                await asyncio.sleep(_LOOK_S)
        except BaseException:
            await self._stop()
            raise

    def _last_lines(self) -> str:
        lines = self._log.read_text("utf-8", "replace").splitlines()[-_LOG_TAIL:]
        return " | ".join(line.strip() for line in lines if line.strip())[-1500:] or "it said nothing"

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        for which in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, which)  # its workers too
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _STOP_S)
                return
