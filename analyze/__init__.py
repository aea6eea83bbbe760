"""The analyzer: effects, inconsistency and error of any domain's frame, in SQL and pyfixest.

scipy's statistics, pandas, pyfixest and matplotlib load where they are used: they take seconds.
"""

from pathlib import Path

from analyze.analysis import Analysis, run
from analyze.specification import Specifications, load
from store.migrate import MigrationSet

MIGRATIONS = MigrationSet("analyze", Path(__file__).parent / "migrations")
"""The tables of results."""

__all__ = [
    "MIGRATIONS",
    "Analysis",
    "Specifications",
    "analysis",
    "compare",
    "counterfactual",
    "expectations",
    "findings",
    "groups",
    "inference",
    "load",
    "plots",
    "report",
    "run",
    "specification",
    "stored",
]
