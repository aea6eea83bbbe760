"""What may be said of a study, and how surely: the table `findings`, from which every sentence is made."""

from analyze.findings import codes
from analyze.findings.pending import Pending, read_pending
from analyze.findings.read import read_findings
from analyze.findings.rows import Finding, FindingRow

__all__ = ["Finding", "FindingRow", "Pending", "codes", "read_findings", "read_pending"]
