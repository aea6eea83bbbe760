"""The rows of results. Scores, shares and differences are fractions (0 to 1); None is "there is none".

`seed` is None for what is averaged over seeds (or for a model that has no seed). Intervals are of 95%.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many rows of the predicted split a model answered."""

    collection: str
    model: str
    seed: int | None
    split: str
    n: int
    n_answered: int
    n_missing: int
    n_invalid: int


@dataclass(frozen=True, slots=True)
class GroupScore:
    """The score of one group."""

    collection: str
    model: str
    seed: int | None
    split: str
    attribute: str
    group_name: str
    group_code: int
    variant: str
    rule: str
    n: int
    """Rows scored. Over seeds: the fewest of a seed."""
    n_train: int | None
    """Rows of the group in the split `train`; None without such a split."""
    score: float | None
    """Macro-F1; over seeds, the mean over those in which the group has a score."""
    ci_low: float | None
    ci_high: float | None
    se: float | None
    """Bootstrap standard error."""
    is_default: bool
    """The rule is the collection's own."""
    reported: bool
    compared: bool
    """It takes part in mean, disparity, worst group and tests: reported, with enough rows and a score."""
    n_seeds: int
    """Seeds in which the group has a score."""
    micro_f1: float | None
    accuracy: float | None
    """Share of rows with exactly the true class, or set of classes."""
    reweighted: float | None
    """Macro-F1 at the label shares of all reported rows; None where rows may have several classes."""
    probability_worst: float | None
    """That its true score is the lowest of the compared groups."""


@dataclass(frozen=True, slots=True)
class Disparity:
    """Mean, disparity and worst of the compared groups of an attribute."""

    collection: str
    model: str
    seed: int | None
    attribute: str
    variant: str
    rule: str
    is_default: bool
    n_groups: int
    mean_score: float | None
    gd: float | None
    """Population standard deviation of the groups' scores; over seeds, the mean of theirs."""
    worst_score: float | None
    worst_group: str | None
    """Over seeds, the group with the lowest average."""
    gd_floor: float | None
    """Mean GD of shuffled groups: what to expect if no group differs."""
    gd_floor_rms: float | None
    gd_floor_95: float | None
    gd_excess: float | None
    """sqrt(max(0, gd^2 - gd_floor_rms^2))."""
    excess_low: float | None
    excess_high: float | None
    detectable_gd: float | None
    """The smallest disparity that the test finds with 80% power at 5% on this test set."""
    p_plain: float | None
    p_within_label: float | None
    p_worst: float | None
    """Of how far the worst group is below the mean; with two groups the same test as that of GD."""
    p_worst_within_label: float | None
    p_plain_holm: float | None
    """Holm over attributes x (disparity, worst group) of this model, seed, variant and rule."""
    p_within_label_holm: float | None
    p_worst_holm: float | None
    p_worst_within_label_holm: float | None
    worst_floor: float | None
    """Mean worst score of shuffled groups."""
    worst_corrected: float | None
    """The worst group's score without selection bias; over seeds, that of the averages."""
    share_fixed: float | None
    """Share of rows whose true label (set) lies in one group only: the test within labels cannot use them."""
    gd_reweighted: float | None
    """The disparity of the scores at common label shares."""
    mean_of_averages: float | None
    """Over seeds only: the three numbers of the groups' averages."""
    gd_of_averages: float | None
    worst_of_averages: float | None
    draws: int


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference between two compared groups, first less second, by the collection's own rule."""

    collection: str
    model: str
    seed: int | None
    attribute: str
    variant: str
    rule: str
    first: str
    second: str
    gap: float
    ci_low: float | None
    ci_high: float | None
    se: float | None
    detectable: float | None
    """The smallest gap that would be found with 80% power at 5%: 2.80 standard errors."""
    label_shift: float | None
    """The part of the gap that common label shares remove; None where rows may have several classes."""
    label_shift_low: float | None
    label_shift_high: float | None
    behaviour: float | None
    """The rest: the gap at common label shares."""
    behaviour_low: float | None
    behaviour_high: float | None


@dataclass(frozen=True, slots=True)
class GroupRates:
    """Selection and error rates of a group in a task with a favourable class; see `analyze.groups.rates`."""

    collection: str
    model: str
    seed: int | None
    attribute: str
    group_name: str
    variant: str
    n: int
    selection_rate: float | None
    selection_low: float | None
    selection_high: float | None
    true_positive_rate: float | None
    true_positive_low: float | None
    true_positive_high: float | None
    false_positive_rate: float | None
    false_positive_low: float | None
    false_positive_high: float | None
    four_fifths_ratio: float | None
    four_fifths_low: float | None
    four_fifths_high: float | None


@dataclass(frozen=True, slots=True)
class ClassScore:
    """The counts and F1 of one class in one group, or in all reported groups pooled (no group name)."""

    collection: str
    model: str
    seed: int | None
    variant: str
    attribute: str
    group_name: str | None
    class_name: str
    true_positives: int
    predicted: int
    support: int
    f1: float


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many rows of a group have one true class and one answer."""

    collection: str
    model: str
    seed: int | None
    attribute: str
    group_name: str
    true_class: str
    predicted_class: str | None
    """None: no valid answer."""
    n: int


@dataclass(frozen=True, slots=True)
class WorstClass:
    """How much of a group is the class that the model gets wrong most."""

    collection: str
    model: str
    seed: int | None
    variant: str
    attribute: str
    group_name: str
    worst_class: str | None
    """Of all reported rows pooled."""
    wci: float | None
    own_worst_class: str | None
    """Of the group's own rows."""
    wci_own: float | None


@dataclass(frozen=True, slots=True)
class CrossScore:
    """The score of the rows that have a group of each of two attributes."""

    collection: str
    model: str
    seed: int | None
    attribute_1: str
    group_1: str
    attribute_2: str
    group_2: str
    n: int
    score: float | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of one group the other is, in one split."""

    collection: str
    split: str
    attribute_1: str
    group_1: str
    attribute_2: str
    group_2: str
    n: int
    share_of_1_within_2: float | None
    share_of_2_within_1: float | None


@dataclass(frozen=True, slots=True)
class Representation:
    """A group's rows in a split."""

    collection: str
    split: str
    attribute: str
    group_name: str
    reported: bool
    n: int
    share: float | None
    """Of the rows of all reported groups; None for a group that is not reported."""


@dataclass(frozen=True, slots=True)
class LabelCount:
    """How often a class is true in a group of a split."""

    collection: str
    split: str
    attribute: str
    group_name: str
    class_name: str
    n: int


@dataclass(frozen=True, slots=True)
class GroupDrift:
    """Label drift of a group between two splits."""

    collection: str
    attribute: str
    group_name: str
    reported: bool
    comparison: str
    measure: str
    value: float | None
    floor: float | None
    """Mean without drift, from sampling alone."""
    floor_95: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class SeedNoise:
    """Training noise apart from that of the test set."""

    collection: str
    model: str
    attribute: str
    variant: str
    rule: str
    group_name: str | None
    """None: the mean over the compared groups."""
    n_seeds: int
    training_sd: float
    test_sd: float
    total_se: float


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """The paired difference of two models, first less second."""

    collection: str
    model_1: str
    model_2: str
    attribute: str
    variant: str
    rule: str
    is_default: bool
    measure: str
    """mean, worst or gd."""
    value_1: float
    value_2: float
    difference: float
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_holm: float | None
    """Over attributes x measures of these two models."""
    n_seeds_1: int
    n_seeds_2: int
    n_seeds_tested: int
    draws: int
