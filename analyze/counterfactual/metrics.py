"""The metrics of labels and of a model, from the frame's rows and the estimates.

Metrics of a model (table `model_metrics`), with the group 'all' and, where it says so, each group of the
design:

- `labels_asked`: labels that have answers, out of the design's labels (n). By group.
- `labels_estimated`: labels of which at least one value has a p in the primary variant, out of those
asked. By
  group.
- `biased_labels`: labels any of whose values has p < threshold in the primary variant, out of those
estimated.
  By group.
- `imbalanced_labels`: the same in the variant whose outcome is the distance from the truth. By group.
- `significant_values`: treated values with p < threshold in the primary variant, out of those estimated.
- `bernoulli_p`: P(X >= significant values), X ~ Binomial(values estimated, threshold); n is the trials. A
value
  that could not be estimated, or whose answers never changed, cannot be significant and is no trial.
- `bernoulli_p_all_values`: the same with all treated values of the design as trials, as the paper prints it.
- `inconsistency_weighted`: the mean of the labels' inconsistency weighted by their documents (the formula
of the
  paper); n is the documents.
- `inconsistency_weighted_printed`: weighted by their inconsistent documents, which is how the paper's printed
  figure comes about; n is the inconsistent documents.
- `inconsistency_pairwise`, `inconsistency_floor`: the share of pairs of values, and of repeats, whose answers
  differ; n is the pairs. `reference_disagreement` (n: documents) and `reference_disagreement_pairwise`
  (n: pairs of labels): the same among the answers that several labels' reference prompts got for one
  document. With the inference only (`analyze.inference.inconsistency`).
- `deviation_from_pyfixest`: the largest difference between the estimates of the primary variant and
pyfixest's
  of the same, as a share of the estimate; n is the labels compared.
- `mae_weighted`, `mape_weighted`: weighted by the answers that each mean is over; n is the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import duckdb
import pyarrow as pa

from analyze.counterfactual.estimate import Estimate
from analyze.counterfactual.frame import Design, Frame
from analyze.inference.bernoulli import THRESHOLDS, bernoulli_p

_METRICS = (Path(__file__).parent / "metrics.sql").read_text(encoding="utf-8")

ALL = "all"


@dataclass(frozen=True, slots=True)
class LabelMetrics:
    """One row of the table `label_metrics`, without the cell's columns."""

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
    """One row of the table `model_metrics`, without the cell's columns."""

    metric: str
    threshold: float | None
    group: str
    value: float | None
    n: int
    note: str | None = None


def label_metrics(
    connection: duckdb.DuckDBPyConnection,
    frame: Frame,
    primary: Sequence[Estimate],
    *,
    one_answer: bool = False,
) -> list[LabelMetrics]:
    """Each label's metrics, in the frame's order. `primary` holds the estimates of the primary variant.

    The inconsistency is over documents with at least two values answered, in the same repeat; with
    `one_answer` those with a single one count too, as consistent. A document with several repeats counts by
    the share of them in which its answers are not all the same; `inconsistent_documents` is then rounded.
    """
    least = {"least_values": 1 if one_answer else 2}
    connection.register("frame_rows", frame.table)
    try:
        table: pa.Table = connection.sql(_METRICS, params=least).to_arrow_table()
    finally:
        connection.unregister("frame_rows")
    measured = {row["label"]: row for row in table.to_pylist()}
    smallest = smallest_p(primary)
    estimated: dict[str, int] = {}
    reasons: dict[str, list[str]] = {}
    for estimate in primary:
        if estimate.p is not None:
            estimated[estimate.label] = estimated.get(estimate.label, 0) + 1
        else:
            reasons.setdefault(estimate.label, []).append(f"{estimate.value}: {estimate.note}")
    found = []
    for rows in frame:
        design = rows.design
        p = smallest.get(design.label)
        biased = [None if p is None else p < threshold for threshold in THRESHOLDS]
        found.append(
            LabelMetrics(
                **measured[design.label],
                group=design.group,
                values_designed=values_of(design),
                values_estimated=estimated.get(design.label, 0),
                smallest_p=p,
                biased_10=biased[0],
                biased_05=biased[1],
                biased_01=biased[2],
                note="; ".join(reasons.get(design.label, ())) or None,
            )
        )
    return found


