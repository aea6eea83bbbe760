"""One coding held against another: figure by figure, label by label, headline by headline, with the reason.

Made for published results: what was printed, what the published rules give when they are followed again,
and what a sound coding of the same answers gives. It reads the tables of estimates, so both codings must
have been analysed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from analyze.between_models import configurations
from analyze.between_models.configurations import Configuration
from analyze.compare import naming
from analyze.compare.decomposition import middles, renamed
from analyze.compare.printed import Printed, read_printed
from analyze.compare.reasons import Misnamed, label_row, metric_row, value_row
from analyze.compare.rows import PAIR_KEY, ROWS, Pair, Unmatched
from analyze.counterfactual import frame as frames
from analyze.counterfactual.frame import Cell, HoldsConnection
from analyze.inference.bernoulli import THRESHOLDS
from analyze.specification import Specifications, load
from analyze.stored import tables
from store.errors import BadInput

_HERE = Path(__file__).parent
_PAIRS = (_HERE / "pairs.sql").read_text(encoding="utf-8")
_VALUES = (_HERE / "values.sql").read_text(encoding="utf-8")
_LABELS = (_HERE / "labels.sql").read_text(encoding="utf-8")
_METRICS = (_HERE / "metrics.sql").read_text(encoding="utf-8")
_BEFORE = ("before_coef", "before_n", "before_note")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, as Arrow tables with the columns of the database's."""

    pairs: tuple[Pair, ...]
    tables: dict[str, pa.Table]
    names: Mapping[tuple[str, str, str], str]
    """By collection, key and arm, what each model is called, its settings where they tell it apart."""

    @property
    def values(self) -> pa.Table:
        """One row for each label, value and variant that either coding has."""
        return self.tables["comparison_values"]

    @property
    def labels(self) -> pa.Table:
        """One row for each label and threshold: whether significance is lost, gained or kept."""
        return self.tables["comparison_labels"]

    @property
    def metrics(self) -> pa.Table:
        """One row for each metric of the model."""
        return self.tables["comparison_metrics"]

    @property
    def unmatched(self) -> pa.Table:
        """Lines of the file of printed figures that nothing in the study answers to."""
        return self.tables["comparison_unmatched"]


def compare(
    study: HoldsConnection | duckdb.DuckDBPyConnection,
    specifications: Path | str | Specifications,
    *,
    before: str = "published",
    after: str = "corrected",
    models: Sequence[str] | None = None,
    printed: Path | str | None = None,
) -> Comparison:
    """Hold coding `before` against coding `after` and keep the result in the tables `comparison_*`.

    Args:
        study: an open study, or a DuckDB connection to one, analysed under both codings.
        specifications: the file that it was analysed by.
        before: the coding that is compared.
        after: the coding that it is held against.
        models: names or keys of models; all that were analysed under both codings by default.
        printed: a file of printed figures (`analyze.printed`) of one model.

    Raises BadInput where no model was analysed under both codings, or a file of printed figures is given for
    more than one.
    """
    specs = specifications if isinstance(specifications, Specifications) else load(specifications)
    connection = frames.connection_of(study)
    pairs = [
        Pair(*row)
        for row in connection.execute(
            _PAIRS, {"before": before, "after": after, "outcome": specs.outcome}
        ).fetchall()
        if models is None or row[1] in models or row[2] in models
    ]
    if not pairs:
        raise BadInput(
            f"no model was analysed under both codings, {before} and {after}",
            hint="Analyse the study under both codings first.",
        )
    names = _names(connection, pairs)
    figures: list[Printed] = []
    if printed is not None:
        figures = read_printed(printed)
        if len(pairs) > 1:
            raise BadInput(
                f"{printed} has the figures of one model, and the study has {len(pairs)}",
                hint="Name the model: "
                + "; ".join(f"{names[p.collection, p.model_key, p.arm]} ({p.model_key})" for p in pairs)
                + ".",
            )
    found: dict[str, list[tuple[Pair, Any]]] = {name: [] for name in ROWS}
    for pair in pairs:
        for name, rows in _compare(connection, specs, pair, figures).items():
            found[name] += [(pair, row) for row in rows]
    results = {name: tables.arrow(Pair, kind, found[name]) for name, kind in ROWS.items()}
    with tables.transaction(connection):
        tables.replace(connection, results, pairs, PAIR_KEY)
    return Comparison(tuple(pairs), results, names)


