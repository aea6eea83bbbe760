"""How many threads the embedded engine gets: the cores that are ours, less those that others keep busy.

Its threads meet at a barrier hundreds of times a token, so one that has to share its core holds up all
others: on 2 cores with a busy neighbour one thread is faster than two.
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

MOST_THREADS = 8
"""More do not help a small model: the barriers cost more than the arithmetic saves."""

SMALL_MODEL = 256 << 20
"""Bytes of a model file up to which one thread writes faster than several: for SmolLM2-135M on 2 quiet cores
45 tokens a second with one and 30 to 36 with two, while two read 300 and one 163."""

_SAMPLES = 12
_PAUSE_S = 0.02


def available_cores() -> int:
    """Cores that this process may use: its affinity, and the quota of its container (cgroup v2)."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # no such file, or "max"
        pass
    return max(cores, 1)


def busy_cores() -> float:
    """How many of our cores' worth of work others have right now (0.25 s of looking).

    Counts threads that can run, not the load average, which still shows an installation that has just ended.
    """
    share = min(1.0, available_cores() / (os.cpu_count() or 1))
    try:
        seen = []
        for _ in range(_SAMPLES):
            running = Path("/proc/loadavg").read_text().split()[3].split("/")[0]
            seen.append(max(int(running) - 1, 0))
            time.sleep(_PAUSE_S)
        return share * sum(seen) / len(seen)
    except (OSError, ValueError, IndexError):  # not Linux
        return share * os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def choose_threads(cores: int | None = None, busy: float | None = None) -> int:
    """Threads for the engine: the free cores, less one from four cores up, at most `MOST_THREADS`."""
    cores = available_cores() if cores is None else cores
    free = cores - round(busy_cores() if busy is None else busy)
    if cores >= 4:
        free = min(free, cores - 1)
    return max(1, min(free, MOST_THREADS))


def writing_threads(threads: int, model_bytes: int) -> int:
    """Threads for generating, of the `threads` for reading prompts: one where the model is small.

    A token of a small model is so little arithmetic that its threads would chiefly wait for each other.
    """
    return 1 if model_bytes <= SMALL_MODEL else threads
