"""One coding held against another; `compare` fills the tables `comparison_*`."""

from __future__ import annotations

from analyze.compare.run import Comparison, compare

__all__ = ["Comparison", "compare"]
