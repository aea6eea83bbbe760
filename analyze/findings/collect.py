"""The findings of one model: for each label its confirmatory p, its tests, and each of its values in them.

What depends on the family of all labels (the correction, the state, the interval of confirmed effects) comes
later, by `decide`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analyze.counterfactual.frame import Bools, Floats, Ints
from analyze.findings import codes
from analyze.findings.amounts import amount_finding, contrasts, slope_finding
from analyze.findings.cells import Cells, cells, difference
from analyze.findings.responses import Tested, kind_finding, kind_test, missing_finding, missing_test
from analyze.findings.rows import FindingRow
from analyze.inference import confirmatory
from analyze.inference.confirmatory import KIND, MISSING, OUTCOME, TESTS, Within
from analyze.inference.flips import ENUMERATED, FlipResults, whiten
from analyze.inference.multiplicity import holm
from analyze.inference.rows import LabelTest, ValueTest
from analyze.inference.scores import LabelScores, ValueScores
from analyze.inference.values import Scored
from analyze.inference.within_cases import Permuted, permute_mean
from analyze.specification import NOMINAL, Inference

AMOUNT_KIND = "amount"
LONGER = 10
"""Orders of answers are cheap and stop by themselves: up to so many times the draws of signs."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A value's paired differences, over the cases compared."""

    contrast: str
    documents: Ints
    """Numbers of the cases, the same in all models of a collection."""
    differences: Floats


@dataclass(frozen=True, slots=True)
class Moves:
    """A label's paired differences: for the smallest detectable effect, and to set models side by side."""

    label: str
    contrasts: Mapping[str, Contrast]
    """By value."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Findings that are not decided yet."""

    rows: list[FindingRow]
    moves: list[Moves]


@dataclass(frozen=True, slots=True)
class _One:
    """A row's own p."""

    p: float
    kind: str
    least: float


@dataclass(frozen=True, slots=True)
class _Of:
    """One test of a label: its joint p, and its values', uncorrected and stepped; None: not tested."""

    joint: _One | None
    values: tuple[_One | None, ...]
    stepped: tuple[float | None, ...]


def collect(
    scored: Sequence[Scored],
    results: FlipResults,
    values: Sequence[ValueTest],
    labels: Sequence[LabelTest],
    inference: Inference,
    *,
    numbers: Ints,
    unit: str,
    seed: int,
    kind: str = AMOUNT_KIND,
) -> Collected:
    """All findings of a model, not decided yet, with the moves of its labels.

    `kind` is that of the outcome (`analyze.specification.KINDS`). Of a nominal one no amount is compared: its
    primary test is that of the kind of answer.

    `values` and `labels` are the rows of the tests of `scored`, in the same order; `numbers` gives each of
    the frame's document codes its number, which models of a collection share.
    """
    of_label: dict[str, list[ValueTest]] = {}
    for value in values:
        of_label.setdefault(value.label, []).append(value)
    every = [cells(one.rows, inference) for one in scored]
    constant = _constant(every)
    found = Collected([], [])
    at = 0
    for one, own, label in zip(scored, every, labels, strict=True):
        count = 0 if one.scores is None else len(one.scores.values)
        steps = results.steps[at : at + count]
        at += count
        builder = _Builder(
            one, own, label, of_label.get(label.label, []), steps, results.draws, inference, unit, seed, kind
        )
        for row in builder.rows():
            found.rows.append(replace(_explained(row, constant), position=len(found.rows)))
        found.moves.append(builder.moves(numbers))
    return found


def _constant(every: Sequence[Cells]) -> bool:
    """The model gave one and the same amount and kind to everything, and there were cases to tell apart."""
    amounts = np.concatenate([c.amount[np.isfinite(c.amount)] for c in every]) if every else np.zeros(0)
    kinds = {name for c in every for name in c.kinds}
    documents = {int(code) for c in every for code in c.doc[np.isfinite(c.amount).any(axis=1)]}
    return len(documents) > 1 and len(kinds) <= 1 and bool(np.ptp(amounts) == 0)


