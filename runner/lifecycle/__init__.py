"""What every run has, live or in batches: options, manifest, money, retries, rows to store, how it stops."""

__all__ = ["options"]
