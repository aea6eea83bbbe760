"""The runner: puts the pending queries of a study to models and stores what comes back.

`run` asks query by query; `runner.batch` hands them to a provider's batch interface.
"""

from runner.lifecycle.options import Asked, RunOptions, RunSummary
from runner.live.run import run
from runner.providers.file import ModelEntry, Providers, load_providers
from runner.providers.settings import ModelSettings

__all__ = [
    "Asked",
    "ModelEntry",
    "ModelSettings",
    "Providers",
    "RunOptions",
    "RunSummary",
    "batch",
    "engines",
    "estimate",
    "lifecycle",
    "live",
    "load_providers",
    "providers",
    "run",
    "status",
]
