"""Evenhand audits the fairness of language models that judge people.

The commands of `evenhand` as functions, for scripts and notebooks:

>>> import evenhand
>>> evenhand.build("study.duckdb")
>>> evenhand.run("gpt-4o-mini", db="study.duckdb", max_total_cost=5)
>>> (found,) = evenhand.analyze("study.duckdb")
>>> found.pandas("findings")
>>> evenhand.report("study.duckdb", "report")

They print nothing, install no signal handlers, and raise `store.errors.BadInput` and
`store.errors.RunFailed`.
"""

from __future__ import annotations

from evenhand.api import analyze, build, export, report, run, snapshot, sql
from evenhand.version import __version__

__all__ = ["__version__", "analyze", "build", "export", "report", "run", "snapshot", "sql"]
