"""The store: one DuckDB file a study."""
