"""The analyzer: effects, inconsistency and error of any domain's frame, in SQL and pyfixest.

The public face of the room; DuckDB, Arrow and scipy load when a name is first used, pyfixest at a fit.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.migrate import MigrationSet

if TYPE_CHECKING:
    from analyze.analysis import Analysis as Analysis
    from analyze.analysis import run as run
    from analyze.specification import Specifications as Specifications
    from analyze.specification import load as load

MIGRATIONS = MigrationSet("analyze", Path(__file__).parent / "migrations")
"""The tables of results."""

_HOMES = {
    "analyze.analysis": ("Analysis", "run"),
    "analyze.specification": ("Specifications", "load"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'analyze' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value
