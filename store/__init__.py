"""The store: one DuckDB file a study.

The public face of the room; DuckDB and Arrow load when a name is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from store.errors import BadInput as BadInput
    from store.errors import EvenhandError as EvenhandError
    from store.errors import RunFailed as RunFailed
    from store.migrate import MigrationSet as MigrationSet
    from store.pending_queries import PendingQuery as PendingQuery
    from store.pending_queries import Selection as Selection
    from store.pending_queries import count_pending as count_pending
    from store.pending_queries import pending as pending
    from store.queries import Document as Document
    from store.queries import Query as Query
    from store.queries import add_collection as add_collection
    from store.queries import add_documents as add_documents
    from store.queries import add_model as add_model
    from store.queries import add_queries as add_queries
    from store.queries import add_template as add_template
    from store.rows import CostRow as CostRow
    from store.rows import FailureRow as FailureRow
    from store.rows import PredictionRow as PredictionRow
    from store.study import RUN_MEMORY_LIMIT as RUN_MEMORY_LIMIT
    from store.study import Study as Study
    from store.study import open_study as open_study
    from store.writer import Writer as Writer

_HOMES = {
    "store.errors": ("BadInput", "EvenhandError", "RunFailed"),
    "store.migrate": ("MigrationSet",),
    "store.pending_queries": ("PendingQuery", "Selection", "count_pending", "pending"),
    "store.queries": (
        "Document",
        "Query",
        "add_collection",
        "add_documents",
        "add_model",
        "add_queries",
        "add_template",
    ),
    "store.rows": ("CostRow", "FailureRow", "PredictionRow"),
    "store.study": ("RUN_MEMORY_LIMIT", "Study", "open_study"),
    "store.writer": ("Writer",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = (
    "batches",
    "costs",
    "export",
    "history",
    "identity",
    "live",
    "merge",
    "prompt",
    "queries",
    "reach",
    "readonly",
    "rows",
    "runs",
    "snapshot",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"store.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'store' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value
