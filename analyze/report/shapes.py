"""What a report is made of: the rows of the result tables, the design with its names, audits and readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from analyze.between_models import configurations
from analyze.counterfactual.pairs import Pair
from analyze.findings import FindingRow, codes
from analyze.report import texts as wording
from analyze.report.texts import Texts
from analyze.specification import Specifications
from store.identity import BASE_ARM

Answers = tuple[str, str, str]
"""Whose answers: collection, model's key and arm."""

CATEGORICAL = "categorical"
"""The design's word for a treatment with a dummy for each value; any other is a quantity."""


IMPORTED = "imported"
"""The kind of a model whose answers others asked for."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A row of `estimates`, without its key's first part."""

    label: str
    value: str
    variant: str
    coef: float | None
    se: float | None
    t: float | None
    df: float | None
    p: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    documents: int
    clusters: int | None
    changers: int
    note: str | None


@dataclass(frozen=True, slots=True)
class LabelMetric:
    """A row of `label_metrics`, without its key's first part."""

    label: str
    group: str
    answers: int
    inconsistency: float | None
    inconsistent_documents: int
    documents: int
    mae: float | None
    mae_n: int
    mape: float | None
    mape_n: int
    values_designed: int
    values_estimated: int
    smallest_p: float | None
    biased_10: bool | None
    biased_05: bool | None
    biased_01: bool | None
    note: str | None


@dataclass(frozen=True, slots=True)
class ModelMetric:
    """A row of `model_metrics`, without its key's first part."""

    metric: str
    threshold: float | None
    group: str
    value: float | None
    n: int
    note: str | None


@dataclass(frozen=True, slots=True)
class Design:
    """A label of the design and its values, with their names."""

    label: str
    group: str
    treatment: str
    name_en: str
    name_zh: str
    values: Mapping[str, str]
    """Value -> its English name, in the design's order."""
    reference: tuple[str, ...]
    treated: tuple[str, ...]
    """The names of the label's estimates: its treated values, or the one name of a quantity."""
    quantity: str = ""
    """What a quantity is, for people."""

    @property
    def continuous(self) -> bool:
        """Whether the treatment is a quantity: one effect, of one unit more of it."""
        return self.treatment != CATEGORICAL

    def value_en(self, value: str) -> str:
        """What an estimate is of, in English; the value itself where it has no English name."""
        if self.continuous:
            return f"per unit of {self.quantity or wording.readable(self.treatment).lower()}"
        return self.values.get(value) or value

    def value_zh(self, value: str) -> str:
        """The value as the documents have it, where that says more than its English name."""
        return "" if self.continuous or self.value_en(value) == value else value


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows of the frame of one label and value, by what became of them."""

    label: str
    value: str
    read_as: str | None
    missing: str | None
    rows: int
    usable: int
    used: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How asking ended for one label and value."""

    label: str
    value: str
    outcome: str
    queries: int
    rows: int


@dataclass(frozen=True, slots=True)
class Reading:
    """An audit under one coding."""

    coding: str
    designs: Mapping[str, Design]
    estimates: tuple[Estimate, ...]
    labels: tuple[LabelMetric, ...]
    metrics: tuple[ModelMetric, ...]
    tallies: tuple[Tally, ...]
    by_key: Mapping[tuple[str, str, str], Estimate] = field(repr=False)
    newer: int = 0
    """Answers that came since the analysis."""
    findings: tuple[FindingRow, ...] = ()
    """What may be said; empty where no confirmatory test was made."""
    pairs: Mapping[int, tuple[Pair, ...]] = field(default_factory=dict)
    """Examples of the answers behind a finding, by its position; empty where texts are left out."""
    notes: tuple[tuple[str, int], ...] = ()
    """What the coding noted of answers, and of how many."""

    def estimate(self, label: str, value: str, variant: str) -> Estimate | None:
        """The estimate of a value in a variant, if there is a row."""
        return self.by_key.get((label, value, variant))

    def metric(self, name: str, *, group: str = "all", threshold: float | None = None) -> ModelMetric | None:
        """A metric of the model, if there is a row."""
        for found in self.metrics:
            if (found.metric, found.group, found.threshold) == (name, group, threshold):
                return found
        return None

    def groups(self) -> tuple[str, ...]:
        """The design's groups, in its order."""
        return tuple(dict.fromkeys(design.group for design in self.designs.values()))


