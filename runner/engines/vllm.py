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
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import aiohttp

from runner.engines.vllm_child import GRACE_S
from runner.providers.file import Route
from runner.providers.schema import Vllm
from runner.transport.address import address_of, new_session
from store.errors import BadInput, RunFailed

_CHILD = Path(__file__).with_name("vllm_child.py")
_LOOK_S = 0.5
_KNOCK_S = 5.0
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
_LOG_LINES = 15
_LOG_CHARACTERS = 2_000


class VllmServer:
    """Uses what serves the route's model at its address; starts `vllm serve` there if nothing does.

    The server that we start is a process group of its own (Ctrl-C at the terminal reaches the runner, which
    still drains through the server) and ends when this process ends, even by SIGKILL.

    Args:
        route: of kind vllm, with the address.
        options: the provider's table `vllm`: whether to start one, with which arguments, how long to wait.
        log_folder: where the server's output is kept; the system's folder of temporary files by default.
        say: told, in a sentence, what takes long.

    Raises (on entering):
        BadInput: another model is served there, or something else, or nothing is and none can be started.
        RunFailed: vllm did not start; the end of its log says why.
    """

    def __init__(
        self,
        route: Route,
        options: Vllm,
        log_folder: Path | None = None,
        say: Callable[[str], object] | None = None,
    ) -> None:
        assert route.base_url is not None, "a vllm provider has an address"
        self.base_url = route.base_url
        self.started = False
        """Whether this server is ours."""
        self.log: Path | None = None
        """What a server of ours writes."""
        self._route = route
        self._options = options
        self._log_folder = log_folder
        self._say = say or (lambda _: None)
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        served = await served_models(self._route)
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
        if self._process is not None and self._process.returncode is not None:
            self._say(f"vllm {self._ending()} during the run. {self._log_hint()}")
        else:
            await self._stop()
            if self.log is not None:
                self.log.unlink(missing_ok=True)

    def command(self) -> list[str]:
        """What is started. Raises BadInput where it cannot be."""
        parts = urlsplit(self.base_url)
        serve = [
            "serve",
            self._route.model_id,
            "--host",
            str(parts.hostname),
            "--port",
            str(parts.port or 80),
            "--enable-prefix-caching",
            "--enable-prompt-tokens-details",  # without it no reply says how much of its prompt was cached
            *self._options.arguments,
        ]
        nothing = f"No server answers at {self.base_url}"
        typed = f"`vllm {shlex.join(serve)}`"
        if parts.hostname not in _HERE:
            raise BadInput(f"{nothing}.", hint=f"Start one on that machine: {typed}.")
        if not self._options.start:
            raise BadInput(f"{nothing}.", hint=f"Start one ({typed}), or set `vllm.start = true`.")
        program = shutil.which("vllm")
        if program is not None:
            return [program, *serve]
        if importlib.util.find_spec("vllm") is not None:
            return [sys.executable, "-m", "vllm.entrypoints.cli.main", *serve]
        raise BadInput(
            f"{nothing}, and vllm is not installed here.",
            hint=f"Start one ({typed}), or `pip install 'evenhand[vllm]'` to have it started.",
        )

    async def _start(self) -> None:
        command = self.command()
        number, name = tempfile.mkstemp(prefix="evenhand-vllm-", suffix=".log", dir=self._log_folder)
        self.log = Path(name)
        self._say(f"Starting {shlex.join(command)}. It may load for minutes; its log is {self.log}.")
        with os.fdopen(number, "wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                # -P: a folder that happens to hold a `signal.py` must not be looked into.
                *(sys.executable, "-P", str(_CHILD), *command),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started = True
        deadline = time.monotonic() + self._options.startup_s
        try:
            while True:
                # First the process: what answers at the address of a dead one is another's.
                if self._process.returncode is not None:
                    raise RunFailed(
                        f"vllm could not serve {self._route.model_id}: it {self._ending()}.",
                        hint=self._log_hint(),
                    )
                with contextlib.suppress(BadInput):  # as long as it loads it may answer anything
                    if await served_models(self._route) is not None:
                        return
                if time.monotonic() > deadline:
                    raise RunFailed(
                        f"vllm was not ready within {self._options.startup_s:g} s.",
                        hint=f"`vllm.startup_s` in providers.toml gives it longer. {self._log_hint()}",
                    )
                await asyncio.sleep(_LOOK_S)
        except BaseException:
            await self._stop()
            raise

    def _ending(self) -> str:
        code = None if self._process is None else self._process.returncode
        return f"ended with exit code {code}"

    def _log_hint(self) -> str:
        assert self.log is not None
        lines = self.log.read_text("utf-8", "replace").splitlines()[-_LOG_LINES:]
        if not lines:
            return "It wrote nothing."
        return f"The end of its log ({self.log}):\n" + "\n".join(lines)[-_LOG_CHARACTERS:]

    async def _stop(self) -> None:
        """Cut the lifeline: the process between ends the server, and all that the server started."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), GRACE_S + 5)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def served_models(route: Route) -> list[str] | None:
    """The models that the server at the route's address offers; None if nothing answers there.

    Raises BadInput where something does, but not with a list of models.
    """
    keys = route.keys_set()
    address = address_of(route, keys[0] if keys else None, "/models")
    timeout = aiohttp.ClientTimeout(total=_KNOCK_S)
    try:
        async with (
            new_session() as session,
            session.get(
                address.url,
                headers=address.headers(),
                proxy=address.proxy,
                timeout=timeout,
                allow_redirects=False,  # the key is for this address alone
            ) as reply,
        ):
            status = reply.status
            data = await reply.json(content_type=None) if status == 200 else None
    except ValueError:
        data = None
    except (aiohttp.ClientError, OSError):
        return None
    found = data.get("data") if isinstance(data, dict) else None
    if isinstance(found, list):
        return [str(model.get("id")) for model in found if isinstance(model, dict)]
    if status in (401, 403):
        raise BadInput(
            f"The server at {route.base_url} asks for a key.",
            hint=f"Set {' or '.join(route.keys)}."
            if route.keys
            else "Name the variable that holds it: keys = [...].",
        )
    raise BadInput(
        f"What answers at {route.base_url} (status {status}) lists no models: it is no vLLM server.",
        hint="Wait until it has loaded, or give the provider another base_url.",
    )
