"""The process in which the embedded engine runs: llama.cpp's server, until the parent goes away.

Run as a script by `runner.engines.embedded` and in need of nothing of ours, so that it starts from any
working directory. Its settings come as one line of JSON on standard input; afterwards that pipe is the
lifeline: when the parent ends, however it ends, the pipe closes and so does this process. (Linux's parent-
death signal would do it for one system only, and fires when the *thread* that started the child ends.)
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

READY = "evenhand-ready "
"""Begins the line that says where the server listens."""
_LOG_S = 0.5
"""The engine writes its log in a thread of its own, which gets so long to write why it failed."""


def main() -> None:
    """Serve until standard input closes."""
    settings = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        import xllamacpp as engine  # noqa: PLC0415 - after the lifeline is watched

        server = engine.Server(_parameters(engine, settings))
    except Exception as error:  # whatever the engine raises: its log, above this line, has the reason
        time.sleep(_LOG_S)
        print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(1)  # an orderly end would wait for the lifeline
    print(f"{READY}{server.listening_address}", flush=True)
    threading.Event().wait()


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)  # nothing here is worth saving, and the engine's threads would hold up an orderly end


def _parameters(engine: Any, settings: dict[str, Any]) -> Any:
    params = engine.CommonParams()
    params.model.path = settings["gguf"]
    params.model_alias = {settings["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = settings["port"]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context"] * settings["slots"]
    for cpu, threads in (
        (params.cpuparams, settings["writing_threads"]),
        (params.cpuparams_batch, settings["threads"]),
    ):
        cpu.n_threads = threads
        cpu.poll = 0  # as OMP_WAIT_POLICY=passive, for builds without OpenMP: waiting threads sleep
    # Documents come together, so the cache that matters is the slot's own. The second one, in main memory,
    # could grow to 8 GB.
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    # What a request does not set is neutral, as with the OpenAI API; llama.cpp's own defaults would cut the
    # distribution short.
    params.sampling.top_k = 0
    params.sampling.top_p = 1.0
    params.sampling.min_p = 0.0
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = "null"  # no page in a browser has business here
    params.verbosity = 1
    return params


if __name__ == "__main__":
    main()
