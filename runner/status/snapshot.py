"""What the snapshots of live and batch runs have in common: the whole run, and what it has cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.status.counters import LaneCounters

if TYPE_CHECKING:
    from store.writer import Counters as WriterCounters


def costs(counted: Sequence[tuple[LaneCounters, bool]]) -> tuple[float | None, int]:
    """US dollars as far as known, and for how many answers they are not known though they should be.

    None dollars where the cost of none that came is known; before the first, 0 where there are prices. No
    answer is without its cost where nothing has a price, as at a server of one's own.

    Args:
        counted: of each lane, what it counted, and whether it has prices.
    """
    unpriced = sum(counters.unpriced for counters, _ in counted)
    some_known = any(
        counters.answers > counters.unpriced or counters.failed_usd > 0 for counters, _ in counted
    )
    if some_known or (not unpriced and all(priced for _, priced in counted)):
        return sum(counters.cost_usd for counters, _ in counted), unpriced
    return None, unpriced if any(priced for _, priced in counted) else 0


def whole_run(
    models: Sequence[Mapping[str, Any]], writer: WriterCounters, about: Mapping[str, Any]
) -> dict[str, Any]:
    """A run, from the snapshots of its models; `about` has its id, state, start and limits."""
    return {
        **about,
        "models": list(models),
        **_all_costs(models),
        "writer": {
            "backlog": writer.backlog,
            "committed": writer.committed,
            "commits": writer.commits,
            "last_commit_s": writer.last_commit_s,
            "longest_commit_s": writer.longest_commit_s,
            "error": writer.error,
        },
    }


def _all_costs(models: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The costs of a run, from the snapshots of its models."""
    known = [model["cost_usd"] for model in models if model["cost_usd"] is not None]
    return {
        "cost_usd": sum(known) if known else None,
        "failed_usd": sum(model["failed_usd"] for model in models),
        "assumed_usd": sum(model["assumed_usd"] for model in models),
        "unpriced": sum(model["unpriced"] for model in models),
    }
