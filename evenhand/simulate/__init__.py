"""A scripted judge that demo, tests and benchmarks share."""
