"""What group analysis found, for people: sentences, a page, tables for papers."""

from analyze.groups.report.disparities import Disparity, Reading, disparities, shown
from analyze.groups.report.words import sentences
from analyze.groups.report.write import write

__all__ = [
    "Disparity",
    "Reading",
    "disparities",
    "sentences",
    "shown",
    "write",
]
