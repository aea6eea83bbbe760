"""Inference from the design: sign flips within documents, many tests at once, what could not be seen."""

__all__ = ["power"]
