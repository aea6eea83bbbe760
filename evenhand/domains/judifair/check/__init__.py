"""The check: what is wrong with a data set, imported or one's own, as findings with counts and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.domains.judifair.check.run import Detail, Finding, check

__all__ = ["Detail", "Finding", "check"]


def __getattr__(name: str) -> Any:
    """The public names load DuckDB, so only on demand."""
    if name in __all__:
        from evenhand.domains.judifair.check import run  # noqa: PLC0415

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
