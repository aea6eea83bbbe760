"""Group analysis of a study: from its cases and readings to its tables of results."""

from analyze.groups.stored.run import GroupRun, run
from analyze.groups.stored.staleness import outdated
from analyze.groups.stored.work import has_groups

__all__ = [
    "GroupRun",
    "has_groups",
    "outdated",
    "run",
]
