"""The report of an analysis: a page for readers, tables for papers and spreadsheets, a summary for the
terminal.

- `write_html(study, specifications, folder) -> Path`: `index.html`, which needs nothing else -
`write_tables(study, specifications, folder, format="csv" | "md" | "latex" | "xlsx" | "json") -> list[Path]` -
`print_summary(study, specifications, console)`: rich tables, plain where there is no terminal -
`opening(study, specifications) -> tuple[str, ...]`: the first sentences alone -
`summary_json(study, specifications) -> dict`: the same in full, for `--json`

All raise `BadInput` where nothing has been analysed. Single figures: `analyze.plots`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyze.report.export import summary_json as summary_json
    from analyze.report.export import write_tables as write_tables
    from analyze.report.html import write_html as write_html
    from analyze.report.terminal import opening as opening
    from analyze.report.terminal import print_summary as print_summary

_HOMES = {
    "opening": "analyze.report.terminal",
    "print_summary": "analyze.report.terminal",
    "summary_json": "analyze.report.export",
    "write_html": "analyze.report.html",
    "write_tables": "analyze.report.export",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'analyze.report' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
