"""The report of an analysis: a page for readers, tables for papers and spreadsheets, a summary for the
terminal.

- `write_html(study, specifications, folder) -> Path`: `index.html`, which needs nothing else -
`write_tables(study, specifications, folder, format="csv" | "md" | "latex" | "xlsx" | "json") -> list[Path]` -
`print_summary(study, specifications, console)`: rich tables, plain where there is no terminal -
`opening(study, specifications) -> tuple[str, ...]`: the first sentences alone -
`summary_json(study, specifications) -> dict`: the same in full, for `--json`

All raise `BadInput` where nothing has been analysed. Single figures: `analyze.plots`.
"""

from analyze.report.export import summary_json, write_tables
from analyze.report.html import write_html
from analyze.report.terminal import opening, print_summary

__all__ = ["opening", "print_summary", "summary_json", "write_html", "write_tables"]
