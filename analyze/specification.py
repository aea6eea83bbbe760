"""What is to be estimated, as a domain writes it down: a TOML file read into frozen dataclasses.

A domain hands the analyzer a frame (a database view with one row for each answer under each coding), two
views that describe its design, and this file. Outcomes and samples are SQL expressions over the frame, so the
engine never has to know what a column means.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from store.errors import BadInput

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VIEW = re.compile(r"([A-Za-z_][A-Za-z0-9_]*\.)?[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
_ERRORS = re.compile(r"robust|clustered:([A-Za-z_][A-Za-z0-9_]*)")

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
        matched = _ERRORS.fullmatch(self.standard_error)
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
    outcomes: int = 1
    """So many outcomes of one answer are tested: their p are multiplied by it, so that the chance of
    confirming anything where nothing matters stays below the level over all of them."""
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

    Raises BadInput that names the file, the table and the key where anything is missing, misspelt or
    inconsistent.
    """
    path = Path(path)
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not valid TOML: {error}") from error
    return _Reader(path).specifications(raw)


class _Reader:
    """Carries the file's name into every complaint."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def specifications(self, raw: Mapping[str, Any]) -> Specifications:
        known = ("outcome", "frame", "coding", "specification", "metrics", "inference", "report")
        self.only(raw, known, "the file")
        frame = self.frame(self.table(raw, "frame"))
        codings = tuple(self.coding(item, i) for i, item in enumerate(self.tables(raw, "coding"), 1))
        names = [c.name for c in codings]
        self.distinct(names, "[[coding]]")
        items = self.tables(raw, "specification")
        specifications = tuple(self.specification(item, i, names) for i, item in enumerate(items, 1))
        self.distinct([s.name for s in specifications], "[[specification]]")
        self.headline(frame, specifications)
        report = raw.get("report", {})
        if not isinstance(report, dict):
            raise self.bad("[report]", "must be a table")
        return Specifications(
            path=self.path,
            frame=frame,
            codings=codings,
            specifications=specifications,
            metrics=self.metrics(self.table(raw, "metrics"), names),
            inference=self.inference(self.table(raw, "inference"), names) if "inference" in raw else None,
            report=report,
            outcome=self.name(raw, "the file", "outcome") if "outcome" in raw else UNNAMED_OUTCOME,
        )

    def frame(self, raw: Mapping[str, Any]) -> FrameNames:
        where = "[frame]"
        self.only(raw, [f.name for f in fields(FrameNames)], where)
        texts = {key: self.text(raw, key, where) for key in raw}
        for key in ("view", "designs", "values", "groups", "unit", "primary", "level"):
            self.text(raw, key, where)
        for key in ("view", "designs", "values", "groups", "dose", "alias", "value_alias", "note"):
            is_view = key in ("view", "designs", "values")
            if key in texts and not (_VIEW if is_view else _IDENTIFIER).fullmatch(texts[key]):
                raise self.bad(where, f"{key} = {texts[key]!r} is not a plain name of a view or column")
        return FrameNames(**texts)

    def coding(self, raw: Mapping[str, Any], position: int) -> Coding:
        where = f"[[coding]] number {position}"
        self.only(raw, ("name", "description"), where)
        return Coding(name=self.name(raw, where), description=self.text(raw, "description", where))

    def specification(self, raw: Mapping[str, Any], position: int, codings: Sequence[str]) -> Specification:
        where = f"[[specification]] number {position}"
        name = self.name(raw, where)
        where = f"[[specification]] {name!r}"
        self.only(raw, [f.name for f in fields(Specification)], where)
        chosen = self.chosen(raw, list(codings), codings, where)
        treatment = self.text(raw, "treatment", where)
        if treatment != DUMMIES:
            raise self.bad(where, f"treatment = {treatment!r} is not known; it must be {DUMMIES!r}")
        errors = self.text(raw, "standard_error", where)
        if not _ERRORS.fullmatch(errors):
            raise self.bad(where, f"standard_error = {errors!r} must be 'robust' or 'clustered:<column>'")
        return Specification(
            name=name,
            outcome=self.sql(raw, "outcome", where),
            sample=self.sql(raw, "sample", where),
            treatment=treatment,
            standard_error=errors,
            codings=chosen,
            description=self.text(raw, "description", where) if "description" in raw else "",
            title=self.text(raw, "title", where) if "title" in raw else "",
            smallest_of=self.listed(raw, "smallest_of", where),
        )

    def listed(self, raw: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        found = raw.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self.bad(where, f"{key} must be a list of names of specifications")
        return tuple(found)

    def metrics(self, raw: Mapping[str, Any], codings: Sequence[str]) -> Metrics:
        names = [f.name for f in fields(Metrics)]
        self.only(raw, names, "[metrics]")
        return Metrics(
            **{name: self.metric(self.table(raw, name, "metrics."), name, codings) for name in names}
        )

    def metric(self, raw: Mapping[str, Any], name: str, codings: Sequence[str]) -> Metric:
        where, key = f"[metrics.{name}]", "one_answer"
        self.only(raw, ("value", "sample", *([key] if name == "inconsistency" else [])), where)
        return Metric(
            value=self.sql(raw, "value", where),
            sample=self.sql(raw, "sample", where),
            one_answer=self.chosen(raw, [], codings, where, key),
        )

    def inference(self, raw: Mapping[str, Any], codings: Sequence[str]) -> Inference:
        where = "[inference]"
        self.only(raw, [f.name for f in fields(Inference)], where)
        margin = raw.get("margin", 0.05)
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin < 1:
            raise self.bad(where, f"margin = {margin!r} must be a share between 0 and 1")
        optional = tuple(f.name for f in fields(Inference) if f.default is None)
        if ("placebos" in raw) != ("placebo_outcome" in raw):
            raise self.bad(where, "placebos and placebo_outcome must stand together")
        if "placebos" in raw and not _VIEW.fullmatch(self.text(raw, "placebos", where)):
            raise self.bad(where, f"placebos = {raw['placebos']!r} is not a plain name of a view")
        return Inference(
            outcome=self.sql(raw, "outcome", where),
            sample=self.sql(raw, "sample", where),
            margin=float(margin),
            codings=self.chosen(raw, list(codings[:1]), codings, where),
            outcomes=self.count(raw, "outcomes", where),
            shares=self.shares(raw, where),
            sets=self.flag(raw, "sets", where),
            **{key: self.sql(raw, key, where) for key in optional if key in raw},
        )

    def flag(self, raw: Mapping[str, Any], key: str, where: str) -> bool:
        found = raw.get(key, False)
        if not isinstance(found, bool):
            raise self.bad(where, f"{key} = {found!r} must be true or false")
        return found

    def count(self, raw: Mapping[str, Any], key: str, where: str) -> int:
        found = raw.get(key, 1)
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise self.bad(where, f"{key} = {found!r} must be a whole number of 1 or more")
        return found

    def shares(self, raw: Mapping[str, Any], where: str) -> tuple[ClassShare, ...]:
        found = raw.get("shares", {})
        if not isinstance(found, dict):
            raise self.bad(where, "shares must be a table: the name of a class = whether an answer is of it")
        return tuple(ClassShare(name, self.sql(found, name, f"{where} shares")) for name in found)

    def chosen(
        self,
        raw: Mapping[str, Any],
        default: list[str],
        codings: Sequence[str],
        where: str,
        key: str = "codings",
    ) -> tuple[str, ...]:
        if key not in raw:
            return tuple(default)
        chosen = raw[key]
        if not isinstance(chosen, list) or not chosen or not all(isinstance(c, str) for c in chosen):
            raise self.bad(where, f"{key} must be a list of names of codings")
        for coding in chosen:
            if coding not in codings:
                like = _like(coding, codings)
                raise self.bad(where, f"{key} names {coding!r}, which is no [[coding]]{like}")
        return tuple(chosen)

    def headline(self, frame: FrameNames, specifications: Sequence[Specification]) -> None:
        names = [s.name for s in specifications]
        for key in ("primary", "level", "error"):
            name = getattr(frame, key)
            if name is not None and name not in names:
                raise self.bad("[frame]", f"{key} = {name!r} is no [[specification]]{_like(name, names)}")
        for chosen in specifications:
            for name in chosen.smallest_of:
                if name not in names or name == chosen.name:
                    said = (
                        f"smallest_of names {name!r}, which is no other [[specification]]{_like(name, names)}"
                    )
                    raise self.bad(f"[[specification]] {chosen.name!r}", said)

    def table(self, raw: Mapping[str, Any], key: str, prefix: str = "") -> Mapping[str, Any]:
        found = raw.get(key)
        if not isinstance(found, dict):
            raise self.bad(f"[{prefix}{key}]", "is missing" if found is None else "must be a table")
        return found

    def tables(self, raw: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
        found = raw.get(key)
        if not isinstance(found, list) or not found or not all(isinstance(item, dict) for item in found):
            raise self.bad(f"[[{key}]]", "is missing: at least one is needed")
        return found

    def name(self, raw: Mapping[str, Any], where: str, key: str = "name") -> str:
        name = self.text(raw, key, where)
        if not _NAME.fullmatch(name):
            raise self.bad(where, f"{key} = {name!r} may hold small letters, digits and underscores only")
        return name

    def text(self, raw: Mapping[str, Any], key: str, where: str) -> str:
        if key not in raw:
            raise self.bad(where, f"{key} is missing")
        found = raw[key]
        if not isinstance(found, str) or not found.strip():
            raise self.bad(where, f"{key} must be a text that is not empty")
        return found.strip()

    def sql(self, raw: Mapping[str, Any], key: str, where: str) -> str:
        found = self.text(raw, key, where)
        if ";" in found or "--" in found:
            raise self.bad(where, f"{key} must be one SQL expression, without ';' or '--'")
        return found

    def distinct(self, names: Sequence[str], where: str) -> None:
        for name in names:
            if names.count(name) > 1:
                raise self.bad(where, f"name = {name!r} stands there more than once")

    def only(self, raw: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for key in raw:
            if key not in known:
                raise self.bad(where, f"unknown key {key!r}{_like(key, known)}")

    def bad(self, where: str, what: str) -> BadInput:
        return BadInput(f"{self.path}: {where}: {what}", hint="Correct the file and run the analysis again.")


def _like(word: str, known: Sequence[str]) -> str:
    """A suggestion where one is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else f" (known: {', '.join(known)})"
