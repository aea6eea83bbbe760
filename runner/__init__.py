"""The runner: puts the pending queries of a study to models and stores what comes back.

The names below load on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.options import Asked, RunOptions, RunSummary
    from runner.providers import ModelEntry, Providers, load_providers
    from runner.run import run
    from runner.settings import ModelSettings

_HOME = {
    "Asked": "runner.options",
    "ModelEntry": "runner.providers",
    "ModelSettings": "runner.settings",
    "Providers": "runner.providers",
    "RunOptions": "runner.options",
    "RunSummary": "runner.options",
    "load_providers": "runner.providers",
    "run": "runner.run",
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
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
