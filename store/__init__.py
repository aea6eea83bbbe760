"""The store: one DuckDB file a study.

The names of every day are here; the modules named in `__all__` hold the rest of what other rooms may use.
"""

from store import (
    batches,
    costs,
    errors,
    export,
    history,
    identity,
    input_files,
    live,
    merge,
    migrate,
    pending_queries,
    prompt,
    queries,
    reach,
    readonly,
    rows,
    runs,
    snapshot,
    sql,
    study,
    values,
    writer,
)
from store.errors import BadInput, EvenhandError, RunFailed
from store.migrate import MigrationSet
from store.pending_queries import PendingQuery, Selection, count_pending, pending
from store.queries import (
    Document,
    Query,
    add_collection,
    add_documents,
    add_model,
    add_queries,
    add_template,
)
from store.rows import CostRow, FailureRow, PredictionRow
from store.study import RUN_MEMORY_LIMIT, Study, open_study
from store.writer import Writer

__all__ = [
    "RUN_MEMORY_LIMIT",
    "BadInput",
    "CostRow",
    "Document",
    "EvenhandError",
    "FailureRow",
    "MigrationSet",
    "PendingQuery",
    "PredictionRow",
    "Query",
    "RunFailed",
    "Selection",
    "Study",
    "Writer",
    "add_collection",
    "add_documents",
    "add_model",
    "add_queries",
    "add_template",
    "batches",
    "costs",
    "count_pending",
    "domain_schemas",
    "errors",
    "export",
    "history",
    "identity",
    "input_files",
    "live",
    "merge",
    "migrate",
    "open_study",
    "pending",
    "pending_queries",
    "prompt",
    "queries",
    "reach",
    "readonly",
    "rows",
    "runs",
    "snapshot",
    "sql",
    "study",
    "values",
    "writer",
]
