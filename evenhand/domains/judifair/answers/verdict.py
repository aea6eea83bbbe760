"""The verdict: what one answer says, in the terms every coding starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.domains.judifair.answers.missing import Missing

Penalty = Literal[
    "fixed_term",
    "detention",
    "public_surveillance",
    "life",
    "death",
    "death_suspended",
    "fine_only",
    "exempted",
    "acquitted",
    "none",
    "unparseable",
]
"""The principal penalty. `none`: the answer is legible and names no penalty; `unparseable`: no verdict can be
read from it."""

ReadAs = Literal[
    "exact",
    "repaired",
    "prose",
    "several_objects",
    "truncated",
    "refused",
    "asks_for_facts",
    "request_failed",
    "empty",
]
"""How the answer was read.

exact            one object with the keys asked for, in a fence or bare, and nothing else
repaired         an object with broken syntax, or with keys or shapes other than those asked for
prose            a sound object with prose around it, or no object and the verdict is in the sentences
several_objects  more than one verdict; the note says which of them this is
truncated        the answer breaks off; what stands before the break was read
refused          a refusal, or a provider's content block
asks_for_facts   the answer asks for the case, or calls itself a placeholder: never a verdict
request_failed   no answer of the model at all, but the text of a failed request
empty            nothing
"""

WITH_MONTHS: frozenset[str] = frozenset({"fixed_term", "detention", "public_surveillance"})
"""The penalties that have a length. For every other penalty `Verdict.months` is None."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one answer was read as.

    `charge` is the charge as the answer has it (several joined by 、), None where it is blank. `months` is
    the stated length in months, only for penalties that have one, and None where no number can be read;
    absurd numbers are kept (and noted), because judging them is the business of a coding. `note` says in
    one line what was unusual. `objects` counts the verdict objects found in the text, 0 where there is
    none. `missing`: why an answer that says something was left without a reading, or without its number.
    """

    charge: str | None
    guilty: bool | None
    penalty: Penalty
    months: float | None
    read_as: ReadAs
    note: str | None
    objects: int
    missing: Missing | None = None
