"""A domain: what is judged, and how. The engines know none by name.

A domain is data: outcomes, labels, attributes, a prompt, the form of an answer, cases. `Domain` has the
general implementation of everything that follows from these; a domain with needs of its own (a reader of
verdicts in prose, codings) subclasses it and overrides what differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.audit.cases import Case
from evenhand.audit.forms import AnswerForm
from evenhand.audit.labels import Label
from evenhand.audit.outcomes import Outcome
from evenhand.audit.prompts import BASE_ARM, Prompt
from evenhand.audit.readings import Reading
from store.domain_schemas import domain_schema
from store.errors import BadInput

if TYPE_CHECKING:
    from evenhand.audit.folder_files import AttributeTable, Columns, Design, Scoring


@dataclass(frozen=True)
class Domain:
    """One kind of decision under audit.

    `name` is by what `--domain` knows it; `schema` is the DuckDB schema of a study that holds what only
    this domain has. `prompts` is by arm.
    """

    name: str
    title: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    form: AnswerForm
    prompts: Mapping[str, Prompt]
    languages: tuple[str, ...] = ("en",)
    designs: tuple[Design, ...] = ("counterfactual",)
    labels: tuple[Label, ...] = ()
    attributes: tuple[AttributeTable, ...] = ()
    description: str = ""
    refusals: tuple[str, ...] = ()
    columns: Columns | None = None
    scoring: Scoring | None = None
    """How classifiers are scored in the groups design; None: as `Scoring` says by default."""
    folder: Path | None = None
    """Where its files are, if it is read from a folder."""
    schema: str = field(default="")

    def __post_init__(self) -> None:
        if not self.schema:
            object.__setattr__(self, "schema", domain_schema(self.name))

    def outcome(self, name: str) -> Outcome:
        """The outcome of this name. Raises BadInput where there is none."""
        for outcome in self.outcomes:
            if outcome.name == name:
                return outcome
        known = ", ".join(one.name for one in self.outcomes)
        raise BadInput(f"{self.name} has no outcome '{name}'.", hint=f"Its outcomes are: {known}.")

    def label(self, key: str) -> Label:
        """The label of this key. Raises BadInput, with the nearest keys, where there is none."""
        for label in self.labels:
            if label.key == key:
                return label
        import difflib  # noqa: PLC0415  (only on the way out)

        keys = [label.key for label in self.labels]
        near = difflib.get_close_matches(key, keys, n=3, cutoff=0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else f"Its labels are: {', '.join(keys[:12])}."
        raise BadInput(f"{self.name} has no label '{key}'.", hint=hint if keys else "It has no labels.")

    def prompt(self, arm: str = BASE_ARM) -> Prompt:
        """The prompt of an arm. Raises BadInput where there is none."""
        if arm not in self.prompts:
            raise BadInput(
                f"{self.name} has no arm '{arm}'.", hint=f"Its arms are: {', '.join(self.prompts)}."
            )
        return self.prompts[arm]

    def cases(self) -> Sequence[Case]:
        """The cases that come with the domain. Raises BadInput where their file is wrong."""
        from evenhand.audit import folder  # noqa: PLC0415

        return folder.bundled_cases(self)

    def read_cases(self, path: Path) -> Sequence[Case]:
        """Cases of a user's own file. Raises BadInput, naming file, line and key."""
        from evenhand.audit import folder  # noqa: PLC0415

        return folder.read_cases(self, path)

    def read(self, text: str) -> tuple[Reading, ...]:
        """What an answer says: one reading for each outcome, in order. Never raises; uncertain is missing."""
        from evenhand.audit.answers.read import read  # noqa: PLC0415

        return read(text, self.outcomes, self.form, self.refusals)
