"""The rows of the inference's tables; the columns are described in migrations/0003_inference.sql
and 0007_noise_floors.sql.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ValueTest:
    """One treated value."""

    label: str
    value: str
    n: int
    documents: int
    changers: int = 0
    ups: int = 0
    downs: int = 0
    effect: float | None = None
    se: float | None = None
    df: float | None = None
    cluster_p: float | None = None
    flip_p: float | None = None
    patterns: int | None = None
    enumerated: bool | None = None
    exact: bool | None = None
    least_p: float | None = None
    leading: str | None = None
    leading_p: float | None = None
    holm_p: float | None = None
    effective_changers: float | None = None
    largest_share: float | None = None
    few_changers: str | None = None
    few_clusters: str | None = None
    share_bound: float | None = None
    reference_mean: float | None = None
    rank_ups: int | None = None
    rank_downs: int | None = None
    rank_p: float | None = None
    per_cent: float | None = None
    per_cent_low: float | None = None
    per_cent_high: float | None = None
    margin: float | None = None
    equivalence_p: float | None = None
    conclusion: str | None = None
    detectable: float | None = None
    detectable_share: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class LabelTest:
    """One label: a member of the confirmatory family."""

    label: str
    group: str
    demographic: bool | None
    role: str | None
    values: int
    documents: int
    family: int = 0
    wald: float | None = None
    wald_p: float | None = None
    """By F, with as many degrees of freedom as values, and the clusters less one."""
    flip_p: float | None = None
    patterns: int | None = None
    enumerated: bool | None = None
    holm_p: float | None = None
    bh_p: float | None = None
    max_t_p: float | None = None
    rejected: bool | None = None
    models_family: int | None = None
    models_holm_p: float | None = None
    models_bh_p: float | None = None
    models_max_t_p: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class GlobalTest:
    """One test of a model as a whole."""

    test: str
    threshold: float | None
    observed: float | None
    expected: float | None
    p: float | None
    bernoulli_p: float | None
    n: int
    draws: int | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class KindSwitch:
    """One switch of kind, counted."""

    label: str
    value: str
    from_kind: str
    to_kind: str
    pairs: int
    of_pairs: int


@dataclass(frozen=True, slots=True)
class ClassEffect:
    """How one value moves the share of one class; columns as in migrations/0012_class_effects.sql."""

    label: str
    value: str
    class_name: str
    n_compared: int
    share_from: float
    share_to: float
    effect: float
    ci_low: float
    ci_high: float
    ups: int
    downs: int
    mcnemar_p: float | None
    holm_p: float | None
    hamming: float


@dataclass(frozen=True, slots=True)
class InconsistencyTest:
    """One label's inconsistency by pairs, and the noise in it."""

    label: str
    pairwise: float | None
    pairs: int
    documents: int
    floor: float | None
    floor_pairs: int
    floor_documents: int
    excess: float | None
    excess_low: float | None
    excess_high: float | None
    placebo: float | None
    placebo_pairs: int
    placebo_excess: float | None
    placebo_low: float | None
    placebo_high: float | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """How often a model's answers differ where nothing that could matter does."""

    floor: str
    share: float | None
    pairs: int
    documents: int
    inconsistency: float | None
    value_pairs: int
    excess: float | None
    low: float | None
    high: float | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ImbalanceTest:
    """One value's effect on the distance from the truth, on one side of it."""

    label: str
    value: str
    side: str
    error_effect: float | None
    error_se: float | None
    error_p: float | None
    level_effect: float | None
    n: int
    documents: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MissingTest:
    """One value's missing answers of one kind."""

    label: str
    value: str
    kind: str
    pairs: int
    only_value: int
    only_reference: int
    p: float | None
    label_p: float | None
    effect: float | None = None
    jump: float | None = None
    low: float | None = None
    high: float | None = None
    tipping: float | None = None
    worst_low: float | None = None
    worst_high: float | None = None
