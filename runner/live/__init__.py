"""A run that asks query by query: several models, each over its endpoints, at their own pace."""

__all__ = ["run"]
