"""What is to be estimated, as a domain writes it down: a TOML file read into frozen dataclasses.

A domain hands the analyzer a frame (a database view with one row for each answer under each coding), two
views that describe its design, and this file. Outcomes and samples are SQL expressions over the frame, so the
engine never has to know what a column means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyze.specification_file import ERRORS, File, InferenceTable
from store.input_files import read_toml

DUMMIES = "dummies"
KINDS = ("amount", "yes_no", "class", "classes", "ordinal", "probability")
"""Kinds of outcome."""
NOMINAL = ("class", "classes")
"""Kinds of outcome whose numbers are codes: only whether two are equal means anything."""
UNNAMED_DOSE = "dose"
"""What a continuous label's effect goes by where the domain does not name it."""
UNNAMED_OUTCOME = "outcome"
"""The name of the outcome where the domain does not give it one."""


@dataclass(frozen=True, slots=True)
class FrameNames:
    """Where the frame is, and which variants carry the headline.

    `view` has one row for each answer x coding x outcome, with the columns collection, model_key, model,
    temperature, coding, arm (the wording of the instructions, `base` for the domain's own), outcome (its
    name), label, value, is_reference, is_treated, doc_id, repeat, prediction_id (by which the same answer is
    known under different codings) and whatever the expressions name.
    `designs` has one row for each coding x label: coding, label, treatment, position and the column that
    `groups` names. `values` has one for each coding x label x value: coding, label, value, is_reference,
    is_treated, position.
    """

    view: str
    designs: str
    values: str
    groups: str
    """Column of `designs` by which counts of labels are split."""
    unit: str
    """What the level outcome is measured in, for people: months."""
    primary: str
    """The variant whose p decides whether a label counts as biased."""
    level: str
    """The variant whose coefficients are in `unit`."""
    error: str | None = None
    """The variant whose outcome is the distance from the truth, if the domain has one."""
    alias: str | None = None
    """Column of `designs` with another name of the label, by which a file of printed figures may call it."""
    value_alias: str | None = None
    """Column of `values` with another name of the value."""
    note: str | None = None
    """Column of `designs` with what is known to be wrong about a label under a coding."""
    dose: str = "dose"
    """Column of `view` with the regressor of labels whose `treatment` in the design is not categorical."""
    dose_name: str = UNNAMED_DOSE
    """What that regressor is, for people: such a label's one effect goes by it, in the place of a value."""


@dataclass(frozen=True, slots=True)
class Coding:
    """One way of reading answers into outcomes."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Specification:
    """One regression, run for every label: `outcome` on the treatment with document fixed effects."""

    name: str
    outcome: str
    """SQL expression over the frame; null where there is no outcome."""
    sample: str
    """SQL condition over the frame; null counts as false."""
    treatment: str
    """`dummies`: each treated value against the reference; a continuous label enters as its dose."""
    standard_error: str
    """`clustered:<column of the frame>` or `robust`."""
    codings: tuple[str, ...]
    description: str = ""
    title: str = ""
    """A short name, for people."""
    smallest_of: tuple[str, ...] = ()
    """Not a regression of its own but a choice among these variants: for each value the one with the smallest
    p, its p multiplied by their number (Bonferroni). `outcome` then says only which answers are in the
    sample."""

    @property
    def cluster(self) -> str | None:
        """The column to cluster by, or None where errors are heteroskedasticity-robust."""
        matched = ERRORS.fullmatch(self.standard_error)
        return matched.group(1) if matched else None


@dataclass(frozen=True, slots=True)
class Metric:
    """A value over a sample, both SQL over the frame."""

    value: str
    sample: str
    one_answer: tuple[str, ...] = ()
    """Of the inconsistency: the codings under which documents with a single answer count, as consistent."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """What the label metrics are computed from."""

    inconsistency: Metric
    """A document is inconsistent where `value` takes more than one distinct value in it, within a repeat."""
    mae: Metric
    """The mean of `value`, in the frame's unit."""
    mape: Metric
    """The mean of `value`, in per cent."""


@dataclass(frozen=True, slots=True)
class ClassShare:
    """A class that an answer may be, or hold, whose share is compared."""

    name: str
    holds: str
    """Numeric SQL expression over the frame: 1 where it is, 0 where it is not, null without an answer."""