def _explained(row: FindingRow, constant: bool) -> FindingRow:
    """Nothing changed, as nothing ever does: that is another reason."""
    if constant and row.test in (OUTCOME, KIND) and row.reason_code == codes.NO_CHANGE:
        return replace(row, reason_code=codes.CONSTANT_ANSWERS)
    return row


class _Builder:
    """Makes the rows of one label."""

    def __init__(
        self,
        scored: Scored,
        own: Cells,
        label: LabelTest,
        values: Sequence[ValueTest],
        steps: Sequence[float],
        draws: int,
        inference: Inference,
        unit: str,
        seed: int,
        kind: str,
    ) -> None:
        self.scored, self.cells, self.label, self.values = scored, own, label, values
        self.steps, self.draws, self.inference, self.unit = steps, draws, inference, unit
        self.seed = (seed, zlib.crc32(label.label.encode()))
        self.compared = contrasts(own)
        self.nominal = kind in NOMINAL
        self.primary = KIND if self.nominal else OUTCOME
        self.measured = kind if kind in (codes.YES_NO, codes.ORDINAL) else codes.AMOUNT

    def moves(self, numbers: Ints) -> Moves:
        """The paired differences of the label's values, of those that are compared with an asked value."""
        found = {}
        for value, one in zip(self.values, self.compared, strict=True):
            if one is not None and not self.nominal:
                d = difference(self.cells.amount[:, one.to], self.cells.amount[:, one.base])
                known = np.isfinite(d)
                found[value.value] = Contrast(one.contrast, numbers[self.cells.doc[known]], d[known])
        return Moves(self.label.label, found)

    def rows(self) -> Iterator[FindingRow]:
        """The label, its tests, and the values of each."""
        draws = LONGER * self.draws
        tests: dict[str, _Of] = {} if self.nominal else {OUTCOME: self._outcome()}
        tests[MISSING] = _stepped(missing_test(self.cells, self.compared, draws, (*self.seed, 1)))
        if self.inference.kind is not None and self.measured != codes.YES_NO:
            # Of yes and no it is the test of the outcome itself.
            tests[KIND] = _stepped(kind_test(self.cells, self.compared, draws, (*self.seed, 2)))
        # With several values, orders of answers have a small p in fewer cases than signs do: still too few.
        enough = confirmatory.minimum_cases()
        joint = {
            name: test.joint
            for name, test in tests.items()
            if test.joint is not None and self._compared_in(name) >= enough
        }
        weight = confirmatory.weights({name: one.least for name, one in joint.items()}, primary=self.primary)
        within = confirmatory.weighted_holm({name: one.p for name, one in joint.items()}, weight)
        of_values = {name: self._of_values(name, test, within.get(name)) for name, test in tests.items()}
        rows = {
            name: self._test(name, test, weight.get(name), within.get(name), of_values[name])
            for name, test in tests.items()
        }
        yield self._first(rows, within)
        for name, row in rows.items():
            yield row
            yield from of_values[name]

    def _row(self, test: str, scope: str, value: str | None = None) -> FindingRow:
        measure = {OUTCOME: self.measured, MISSING: codes.MISSING, KIND: codes.KIND}[test]
        return FindingRow(
            position=0,
            label=self.label.label,
            group=self.label.group,
            scope=scope,
            value=value,
            contrast=None,
            test=test,
            measure=measure,
            unit=self.unit if test == OUTCOME else codes.SHARE,
            n_asked=0,
            n_compared=0,
            n_changed=0,
            state=codes.NOT_SHOWN,
        )

    def _outcome(self) -> _Of:
        scores, label = self.scored.scores, self.label
        if scores is None or label.flip_p is None:
            return _Of(None, (None,) * len(self.values), (None,) * len(self.values))
        values: list[_One | None] = []
        stepped: list[float | None] = []
        at = 0
        for j, test in enumerate(self.values):
            if j not in scores.sample.columns:
                values.append(None)
                stepped.append(None)
                continue
            p, moving = test.flip_p, int(np.count_nonzero(scores.values[at].moving))
            kind = codes.EXACT if test.enumerated else codes.FLIPS
            values.append(None if p is None else _One(p, kind, self._least(moving)))
            stepped.append(None if p is None else self.steps[at])
            at += 1
        moving = int(np.count_nonzero(np.abs(whiten(scores.u)).max(axis=1) > 0))
        if len(scores.values) == 1:
            moving = int(np.count_nonzero(scores.values[0].moving))
        kind = codes.EXACT if label.enumerated else codes.FLIPS
        joint = _One(label.flip_p, kind, self._least(moving))
        if moving and np.isfinite(self.cells.amount).sum(axis=1).max(initial=0) > 2:
            # With more than two answers a case, signs alone would not do: see within_cases.
            known = np.isfinite(self.cells.amount)
            amounts = np.nan_to_num(self.cells.amount)
            permuted = permute_mean(self.cells.design, amounts, known, self.draws, (*self.seed, 0))
            joint = _one(permuted)
            if self.scored.rows.design.continuous:
                values, stepped = [joint], [joint.p]
        return _Of(joint if moving else None, tuple(values), tuple(stepped))

    def _least(self, moving: int) -> float:
        floor = 0.0 if moving <= ENUMERATED else 1 / (1 + self.draws)
        return max(floor, confirmatory.least_p(moving))

    def _of_values(self, name: str, test: _Of, within: Within | None) -> list[FindingRow]:
        found = []
        for j, value in enumerate(self.values):
            row = self._value(name, j, value)
            one, step = test.values[j], test.stepped[j]
            if one is not None and row.n_compared:
                row = replace(row, p=one.p, p_kind=one.kind, least_p=one.least)
                if within is not None and step is not None:
                    row = replace(row, p_within=min(1.0, max(within.p, within.factor * step)))
            elif row.state == codes.NOT_SHOWN:
                row = _untested(row)
            found.append(row)
        return found

    def _value(self, name: str, j: int, value: ValueTest) -> FindingRow:
        row = self._row(name, codes.VALUE, value.value)
        compared = self.compared[j]
        if name == MISSING:
            return missing_finding(row, self.cells, compared)
        if name == KIND:
            return kind_finding(row, self.cells, compared)
        scores = self._scores(j)
        if compared is None:
            return slope_finding(row, value, scores, f"{self.unit} for 1 of {value.value}")
        return amount_finding(row, self.cells, compared, scores, (*self.seed, 3, j))

    def _scores(self, j: int) -> ValueScores | None:
        scores: LabelScores | None = self.scored.scores
        if scores is None or j not in scores.sample.columns:
            return None
        return scores.values[scores.sample.columns.index(j)]

    def _test(
        self, name: str, test: _Of, weight: float | None, within: Within | None, values: Sequence[FindingRow]
    ) -> FindingRow:
        row = self._with_cases(self._row(name, codes.TEST), values)
        measures = {one.measure for one in values if one.n_changed}
        if measures == {codes.DECLINED}:
            row = replace(row, measure=codes.DECLINED)
        if test.joint is None:
            return _untested(row, values)
        row = replace(row, p=test.joint.p, p_kind=test.joint.kind, least_p=test.joint.least)
        if within is None or weight is None:
            return row
        return replace(row, weight=weight, p_within=within.p)

    def _with_cases(self, row: FindingRow, values: Sequence[FindingRow]) -> FindingRow:
        """The row with the cases asked, compared and changed under any of the values."""
        own = self.cells
        asked, compared, changed = np.zeros((3, len(own.doc)), dtype=np.bool_)
        response = self._response(row.test)
        for one in self.compared:
            if one is None:
                (value,) = values
                return replace(
                    row, n_asked=value.n_asked, n_compared=value.n_compared, n_changed=value.n_changed
                )
            pair = [one.base, one.to]
            known, moved = _moved(response[:, pair])
            asked |= own.asked[:, pair].all(axis=1)
            compared |= known
            changed |= moved
        return replace(
            row, n_asked=int(asked.sum()), n_compared=int(compared.sum()), n_changed=int(changed.sum())
        )

    def _response(self, test: str) -> Floats:
        """What a test compares, as (cases, levels, columns)."""
        own = self.cells
        of_test = {OUTCOME: own.amount[:, :, None], MISSING: own.missing[:, :, None], KIND: own.compared_kind}
        return of_test[test]

    def _compared_in(self, test: str) -> int:
        """How many cases a test compares, under any of the values."""
        response = self._response(test)
        if not response.shape[2]:
            return 0
        known = np.isfinite(response[:, :, 0])
        of_pairs = [known[:, [one.base, one.to]].all(axis=1) for one in self.compared if one is not None]
        if len(of_pairs) < len(self.compared):
            return int((known.sum(axis=1) > 1).sum())
        return int(np.logical_or.reduce(of_pairs).sum()) if of_pairs else 0

    def _first(self, rows: Mapping[str, FindingRow], within: Mapping[str, Within]) -> FindingRow:
        """The label's own row: as the test that carries its p, or else as its primary test."""
        # Of equal p, the first declared.
        carrying = min(
            (test.name for test in TESTS if test.name in within),
            key=lambda name: within[name].p,
            default=None,
        )
        row = replace(rows[carrying or self.primary], scope=codes.LABEL, weight=None)
        if carrying is None:
            tested = [one for one in rows.values() if one.p is not None]
            return row if row.p is not None or not tested else replace(tested[0], scope=codes.LABEL)
        return replace(row, p=within[carrying].p)


