"""A label's answers by case and value: what was asked, what came back, what was missing, of which kind.

A cell is a case under one value (of a continuous label, under one asked dose); its repeats are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyze.counterfactual.frame import REFERENCE, TRUE, Bools, Coded, Floats, Ints, LabelRows
from analyze.specification import Inference

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Cells:
    """Arrays of (cases, levels): level 0 is the reference; of a continuous label, levels are doses."""

    rows: LabelRows
    doc: Ints
    """The frame's codes of the cases."""
    doses: Floats
    """Of a continuous label, the dose of each level."""
    names: tuple[str, ...]
    """What the levels are, as asked."""
    asked: Bools
    amount: Floats
    """Mean outcome of the answers read, NaN where none was."""
    missing: Floats
    """Share of the answers without outcome; NaN where not asked."""
    declined: Floats
    """Share of the answers that the model would not give."""
    converted: Bools
    """Some outcome is no amount that the answer names."""
    rank: Floats
    kinds: tuple[str, ...]
    kind: Floats
    """(cases, levels, kinds): shares of the answers of known kind; NaN where there is none."""
    holds: Floats | None
    """(cases, levels, classes): of an outcome that is a set of classes, the share of answers that hold
    each."""
    carrier: Ints
    """The group of each case, a code of `carriers`, -1 where it is not known."""
    carriers: tuple[str, ...]
    repeated: bool
    """Some case was asked several times under one value."""

    @property
    def compared_kind(self) -> Floats:
        """What the test of the kind compares: shares of kinds, or of sets of classes, of the classes."""
        return self.kind if self.holds is None else self.holds

    @property
    def design(self) -> Floats:
        """(cases, levels, columns): the doses, or a column for each level."""
        levels = len(self.names)
        one = self.doses[:, None] if self.rows.design.continuous else np.eye(levels)
        return np.broadcast_to(one, (len(self.doc), *one.shape)).copy()


def cells(rows: LabelRows, inference: Inference) -> Cells:
    """The cells of a label's answers in the sample of the inference."""
    outcome = rows.columns[inference.outcome]
    keep = rows.samples[inference.sample].copy()
    values = _coded(rows, "value")
    if rows.design.continuous:
        keep &= np.isfinite(rows.dose)
        doses, level = np.unique(rows.dose[keep], return_inverse=True)
        names = tuple(_name(rows, values, keep, dose) for dose in doses)
    else:
        keep &= rows.treat >= REFERENCE
        level, doses = rows.treat[keep], np.zeros(0)
        names = (" / ".join(rows.design.reference), *rows.design.treated)
    doc, at = np.unique(rows.doc[keep], return_inverse=True)
    shape = (len(doc), len(names))
    y = outcome[keep]

    def mean(of: Floats, where: Bools) -> Floats:
        count, total = np.zeros(shape), np.zeros(shape)
        np.add.at(count, (at[where], level[where]), 1.0)
        np.add.at(total, (at[where], level[where]), of[where])
        return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)

    everything, read = np.ones(len(y), dtype=np.bool_), np.isfinite(y)
    times = np.zeros(shape)
    np.add.at(times, (at, level), 1.0)
    rank = rows.columns[inference.rank][keep] if inference.rank is not None else np.full(len(y), np.nan)
    kind = _coded(rows, "kind")
    of_kind, known = kind.codes[keep], read & (kind.codes[keep] >= 0)
    kinds = sorted(set(of_kind[known].tolist()))
    shares = [mean((of_kind == k).astype(np.float64), known) for k in kinds]
    holds = [mean(rows.columns[one.holds][keep], known) for one in inference.shares] if inference.sets else []
    carrier = _coded(rows, "carrier")
    first = np.searchsorted(rows.doc, doc)
    return Cells(
        rows=rows,
        doc=doc,
        doses=doses,
        names=names,
        asked=times > 0,
        amount=mean(y, read),
        missing=mean((~read).astype(np.float64), everything),
        declined=mean((_true(rows, "declined")[keep] & ~read).astype(np.float64), everything),
        converted=np.nan_to_num(mean(_true(rows, "converted")[keep].astype(np.float64), read)) > 0,
        rank=mean(rank, read & np.isfinite(rank)),
        kinds=tuple(kind.names[k] for k in kinds),
        kind=np.stack(shares, axis=2) if shares else np.zeros((*shape, 0)),
        holds=np.stack(holds, axis=2) if holds else None,
        carrier=carrier.codes[first],
        carriers=carrier.names,
        repeated=bool((times > 1).any()),
    )


def _coded(rows: LabelRows, name: str) -> Coded:
    return rows.coded.get(name) or Coded(np.full(len(rows), -1, dtype=np.int64), ())


def _true(rows: LabelRows, name: str) -> Bools:
    coded = _coded(rows, name)
    if TRUE not in coded.names:
        return np.zeros(len(rows), dtype=np.bool_)
    holds: Bools = coded.codes == coded.names.index(TRUE)
    return holds


def _name(rows: LabelRows, values: Coded, keep: Bools, dose: float) -> str:
    """How a dose was asked; the dose itself where several values have it, or the values are not known."""
    asked = {int(code) for code in values.codes[keep & (rows.dose == dose)] if code >= 0}
    return values.names[asked.pop()] if len(asked) == 1 else f"{dose:g}"


def difference(to: Floats, base: Floats) -> Floats:
    """What changed, without rounding; NaN where either is missing."""
    found = to - base
    return np.where(np.abs(found) <= _ROUNDING * np.fmax(1.0, np.abs(base)), 0.0, found)


def added_error(moves: Floats) -> float:
    """The standard error of a mean of moves of -1, 0 and 1, with one move each way added.

    It has none that is zero, as the plain one has where all cases move alike; intervals made by it are those
    of Agresti and Min, "Simple improved confidence intervals for comparing matched proportions", Statistics
    in Medicine 2005 (half a case added to each of the four cells).
    """
    n = len(moves) + 2
    total, square = float(moves.sum()), float((moves**2).sum()) + 1.0
    return float(np.sqrt(max(square - total**2 / n, 0.0)) / n)
