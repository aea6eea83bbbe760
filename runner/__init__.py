"""The runner: puts queries to models, within every limit."""