def _stepped(test: Tested) -> _Of:
    """A test by permutation: its values by Holm."""
    if not test.joint.moving:
        return _Of(None, (None,) * len(test.values), (None,) * len(test.values))
    at = [j for j, one in enumerate(test.values) if one.moving]
    adjusted = dict(zip(at, holm(np.array([test.values[j].p for j in at])), strict=True)) if at else {}
    return _Of(
        _one(test.joint),
        tuple(_one(one) if one.moving else None for one in test.values),
        tuple(float(adjusted[j]) if j in adjusted else None for j in range(len(test.values))),
    )


def _one(permuted: Permuted) -> _One:
    return _One(permuted.p, codes.EXACT if permuted.exact else codes.PERMUTATIONS, permuted.least_p)


def _moved(pair: Floats) -> tuple[Bools, Bools]:
    """Of (cases, 2, columns): whether both are known, and whether they differ."""
    if not pair.shape[2]:
        none = np.zeros(len(pair), dtype=np.bool_)
        return none, none
    known: Bools = np.isfinite(pair[:, 0, 0]) & np.isfinite(pair[:, 1, 0])
    moved: Bools = np.abs(np.nan_to_num(difference(pair[:, 1], pair[:, 0]))).max(axis=1) > 0
    return known, known & moved


def _untested(row: FindingRow, values: Sequence[FindingRow] = ()) -> FindingRow:
    """The row, which has no p, with its state and the reason."""
    if not row.n_compared:
        reasons = {one.reason_code for one in values}
        reason = reasons.pop() if len(reasons) == 1 else None
        return replace(row, state=codes.UNTESTABLE, reason_code=reason or codes.NOTHING_COMPARED)
    if row.n_compared == 1:
        return replace(row, state=codes.UNTESTABLE, reason_code=codes.ONE_CASE)
    if row.n_compared < confirmatory.minimum_cases():
        return replace(row, state=codes.UNTESTABLE, reason_code=codes.TOO_FEW_CASES)
    reason = codes.TOO_FEW_CHANGES if row.n_changed else codes.NO_CHANGE
    return replace(row, state=codes.NOT_SHOWN, reason_code=reason)
