"""FairLex: the four sets of the benchmark of fairness in legal text (Chalkidis et al., ACL 2022) as domains.

Each is data alone: classes, attributes with their groups, columns, the rule of its scores, a prompt. The
texts are not shipped; `evenhand load` reads them from the folder of a user.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.audit import Domain

_HOME = Path(__file__).parent
_PREFIX = "fairlex-"

NAMES = ("fairlex-ecthr", "fairlex-scotus", "fairlex-fscs", "fairlex-cail")
"""By what `--domain` knows them."""

__all__ = [
    "NAMES",
    "domain",
    "published",
]


def domain(name: str) -> Domain:
    """The domain of this name, one of `NAMES`."""
    from evenhand.audit.folder import load  # noqa: PLC0415  (keeps the import of this package light)

    return load(_HOME / name.removeprefix(_PREFIX))
