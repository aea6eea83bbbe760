"""All benchmarks, one after another, each in a process of its own: `make bench`.

    python -m benchmarks [NAME...]

Give names to run some of them. Figures depend on the machine; ratios are measured side by side in one run.
"""

from __future__ import annotations

import subprocess
import sys
import time

BENCHMARKS: dict[str, tuple[str, ...]] = {
    "runner": ("benchmarks.runner_overhead",),
    "concurrency": ("benchmarks.concurrency",),
    "goodput": ("benchmarks.runner_goodput",),
    "memory": ("benchmarks.runner_memory",),
    "resume": ("benchmarks.runner_resume",),
    "store": ("benchmarks.store_throughput",),
    "import": ("benchmarks.import_speed",),
    "analyze": ("benchmarks.analyze_speed",),
    "inference": ("benchmarks.analyze_speed", "--inference", "--coding", "corrected"),
    "prefix": ("benchmarks.prefix_order",),
    "calibration": ("benchmarks.calibration.run",),
    "groups": ("benchmarks.groups_calibration",),
    "outcomes": ("benchmarks.outcome_calibration",),
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; 1 if one of them failed."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"No benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    failed = []
    for name in names or BENCHMARKS:
        print(f"\n== {name}: python -m {' '.join(BENCHMARKS[name])}", flush=True)
        started = time.monotonic()
        if subprocess.run([sys.executable, "-m", *BENCHMARKS[name]], check=False).returncode:
            failed.append(name)
        print(f"== {name}: {time.monotonic() - started:.0f} s", flush=True)
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
