"""Group fairness of a classifier: scores of groups, their disparity, and what of it is noise or label shift.

`analyze` takes a `GroupData` (arrays of truth, predictions and groups) and returns rows of results. Nothing
here knows files, databases or a particular collection.
"""

from analyze.groups.analysis import GroupAnalysis, analyze
from analyze.groups.data import Answer, Attribute, Classes, GroupData, Predictions, Split, Variant
from analyze.groups.rules import Rule
from analyze.groups.settings import Settings

__all__ = [
    "Answer",
    "Attribute",
    "Classes",
    "GroupAnalysis",
    "GroupData",
    "Predictions",
    "Rule",
    "Settings",
    "Split",
    "Variant",
    "analyze",
    "report",
    "stored",
]
