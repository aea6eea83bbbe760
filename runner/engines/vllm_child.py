"""The process between us and `vllm serve`: it ends the server when we end, however we end.

Run as a script by `runner.engines.vllm`, in a process group of its own; its arguments are the command to
start. Its standard input is the lifeline: when that pipe closes, because the parent is done or was killed,
the whole group is told to end, and made to after a while. vLLM itself would go on and hold the GPU.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

GRACE_S = 15.0
"""Seconds that the server has to end by itself."""


def main() -> None:
    """Start the command, and end with it or with the parent."""
    try:
        child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    except OSError as error:
        print(f"{sys.argv[1]} cannot be started: {error.strerror}", flush=True)
        sys.exit(127)
    # Only now: the server would inherit it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    code = child.wait()
    os.killpg(0, signal.SIGTERM)  # workers that it left behind
    os._exit(code if code >= 0 else 128 - code)


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