@dataclass(frozen=True, slots=True)
class Inference:
    """What the design-based tests work on; without this section of the file they are not run."""

    outcome: str
    """The primary outcome: a numeric SQL expression, null where there is none."""
    sample: str
    rank: str | None = None
    """An ordinal severity, for the sign test within documents."""
    kind: str | None = None
    """A category whose switches are counted by value."""
    truth: str | None = None
    """The true outcome, constant within a document."""
    missing: str | None = None
    """SQL expression: null where the answer could be used, otherwise the kind of its absence."""
    declined: str | None = None
    """SQL condition: the answer is missing because the model would not give one."""
    converted: str | None = None
    """SQL condition: the outcome is no amount that the answer names; a rule puts it in the place of one."""
    carrier: str | None = None
    """SQL expression: the group of a document, to say which group carries an effect."""
    placebos: str | None = None
    """A view of the answers to placebos: the same question, the reference value put in other words.

    They are not in the frame, and so in no estimate or count, but serve as a noise floor. The view has the
    columns collection, model_key, coding, arm, outcome, label, value, doc_id and repeat of the answer beside
    each.
    """
    placebo_outcome: str | None = None
    """The outcome of a placebo's answer: a numeric SQL expression over that view."""
    demographic: str | None = None
    """Boolean column of the designs: a second split of labels."""
    role: str | None = None
    """Column of the designs: a third split."""
    margin: float = 0.05
    """Equivalence margin as a share of the mean outcome."""
    codings: tuple[str, ...] = ()
    """The codings that are tested; the file's first by default."""
    shares: tuple[ClassShare, ...] = ()
    """The classes whose shares are compared, one by one."""
    sets: bool = False
    """An answer may hold several of `shares`: what the test of the kind compares are their shares."""


@dataclass(frozen=True, slots=True)
class Specifications:
    """All that one domain asks of the analyzer about one of its outcomes."""

    path: Path
    frame: FrameNames
    codings: tuple[Coding, ...]
    specifications: tuple[Specification, ...]
    metrics: Metrics
    inference: Inference | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    """Texts for the report, handed on as they are."""
    outcome: str = UNNAMED_OUTCOME
    """The name of the outcome: of the frame's rows, only those of this outcome are analysed."""
    kind: str = "amount"
    """The kind of outcome, one of `KINDS`: it decides which tests make sense, and how findings are told."""

    @property
    def nominal(self) -> bool:
        """Whether the outcome's numbers are codes of classes, of which no mean is taken."""
        return self.kind in NOMINAL

    def of_coding(self, coding: str) -> tuple[Specification, ...]:
        """The specifications that apply under a coding, in the file's order."""
        return tuple(s for s in self.specifications if coding in s.codings)

    def coding_names(self) -> tuple[str, ...]:
        """The names of the codings, in the file's order."""
        return tuple(c.name for c in self.codings)


def load(path: Path | str) -> Specifications:
    """Read and check a specifications file.

    Raises:
        BadInput: anything is missing, misspelt or inconsistent; it names the file, the line and the key.
    """
    path = Path(path)
    file = read_toml(path, File, hint="Correct the file and run the analysis again.")
    codings = tuple(one.name for one in file.coding)
    return Specifications(
        path=path,
        frame=FrameNames(**file.frame.given()),
        codings=tuple(Coding(one.name, one.description) for one in file.coding),
        specifications=tuple(
            Specification(
                **{
                    **one.given(),
                    "codings": tuple(one.codings or codings),
                    "smallest_of": tuple(one.smallest_of),
                }
            )
            for one in file.specification
        ),
        metrics=Metrics(
            inconsistency=Metric(
                value=file.metrics.inconsistency.value,
                sample=file.metrics.inconsistency.sample,
                one_answer=tuple(file.metrics.inconsistency.one_answer or ()),
            ),
            mae=Metric(**file.metrics.mae.given()),
            mape=Metric(**file.metrics.mape.given()),
        ),
        inference=None if file.inference is None else _inference(file.inference, codings),
        report=file.report,
        outcome=file.outcome or UNNAMED_OUTCOME,
    )


def _inference(table: InferenceTable, codings: tuple[str, ...]) -> Inference:
    return Inference(
        **{
            **table.given(),
            "codings": tuple(table.codings or codings[:1]),
            "shares": tuple(ClassShare(name, holds) for name, holds in table.shares.items()),
        }
    )
