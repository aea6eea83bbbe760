"""The importer: published prediction files, in every layout they come in, become answers of a study.

`import_published(study, path)` finds the files, works out each one's model, temperature and label, and
stores what is not stored yet. Nothing is asked of any model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.domains.judifair.importer.report import FileReport, ImportReport
    from evenhand.domains.judifair.importer.run import import_published

COLLECTION = "published"
"""The collection that published answers go into: their document ids are the same in every file."""

__all__ = ["COLLECTION", "FileReport", "ImportReport", "import_published"]


def __getattr__(name: str) -> Any:
    """The public names load DuckDB and Arrow, so only on demand."""
    if name == "import_published":
        from evenhand.domains.judifair.importer.run import import_published  # noqa: PLC0415

        return import_published
    if name in ("FileReport", "ImportReport"):
        from evenhand.domains.judifair.importer import report  # noqa: PLC0415

        return getattr(report, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