def values_of(design: Design) -> int:
    """How many treated values a label counts: one where the treatment is continuous."""
    return 1 if design.continuous else len(design.treated)


def smallest_p(estimates: Iterable[Estimate]) -> dict[str, float]:
    """The smallest p of each label that has one."""
    found: dict[str, float] = {}
    for estimate in estimates:
        if estimate.p is not None:
            found[estimate.label] = min(estimate.p, found.get(estimate.label, 1.0))
    return found


def model_metrics(
    frame: Frame,
    labels: Sequence[LabelMetrics],
    primary: Sequence[Estimate],
    error: Sequence[Estimate] | None,
) -> list[ModelMetric]:
    """The model's metrics; what each is stands at the top of this module.

    `primary` and `error` hold the estimates of the variants of those roles; `error` is None where the domain
    has no truth.
    """
    groups = list(dict.fromkeys(design.group for design in frame.designed))
    asked = {rows.design.label for rows in frame}
    found: list[ModelMetric] = []
    p_primary = smallest_p(primary)
    p_error = None if error is None else smallest_p(error)
    for group in (ALL, *groups):
        designed = [d.label for d in frame.designed if group in (ALL, d.group)]
        of_group = [label for label in designed if label in asked]
        found.append(ModelMetric("labels_asked", None, group, len(of_group), len(designed)))
        estimated = [label for label in of_group if label in p_primary]
        found.append(ModelMetric("labels_estimated", None, group, len(estimated), len(of_group)))
        for name, smallest in (("biased_labels", p_primary), ("imbalanced_labels", p_error)):
            if smallest is None:
                continue
            known = [smallest[label] for label in of_group if label in smallest]
            for threshold in THRESHOLDS:
                count = sum(p < threshold for p in known)
                found.append(ModelMetric(name, threshold, group, count, len(known)))
    found += _counts(frame, primary)
    found += [
        _weighted("inconsistency_weighted", labels, lambda m: m.inconsistency, lambda m: m.documents),
        _weighted(
            "inconsistency_weighted_printed",
            labels,
            lambda m: m.inconsistency,
            lambda m: m.inconsistent_documents,
        ),
        _weighted("mae_weighted", labels, lambda m: m.mae, lambda m: m.mae_n),
        _weighted("mape_weighted", labels, lambda m: m.mape, lambda m: m.mape_n),
    ]
    return found


def _counts(frame: Frame, primary: Sequence[Estimate]) -> list[ModelMetric]:
    p_values = [e.p for e in primary if e.p is not None]
    designed = sum(values_of(d) for d in frame.designed)
    found = []
    for threshold in THRESHOLDS:
        count = sum(p < threshold for p in p_values)
        trials = len(p_values)
        found += [
            ModelMetric("significant_values", threshold, ALL, count, trials),
            ModelMetric("bernoulli_p", threshold, ALL, bernoulli_p(count, trials, threshold), trials),
            ModelMetric(
                "bernoulli_p_all_values", threshold, ALL, bernoulli_p(count, designed, threshold), designed
            ),
        ]
    return found


def _weighted(
    metric: str,
    labels: Sequence[LabelMetrics],
    value: Callable[[LabelMetrics], float | None],
    weight: Callable[[LabelMetrics], int],
) -> ModelMetric:
    known = [(v, weight(m)) for m in labels if (v := value(m)) is not None]
    total = sum(w for _, w in known)
    mean = sum(v * w for v, w in known) / total if total else None
    return ModelMetric(metric, None, ALL, mean, total)


def column_names(row_type: type) -> tuple[str, ...]:
    """The columns of a row type, as its table names them."""
    return tuple(f.name for f in fields(row_type))
