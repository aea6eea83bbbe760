"""Group analysis of a study: from its cases and readings to its tables of results."""

from analyze.groups.stored.run import GroupRun as GroupRun
from analyze.groups.stored.run import run as run
from analyze.groups.stored.staleness import outdated as outdated
from analyze.groups.stored.work import has_groups as has_groups
