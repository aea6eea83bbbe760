"""The tests of Evenhand, and the servers that tests and benchmarks share."""
