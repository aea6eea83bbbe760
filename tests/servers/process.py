"""The scripted judge in a process of its own, so that it takes no CPU from what is measured or killed.

It gets everything it knows through a pipe and ends when that pipe closes: it never outlives its parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

from evenhand.simulate.prompts import PromptBook
from evenhand.simulate.script import Script
from tests.servers.faults import FaultPlan

_START_S = 60.0
_ROOT = Path(__file__).parents[2]
"""From where `tests` can be imported."""


class JudgeProcess:
    """Runs a `FaultyJudge` elsewhere; a plain context manager with `.base_url`.

    Args:
        script, prompts, faults: as for `FaultyJudge`.
    """

    def __init__(self, script: Script, prompts: PromptBook, faults: FaultPlan | None = None) -> None:
        prompts.check(script)
        self._cargo = (script, prompts, faults)
        self._child: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """Up to and without /chat/completions."""
        if not self._port:
            raise RuntimeError("the scripted judge is not running")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def pid(self) -> int | None:
        """Of the judge's process."""
        return None if self._child is None else self._child.pid

    def accounts(self, *, full: bool = False) -> dict[str, Any]:
        """What it served; with `full`, also the letters of every prompt's history (see `ledger`)."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("GET", "/ledger?full" if full else "/ledger")
            accounts: dict[str, Any] = json.loads(connection.getresponse().read())
            return accounts
        finally:
            connection.close()

    def __enter__(self) -> Self:
        child = self._child = subprocess.Popen(
            [sys.executable, "-c", "from tests.servers.process import main; main()"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        watchdog = threading.Timer(_START_S, child.kill)
        watchdog.start()
        try:
            pickle.dump(self._cargo, child.stdin, protocol=5)
            child.stdin.flush()
            line = child.stdout.readline()
        finally:
            watchdog.cancel()
        if not line.strip().isdigit():
            self.__exit__()
            raise RuntimeError("the process of the scripted judge did not start")
        self._port = int(line)
        return self

    def __exit__(self, *_: object) -> None:
        child = self._child
        assert child is not None
        assert child.stdin is not None
        assert child.stdout is not None
        with contextlib.suppress(OSError):
            child.stdin.close()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()
        self._port = 0


async def _serve() -> None:
    from tests.servers.faulty_judge import FaultyJudge

    script, prompts, faults = pickle.load(sys.stdin.buffer)
    loop = asyncio.get_running_loop()
    parent_gone = asyncio.Event()

    def watch() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(parent_gone.set)

    async with FaultyJudge(script, prompts, faults) as judge:
        print(judge.base_url.rsplit(":", 1)[1].split("/")[0], flush=True)
        threading.Thread(target=watch, daemon=True).start()
        await parent_gone.wait()


def main() -> None:
    """Serve what comes through standard input until it closes."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(_serve())
    else:
        uvloop.run(_serve())
