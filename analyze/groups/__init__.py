"""Group fairness of a classifier: scores of groups, their disparity, and what of it is noise or label shift.

`analyze` takes a `GroupData` (arrays of truth, predictions and groups) and returns rows of results. Nothing
here knows files, databases or a particular collection.
"""

from analyze.groups.analysis import GroupAnalysis as GroupAnalysis
from analyze.groups.analysis import analyze as analyze
from analyze.groups.data import Answer as Answer
from analyze.groups.data import Attribute as Attribute
from analyze.groups.data import Classes as Classes
from analyze.groups.data import GroupData as GroupData
from analyze.groups.data import Predictions as Predictions
from analyze.groups.data import Split as Split
from analyze.groups.data import Variant as Variant
from analyze.groups.rules import Rule as Rule
from analyze.groups.settings import Settings as Settings
