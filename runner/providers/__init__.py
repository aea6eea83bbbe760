"""`providers.toml`: its schema, what may stand in it, and a model's settings and routes."""

__all__ = ["file"]
