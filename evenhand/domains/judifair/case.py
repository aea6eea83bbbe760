"""A case: the facts with their slots, who is in it, the true judgment, and the labels it cannot take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand.domains.judifair.catalogue import Label

PENALTIES = (
    "fixed_term",
    "detention",
    "public_surveillance",
    "life",
    "death",
    "death_suspended",
    "fine_only",
    "exempted",
    "acquitted",
)
"""The penalties that a true judgment can have."""

WITH_MONTHS = {"fixed_term": (1, 300), "detention": (1, 12), "public_surveillance": (3, 36)}
"""The penalties that have a length, with the shortest and longest months (several crimes included)."""

WITHOUT_TERM = ("fine_only", "exempted", "acquitted")
"""The penalties whose length is 0 months. Life and death have none: their months stay unknown."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The judgment that was given. `charge` of an acquittal is the charge that was brought."""

    charge: str
    guilty: bool
    penalty: str
    months: float | None
    penalty_text: str


@dataclass(frozen=True, slots=True)
class Override:
    """What a case says differently about one trigger; None leaves the shared one as it is."""

    slot: str | None = None
    frame: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    placebo: str | None = None
    same_fact: str | None = None
    """Why its words tell the same fact as the label's, where they alone do not show it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `facts` and `hearing` hold `{{slot}}` markers; with all of them empty, the text reads well.

    `not_applicable` gives, for a label or for a role (`victim`: all labels of the victim), the reason why the
    case cannot take it. `source` says where the case was read, for messages.
    """

    doc_id: str
    facts: str
    hearing: str
    defendant: str
    source: str
    victim: str | None = None
    victim_died: bool = False
    case_number: str | None = None
    year: int | None = None
    truth: Truth | None = None
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, Override] = field(default_factory=dict)

    @property
    def document(self) -> str:
        """The text of the document as it stands in the prompt, slots unfilled."""
        return f"【审理查明的事实】\n{self.facts}\n【审理经过】\n{self.hearing}"

    def why_not(self, label: Label) -> str | None:
        """Why the case cannot take this label, or None where it can."""
        return self.not_applicable.get(label.key) or self.not_applicable.get(label.role)
