"""How often answers differ between values, and how much of that is noise.

The published measure counts a document as inconsistent if any of its answers differ, so that labels with more
values are more inconsistent by construction. Here every pair of values counts: the share of pairs, both
answers read, that differ, over the documents that have them. Its noise floor is the same share among answers
that nothing which could matter tells apart; the excess over it, with a bootstrap over documents, is what the
facts themselves move. There are three such floors: repeats of one and the same prompt; placebos, where the
reference was put in other words; and the answers that several labels' reference prompts got for a document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analyze.counterfactual.frame import Floats, Frame, encode
from analyze.counterfactual.metrics import ALL, ModelMetric
from analyze.inference.rows import InconsistencyTest, NoiseFloor

_HERE = Path(__file__).parent
_PAIRS = (_HERE / "inconsistency.sql").read_text(encoding="utf-8")
_REFERENCE = (_HERE / "reference_answers.sql").read_text(encoding="utf-8")
_COUNTED = ("pairs", "differ", "repeated", "repeated_differ", "placebo", "placebo_differ")
_REPEATS, _PLACEBOS = 2, 4
"""Where the pairs of a floor stand among the counts; those that differ follow."""
BOOTSTRAPS = 2_000
NO_REPEATS = "no prompt was repeated: the noise in it is not known"
NONE_OF_A_FLOOR = {
    "repeats": "no prompt was repeated",
    "placebos": "no placebo was asked, or none was answered",
    "reference_answers": "no document has reference answers of two labels",
}


@dataclass(frozen=True, slots=True)
class PairCounts:
    """One label's pairs, by document."""

    label: str
    documents: list[str]
    counts: Floats
    """(documents, 6): pairs of values, those that differ; the same of repeats; the same of placebos."""


def pair_counts(connection: duckdb.DuckDBPyConnection, frame: Frame) -> list[PairCounts]:
    """Pairs and differences by label and document. `frame_rows` and `placebo_rows` must be registered."""
    table: pa.Table = connection.sql(_PAIRS).to_arrow_table()
    codes, labels = encode(table["label"])
    documents = np.array(table["doc_id"].to_pylist(), dtype=object)
    counts = np.column_stack([np.asarray(table[name].to_numpy(), dtype=np.float64) for name in _COUNTED])
    found = []
    for rows in frame:
        label = rows.design.label
        at = codes == labels.index(label) if label in labels else np.zeros(len(codes), dtype=np.bool_)
        found.append(PairCounts(label, documents[at].tolist(), counts[at]))
    return found


def inconsistency_tests(pairs: Sequence[PairCounts], seed: int = 0) -> list[InconsistencyTest]:
    """One row for each label."""
    return [_label(one.label, one.counts, seed) for one in pairs]


def _label(label: str, counts: Floats, seed: int) -> InconsistencyTest:
    """From a label's `PairCounts`."""
    sums = counts.sum(axis=0) if len(counts) else np.zeros(len(_COUNTED))
    pairs, differ, repeated, repeated_differ, placebo, placebo_differ = sums
    over_repeats = _over(counts[:, :2], counts[:, _REPEATS : _REPEATS + 2], seed)
    over_placebos = _over(counts[:, :2], counts[:, _PLACEBOS : _PLACEBOS + 2], seed)
    return InconsistencyTest(
        label=label,
        pairwise=float(differ / pairs) if pairs else None,
        pairs=int(pairs),
        documents=int(np.count_nonzero(counts[:, 0])),
        floor=float(repeated_differ / repeated) if repeated else None,
        floor_pairs=int(repeated),
        floor_documents=int(np.count_nonzero(counts[:, _REPEATS])),
        excess=over_repeats.excess,
        excess_low=over_repeats.low,
        excess_high=over_repeats.high,
        placebo=float(placebo_differ / placebo) if placebo else None,
        placebo_pairs=int(placebo),
        placebo_excess=over_placebos.excess,
        placebo_low=over_placebos.low,
        placebo_high=over_placebos.high,
        note=None if repeated or placebo else NO_REPEATS,
    )


