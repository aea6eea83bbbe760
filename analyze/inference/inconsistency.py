"""How often answers differ between values, and how much of that is noise.

The published measure counts a document as inconsistent if any of its answers differ, so that labels with more
values are more inconsistent by construction. Here every pair of values counts: the share of pairs, both
answers read, that differ, over the documents that have them. Its noise floor is the same share among
repeats of one and the same prompt; the excess over it, with a bootstrap over documents, is what the facts
themselves move. Where nothing was repeated, the answers that different labels' reference prompts got for
one document are the nearest there is to repeats: they differ in words that should not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analyze.frame import Floats, Frame, encode
from analyze.inference.rows import InconsistencyTest
from analyze.metrics import ALL, ModelMetric

_HERE = Path(__file__).parent
_PAIRS = (_HERE / "inconsistency.sql").read_text(encoding="utf-8")
_REFERENCE = (_HERE / "reference_answers.sql").read_text(encoding="utf-8")
_COUNTED = ("pairs", "differ", "repeated", "repeated_differ", "placebo", "placebo_differ")
BOOTSTRAPS = 2_000
NO_REPEATS = "no prompt was repeated: the noise in it is not known"


@dataclass(frozen=True, slots=True)
class PairCounts:
    """One label's pairs, by document."""

    label: str
    documents: list[str]
    counts: Floats
    """(documents, 6): pairs of values, those that differ; the same of repeats; the same of placebos."""


def pair_counts(connection: duckdb.DuckDBPyConnection, frame: Frame) -> list[PairCounts]:
    """Pairs and differences by label and document. `frame_rows` must be registered."""
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


def inconsistency_tests(pairs: list[PairCounts], seed: int = 0) -> list[InconsistencyTest]:
    """One row for each label."""
    return [_label(one.label, one.counts, seed) for one in pairs]


def _label(label: str, counts: Floats, seed: int) -> InconsistencyTest:
    """From a label's `PairCounts`."""
    sums = counts.sum(axis=0) if len(counts) else np.zeros(len(_COUNTED))
    pairs, differ, repeated, repeated_differ, placebo, placebo_differ = sums
    both = counts[(counts[:, 0] > 0) & (counts[:, 2] > 0)] if len(counts) else counts
    excess = low = high = None
    if len(both):
        excess = float(_excess(both.sum(axis=0)))
        if len(both) > 1:
            low, high = (float(q) for q in np.quantile(_bootstrapped(both, seed), [0.025, 0.975]))
    return InconsistencyTest(
        label=label,
        pairwise=float(differ / pairs) if pairs else None,
        pairs=int(pairs),
        documents=int(np.count_nonzero(counts[:, 0])) if len(counts) else 0,
        floor=float(repeated_differ / repeated) if repeated else None,
        floor_pairs=int(repeated),
        floor_documents=int(np.count_nonzero(counts[:, 2])) if len(counts) else 0,
        excess=excess,
        excess_low=low,
        excess_high=high,
        placebo=float(placebo_differ / placebo) if placebo else None,
        placebo_pairs=int(placebo),
        note=None if repeated or placebo else NO_REPEATS,
    )


def _excess(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    excess: NDArray[np.float64] = sums[..., 1] / sums[..., 0] - sums[..., 3] / sums[..., 2]
    return excess


def _bootstrapped(counts: Floats, seed: int) -> Floats:
    n = len(counts)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), BOOTSTRAPS)
    return _excess(weights @ counts)


def model_inconsistency(
    connection: duckdb.DuckDBPyConnection, tests: list[InconsistencyTest]
) -> list[ModelMetric]:
    """The model's metrics.

    `inconsistency_pairwise` (and its floor), `reference_disagreement` by document and pair.
    """
    pairs = sum(test.pairs for test in tests)
    repeated = sum(test.floor_pairs for test in tests)
    differ = sum(test.pairwise * test.pairs for test in tests if test.pairwise is not None)
    repeated_differ = sum(test.floor * test.floor_pairs for test in tests if test.floor is not None)
    found = [
        ModelMetric("inconsistency_pairwise", None, ALL, differ / pairs if pairs else None, pairs),
        ModelMetric(
            "inconsistency_floor", None, ALL, repeated_differ / repeated if repeated else None, repeated
        ),
    ]
    rows: list[tuple[int, ...]] = connection.sql(_REFERENCE).fetchall()
    documents, disagreeing, reference_pairs, reference_differ = rows[0]
    found += [
        ModelMetric(
            "reference_disagreement",
            None,
            ALL,
            disagreeing / documents if documents else None,
            documents,
            "documents whose reference answers differ between labels",
        ),
        ModelMetric(
            "reference_disagreement_pairwise",
            None,
            ALL,
            reference_differ / reference_pairs if reference_pairs else None,
            reference_pairs,
            "pairs of labels whose reference answers to a document differ",
        ),
    ]
    return found
