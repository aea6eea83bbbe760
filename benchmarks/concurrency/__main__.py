"""Print what the controller does in each scenario: mean, and worst, over seeds.

    python -m benchmarks.concurrency [--seeds 10] [--grid] [WORD...]

`ratio`: the plain loop's time to ours. `used` and `refused`: of what the server allows, and of the requests.
Words choose scenarios whose names hold them.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from benchmarks.concurrency.scenarios import grid, listed

_HIGHER_IS_BETTER = ("ratio", "used")


def main() -> int:
    """Run the scenarios."""
    parser = argparse.ArgumentParser(prog="benchmarks.concurrency")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--grid", action="store_true", help="also what it was not tuned on")
    arguments = parser.parse_args()
    scenarios = listed() | (grid() if arguments.grid else {})
    for name, scenario in scenarios.items():
        if arguments.words and not any(word in name for word in arguments.words):
            continue
        rows = [scenario(seed) for seed in range(arguments.seeds)]
        shown = []
        for figure in rows[0]:
            values = [row[figure] for row in rows]
            worst = min(values) if figure in _HIGHER_IS_BETTER else max(values)
            shown.append(f"{figure} {statistics.mean(values):.3f} ({worst:.3f})")
        print(f"{name:36s} {'  '.join(shown)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
