"""Results in the database: how rows get there, when they are stale, what may never be removed."""

__all__ = ["staleness"]
