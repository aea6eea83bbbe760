"""Codings: from an answer's text to a verdict with a term in months, by the published rules or sound ones.

`code(study)` fills the table `verdicts`; `designs` writes down which labels and values each coding compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.domains.judifair.coding.run import Coded, code, outdated

CODINGS = ("corrected", "published")
"""The names of the codings; the first is the one to believe."""

__all__ = ["CODINGS", "Coded", "code", "outdated"]


def __getattr__(name: str) -> Any:
    """The names of `run` load DuckDB and Arrow, so only on demand."""
    if name in ("code", "Coded", "outdated"):
        from evenhand.domains.judifair.coding import run  # noqa: PLC0415

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
