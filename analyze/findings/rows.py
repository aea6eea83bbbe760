"""A finding: one row of the table `findings`, from which every sentence of a report is made."""

from __future__ import annotations

from dataclasses import dataclass

from analyze.counterfactual.frame import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding without the model that it is about; columns as in migrations/0010_findings.sql.

    There `measure` is still called `outcome`: 0011_arms_and_outcomes.sql renames it.
    """

    position: int
    label: str
    group: str
    scope: str
    value: str | None
    contrast: str | None
    test: str
    measure: str
    unit: str
    n_asked: int
    n_compared: int
    n_changed: int
    ups: int | None = None
    downs: int | None = None
    mean_from: float | None = None
    mean_to: float | None = None
    effect: float | None = None
    se: float | None = None
    effect_kind: str | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_level: float | None = None
    ci_kind: str | None = None
    p: float | None = None
    p_kind: str | None = None
    least_p: float | None = None
    weight: float | None = None
    p_within: float | None = None
    family: int | None = None
    p_adjusted: float | None = None
    state: str
    reason_code: str | None = None
    note: str | None = None
    declined: int | None = None
    declined_reference: int | None = None
    from_kind: str | None = None
    to_kind: str | None = None
    switches: int | None = None
    switches_back: int | None = None
    n_converted: int | None = None
    effect_unconverted: float | None = None
    p_unconverted: float | None = None
    carrier: str | None = None
    carrier_share: float | None = None
    carrier_cases: int | None = None
    effect_without_carrier: float | None = None
    effect_without_largest: float | None = None
    effect_without_20: float | None = None
    detectable: float | None = None
    detectable_share: float | None = None
    detectable_level: float | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """The codes of `note`."""
        return tuple(self.note.split("; ")) if self.note else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(FindingRow):
    """A finding about one model."""

    cell: Cell
    """Collection, model, temperature, model_key, coding, arm and outcome."""
