"""Made data of a groups domain, and a scripted judge that errs more often about one group.

Nothing in it is about a real court: texts are a few numbered words, groups and classes are drawn at random.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.audit.outcomes import OneClass
from store.errors import BadInput

if TYPE_CHECKING:
    from evenhand.audit import Domain


@dataclass(frozen=True, slots=True)
class Planted:
    """A disparity that is there: about one group the judge errs more often."""

    attribute: str
    group: str
    error: float = 0.45
    """How often it errs about this group."""
    other_error: float = 0.2
    """How often it errs about all others."""


def write_data_set(domain: Domain, folder: Path, *, rows: dict[str, int], seed: int) -> None:
    """Write made splits (name -> rows) of a domain as JSON lines into a folder.

    Raises:
        BadInput: the domain's outcome is not one class of several.
    """
    outcome = _outcome(domain)
    columns = domain.columns
    label = outcome.name if columns is None else columns.of(outcome.name)[0]
    draw = random.Random(seed)
    for split, number in rows.items():
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8") as file:
            for _ in range(number):
                code = draw.randrange(len(outcome.names()))
                row = {
                    "text": " ".join(f"made-up-{draw.randrange(50)}" for _ in range(8)),
                    label: code,
                    "attributes": {one.name: draw.randrange(len(one.groups)) for one in domain.attributes},
                }
                file.write(json.dumps(row) + "\n")


def write_judgments(domain: Domain, test: Path, file: Path, planted: Planted, *, seed: int) -> None:
    """Write what the scripted judge answers to a made test split: the truth, or an error."""
    outcome = _outcome(domain)
    names: Sequence[str] = outcome.names()
    label = outcome.name if domain.columns is None else domain.columns.of(outcome.name)[0]
    groups = next(one.groups for one in domain.attributes if one.name == planted.attribute)
    draw = random.Random(seed)
    with test.open(encoding="utf-8") as rows, file.open("w", encoding="utf-8") as out:
        for place, line in enumerate(rows):
            row = json.loads(line)
            in_group = groups[row["attributes"][planted.attribute]] == planted.group
            answer = row[label]
            if draw.random() < (planted.error if in_group else planted.other_error):
                answer = (answer + draw.randrange(1, len(names))) % len(names)
            out.write(json.dumps({"row": place, "prediction": names[answer]}) + "\n")


def _outcome(domain: Domain) -> OneClass:
    outcome = domain.outcomes[0]
    if not isinstance(outcome, OneClass):
        raise BadInput(
            f"There is no demo of {domain.name}: its outcome is not one class of several.",
            hint="There is one of fairlex-cail, fairlex-fscs and fairlex-scotus.",
        )
    return outcome