@dataclass(frozen=True, slots=True)
class Audit:
    """One model's answers to one collection in one arm: what a section of the report is about."""

    collection: str
    model_key: str
    model: str
    temperature: float | None
    arm: str
    kind: str
    settings: Mapping[str, Any]
    """What was set, but for the temperature; see `analyze.between_models.configurations`."""
    name: str
    """The model, with temperature, collection and settings where they are needed to tell audits apart, and
    with any arm but the base.
    """
    apart: str
    """Of the name, the settings."""
    anchor: str
    first_at: datetime | None
    last_at: datetime | None
    repeats: int
    documents: int
    queries: int
    """Queries of the collection in the arm, asked or not."""
    asked: int
    """Queries with an end, whatever it was."""
    ended: tuple[Ended, ...]
    readings: tuple[Reading, ...]
    pending: int = 0
    """Queries still to be asked, over all repeats begun; none where others asked them."""
    returned: Mapping[str, int] = field(default_factory=dict)
    """How often which model's name came back with an answer."""

    @property
    def answers(self) -> Answers:
        """What tells the audit from the others."""
        return (self.collection, self.model_key, self.arm)

    @property
    def answered_by_several(self) -> bool:
        """Whether the names that came back are of more than one model."""
        return configurations.several_models(Counter(self.returned))

    def reading(self, coding: str) -> Reading | None:
        """The audit under a coding, if it was analysed so."""
        return next((reading for reading in self.readings if reading.coding == coding), None)

    @property
    def main(self) -> Reading:
        """The audit under the coding that leads: the first of the specifications file."""
        return self.readings[0]


@dataclass(frozen=True, slots=True)
class Results:
    """All that a report is made of."""

    specs: Specifications
    texts: Texts
    study_id: str
    study_name: str
    audits: tuple[Audit, ...]
    further: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    """Rows of further tables of results, by their names in `tables.toml`."""
    outdated: str | None = None
    """What is not of the answers that the study has now, if anything."""
    unanalysed: str | None = None
    """Which models have answers and no figures, if any."""
    outcomes: tuple[str, ...] = ()
    """The outcomes that the study has findings of; the report is about one of them."""

    @property
    def error_places(self) -> int:
        """The decimals of the mean distance from the truth: a squared difference of probabilities is
        small."""
        return 3 if self.specs.kind == "probability" else 1

    @property
    def unit(self) -> str:
        """What level effects are measured in."""
        return self.specs.frame.unit

    @property
    def has_arms(self) -> bool:
        """Whether any audit is of other instructions than the domain's own."""
        return any(audit.arm != BASE_ARM for audit in self.audits)

    def together(self, audit: Audit) -> str:
        """Over what, besides its own labels, the findings of an audit are corrected: for people, or empty."""
        models = {a.model_key for a in self.audits if (a.collection, a.arm) == (audit.collection, audit.arm)}
        over = [
            *(["models"] if len(models) > 1 else []),
            *(["outcomes"] if len(self.outcomes) > 1 else []),
        ]
        return f"of all {' and '.join(over)} together" if over else ""

    @property
    def codings(self) -> tuple[str, ...]:
        """The codings that any audit has, the leading one first."""
        present = {reading.coding for audit in self.audits for reading in audit.readings}
        return tuple(name for name in self.specs.coding_names() if name in present)

    def of(self, audit: Audit, reading: Reading) -> Results:
        """The same of one audit under one coding."""
        return replace(self, audits=(replace(audit, readings=(reading,)),))

    def switches(self, audit: Audit, reading: Reading) -> dict[str, int] | None:
        """By label, answers whose kind is not that under the reference; None where no kinds are known."""
        if self.specs.kind != codes.AMOUNT or self.specs.inference is None:
            return None
        if "kind_switches" not in self.further:
            return None
        if reading.coding not in self.specs.inference.codings:
            return None
        found: dict[str, int] = {row.label: 0 for row in reading.labels}
        key = (*audit.answers, reading.coding)
        for row in self.further["kind_switches"]:
            if (row["collection"], row["model_key"], row["arm"], row["coding"]) == key:
                found[row["label"]] = found.get(row["label"], 0) + row["pairs"]
        return found

    def asked(self) -> list[Design]:
        """The labels that any model was asked under its leading coding, in the design's order."""
        labels = {row.label for audit in self.audits for row in audit.main.labels}
        designs = {label: d for audit in self.audits for label, d in audit.main.designs.items()}
        return [design for label, design in designs.items() if label in labels]

    def settings(self) -> tuple[str, ...]:
        """The settings by which the models differ, and the usual ones that any of them has."""
        usual = ("top_p", "max_tokens", "seed")
        have = [name for name in usual if any(name in audit.settings for audit in self.audits)]
        return tuple(dict.fromkeys([*have, *configurations.differing(a.settings for a in self.audits)]))

    def of_age(self) -> tuple[str, ...]:
        """What is to be said of figures that are not, or not all, of what the study has now."""
        return tuple(said for said in (self.outdated, self.unanalysed) if said is not None)

    def notices(self) -> tuple[str, ...]:
        """The banners that the kinds of the models ask for, each once, of whom, where not of all; and age."""
        kinds = dict.fromkeys(audit.kind for audit in self.audits)
        found = [*self.of_age()]
        for kind in kinds:
            if kind in self.texts.notices:
                names = [audit.name for audit in self.audits if audit.kind == kind]
                whom = "" if len(kinds) == 1 else f"{', '.join(names)}: "
                found.append(whom + self.texts.notices[kind])
        return tuple(found)
