"""Missing answers: do they come with the value, and could they hide or make the effect?

Whether answers go missing with a value is tested over documents asked for both, value and reference
(McNemar's exact test), and over all values of a label together by sign flips. What the missing ones could
do is bounded: if every pair with a missing answer had moved down, or up, by a large move of this label
(the 90th percentile of those seen), where would the effect lie; by how much would each have to move for
the effect to vanish; and, for the appendix, the same with the label's whole range.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from scipy import stats

from analyze.frame import Frame, encode
from analyze.inference.changers import largest_of
from analyze.inference.flips import flip
from analyze.inference.rows import MissingTest
from analyze.inference.scores import LabelScores, label_scores
from analyze.inference.signs import Signs
from analyze.inference.values import Scored
from analyze.specification import Inference

ANY = "any"
DRAWS = 9_999
_MISSING = (Path(__file__).parent / "missing.sql").read_text(encoding="utf-8")


def missing_tests(
    connection: duckdb.DuckDBPyConnection,
    frame: Frame,
    scored: Sequence[Scored],
    inference: Inference,
) -> list[MissingTest]:
    """Rows for each treated value: one for any kind of absence, one for each kind that occurs.

    `frame_rows` must be registered. Empty where the domain does not say why answers are missing.
    """
    if inference.missing is None:
        return []
    table: pa.Table = connection.sql(_MISSING).to_arrow_table()
    label_codes, labels = encode(table["label"])
    value_codes, values = encode(table["value"])
    under_value = np.array(table["value_missing"].to_pylist(), dtype=object)
    under_reference = np.array(table["reference_missing"].to_pylist(), dtype=object)
    together = _together(frame, inference)
    found: list[MissingTest] = []
    for one in scored:
        design = one.rows.design
        if design.label not in labels:
            continue
        of_label = label_codes == labels.index(design.label)
        for j, name in enumerate(design.treated):
            if name not in values:
                continue
            at = of_label & (value_codes == values.index(name))
            a, b = under_value[at], under_reference[at]
            if not len(a):
                continue
            kinds = sorted({kind for kind in (*a, *b) if kind is not None})
            for kind in (ANY, *(kinds if len(kinds) > 1 else ())):
                gone_a = np.array([x is not None and kind in (ANY, x) for x in a])
                gone_b = np.array([x is not None and kind in (ANY, x) for x in b])
                only_value, only_reference = int(np.sum(gone_a & ~gone_b)), int(np.sum(gone_b & ~gone_a))
                if kind != ANY and not only_value + only_reference:
                    continue
                bounds = _bounds(one, j, int(np.sum(gone_a | gone_b))) if kind == ANY else {}
                found.append(
                    MissingTest(
                        label=design.label,
                        value=name,
                        kind=kind,
                        pairs=len(a),
                        only_value=only_value,
                        only_reference=only_reference,
                        p=_mcnemar(only_value, only_reference),
                        label_p=together.get(design.label) if kind == ANY else None,
                        **bounds,
                    )
                )
    return found


def _mcnemar(a: int, b: int) -> float | None:
    return float(stats.binomtest(a, a + b).pvalue) if a + b else None


def _together(frame: Frame, inference: Inference) -> dict[str, float]:
    """For labels with several values: the flip p of missingness over all of them."""
    scores: list[LabelScores] = []
    for rows in frame:
        if rows.design.continuous or len(rows.design.treated) < 2:
            continue
        absent = np.isnan(rows.columns[inference.outcome]).astype(np.float64)
        one = label_scores(rows, absent, rows.samples[inference.sample])
        if one is not None:
            scores.append(one)
    if not scores:
        return {}
    results = flip(scores, Signs(DRAWS))
    return {
        one.rows.design.label: float(flipped.p) for one, flipped in zip(scores, results.labels, strict=True)
    }


def _bounds(one: Scored, j: int, gone: int) -> dict[str, float | None]:
    """Where the effect could lie with the missing pairs in; `gone` is how many have an answer missing."""
    scores = one.scores
    if scores is None or j not in scores.sample.columns:
        return {}
    difference = scores.values[scores.sample.columns.index(j)].difference
    seen = difference[np.isfinite(difference)]
    moves = np.concatenate([v.difference for v in scores.values])
    jump = largest_of(moves)
    if jump is None or len(seen) == 0:
        return {}
    total, pairs = float(seen.sum()), len(seen) + gone
    span = float(scores.sample.y.max() - scores.sample.y.min())
    return {
        "effect": total / len(seen),
        "jump": jump,
        "low": (total - gone * jump) / pairs,
        "high": (total + gone * jump) / pairs,
        "tipping": -total / gone if gone else None,
        "worst_low": (total - gone * span) / pairs,
        "worst_high": (total + gone * span) / pairs,
    }
