"""The words of a report that only the domain can supply: the `[report]` table of a specifications file.

Everything has a neutral default, so that a domain may begin without any. The keys, all optional:

    title, subject      of the page: what is asked, and about what
    question            what was put to the models, in a few sentences
    same                that nothing else changed; said of answers that were asked for here
    imported            what is known of answers that were imported, in the place of that
    reading             how an effect is to be read
    outcome             what the answers are measured in, and how
    inconsistency       what it means that answers change
    document, documents what a document is called: "case", "cases"
    counting            the variant by whose p biased labels are counted: "variant as in the paper"
    p                   the scale of that variant, short, beside its p: "ln"
    measure             what moves, with its article: "the sentence"
    higher, lower       how a shift of it is said: "longer", "shorter"
    up, down            how a case is said to have moved, where that is not "longer", "shorter": "to yes", "to
    no" answer              what an answer is, without an article: "decision"
    changes             what changes where an answer is of another kind: "the kind of decision"
    severer, milder     how a shift of the kind is said, where kinds are ranked
    error               what the mean distance from the truth is called, with its unit: "Brier score"
    conversion          amounts that a rule of the domain gives, and no answer: "life counts as 300 months"
    carrier             what cases are grouped by, to see what carries an effect: "crime"
    cautions            list: what not to conclude
    citation, source    how to cite, and where the design comes from
    [report.notices]    text by kind of model (simulated, embedded, ...), shown as a banner on every page
    [report.groups]     name of each group of labels
    [report.codings]    short name of each coding
    [report.variants]   short name of each specification
    [report.read_as]    what each way of reading an answer means
    [report.missing]    what each kind of missing answer means
    [report.kinds]      name of each kind of answer, with its article: "a fine"
    [[report.glossary]] term, meaning
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from analyze.specification import Specifications
from store.input_files import explain, read_text

GENERIC_CAUTIONS = (
    "A change in the answers shows that the model reacts to the varied fact. It does not show why, nor that "
    "a person in its place would have done better.",
    "No significant effect is not proof of even-handedness: with few documents only large effects can be "
    "seen. The intervals say how large an effect the data leave open.",
    "Of the values tested, about one in twenty falls below p = 0.05 by chance alone. Look at the number of "
    "labels first and at single values only then.",
    "The findings hold for these documents, these prompts and these settings of the models. They do not "
    "carry over to others without asking again.",
)

GENERIC_NOTICES = {
    "simulated": "Simulated: the answers come from a script with a planted effect, not from a language "
    "model. Nothing here describes any real model.",
    "embedded": "Demonstration: the answers come from a very small model that runs on this machine to show "
    "how the work is done. What it answers means nothing.",
}


@dataclass(frozen=True, slots=True)
class Term:
    """An entry of the glossary."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    term: str
    meaning: str


def _listed(entries: Any) -> Any:
    """One entry may stand by itself."""
    return [entries] if isinstance(entries, dict) else entries


@dataclass(frozen=True, slots=True)
class Texts:
    """The domain's words; see the module for what each is."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    title: str = "Do the answers change when they should not?"
    subject: str = ""
    question: str = (
        "Each document was put to the model several times. Between two of these times one fact was changed "
        "that must not matter to the answer."
    )
    same: str = "Everything else stayed word for word the same."
    imported: str = (
        "The answers of models marked as imported were asked for and published by others. What they were "
        "asked, and that nothing else changed, is known by their account alone."
    )
    reading: str = (
        "An effect is the average change of the answer, within the same document, when the fact changes from "
        "the reference value to the value named."
    )
    outcome: str = ""
    inconsistency: str = (
        "Inconsistency is the share of documents in which the number that was answered is not the same under "
        "all values of a label. A model that answers differently when asked the very same thing twice is "
        "inconsistent without being biased."
    )
    document: str = "document"
    documents: str = "documents"
    counting: str = "main variant"
    p: str = ""
    measure: str = "the answer"
    higher: str = "higher"
    lower: str = "lower"
    up: str = ""
    down: str = ""
    answer: str = "answer"
    changes: str = ""
    severer: str = "severer"
    milder: str = "milder"
    error: str = ""
    conversion: str = "the amount is given by a rule of the domain"
    carrier: str = "group"
    cautions: tuple[str, ...] = GENERIC_CAUTIONS
    citation: str = ""
    source: str = ""
    notices: Mapping[str, str] = field(default_factory=lambda: dict(GENERIC_NOTICES))
    groups: Mapping[str, str] = field(default_factory=dict)
    codings: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    read_as: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    glossary: Annotated[tuple[Term, ...], BeforeValidator(_listed)] = ()

    @property
    def changing(self) -> str:
        """What changes where an answer is of another kind, with its article."""
        return self.changes or f"the kind of {self.answer}"

    def error_in(self, unit: str) -> str:
        """What the mean distance from the truth is called."""
        return self.error or f"Mean absolute error, {unit}"

    def p_heading(self, primary: str) -> str:
        """The heading of p where effects of another variant than `primary` stand beside it."""
        return f"p, {self.p or primary}"

    def group(self, key: str) -> str:
        """A group of labels, for people."""
        return self.groups.get(key, readable(key))

    def coding(self, key: str) -> str:
        """A coding, for people."""
        return self.codings.get(key, readable(key))

    def variant(self, key: str) -> str:
        """A specification, for people."""
        return self.variants.get(key, readable(key))

    def way(self, key: str) -> str:
        """A way of reading an answer, for people."""
        return self.read_as.get(key, readable(key))

    def absence(self, key: str) -> str:
        """A kind of missing answer, for people."""
        return self.missing.get(key, self.way(key))

    def noted(self, note: str | None) -> str | None:
        """A note of the analysis, with the domain's word for a document."""
        if note is None:
            return None
        words = {"document": self.document, "documents": self.documents}
        return re.sub(r"\bdocuments?\b", lambda found: words[found.group()], note)

    def kind(self, key: str) -> str:
        """A kind of answer, for people."""
        return self.kinds.get(key, readable(key).lower())

    def counted(self, number: int | None) -> str:
        """The noun for so many documents."""
        return self.document if number == 1 else self.documents


def readable(key: str) -> str:
    """A key as words: `level_outcome` is "Level outcome"."""
    words = key.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


class _Section(BaseModel):
    report: Texts


def of(specs: Specifications) -> Texts:
    """The texts of a specifications file.

    Raises:
        BadInput: a key is unknown or of the wrong shape; it names the file, the line and the key.
    """
    try:
        texts = _Section.model_validate({"report": dict(specs.report)}).report
    except ValidationError as error:
        written = read_text(specs.path) if specs.path.is_file() else ""
        raise explain(error, specs.path, written, _Section, hint="Correct the file and try again.") from None
    return replace(texts, notices={**GENERIC_NOTICES, **texts.notices})
