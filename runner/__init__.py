"""The runner: puts the pending queries of a study to models and stores what comes back.

The names below load on first use, so that importing this package costs nothing. No module is called as one of
them: importing it would put the module in the name's place.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.options import Asked, RunOptions, RunSummary
    from runner.providers import ModelEntry, Providers, load_providers
    from runner.running import run
    from runner.settings import ModelSettings

_HOME = {
    "Asked": "runner.options",
    "ModelEntry": "runner.providers",
    "ModelSettings": "runner.settings",
    "Providers": "runner.providers",
    "RunOptions": "runner.options",
    "RunSummary": "runner.options",
    "load_providers": "runner.providers",
    "run": "runner.running",
}

__all__ = [
    "Asked",
    "ModelEntry",
    "ModelSettings",
    "Providers",
    "RunOptions",
    "RunSummary",
    "load_providers",
    "run",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
