"""The analysis of a study: frames in, tables out.

Everything is computed first and written last, in one transaction that replaces the rows of what was
analysed, so that a reader never meets half an analysis and an interrupted one leaves the last whole one
in place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from analyze import frame as frames
from analyze import tables
from analyze.estimate import Engine, Estimate, estimate_label
from analyze.frame import Cell, HoldsConnection
from analyze.metrics import LabelMetrics, ModelMetric, label_metrics, model_metrics
from analyze.specification import Specifications, load

Progress = Callable[[str, int, int], None]
"""Called as progress(what, done, total)."""


@dataclass(slots=True)
class Timings:
    """Seconds, by kind of work."""

    sql: float = 0.0
    regressions: float = 0.0
    writing: float = 0.0


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found, as Arrow tables with the columns of the database's."""

    specifications: Specifications
    cells: tuple[Cell, ...]
    tables: dict[str, pa.Table]
    timings: Timings = field(default_factory=Timings)

    @property
    def estimates(self) -> pa.Table:
        """One row for each treated value of each label in each variant."""
        return self.tables["estimates"]

    @property
    def label_metrics(self) -> pa.Table:
        """One row for each label."""
        return self.tables["label_metrics"]

    @property
    def model_metrics(self) -> pa.Table:
        """One row for each metric of the model, threshold and group."""
        return self.tables["model_metrics"]


def run(
    study: HoldsConnection | duckdb.DuckDBPyConnection,
    specifications: Path | str | Specifications,
    *,
    codings: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    collections: Sequence[str] | None = None,
    engine: Engine = "pyfixest",
    progress: Progress | None = None,
) -> Analysis:
    """Analyse a study and put the results in its tables, in the place of earlier ones.

    Args:
        study: an open study, or a DuckDB connection to one, that has the analyzer's tables and the frame.
        specifications: what to estimate: a TOML file, or the same already loaded.
        codings: names of codings; all by default.
        models: names or keys of models; all by default.
        collections: all by default; each is analysed by itself.
        engine: what fits the regressions; the two agree to 1e-10.
        progress: called after each label.

    Raises BadInput for a specification, coding, model or collection that does not fit the study,
    RunFailed where the results cannot be written. A study without answers gives empty tables.
    """
    specs = specifications if isinstance(specifications, Specifications) else load(specifications)
    connection = frames.connection_of(study)
    timings = Timings()
    started = time.perf_counter()
    cells = frames.cells(connection, specs, codings=codings, models=models, collections=collections)
    timings.sql += time.perf_counter() - started
    estimates: list[tuple[Cell, Any]] = []
    labels: list[tuple[Cell, Any]] = []
    metrics: list[tuple[Cell, Any]] = []
    for cell in cells:
        found = _analyse(connection, specs, cell, engine=engine, progress=progress, timings=timings)
        estimates += [(cell, row) for row in found[0]]
        labels += [(cell, row) for row in found[1]]
        metrics += [(cell, row) for row in found[2]]
    started = time.perf_counter()
    results = {
        "estimates": tables.arrow(Estimate, estimates),
        "label_metrics": tables.arrow(LabelMetrics, labels),
        "model_metrics": tables.arrow(ModelMetric, metrics),
    }
    tables.replace(connection, results, cells, everything=not (codings or models or collections))
    timings.writing += time.perf_counter() - started
    return Analysis(specs, tuple(cells), results, timings)


def _analyse(
    connection: duckdb.DuckDBPyConnection,
    specs: Specifications,
    cell: Cell,
    *,
    engine: Engine,
    progress: Progress | None,
    timings: Timings,
) -> tuple[list[Estimate], list[LabelMetrics], list[ModelMetric]]:
    started = time.perf_counter()
    frame = frames.read(connection, specs, cell)
    timings.sql += time.perf_counter() - started
    started = time.perf_counter()
    chosen = specs.of_coding(cell.coding)
    estimates: list[Estimate] = []
    what = f"{cell.model}, {cell.collection}, {cell.coding}"
    for done, rows in enumerate(frame, 1):
        estimates += estimate_label(rows, chosen, engine)
        if progress is not None:
            progress(what, done, len(frame.labels))
    timings.regressions += time.perf_counter() - started
    started = time.perf_counter()
    primary = [e for e in estimates if e.variant == specs.frame.primary]
    has_error = any(s.name == specs.frame.error for s in chosen)
    error = [e for e in estimates if e.variant == specs.frame.error] if has_error else None
    labels = label_metrics(connection, frame, primary)
    metrics = model_metrics(frame, labels, primary, error)
    timings.sql += time.perf_counter() - started
    return estimates, labels, metrics
