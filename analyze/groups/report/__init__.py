"""What group analysis found, for people: sentences, a page, tables for papers."""

from analyze.groups.report.disparities import Disparity as Disparity
from analyze.groups.report.disparities import Reading as Reading
from analyze.groups.report.disparities import disparities as disparities
from analyze.groups.report.disparities import shown as shown
from analyze.groups.report.words import sentences as sentences
from analyze.groups.report.write import write as write
