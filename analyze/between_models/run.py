"""The tables over models, from the tables of the models.

They speak of all models in the database, not only of those analysed last. Temperatures alone need the answers
themselves: the pairs of the models analysed are compared anew, those of other models stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from analyze.between_models import configurations
from analyze.between_models.attributes import TOO_FEW, Attributes, attribute_tests, written
from analyze.between_models.ranks import PERFECT, spearman
from analyze.between_models.rows import (
    AttributeTest,
    Body,
    CountOverModels,
    MetricCorrelation,
    ModelAttribute,
    OneModel,
    StructureTest,
    TemperatureTest,
)
from analyze.between_models.structure import LabelShare, structure_tests
from analyze.between_models.temperature import Measured, temperature_tests
from analyze.counterfactual.frame import Cell, Design
from analyze.inference.bernoulli import bernoulli_p
from analyze.inference.multiplicity import holm
from analyze.inference.signs import Signs
from analyze.stored import tables

_HERE = Path(__file__).parent
_LABELS = (_HERE / "labels.sql").read_text(encoding="utf-8")
_SUMMARY = (_HERE / "summary.sql").read_text(encoding="utf-8")
_COUNTS = (_HERE / "counts.sql").read_text(encoding="utf-8")

ROWS: dict[str, type] = {
    "structure_tests": StructureTest,
    "metric_correlations": MetricCorrelation,
    "attribute_tests": AttributeTest,
    "model_attributes": ModelAttribute,
    "counts_over_models": CountOverModels,
}
METRICS = ("inconsistency", "biased", "mae", "mape", "imbalanced")
MECHANICAL = {("biased", "imbalanced"), ("mae", "mape")}
"""Pairs that measure the same answers in nearly the same way: an error is a distance of the answer."""


def across(
    connection: duckdb.DuckDBPyConnection,
    bodies: Sequence[Body],
    designs: Mapping[Body, Sequence[Design]],
    attributes: Attributes,
) -> dict[str, pa.Table]:
    """The rows of all tables over models for `bodies`, by table.

    Args:
        connection: to a database whose tables of models are up to date.
        bodies: the collections, codings, arms and outcomes that were analysed.
        designs: by body, the labels.
        attributes: what is known of models.
    """
    found: dict[str, list[tuple[Body, Any]]] = {name: [] for name in ROWS}
    for body in bodies:
        key = body.key()
        shares = _dicts(connection, _LABELS, key)
        summary = _dicts(connection, _SUMMARY, key)
        rows: dict[str, Sequence[Any]] = {
            "structure_tests": _structure(shares, designs.get(body, ())),
            "metric_correlations": _correlations(summary),
            "attribute_tests": attribute_tests(attributes, _by_metric(summary)),
            "model_attributes": _known(summary, attributes),
            "counts_over_models": [
                CountOverModels(
                    **row, bernoulli_p=bernoulli_p(row["significant"], row["trials"], row["threshold"])
                )
                for row in _dicts(connection, _COUNTS, key)
            ],
        }
        for name, of_table in rows.items():
            found[name] += [(body, row) for row in of_table]
    return {name: tables.arrow(Body, kind, found[name]) for name, kind in ROWS.items()}


def _dicts(
    connection: duckdb.DuckDBPyConnection, statement: str, parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    table: pa.Table = connection.sql(statement, params=dict(parameters)).to_arrow_table()
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _structure(shares: Sequence[Mapping[str, Any]], designs: Sequence[Design]) -> list[StructureTest]:
    design = {d.label: d for d in designs}
    models = max((row["models"] for row in shares), default=0)
    found: list[StructureTest] = []
    for threshold, column in ((0.1, "share_10"), (0.05, "share_05")):
        labels = [
            LabelShare(
                label=row["label"],
                group=row["group"],
                demographic=design[row["label"]].demographic if row["label"] in design else None,
                role=design[row["label"]].role if row["label"] in design else None,
                values=row["values"],
                share=row[column],
            )
            for row in shares
        ]
        found += structure_tests(labels, threshold, models)
    return found


def _by_metric(summary: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    return {
        metric: {row["model"]: float(row[metric]) for row in summary if row[metric] is not None}
        for metric in METRICS
    }


def _known(summary: Sequence[Mapping[str, Any]], attributes: Attributes) -> list[ModelAttribute]:
    return [
        ModelAttribute(row["model"], listed.names[0], name, written(value))
        for row in summary
        if (listed := attributes.of(row["model"])) is not None
        for name, value in listed.attributes.items()
    ]


def _correlations(summary: Sequence[Mapping[str, Any]]) -> list[MetricCorrelation]:
    by_metric = _by_metric(summary)
    found: list[MetricCorrelation] = []
    for first, second in combinations(METRICS, 2):
        models = [m for m in by_metric[first] if m in by_metric[second]]
        x = np.array([by_metric[first][m] for m in models])
        y = np.array([by_metric[second][m] for m in models])
        result = spearman(x, y)
        found.append(
            MetricCorrelation(
                first=first,
                second=second,
                models=len(models),
                rho=None if result is None else result.rho,
                low=None if result is None else result.low,
                high=None if result is None else result.high,
                p=None if result is None else result.p,
                holm_p=None,
                mechanical=(first, second) in MECHANICAL,
                permutations=None if result is None else result.permutations,
                note=TOO_FEW if result is None else None if result.low is not None else PERFECT,
            )
        )
    return _with_holm(found)


def _with_holm(rows: Sequence[MetricCorrelation]) -> list[MetricCorrelation]:
    at = [i for i, row in enumerate(rows) if row.p is not None and not row.mechanical]
    adjusted = holm(np.array([rows[i].p for i in at], dtype=np.float64))
    found = list(rows)
    for i, p in zip(at, adjusted, strict=True):
        found[i] = replace(found[i], holm_p=float(p))
    return found


def temperatures(
    measured: Sequence[tuple[Cell, Sequence[Measured]]],
    signs: Signs,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> pa.Table:
    """The rows of `temperature_tests`.

    `measured` has every answer to be held against another, `signs` are shared with the models' own tests.
    `settings`, by key, tell apart the configurations of a model that were asked at one temperature.
    """
    models: dict[OneModel, list[tuple[Cell, Sequence[Measured]]]] = {}
    for cell, amounts in measured:
        if cell.temperature is not None:
            models.setdefault(OneModel.of(cell), []).append((cell, amounts))
    found: list[tuple[Body, TemperatureTest]] = []
    for one, cells in models.items():
        at = sorted(
            ((c.temperature or 0.0, c.model_key, amounts) for c, amounts in cells), key=lambda a: a[:2]
        )
        ambiguous = len({temperature for temperature, _, _ in at}) < len(at)
        names = configurations.told([(settings or {}).get(key, {}) for _, key, _ in at])
        called = {key: name or key[:6] for (_, key, _), name in zip(at, names, strict=True)}
        for (low, low_key, lower), (high, high_key, higher) in combinations(at, 2):
            if low == high:
                continue
            told = f"settings: {called[low_key]} and {called[high_key]}" if ambiguous else None
            for row in temperature_tests(one.model, (low, lower), (high, higher), signs):
                note = "; ".join(part for part in (row.note, told) if part) or None
                keyed = replace(row, lower_key=low_key, higher_key=high_key, note=note)
                found.append((one.body, keyed))
    return tables.arrow(Body, TemperatureTest, found)
