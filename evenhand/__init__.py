"""Evenhand audits the fairness of language models that act as judges. This package is its command line."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
