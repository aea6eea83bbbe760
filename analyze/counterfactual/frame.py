"""The frame of one model under one coding, read from the database once and kept as arrays.

Every outcome, sample and cluster that the specifications name is evaluated by DuckDB in a single pass. What
comes back is sorted by label, document, value and repeat, so that a label is a slice and sums do not depend
on the order in which the database happened to return rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analyze.specification import UNNAMED_DOSE, UNNAMED_OUTCOME, Specification, Specifications
from store.errors import BadInput
from store.identity import BASE_ARM

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CELL_KEY = ("collection", "model_key", "coding", "arm", "outcome")
"""What the keys of all tables of results begin with."""

REFERENCE = 0
"""`treat` of a row that holds the reference value; treated values count from 1 in the design's order."""
UNLISTED = -1
"""`treat` of a row whose value the design names neither reference nor treated."""
CODED = ("value", "kind", "missing", "declined", "converted", "carrier")
"""Columns of texts that a label's rows keep."""
TRUE = "true"
"""How the database writes a condition that holds as a text."""

_CELLS = (Path(__file__).parent / "cells.sql").read_text(encoding="utf-8")
_PLACEBOS = (Path(__file__).parent / "placebos.sql").read_text(encoding="utf-8")
_DESIGNS = (Path(__file__).parent / "designs.sql").read_text(encoding="utf-8")


class HoldsConnection(Protocol):
    """Whatever holds an open database, such as a study."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The open connection."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """What is analysed as one: one outcome of a model's answers to a collection, in one arm, under a coding.

    Nothing is ever estimated over two of them.
    """

    collection: str
    model: str
    temperature: float | None
    model_key: str
    coding: str
    arm: str = BASE_ARM
    """The wording of the instructions."""
    outcome: str = UNNAMED_OUTCOME


@dataclass(frozen=True, slots=True)
class Design:
    """What a label varies."""

    label: str
    group: str
    demographic: bool | None
    role: str | None
    continuous: bool
    reference: tuple[str, ...]
    treated: tuple[str, ...]
    dose_name: str = UNNAMED_DOSE

    @property
    def estimated(self) -> tuple[str, ...]:
        """What the label's estimates go by: its treated values.

        A continuous label has one estimate, which goes by the last value that the design has, if any.
        """
        if not self.continuous:
            return self.treated
        return (self.treated or (self.dose_name,))[-1:]


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of texts: codes, -1 where null, and what they stand for."""

    codes: Ints
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelRows:
    """One label's rows: arrays of equal length, sorted by document, value and repeat."""

    design: Design
    doc: Ints
    """Document, as a code that is the same for every label of the frame."""
    treat: Ints
    """0 reference, j the j-th treated value, -1 neither."""
    value: Ints
    repeat: Ints
    dose: Floats
    columns: Mapping[str, Floats]
    """Numeric expressions, NaN where null."""
    samples: Mapping[str, Bools]
    clusters: Mapping[str, Ints]
    """Cluster columns as codes, -1 where null."""
    coded: Mapping[str, Coded] = field(default_factory=dict)
    """What the tests of inference need beside numbers: value, kind, missing, declined, converted, carrier."""

    def __len__(self) -> int:
        return len(self.doc)


@dataclass(frozen=True, slots=True)
class Frame:
    """All labels of a cell, and the Arrow table they came from (for what is better said in SQL)."""

    cell: Cell
    table: pa.Table
    labels: tuple[LabelRows, ...]
    documents: tuple[str, ...]
    """What the document codes stand for."""
    designed: tuple[Design, ...]
    """Every label of the design under this coding, asked or not."""

    def __iter__(self) -> Iterator[LabelRows]:
        return iter(self.labels)


