"""What group analysis is done on: true classes, predictions of models, and the groups that rows belong to.

Arrays only: where they came from (files, a study, a simulation) is not known here. Every error is a
`ValueError` that says which input is wrong and how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyze.groups.rules import Rule

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Values = NDArray[np.int64] | NDArray[np.bool_]
"""Classes of rows: one code a row, or, where a row may have several classes, rows x classes of booleans."""


class Answer(IntEnum):
    """Whether a row has a prediction."""

    VALID = 0
    MISSING = 1
    """There is no answer for the row."""
    INVALID = 2
    """There is an answer, but it names no class."""


class Variant(StrEnum):
    """What becomes of a row without a valid answer."""

    ALL = "all"
    """It counts as wrong: a miss of each of its true classes, and no false positive."""
    ANSWERED = "answered"
    """It is left out everywhere."""


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that truth and predictions are given in."""

    names: tuple[str, ...]
    """In the order of their codes."""
    several: bool = False
    """A row may have any number of classes."""
    none_name: str | None = None
    """With several classes: the name of a further class, that of rows without any. None: there is none."""
    positive: int | None = None
    """With two classes: the code of the favourable one, for selection and error rates."""

    def __post_init__(self) -> None:
        if len(self.names) < (1 if self.several else 2):
            raise ValueError(f"too few classes: {list(self.names)}")
        if len(set(self.columns)) != len(self.columns):
            raise ValueError(f"a class is named twice: {list(self.columns)}")
        if self.none_name is not None and not self.several:
            raise ValueError("a class for rows without any needs several classes a row")
        if self.positive is not None and (
            self.several or len(self.names) != 2 or self.positive not in (0, 1)
        ):
            raise ValueError("only a task with two classes, one a row, has a positive class: code 0 or 1")

    @property
    def columns(self) -> tuple[str, ...]:
        """The classes that are scored: those named, then the class of rows without any."""
        return (*self.names, *([] if self.none_name is None else [self.none_name]))

    def checked(self, values: Values, what: str, answered: Bools | None = None) -> Values:
        """The values as int64 codes or booleans, rows without an answer emptied; ValueError if unfit."""
        array: NDArray[Any] = np.asarray(values)
        if self.several:
            if array.ndim != 2 or array.shape[1] != len(self.names) or array.dtype != np.bool_:
                raise ValueError(
                    f"{what}: several classes a row need a boolean array of rows x {len(self.names)} "
                    f"classes, not {array.dtype} of shape {array.shape}"
                )
            return array & answered[:, None] if answered is not None else array
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{what}: one integer code a row is needed, not {array.dtype}, {array.ndim}-d")
        codes = array.astype(np.int64)
        if answered is not None:
            codes = np.where(answered, codes, -1)
        wrong = np.flatnonzero(
            ((codes < 0) & (True if answered is None else answered)) | (codes >= len(self.names))
        )
        if len(wrong):
            raise ValueError(
                f"{what}: row {wrong[0]} has the code {codes[wrong[0]]}, "
                f"and there are {len(self.names)} classes"
            )
        return codes

    def indicators(self, values: Values) -> Bools:
        """Rows x `columns`: which classes each row has. A negative code is no class at all."""
        if not self.several:
            return np.asarray(values[:, None] == np.arange(len(self.names)))
        matrix = np.asarray(values, dtype=np.bool_)
        if self.none_name is None:
            return matrix
        return np.column_stack([matrix, ~matrix.any(axis=1)])


@dataclass(frozen=True, slots=True)
class Attribute:
    """One way to group rows: each row's group, and which groups are reported."""

    name: str
    groups: tuple[str, ...]
    """Names in the order of their codes."""
    codes: Ints
    """Each row's group; -1 where the row has none."""
    unidentified: frozenset[int] = frozenset()
    """Codes of groups that stand for "not known": listed with their scores, but not reported."""

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise ValueError(f"attribute {self.name}: one integer code a row is needed")
        if len(set(self.groups)) != len(self.groups):
            raise ValueError(f"attribute {self.name}: a group is named twice: {list(self.groups)}")
        object.__setattr__(self, "codes", codes.astype(np.int64))
        wrong = np.flatnonzero((self.codes < -1) | (self.codes >= len(self.groups)))
        if len(wrong):
            raise ValueError(
                f"attribute {self.name}: row {wrong[0]} has the group code {codes[wrong[0]]}, "
                f"and there are {len(self.groups)} groups"
            )
        if not self.unidentified <= set(range(len(self.groups))):
            raise ValueError(
                f"attribute {self.name}: no group has one of the codes {sorted(self.unidentified)}"
            )

    @property
    def reported(self) -> tuple[int, ...]:
        """Codes of the groups that are reported."""
        return tuple(code for code in range(len(self.groups)) if code not in self.unidentified)

    @property
    def is_reported(self) -> Bools:
        """For each group, whether it is reported."""
        return np.asarray(np.isin(np.arange(len(self.groups)), self.reported))

    def without(self, names: Sequence[str]) -> Attribute:
        """The same, with further groups not reported; ValueError if there is no such group."""
        unknown = [name for name in names if name not in self.groups]
        if unknown:
            raise ValueError(f"attribute {self.name} has no group {unknown[0]}; it has {list(self.groups)}")
        return replace(self, unidentified=self.unidentified | {self.groups.index(name) for name in names})


