"""The check: what is wrong with a data set, imported or one's own, as findings with counts and examples."""

from evenhand.domains.judifair.check.run import Detail, Finding, check

__all__ = ["Detail", "Finding", "check"]