@dataclass(frozen=True, slots=True)
class _Over:
    """Pairs of values against those of a floor, in the documents that have both."""

    sums: Floats
    """Pairs of values, those that differ, pairs of the floor, those that differ."""
    documents: int
    excess: float | None = None
    low: float | None = None
    high: float | None = None


def _over(values: Floats, floor: Floats, seed: int) -> _Over:
    """Both arrays have a line for each document: pairs, and those that differ."""
    counts = np.column_stack([values, floor])
    counts = counts[(counts[:, 0] > 0) & (counts[:, 2] > 0)]
    n = len(counts)
    if n == 0:
        return _Over(np.zeros(4), 0)
    sums: Floats = counts.sum(axis=0)
    found = _Over(sums, n, float(_excess(sums)))
    if n == 1:
        return found
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), BOOTSTRAPS)
    low, high = (float(q) for q in np.quantile(_excess(weights @ counts), [0.025, 0.975]))
    return _Over(sums, n, found.excess, low, high)


def _excess(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    excess: NDArray[np.float64] = sums[..., 1] / sums[..., 0] - sums[..., 3] / sums[..., 2]
    return excess


def model_inconsistency(
    connection: duckdb.DuckDBPyConnection, pairs: Sequence[PairCounts], seed: int = 0
) -> tuple[list[ModelMetric], list[NoiseFloor]]:
    """Of the model as a whole: its metrics, and its noise floors. `frame_rows` must be registered."""
    counts = np.concatenate([one.counts for one in pairs]) if pairs else np.zeros((0, len(_COUNTED)))
    documents = [document for one in pairs for document in one.documents]
    names, at = np.unique(np.array(documents, dtype=object), return_inverse=True)
    reference_pairs = np.zeros((len(names), 2))
    place = {name: i for i, name in enumerate(names)}
    disagreeing = several = 0
    differences = np.zeros(2)
    for document, of_document, differ in connection.sql(_REFERENCE).fetchall():
        several += 1
        disagreeing += differ > 0
        differences += of_document, differ
        if document in place:
            reference_pairs[place[document]] = of_document, differ
    values = _by_document(counts[:, :2], at, len(names))
    floors = []
    for name, column in (("repeats", _REPEATS), ("placebos", _PLACEBOS)):
        both = counts[:, [0, 1, column, column + 1]] * ((counts[:, 0] > 0) & (counts[:, column] > 0))[:, None]
        summed = _by_document(both, at, len(names))
        floors.append(_floor(name, _over(summed[:, :2], summed[:, 2:], seed)))
    floors.append(_floor("reference_answers", _over(values, reference_pairs, seed)))
    metrics = [
        _share("inconsistency_pairwise", *counts[:, :2].sum(axis=0)),
        _share("inconsistency_floor", *counts[:, _REPEATS : _REPEATS + 2].sum(axis=0)),
        _share("inconsistency_placebo", *counts[:, _PLACEBOS : _PLACEBOS + 2].sum(axis=0)),
        _share(
            "reference_disagreement",
            several,
            disagreeing,
            "documents whose reference answers differ between labels",
        ),
        _share(
            "reference_disagreement_pairwise",
            float(differences[0]),
            float(differences[1]),
            "pairs of labels whose reference answers to a document differ",
        ),
    ]
    return metrics, floors


def _by_document(counts: Floats, at: NDArray[np.intp], documents: int) -> Floats:
    """Lines of labels and documents summed over labels."""
    summed = np.zeros((documents, counts.shape[1]))
    np.add.at(summed, at, counts)
    return summed


def _floor(name: str, over: _Over) -> NoiseFloor:
    pairs, differ, floor_pairs, floor_differ = over.sums
    return NoiseFloor(
        floor=name,
        share=float(floor_differ / floor_pairs) if floor_pairs else None,
        pairs=int(floor_pairs),
        documents=over.documents,
        inconsistency=float(differ / pairs) if pairs else None,
        value_pairs=int(pairs),
        excess=over.excess,
        low=over.low,
        high=over.high,
        note=None if floor_pairs else NONE_OF_A_FLOOR[name],
    )


def _share(metric: str, pairs: float, differ: float, note: str | None = None) -> ModelMetric:
    return ModelMetric(metric, None, ALL, float(differ / pairs) if pairs else None, int(pairs), note)
