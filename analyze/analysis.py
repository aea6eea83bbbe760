"""The analysis of a study: frames in, tables out.

Everything is computed first and written last, in one transaction that replaces the rows of what was analysed,
so that a reader never meets half an analysis and an interrupted one leaves the last whole one in place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from analyze.between_models import configurations, families
from analyze.between_models.attributes import Attributes, load_attributes
from analyze.between_models.rows import BODY_KEY, MODEL_KEY, Body, OneModel
from analyze.between_models.run import across, temperatures
from analyze.between_models.temperature import Measured
from analyze.counterfactual import frame as frames
from analyze.counterfactual.estimate import Engine, Estimate, deviation, estimate_label
from analyze.counterfactual.frame import CELL_KEY, Cell, Frame, HoldsConnection, LabelRows
from analyze.counterfactual.metrics import ALL, LabelMetrics, ModelMetric, label_metrics, model_metrics
from analyze.findings import FindingRow
from analyze.findings.settle import settle
from analyze.findings.shared import SharedEffect
from analyze.inference import model as inferences
from analyze.inference.family import global_over_models, over_models
from analyze.inference.model import Documents, ModelInference
from analyze.inference.signs import Signs
from analyze.specification import Specification, Specifications, load
from analyze.stored import losses, tables
from analyze.stored import staleness as freshness
from store.errors import BadInput, RunFailed
from store.identity import BASE_ARM

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]
"""Called as progress(what, done, total)."""

TOLERANCE = 1e-8
"""How far apart the two engines may be, as a share of the estimate; rounding keeps them within 1e-10."""


class Timings(dict[str, float]):
    """Seconds, by kind of work: sql, regressions, audit, inference, writing."""

    @contextmanager
    def of(self, kind: str) -> Iterator[None]:
        """Add the time that the block takes."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self[kind] = self.get(kind, 0.0) + time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found, as Arrow tables with the columns of the database's."""

    specifications: tuple[Specifications, ...]
    """One for each outcome."""
    cells: tuple[Cell, ...]
    tables: dict[str, pa.Table]
    timings: Timings = field(default_factory=Timings)
    removed: tuple[Cell, ...] = ()
    """What was analysed once and went, as none of its answers counts any more."""

    def pandas(self, name: str) -> pd.DataFrame:
        """A table as a pandas data frame; nullable, so that missing integers stay integers."""
        import pandas as pd  # noqa: PLC0415  (a second of import that most callers do not need)

        frame: pd.DataFrame = self.tables[name].to_pandas(types_mapper=pd.ArrowDtype)
        return frame

    @property
    def estimates(self) -> pa.Table:
        """One row for each treated value of each label in each variant."""
        return self.tables["estimates"]

    @property
    def label_metrics(self) -> pa.Table:
        """One row for each label."""
        return self.tables["label_metrics"]

    @property
    def value_tests(self) -> pa.Table:
        """One row for each treated value: sign flips, other scales, equivalence. The primary outcome."""
        return self.tables["value_tests"]

    @property
    def label_tests(self) -> pa.Table:
        """One row for each label: the joint test, and what it is worth among many."""
        return self.tables["label_tests"]

    @property
    def global_tests(self) -> pa.Table:
        """The tests of the number of significant values and labels."""
        return self.tables["global_tests"]

    @property
    def findings(self) -> pa.Table:
        """What may be said: each label, its confirmatory tests, and each value in them, with their state."""
        return self.tables["findings"]

    @property
    def model_metrics(self) -> pa.Table:
        """One row for each metric of the model, threshold and group."""
        return self.tables["model_metrics"]


@dataclass(frozen=True, slots=True)
class Options:
    """How an analysis is done; see `run`."""

    engine: Engine
    audit: bool
    inference: bool
    signs: Signs
    progress: Progress | None


ROWS: dict[str, type] = {
    "estimates": Estimate,
    "label_metrics": LabelMetrics,
    "model_metrics": ModelMetric,
    **inferences.ROWS,
    "findings": FindingRow,
}
"""The tables of results, and what their rows are."""

