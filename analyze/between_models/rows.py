"""The rows of the tables over models; the columns are described in migrations/0004_across_models.sql,
0006_attributes.sql and 0008_temperature_pairs.sql.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyze.counterfactual.frame import Cell

BODY_KEY = ("collection", "coding", "arm", "outcome")
MODEL_KEY = (*BODY_KEY, "model")


@dataclass(frozen=True, slots=True)
class Body:
    """What is held together: all models that answered a collection in an arm, one outcome under a coding."""

    collection: str
    coding: str
    arm: str
    outcome: str

    @classmethod
    def of(cls, cell: Cell) -> Body:
        """What a model's answers belong to."""
        return cls(cell.collection, cell.coding, cell.arm, cell.outcome)

    def has(self, cell: Cell) -> bool:
        """Whether a model's answers belong to it."""
        return Body.of(cell) == self

    def key(self) -> dict[str, str]:
        """By column, what its rows are told apart by."""
        return {name: getattr(self, name) for name in BODY_KEY}


@dataclass(frozen=True, slots=True)
class OneModel:
    """A model of a body, at all its temperatures."""

    collection: str
    coding: str
    arm: str
    outcome: str
    model: str

    @classmethod
    def of(cls, cell: Cell) -> OneModel:
        """The model that a cell is of."""
        return cls(cell.collection, cell.coding, cell.arm, cell.outcome, cell.model)

    @property
    def body(self) -> Body:
        """The models beside it."""
        return Body(self.collection, self.coding, self.arm, self.outcome)


@dataclass(frozen=True, slots=True)
class StructureTest:
    """One level of a factor of labels."""

    factor: str
    level: str
    threshold: float
    labels: int
    share: float | None
    p: float | None
    strata: str
    models: int
    permutations: int | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """One pair of metrics."""

    first: str
    second: str
    models: int
    rho: float | None
    low: float | None
    high: float | None
    p: float | None
    holm_p: float | None
    mechanical: bool
    permutations: int | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class TemperatureTest:
    """One value's effect, or one label's inconsistency, at two temperatures."""

    model: str
    temperature: float
    other: float
    label: str
    value: str
    measure: str
    at_lower: float | None
    at_higher: float | None
    difference: float | None
    p: float | None
    documents: int
    draws: int | None
    note: str | None = None
    lower_key: str | None = None
    higher_key: str | None = None


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """One attribute against one metric."""

    attribute: str
    metric: str
    kind: str
    models: int
    rho: float | None
    p: float | None
    permutations: int | None
    note: str | None = None
    low: float | None = None
    high: float | None = None
    holm_p: float | None = None
    method: str | None = None


@dataclass(frozen=True, slots=True)
class ModelAttribute:
    """What is known of a model."""

    model: str
    listed: str
    attribute: str
    known: str


@dataclass(frozen=True, slots=True)
class CountOverModels:
    """Significant values of all models together."""

    threshold: float
    models: int
    significant: int
    trials: int
    bernoulli_p: float
