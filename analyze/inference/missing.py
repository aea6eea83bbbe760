"""Missing answers: do they come with the value, and could they hide or make the effect?

Whether answers go missing with a value is tested over documents asked for both, value and reference: the
exact sign test of those whose share of missing answers differs (without repeats this is McNemar's test), and
over all values of a label together, or along a dose, by sign flips. What the missing ones could do is
bounded: if every pair with a missing answer had moved down, or up, by a large move of this label (the 90th
percentile of those seen), where would the effect lie; by how much would each have to move for the effect to
vanish; and, for the appendix, the same with the label's whole range. The unit is the document; where it was
asked several times, its repeats are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from analyze.counterfactual import sample as samples
from analyze.counterfactual.estimate import value_names
from analyze.counterfactual.frame import Floats, Frame, Ints, LabelRows, encode, floats
from analyze.inference.discordant import largest_of
from analyze.inference.effects import sign_test
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
    table: pa.Table = connection.sql(_MISSING, params={"any": ANY}).to_arrow_table()
    label_codes, labels = encode(table["label"])
    value_codes, values = encode(table["value"])
    kind_codes, kinds = encode(table["kind"])
    code = {document: i for i, document in enumerate(frame.documents)}
    doc = np.array([code[document] for document in table["doc_id"].to_pylist()], dtype=np.int64)
    under_value, under_reference = (floats(table[f"{side}_missing"]) for side in ("value", "reference"))
    together = _together(frame, inference)
    found: list[MissingTest] = []
    for one in scored:
        design = one.rows.design
        if design.continuous:
            found += _along_dose(one.rows, inference)
        if design.continuous or design.label not in labels:
            continue
        of_label = label_codes == labels.index(design.label)
        for j, name in enumerate(design.treated):
            if name not in values:
                continue
            of_value = of_label & (value_codes == values.index(name))
            by_kind = {kind: of_value & (kind_codes == k) for k, kind in enumerate(kinds)}
            occur = [
                kind
                for kind, at in by_kind.items()
                if kind != ANY and (under_value[at].any() or under_reference[at].any())
            ]
            for kind in (ANY, *(sorted(occur) if len(occur) > 1 else ())):
                at = by_kind[kind]
                if not at.any():
                    continue
                more = np.sign(under_value[at] - under_reference[at])
                only_value, only_reference = int(np.sum(more > 0)), int(np.sum(more < 0))
                if kind != ANY and not only_value + only_reference:
                    continue
                gone = 1 - (1 - under_value[at]) * (1 - under_reference[at])
                found.append(
                    MissingTest(
                        label=design.label,
                        value=name,
                        kind=kind,
                        pairs=len(more),
                        only_value=only_value,
                        only_reference=only_reference,
                        p=sign_test(only_value, only_reference),
                        label_p=together.get(design.label) if kind == ANY else None,
                        **(_bounds(one, j, doc[at], gone) if kind == ANY else {}),
                    )
                )
    return found


def _along_dose(rows: LabelRows, inference: Inference) -> list[MissingTest]:
    """The row of a continuous treatment: answers missing at a document's largest dose, or at its smallest.

    What its missing answers could do to the effect is not bounded: a move along the dose has no one size.
    """
    absent, chosen = _absent(rows, inference), rows.samples[inference.sample]
    sample = samples.prepare(rows, absent, chosen, rows.doc)
    if not sample.documents:
        return []
    scores = label_scores(rows, absent, chosen)
    (value,) = scores.values if scores is not None else (None,)
    (flipped,) = flip([scores], Signs(DRAWS)).values if scores is not None else (None,)
    return [
        MissingTest(
            label=rows.design.label,
            value=value_names(rows)[0],
            kind=ANY,
            pairs=sample.documents if value is None else int(np.count_nonzero(value.a > 0)),
            only_value=0 if value is None else value.ups,
            only_reference=0 if value is None else value.downs,
            p=None if flipped is None else float(flipped.p),
            label_p=None,
        )
    ]


def _absent(rows: LabelRows, inference: Inference) -> Floats:
    """One where an answer has no outcome, zero where it has."""
    return np.isnan(rows.columns[inference.outcome]).astype(np.float64)


def _together(frame: Frame, inference: Inference) -> dict[str, float]:
    """For labels with several values: the flip p of missingness over all of them."""
    scores: list[LabelScores] = []
    for rows in frame:
        if rows.design.continuous or len(rows.design.treated) < 2:
            continue
        one = label_scores(rows, _absent(rows, inference), rows.samples[inference.sample])
        if one is not None:
            scores.append(one)
    if not scores:
        return {}
    results = flip(scores, Signs(DRAWS))
    return {
        one.rows.design.label: float(flipped.p) for one, flipped in zip(scores, results.labels, strict=True)
    }


def _bounds(one: Scored, j: int, doc: Ints, gone: Floats) -> dict[str, float | None]:
    """Where the effect could lie with the missing pairs in.

    `gone` is, for each document of `doc`, the share of its pairs (of an answer under the value and one under
    the reference) in which one is missing. What is left of a document counts by as much less.
    """
    scores = one.scores
    if scores is None or j not in scores.sample.columns:
        return {}
    value = scores.values[scores.sample.columns.index(j)]
    known = np.isfinite(value.difference)
    seen = value.difference[known]
    moves = np.concatenate([v.difference for v in scores.values])
    jump = largest_of(moves)
    if jump is None or len(seen) == 0:
        return {}
    share = np.zeros(1 + max(int(value.doc.max()), int(doc.max())))
    share[doc] = gone
    missing, total = float(gone.sum()), float((seen * (1 - share[value.doc[known]])).sum())
    pairs = len(np.union1d(value.doc[known], doc[gone > 0]))
    span = float(scores.sample.y.max() - scores.sample.y.min())
    return {
        "effect": float(seen.mean()),
        "jump": jump,
        "low": (total - missing * jump) / pairs,
        "high": (total + missing * jump) / pairs,
        "tipping": -total / missing if missing else None,
        "worst_low": (total - missing * span) / pairs,
        "worst_high": (total + missing * span) / pairs,
    }