@dataclass(frozen=True, slots=True)
class Predictions:
    """What one model answered, trained or asked with one seed."""

    model: str
    seed: int | None
    values: Values
    """What stands in a row without a valid answer is ignored."""
    answers: NDArray[np.int8] | None = None
    """An `Answer` for each row; None: all are valid."""

    @property
    def answered(self) -> Bools:
        """Whether each row has a valid answer."""
        if self.answers is None:
            return np.ones(len(self.values), dtype=np.bool_)
        return np.asarray(np.asarray(self.answers) == Answer.VALID)

    def count(self, answer: Answer) -> int:
        """How many rows have this kind of answer."""
        if self.answers is None:
            return len(self.values) if answer is Answer.VALID else 0
        return int(np.count_nonzero(np.asarray(self.answers) == answer))


@dataclass(frozen=True, slots=True)
class Split:
    """The true classes and groups of a split that is not predicted (train, val), for shares and drift."""

    truth: Values
    groups: Mapping[str, Ints]
    """Attribute -> each row's group code, -1 where it has none."""


@dataclass(frozen=True, slots=True)
class GroupData:
    """One collection's rows with their truth, groups and predictions."""

    collection: str
    classes: Classes
    truth: Values
    attributes: tuple[Attribute, ...]
    predictions: tuple[Predictions, ...] = ()
    rule: Rule = Rule.SUPPORT
    """The collection's own rule of macro-F1."""
    split: str = "test"
    """The name of the split that the rows are."""
    minimum_n: int = 1
    """Groups with fewer rows are shown, and not compared."""
    cluster: Ints | None = None
    """A code for each row; rows of one code share a case, and are resampled and permuted together."""
    splits: Mapping[str, Split] = field(default_factory=dict)
    """The other splits by name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "truth", self.classes.checked(self.truth, "the truth"))
        n = len(self.truth)
        for attribute in self.attributes:
            _same_length(len(attribute.codes), n, f"attribute {attribute.name}")
        if len({attribute.name for attribute in self.attributes}) != len(self.attributes):
            raise ValueError(f"two attributes have one name: {[a.name for a in self.attributes]}")
        if self.cluster is not None:
            _same_length(len(self.cluster), n, "the clusters")
            object.__setattr__(
                self, "cluster", np.unique(self.cluster, return_inverse=True)[1].astype(np.int64)
            )
        if self.minimum_n < 1:
            raise ValueError(
                f"the least number of rows of a group that is compared is {self.minimum_n}; at least 1"
            )
        object.__setattr__(self, "predictions", tuple(self._checked(one) for one in self.predictions))
        keys = [(one.model, one.seed) for one in self.predictions]
        if len(set(keys)) != len(keys):
            raise ValueError("one model has two sets of predictions with the same seed")
        for model in self.models:
            if len(seeds := [one.seed for one in self.of_model(model)]) > 1 and None in seeds:
                raise ValueError(f"{model} has several sets of predictions, and one of them without a seed")
        object.__setattr__(
            self, "splits", {name: self._split(name, split) for name, split in self.splits.items()}
        )

    def _checked(self, one: Predictions) -> Predictions:
        what = f"the predictions of {one.model}" + ("" if one.seed is None else f", seed {one.seed}")
        _same_length(len(one.values), len(self.truth), what)
        if one.answers is not None:
            _same_length(len(one.answers), len(self.truth), f"the answers of {one.model}")
            if not np.isin(one.answers, list(Answer)).all():
                raise ValueError(f"{what}: a row's answer is valid, missing or invalid (0, 1, 2)")
        return replace(one, values=self.classes.checked(one.values, what, one.answered))

    def _split(self, name: str, split: Split) -> Split:
        if name == self.split:
            raise ValueError(f"the split {name} is given twice")
        truth = self.classes.checked(split.truth, f"the truth of {name}")
        groups = {}
        for attribute in self.attributes:
            if attribute.name not in split.groups:
                raise ValueError(f"the split {name} has no groups of {attribute.name}")
            codes = split.groups[attribute.name]
            _same_length(len(codes), len(truth), f"{attribute.name} of {name}")
            groups[attribute.name] = replace(attribute, codes=np.asarray(codes)).codes
        return Split(truth, groups)

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order of their first predictions."""
        return tuple(dict.fromkeys(one.model for one in self.predictions))

    def of_model(self, model: str) -> tuple[Predictions, ...]:
        """The predictions of a model, one for each seed."""
        return tuple(one for one in self.predictions if one.model == model)

    def attribute(self, name: str) -> Attribute:
        """The attribute of this name; KeyError if there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(name)

    def all_splits(self) -> dict[str, Split]:
        """Every split by name, the predicted one too."""
        own = Split(self.truth, {attribute.name: attribute.codes for attribute in self.attributes})
        return {**self.splits, self.split: own}


def _same_length(length: int, rows: int, what: str) -> None:
    if length != rows:
        raise ValueError(f"{what} has {length} rows, and the truth has {rows}")