def connection_of(study: HoldsConnection | duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A cursor of its own on the study's database."""
    connection = study if isinstance(study, duckdb.DuckDBPyConnection) else study.connection
    return connection.cursor()


def cells(
    connection: duckdb.DuckDBPyConnection,
    specs: Specifications,
    *,
    codings: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    collections: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
) -> list[Cell]:
    """What there is to analyse, sorted. `models` may hold model names or model keys.

    Raises BadInput where a coding, model, collection or arm is named that the frame does not have.
    """
    known = specs.coding_names()
    for coding in codings or ():
        if coding not in known:
            raise BadInput(f"there is no coding {coding!r}", hint=f"{specs.path} has: {', '.join(known)}.")
    rows = _query(connection, specs, _CELLS.format(view=specs.frame.view), [specs.outcome]).fetchall()
    found = sorted(
        (Cell(*row) for row in rows),
        key=lambda c: (
            *(c.collection, c.arm != BASE_ARM, c.arm),
            *(c.model, c.temperature or 0.0, c.model_key, known.index(c.coding)),
        ),
    )
    for model in models or ():
        if not any(model in (c.model, c.model_key) for c in found):
            names = ", ".join(sorted({c.model for c in found})) or "none"
            raise BadInput(
                f"there are no answers of a model {model!r}", hint=f"Models with answers: {names}."
            )
    for collection in collections or ():
        if not any(collection == c.collection for c in found):
            names = ", ".join(sorted({c.collection for c in found})) or "none"
            raise BadInput(
                f"there are no answers to a collection {collection!r}", hint=f"There are: {names}."
            )
    for arm in arms or ():
        if not any(arm == c.arm for c in found):
            names = ", ".join(dict.fromkeys(c.arm for c in found)) or "none"
            raise BadInput(f"there are no answers in an arm {arm!r}", hint=f"There are: {names}.")
    return [
        c
        for c in found
        if (codings is None or c.coding in codings)
        and (models is None or c.model in models or c.model_key in models)
        and (collections is None or c.collection in collections)
        and (arms is None or c.arm in arms)
    ]


def read_designs(connection: duckdb.DuckDBPyConnection, specs: Specifications, coding: str) -> list[Design]:
    """The design under a coding, in its own order."""
    inference = specs.inference
    statement = _DESIGNS.format(
        designs=specs.frame.designs,
        values=specs.frame.values,
        groups=specs.frame.groups,
        demographic=(inference and inference.demographic) or "NULL",
        role=(inference and inference.role) or "NULL",
    )
    return [
        Design(
            label=label,
            group=group,
            demographic=demographic,
            role=role,
            continuous=treatment != "categorical",
            reference=tuple(reference or ()),
            treated=tuple(treated or ()),
            dose_name=specs.frame.dose_name,
        )
        for label, group, demographic, role, treatment, reference, treated in _query(
            connection, specs, statement, [coding]
        ).fetchall()
    ]


def read(connection: duckdb.DuckDBPyConnection, specs: Specifications, cell: Cell) -> Frame:
    """Read one cell's frame.

    Raises BadInput where an expression of the specifications does not fit the view, or where the frame has a
    label that the design lacks.
    """
    designs = read_designs(connection, specs, cell.coding)
    statement, plan = _statement(specs, cell.coding)
    table = _query(connection, specs, statement, key_of(cell)).to_arrow_table()
    return _arrays(specs, cell, designs, table, plan)


def read_placebos(connection: duckdb.DuckDBPyConnection, specs: Specifications, cell: Cell) -> pa.Table:
    """The answers to placebos: label, value, doc_id and repeat of what each stands beside, and its outcome.

    Raises BadInput where the specifications do not fit their view.
    """
    inference = specs.inference
    if inference is None or inference.placebos is None:
        texts = {name: pa.array([], pa.string()) for name in ("label", "value", "doc_id")}
        return pa.table({**texts, "repeat": pa.array([], pa.int64()), "outcome": pa.array([], pa.float64())})
    statement = _PLACEBOS.format(view=inference.placebos, outcome=inference.placebo_outcome)
    table: pa.Table = _query(connection, specs, statement, key_of(cell)).to_arrow_table()
    return table


def key_of(cell: Cell) -> list[str]:
    """What the rows of a frame are told apart by, in the order in which statements ask for it."""
    return [getattr(cell, name) for name in CELL_KEY]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which column of the result stands for which expression."""

    columns: Mapping[str, str]
    samples: Mapping[str, str]
    clusters: Mapping[str, str]


def _statement(specs: Specifications, coding: str) -> tuple[str, _Plan]:
    chosen: tuple[Specification, ...] = specs.of_coding(coding)
    metrics = specs.metrics
    columns = [s.outcome for s in chosen]
    samples = [s.sample for s in chosen]
    if specs.inference is not None:
        inference = specs.inference
        columns += [e for e in (inference.outcome, inference.rank, inference.truth) if e is not None]
        columns += [share.holds for share in inference.shares]
        samples.append(inference.sample)
    plan = _Plan(
        columns={e: f"x{i}" for i, e in enumerate(dict.fromkeys(columns))},
        samples={e: f"s{i}" for i, e in enumerate(dict.fromkeys(samples))},
        clusters={e: f"c{i}" for i, e in enumerate(dict.fromkeys(s.cluster for s in chosen if s.cluster))},
    )
    selected = [
        "label",
        "value",
        "is_reference",
        "is_treated",
        "doc_id",
        "repeat",
        f"CAST({specs.frame.dose} AS DOUBLE) AS dose",
        *(f"CAST({e} AS DOUBLE) AS {name}" for e, name in plan.columns.items()),
        *(f"coalesce(CAST({e} AS BOOLEAN), false) AS {name}" for e, name in plan.samples.items()),
        *(f"CAST({e} AS VARCHAR) AS {name}" for e, name in plan.clusters.items()),
    ]
    for name in ("inconsistency", "mae", "mape"):
        metric = getattr(metrics, name)
        selected.append(f"CAST({metric.value} AS DOUBLE) AS {name}_value")
        selected.append(f"coalesce(CAST({metric.sample} AS BOOLEAN), false) AS {name}_sample")
    if specs.inference is not None:
        inference = specs.inference
        selected += [
            f"CAST({inference.outcome} AS DOUBLE) AS inference_outcome",
            f"coalesce(CAST({inference.sample} AS BOOLEAN), false) AS inference_sample",
            f"CAST({inference.kind or 'NULL'} AS VARCHAR) AS kind",
            f"CAST({inference.missing or 'NULL'} AS VARCHAR) AS missing",
            *(
                f"CAST({getattr(inference, name) or 'NULL'} AS VARCHAR) AS {name}"
                for name in ("declined", "converted", "carrier")
            ),
        ]
    joined = ",\n  ".join(selected)
    where = " AND ".join(f"{name} = ?" for name in CELL_KEY)
    return f"SELECT\n  {joined}\nFROM {specs.frame.view}\nWHERE {where}", plan


def _arrays(
    specs: Specifications, cell: Cell, designs: Sequence[Design], table: pa.Table, plan: _Plan
) -> Frame:
    label, labels = encode(table["label"])
    doc, documents = encode(table["doc_id"])
    value, values = encode(table["value"])
    position = {design.label: i for i, design in enumerate(designs)}
    unknown = [name for name in labels if name not in position]
    if unknown:
        raise BadInput(
            f"{specs.frame.view} has the label {unknown[0]!r} under coding {cell.coding!r}, "
            f"which {specs.frame.designs} does not describe",
            hint="Rebuild the study's labels.",
        )
    rank = np.array([position[name] for name in labels], dtype=np.int64)[label]
    treat = np.full(len(label), UNLISTED, dtype=np.int64)
    treat[flags(table["is_reference"])] = REFERENCE
    is_treated = flags(table["is_treated"])
    for i, design in enumerate(designs):
        for j, name in enumerate(design.treated, 1):
            if name in values:
                treat[(rank == i) & (value == values.index(name)) & is_treated] = j
    repeat = floats(table["repeat"]).astype(np.int64)
    order = np.lexsort((repeat, value, treat, doc, rank))
    table = table.take(pa.array(order))
    rank, doc, value, treat, repeat = rank[order], doc[order], value[order], treat[order], repeat[order]
    dose = floats(table["dose"])
    columns = {e: floats(table[name]) for e, name in plan.columns.items()}
    samples = {e: flags(table[name]) for e, name in plan.samples.items()}
    clusters = {e: encode(table[name])[0] for e, name in plan.clusters.items()}
    coded = {name: encode(table[name]) for name in CODED if name in table.column_names}
    found: list[LabelRows] = []
    for i in np.unique(rank):
        part = slice(*np.searchsorted(rank, [i, i + 1]))
        found.append(
            LabelRows(
                design=designs[int(i)],
                doc=doc[part],
                treat=treat[part],
                value=value[part],
                repeat=repeat[part],
                dose=dose[part],
                columns={e: a[part] for e, a in columns.items()},
                samples={e: a[part] for e, a in samples.items()},
                clusters={e: a[part] for e, a in clusters.items()},
                coded={name: Coded(codes[part], tuple(names)) for name, (codes, names) in coded.items()},
            )
        )
    return Frame(cell, table, tuple(found), tuple(documents), tuple(designs))


def encode(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    """Codes and their texts, in the texts' own order; -1 where null."""
    if len(column) == 0:
        return np.zeros(0, dtype=np.int64), []
    coded = column.combine_chunks().dictionary_encode()
    texts: list[str] = coded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts) + 1, dtype=np.int64)
    rank[order] = np.arange(len(texts))
    rank[len(texts)] = -1
    codes = pc.fill_null(coded.indices, len(texts)).to_numpy(zero_copy_only=False)
    return rank[codes], [texts[i] for i in order]


def floats(column: pa.ChunkedArray) -> Floats:
    """Numbers, NaN where null or not finite."""
    numbers = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def flags(column: pa.ChunkedArray) -> Bools:
    """Booleans, false where null."""
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _query(
    connection: duckdb.DuckDBPyConnection,
    specs: Specifications,
    statement: str,
    parameters: Sequence[Any] = (),
) -> duckdb.DuckDBPyRelation:
    try:
        return connection.sql(statement, params=list(parameters))
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException) as error:
        raise BadInput(
            f"{specs.path} does not fit the database: {error}",
            hint="An expression of the file names something that its view does not have, or is not SQL.",
        ) from error