ALL_MODELS = "all models"
"""Stands for the model where a test is about all of the analysis's models together."""


def run(
    study: HoldsConnection | duckdb.DuckDBPyConnection,
    specifications: Path | str | Specifications | Sequence[Specifications],
    *,
    codings: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    collections: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    engine: Engine = "numpy",
    audit: bool = True,
    inference: bool = True,
    draws: int = 99_999,
    seed: int = 2026,
    attributes: Path | str | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Analyse a study and put the results in its tables, in the place of earlier ones.

    Args:
        study: an open study, or a DuckDB connection to one, that has the analyzer's tables and the frame.
        specifications: what to estimate: a TOML file, or the same already loaded; of a domain with several
            outcomes, one for each outcome that is analysed. All outcomes of an answer are one family of
            confirmatory tests.
        codings: names of codings; all by default.
        models: names or keys of models; all by default.
        collections: all by default; each is analysed by itself.
        arms: wordings of the instructions; all that have answers by default, each analysed by itself.
        engine: what fits the regressions, "numpy" or "pyfixest".
        audit: with numpy, fit every label's primary variant by pyfixest too, and keep the largest deviation.
        inference: run the tests of [inference], under the codings that it names.
        draws: of signs, where not all patterns are gone through.
        seed: of the draws.
        attributes: a TOML file of models' attributes, to hold against metrics
            (`analyze.between_models.attributes`).
        progress: called after each label.

    Raises BadInput for a specification, coding, model, collection or arm that does not fit the study,
    RunFailed where the results cannot be written or the engines disagree. Where nothing is left to analyse,
    the result is empty and the stored tables stay as they are. Nothing is removed that cannot be computed
    anew (`analyze.stored.losses`): `Analysis.removed` says what went, as none of its answers counts any more.
    """
    for name, chosen in (("coding", codings), ("model", models), ("collection", collections), ("arm", arms)):
        if chosen is not None and not chosen:
            raise BadInput(f"no {name} is named", hint="Leave the choice out to take all.")
    by_outcome = _by_outcome(specifications)
    connection = frames.connection_of(study)
    timings = Timings()
    options = Options(engine, audit, inference, Signs(draws, seed), progress)
    known = Attributes() if attributes is None else load_attributes(attributes)
    with timings.of("sql"):
        in_a_study = freshness.in_a_study(connection)
        cells: list[Cell] = []
        removed: list[Cell] = []
        for specs in by_outcome.values():
            cells += (
                own := frames.cells(
                    connection, specs, codings=codings, models=models, collections=collections, arms=arms
                )
            )
            if own and in_a_study and not (models or collections or arms):
                removed += losses.gone(connection, codings or specs.coding_names(), specs.outcome)
        noted = freshness.note(connection, cells)
    found: dict[str, list[tuple[Cell, Any]]] = {name: [] for name in ROWS}
    inferred: list[tuple[Cell, ModelInference]] = []
    documents = Documents()
    for cell in cells:
        rows, tests = _analyse(connection, by_outcome[cell.outcome], cell, options, documents, timings)
        for name, of_table in rows.items():
            found[name] += [(cell, row) for row in of_table]
        if tests is not None:
            inferred.append((cell, tests))
    with timings.of("inference"):
        for cell, name, row in _inferred(inferred):
            found[name].append((cell, row))
        for cell, tests in inferred:
            found["findings"] += [(cell, row) for row in tests.findings.rows]
        measured = [(cell, tests.measured) for cell, tests in inferred]
        for specs in by_outcome.values():
            for cell in _partners(connection, specs, [cell for cell, _ in inferred]):
                measured.append((cell, _measure(connection, specs, cell, documents)))
        settings = configurations.read(connection)
        pairs = {"temperature_tests": temperatures(measured, options.signs, settings)}
    with timings.of("writing"):
        results = {name: tables.arrow(Cell, kind, found[name]) for name, kind in ROWS.items()}
        results["analyses"] = tables.arrow(Cell, freshness.Analysed, noted)
        replaced = [*cells, *removed]
        together = [*dict.fromkeys(_all_models(cell) for cell in replaced)]
        bodies = [*dict.fromkeys(Body.of(cell) for cell in replaced)]
        designs = {
            body: frames.read_designs(connection, by_outcome[body.outcome], body.coding) for body in bodies
        }
        models_done = [*dict.fromkeys(OneModel.of(cell) for cell in replaced)]
        if in_a_study:
            losses.refuse(connection, cells, results)
        with tables.transaction(connection):
            tables.replace(connection, results, [*replaced, *together], CELL_KEY)
            for outcome, specs in by_outcome.items():
                doses = {
                    design.label
                    for body, of_coding in designs.items()
                    for design in of_coding
                    if body.outcome == outcome and design.continuous and not design.treated
                }
                tables.rename_doses(connection, doses, specs.frame.dose_name, outcome)
            if families.renew(connection, bodies, cells, ALL_MODELS):
                renewed = ("label_tests", "global_tests")
                results |= tables.stored(connection, results, renewed, [*cells, *together], CELL_KEY)
            moves = {cell: tests.findings.moves for cell, tests in inferred}
            shared = {"shared_effects": tables.arrow(Body, SharedEffect, settle(connection, bodies, moves))}
            tables.replace(connection, shared, bodies, BODY_KEY)
            results |= tables.stored(connection, results, ("findings",), cells, CELL_KEY)
            over = across(connection, bodies, designs, known)
            tables.replace(connection, over, bodies, BODY_KEY)
            tables.replace(connection, pairs, models_done, MODEL_KEY)
    analysed = tuple(by_outcome.values())
    return Analysis(analysed, tuple(cells), results | over | pairs | shared, timings, tuple(removed))


def _by_outcome(
    given: Path | str | Specifications | Sequence[Specifications],
) -> dict[str, Specifications]:
    """The specifications by their outcomes. Raises BadInput where there are none, or two of one outcome."""
    if isinstance(given, Path | str):
        given = load(given)
    every = [given] if isinstance(given, Specifications) else [*given]
    if not every:
        raise BadInput("no outcome is named", hint="Give the specifications of at least one.")
    found: dict[str, Specifications] = {}
    for specs in every:
        if specs.outcome in found:
            raise BadInput(
                f"{found[specs.outcome].path} and {specs.path} are both about the outcome {specs.outcome!r}",
                hint="Give one of them, or name the outcome of each (`outcome = ...`).",
            )
        found[specs.outcome] = specs
    return found


def _partners(
    connection: duckdb.DuckDBPyConnection, specs: Specifications, inferred: Sequence[Cell]
) -> list[Cell]:
    """The same models at other temperatures, answered under the same coding and not analysed now."""
    models = {OneModel.of(cell) for cell in inferred if cell.temperature is not None}
    return [
        cell
        for cell in frames.cells(connection, specs)
        if cell not in inferred and cell.temperature is not None and OneModel.of(cell) in models
    ]


def _analyse(
    connection: duckdb.DuckDBPyConnection,
    specs: Specifications,
    cell: Cell,
    options: Options,
    documents: Documents,
    timings: Timings,
) -> tuple[dict[str, Sequence[Any]], ModelInference | None]:
    """The rows of one cell by table, and its inference, which is completed when all models are there."""
    with timings.of("sql"):
        frame = frames.read(connection, specs, cell)
    chosen = specs.of_coding(cell.coding)
    with timings.of("regressions"):
        estimates = _estimates(frame, chosen, options)
    primary = [e for e in estimates if e.variant == specs.frame.primary]
    has_error = any(s.name == specs.frame.error for s in chosen)
    error = [e for e in estimates if e.variant == specs.frame.error] if has_error else None
    with timings.of("sql"):
        one_answer = cell.coding in specs.metrics.inconsistency.one_answer
        labels = label_metrics(connection, frame, primary, one_answer=one_answer)
        metrics = model_metrics(frame, labels, primary, error)
    if options.audit and options.engine == "numpy":
        with timings.of("audit"):
            fitted = _fitted(chosen, specs.frame.primary)
            names = {s.name for s in fitted}
            metrics.append(_audit(frame, fitted, [e for e in estimates if e.variant in names]))
    tests = None
    if options.inference and specs.inference is not None and cell.coding in specs.inference.codings:
        with timings.of("inference"):
            numbers = documents.numbers(frame)
            placebos = frames.read_placebos(connection, specs, cell)
            tests = inferences.infer(
                connection,
                frame,
                specs.inference,
                options.signs,
                numbers,
                placebos,
                specs.frame.unit,
                specs.kind,
            )
            metrics += tests.metrics
    return {"estimates": estimates, "label_metrics": labels, "model_metrics": metrics}, tests


def _fitted(chosen: Sequence[Specification], primary: str) -> list[Specification]:
    """The primary variant, or the regressions among which it chooses."""
    wanted = {name for s in chosen if s.name == primary for name in (s.smallest_of or (s.name,))}
    return [s for s in chosen if s.name in wanted]


def _measure(
    connection: duckdb.DuckDBPyConnection, specs: Specifications, cell: Cell, documents: Documents
) -> list[Measured]:
    assert specs.inference is not None
    frame = frames.read(connection, specs, cell)
    placebos = frames.read_placebos(connection, specs, cell)
    return inferences.measure(
        connection, frame, specs.inference, documents.numbers(frame), placebos, specs.kind
    )


def _inferred(inferred: Sequence[tuple[Cell, ModelInference]]) -> Iterator[tuple[Cell, str, Any]]:
    """The rows of the inference, with the families over the models of a collection."""
    groups: dict[Cell, list[tuple[Cell, ModelInference]]] = {}
    for cell, tests in inferred:
        groups.setdefault(_all_models(cell), []).append((cell, tests))
    for together, members in groups.items():
        if len(members) > 1:
            flips = [tests.flips for _, tests in members]
            new = over_models([tests.labels for _, tests in members], flips)
            for (_, tests), labels in zip(members, new, strict=True):
                tests.labels = labels
            for row in global_over_models([tests.globals for _, tests in members], flips):
                yield together, "global_tests", row
        for cell, tests in members:
            for name, rows in tests.tables().items():
                for row in rows:
                    yield cell, name, row


def _all_models(cell: Cell) -> Cell:
    return replace(cell, model=ALL_MODELS, model_key=ALL_MODELS, temperature=None)


def _estimates(frame: Frame, chosen: Sequence[Specification], options: Options) -> list[Estimate]:
    cell = frame.cell
    arm = "" if cell.arm == BASE_ARM else f", arm {cell.arm}"
    what = f"{cell.model}, {cell.collection}, {cell.coding}{arm}"
    estimates: list[Estimate] = []
    for done, rows in enumerate(frame, 1):
        estimates += estimate_label(rows, chosen, options.engine)
        if options.progress is not None:
            options.progress(what, done, len(frame.labels))
    return estimates


def _audit(frame: Frame, primary: Sequence[Specification], ours: Sequence[Estimate]) -> ModelMetric:
    """How far the primary variant's estimates are from pyfixest's, at most."""
    compared = [apart for rows in frame if (apart := _apart(rows, primary, ours)) is not None]
    return ModelMetric("deviation_from_pyfixest", None, ALL, max(compared, default=None), len(compared))


def _apart(rows: LabelRows, primary: Sequence[Specification], ours: Sequence[Estimate]) -> float | None:
    label = rows.design.label
    theirs = estimate_label(rows, primary, "pyfixest")
    apart = deviation([e for e in ours if e.label == label], theirs)
    if apart is not None and apart > TOLERANCE:
        raise RunFailed(
            f"the estimates of {label} differ from pyfixest's by {apart:.1e} of their size",
            hint="This is a defect of Evenhand: please report it. engine='pyfixest' fits all by pyfixest.",
        )
    return apart
