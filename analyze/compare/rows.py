"""The rows of the comparison's tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """One outcome of a model's answers to a collection in an arm, under two codings."""

    collection: str
    model_key: str
    model: str
    temperature: float | None
    before: str
    after: str
    arm: str
    outcome: str


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One row of the table `comparison_values`, without the pair's columns."""

    label: str
    value: str
    variant: str
    printed_coef: float | None
    printed_p: float | None
    printed_n: int | None
    reproduced: bool | None
    before_coef: float | None
    before_se: float | None
    before_p: float | None
    before_n: int | None
    before_documents: int | None
    before_note: str | None
    after_coef: float | None
    after_se: float | None
    after_p: float | None
    after_n: int | None
    after_documents: int | None
    after_note: str | None
    before_name: str | None
    renamed_step: float | None
    dropped_step: float | None
    dropped_answers: int | None
    reread_step: float | None
    reread_answers: int | None
    added_step: float | None
    added_answers: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ComparedLabel:
    """One row of the table `comparison_labels`, without the pair's columns."""

    label: str
    group: str
    threshold: float
    before_p: float | None
    after_p: float | None
    change: str
    value: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """One row of the table `comparison_metrics`, without the pair's columns."""

    metric: str
    threshold: float | None
    group: str
    before_value: float | None
    before_n: int | None
    after_value: float | None
    after_n: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Unmatched:
    """One row of the table `comparison_unmatched`, without the pair's columns."""

    line: int
    label: str
    value: str
    variant: str
    note: str


ROWS: dict[str, type] = {
    "comparison_values": ComparedValue,
    "comparison_labels": ComparedLabel,
    "comparison_metrics": ComparedMetric,
    "comparison_unmatched": Unmatched,
}
PAIR_KEY = ("collection", "model_key", "before", "after", "arm", "outcome")