def _names(connection: duckdb.DuckDBPyConnection, pairs: Sequence[Pair]) -> dict[tuple[str, str, str], str]:
    settings = configurations.read(connection)
    asked = [
        Configuration(p.collection, p.model_key, p.model, p.temperature, settings.get(p.model_key, {}), p.arm)
        for p in pairs
    ]
    return {
        (p.collection, p.model_key, p.arm): called.name
        for p, called in zip(pairs, configurations.called(asked), strict=True)
    }


def _compare(
    connection: duckdb.DuckDBPyConnection, specs: Specifications, pair: Pair, figures: Sequence[Printed]
) -> dict[str, Sequence[Any]]:
    parameters = {
        "collection": pair.collection,
        "model_key": pair.model_key,
        "before": pair.before,
        "after": pair.after,
        "arm": pair.arm,
        "outcome": pair.outcome,
    }
    rows = _dicts(connection, _VALUES, parameters)
    called = naming.read(connection, specs.frame, pair.before)
    notes = {row["label"]: row["note"] for row in called if row["note"]}
    estimated = {(row["label"], row["value"], row["variant"]) for row in rows}
    printed, unmatched = _placed(naming.Names(called, estimated), figures)
    cell = Cell(
        *(pair.collection, pair.model, pair.temperature, pair.model_key),
        *(pair.after, pair.arm, pair.outcome),
    )
    variants = (specs.frame.primary, specs.frame.level)
    under = renamed(connection, specs, cell, pair.before)
    between = middles(connection, specs, cell, pair.before, variants, under)
    misnamed = _misnamed(rows, under)
    values = [
        value_row(row, between.get(key), printed.get(key), notes.get(row["label"]), misnamed.get(key))
        for row in rows
        if (key := (row["label"], row["value"], row["variant"]))
    ]
    primary = [v for v in values if v.variant == specs.frame.primary]
    labels = [
        label_row(
            row,
            threshold,
            [v for v in primary if v.label == row["label"]],
            {
                value: found
                for (label, value, variant), found in misnamed.items()
                if (label, variant) == (row["label"], specs.frame.primary)
            },
            notes.get(row["label"]),
        )
        for row in _dicts(connection, _LABELS, parameters)
        for threshold in THRESHOLDS
    ]
    metrics = [metric_row(row, labels) for row in _dicts(connection, _METRICS, parameters)]
    return {
        "comparison_values": values,
        "comparison_labels": labels,
        "comparison_metrics": metrics,
        "comparison_unmatched": unmatched,
    }


def _misnamed(
    rows: Sequence[Mapping[str, Any]], under: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str, str], Misnamed]:
    """The values whose names the coding before gives to others, with where their own estimates stand."""
    at = {(row["label"], row["value"], row["variant"]): row for row in rows}
    names = {(label, value): name for (label, name), value in under.items()}
    found = {}
    for (label, value, variant), row in at.items():
        name, asked = names.get((label, value)), under.get((label, value))
        own = at.get((label, name, variant), {}) if name else {}
        # A variant that the coding before does not have has no figure under a wrong name.
        if (name or asked) and any(r.get(key) is not None for r in (row, own) for key in _BEFORE):
            found[label, value, variant] = Misnamed(asked, name, own)
    return found


def _dicts(
    connection: duckdb.DuckDBPyConnection, statement: str, parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    table: pa.Table = connection.sql(statement, params=dict(parameters)).to_arrow_table()
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _placed(
    names: naming.Names, figures: Sequence[Printed]
) -> tuple[dict[tuple[str, str, str], Printed], list[Unmatched]]:
    """The printed figures by the study's label, value and variant, and those that have no place."""
    printed: dict[tuple[str, str, str], Printed] = {}
    unmatched: list[Unmatched] = []
    for figure in figures:
        key, note = names.find(figure.label, figure.value, figure.variant)
        if key in printed:
            note = f"the file has this figure already, in line {printed[key].line}"
        elif key is not None:
            printed[key] = figure
            continue
        unmatched.append(Unmatched(figure.line, figure.label, figure.value, figure.variant, note))
    return printed, unmatched
