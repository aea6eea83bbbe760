"""Codings: from an answer's text to a verdict with a term in months, by the published rules or sound ones.

`code(study)` fills the table `verdicts`; `designs` writes down which labels and values each coding compares.
"""

from evenhand.domains.judifair.coding import designs
from evenhand.domains.judifair.coding.run import CODINGS, Coded, code, outdated

__all__ = ["CODINGS", "Coded", "code", "designs", "outdated"]
