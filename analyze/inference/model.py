"""All of the inference for one model's answers under one coding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from analyze.between_models.temperature import EFFECT, INCONSISTENCY, Measured
from analyze.counterfactual.frame import Frame, Ints
from analyze.counterfactual.metrics import ALL, ModelMetric
from analyze.findings.collect import AMOUNT_KIND, Collected, collect
from analyze.inference.class_effects import class_effects
from analyze.inference.family import global_tests, label_tests
from analyze.inference.flips import FlipResults, flip
from analyze.inference.imbalance import imbalance_tests
from analyze.inference.inconsistency import (
    PairCounts,
    inconsistency_tests,
    model_inconsistency,
    pair_counts,
)
from analyze.inference.missing import missing_tests
from analyze.inference.rows import (
    ClassEffect,
    GlobalTest,
    ImbalanceTest,
    InconsistencyTest,
    KindSwitch,
    LabelTest,
    MissingTest,
    NoiseFloor,
    ValueTest,
)
from analyze.inference.signs import Signs
from analyze.inference.values import Scored, score, value_tests, within_rejected
from analyze.specification import NOMINAL, Inference

_SWITCHES = (Path(__file__).parent / "switches.sql").read_text(encoding="utf-8")

ROWS: dict[str, type] = {
    "value_tests": ValueTest,
    "label_tests": LabelTest,
    "global_tests": GlobalTest,
    "kind_switches": KindSwitch,
    "class_effects": ClassEffect,
    "inconsistency_tests": InconsistencyTest,
    "noise_floors": NoiseFloor,
    "imbalance_tests": ImbalanceTest,
    "missing_tests": MissingTest,
}
"""The tables of the inference, and what their rows are."""


@dataclass(slots=True)
class ModelInference:
    """What was found: rows by table, metrics of the model, and the flips that families over models need."""

    values: list[ValueTest]
    labels: list[LabelTest]
    globals: list[GlobalTest]
    others: dict[str, Sequence[Any]]
    metrics: list[ModelMetric]
    flips: FlipResults
    measured: list[Measured]
    """By document, for comparisons between temperatures."""
    findings: Collected

    def tables(self) -> dict[str, Sequence[Any]]:
        """The rows by table."""
        return {
            "value_tests": self.values,
            "label_tests": self.labels,
            "global_tests": self.globals,
            **self.others,
        }


def infer(
    connection: duckdb.DuckDBPyConnection,
    frame: Frame,
    inference: Inference,
    signs: Signs,
    numbers: Ints,
    placebos: pa.Table,
    unit: str,
    kind: str = AMOUNT_KIND,
) -> ModelInference:
    """All tests of a frame, whose outcome is of this kind and in `unit`.

    Of a nominal outcome, whose numbers are codes, no test of an amount is made: the tests are those of the
    kind of answer, of missing answers, and of the share of each class.

    `numbers` are its documents' numbers among the signs (`Documents`), `placebos` its rows of
    `frame.read_placebos`.
    """
    nominal = kind in NOMINAL
    scored = _scored(frame, inference, nominal)
    results = flip([one.scores for one in scored if one.scores is not None], signs, numbers)
    labels = label_tests(scored, results)
    values = _unmeasured(scored) if nominal else _values(scored, results, inference, labels)
    connection.register("frame_rows", frame.table)
    connection.register("placebo_rows", placebos)
    try:
        pairs = pair_counts(connection, frame)
        metrics, floors = model_inconsistency(connection, pairs)
        switches = _switches(connection)
        missing = missing_tests(connection, frame, scored, inference)
    finally:
        connection.unregister("placebo_rows")
        connection.unregister("frame_rows")
    effects = class_effects(frame, inference)
    if kind == "classes":
        metrics.append(_hamming(effects))
    return ModelInference(
        values=[] if nominal else values,
        labels=[] if nominal else labels,
        globals=[] if nominal else global_tests(values, scored, results),
        others={
            "class_effects": effects,
            "kind_switches": switches,
            "inconsistency_tests": inconsistency_tests(pairs),
            "noise_floors": floors,
            "imbalance_tests": [row for rows in frame for row in imbalance_tests(rows, inference)],
            "missing_tests": missing,
        },
        metrics=metrics,
        flips=results,
        measured=_measured(frame, scored, pairs, numbers),
        findings=collect(
            scored, results, values, labels, inference, numbers=numbers, unit=unit, seed=signs.seed, kind=kind
        ),
    )


def measure(
    connection: duckdb.DuckDBPyConnection,
    frame: Frame,
    inference: Inference,
    numbers: Ints,
    placebos: pa.Table,
    kind: str = AMOUNT_KIND,
) -> list[Measured]:
    """What is compared between temperatures alone, for a frame that is not to be tested."""
    connection.register("frame_rows", frame.table)
    connection.register("placebo_rows", placebos)
    try:
        pairs = pair_counts(connection, frame)
    finally:
        connection.unregister("placebo_rows")
        connection.unregister("frame_rows")
    return _measured(frame, _scored(frame, inference, kind in NOMINAL), pairs, numbers)


def _scored(frame: Frame, inference: Inference, nominal: bool) -> list[Scored]:
    """The scores of each label; codes of classes have none."""
    scored = [score(rows, inference) for rows in frame]
    return [replace(one, scores=None) for one in scored] if nominal else scored


def _unmeasured(scored: Sequence[Scored]) -> list[ValueTest]:
    """The treated values of an outcome without amounts."""
    return [
        ValueTest(label=one.rows.design.label, value=name, n=len(one.rows), documents=one.documents)
        for one in scored
        for name in one.rows.design.estimated
    ]


def _hamming(effects: Sequence[ClassEffect]) -> ModelMetric:
    """The mean Hamming share over the model's pairs of an answer under a value and one under the
    reference."""
    of_values = {(row.label, row.value): (row.hamming, row.n_compared) for row in effects}
    pairs = sum(n for _, n in of_values.values())
    mean = sum(share * n for share, n in of_values.values()) / pairs / 100 if pairs else None
    return ModelMetric(
        "hamming_share", None, ALL, mean, pairs, "mean share of classes on which two answers differ"
    )


def _measured(
    frame: Frame, scored: Sequence[Scored], pairs: Sequence[PairCounts], numbers: Ints
) -> list[Measured]:
    found: list[Measured] = []
    for one in scored:
        for value in one.scores.values if one.scores is not None else ():
            # Of a dose, as in the other tables, the effect of one unit.
            amounts = value.slopes if one.rows.design.continuous else value.difference
            known = np.isfinite(amounts)
            at = numbers[value.doc[known]]
            found.append(Measured(value.label, value.value, EFFECT, at, amounts[known]))
    code = {document: i for i, document in enumerate(frame.documents)}
    for of_label in pairs:
        known = of_label.counts[:, 0] > 0
        documents = numbers[[code[document] for document in of_label.documents]]
        shares = of_label.counts[known, 1] / of_label.counts[known, 0]
        found.append(Measured(of_label.label, "", INCONSISTENCY, documents[known], shares))
    return found


def _values(
    scored: Sequence[Scored], results: FlipResults, inference: Inference, labels: Sequence[LabelTest]
) -> list[ValueTest]:
    found: list[ValueTest] = []
    at = 0
    for one, label in zip(scored, labels, strict=True):
        count = 0 if one.scores is None else len(one.scores.values)
        tests = value_tests(one, results.values[at : at + count], inference)
        found += within_rejected(tests, bool(label.rejected))
        at += count
    return found


def _switches(connection: duckdb.DuckDBPyConnection) -> list[KindSwitch]:
    table: pa.Table = connection.sql(_SWITCHES).to_arrow_table()
    return [KindSwitch(**row) for row in table.to_pylist()]


class Documents:
    """Numbers documents of a collection in the order in which models bring them up."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def numbers(self, frame: Frame) -> Ints:
        """The numbers of a frame's document codes."""
        collection = frame.cell.collection
        return np.array(
            [self._numbers.setdefault((collection, doc), len(self._numbers)) for doc in frame.documents],
            dtype=np.int64,
        )
