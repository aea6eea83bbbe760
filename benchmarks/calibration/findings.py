"""Do findings keep their promises? Null studies, planted labels, weights of tests, coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy import stats

from analyze.counterfactual.frame import Floats
from analyze.findings import codes
from analyze.findings.rows import FindingRow
from analyze.inference import confirmatory
from analyze.inference.confirmatory import LEVEL, OUTCOME, WEIGHTS
from analyze.inference.equivalence import confirmable
from analyze.inference.multiplicity import holm
from analyze.inference.within_cases import permute, permute_mean
from benchmarks.calibration.studies import (
    AGES,
    AMOUNT,
    DECLINES,
    KIND,
    SHAPE,
    Planted,
    Shape,
    draw_shape,
    draw_study,
    find,
)

DRAWS = 4_999
TESTS = {AMOUNT: OUTCOME, DECLINES: confirmatory.MISSING, KIND: confirmatory.KIND}
"""The confirmatory test that should find what is planted."""
ALTERNATIVES = (1.0, 0.9, 0.8, 0.6, 1 / 3)
"""Weights of the primary test to compare; the others share the rest."""


@dataclass
class Coverage:
    """How many intervals hold the true effect."""

    held: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, low: float, high: float, truth: float) -> None:
        """Count one interval."""
        self.tried[kind] += 1
        self.held[kind] += low <= truth <= high

    def merge(self, other: Coverage) -> None:
        """Add what another counted."""
        self.held += other.held
        self.tried += other.tried


@dataclass
class Outcome:
    """What one study gave."""

    confirmed: list[tuple[str, str | None, str]]
    """Label, value (None: the label) and test of what was confirmed."""
    by_weight: dict[float, bool]
    """By the weight of the primary test: whether the planted label is found, of a null study any label."""
    coverage: Coverage
    planted: Planted | None = None
    lines: int = 0
    """Findings that name the planted value in its test, or say of its label that no value is shown."""
    wrong_sign: int = 0


def one_study(number: int, seed: int, planting: bool, draws: int = DRAWS) -> Outcome:
    """Draw a study, find, and hold the findings against the truth."""
    rng = np.random.default_rng([seed, number, int(planting)])
    planted = None
    if planting:
        planted = Planted(
            label=int(rng.integers(len(SHAPE) + AGES)),
            what=str(rng.choice([AMOUNT, AMOUNT, AMOUNT, DECLINES, KIND])),
            share=float(rng.uniform(0.2, 1.0)),
            jump=float(rng.choice([-6.0, 6.0, 12.0])),
        )
    rows = find(draw_study(draw_shape(rng), rng, planted), draws, seed=seed * 100_003 + number)
    confirmed = [(r.label, r.value, r.test) for r in rows if r.state == codes.CONFIRMED]
    label = None if planted is None else f"label {planted.label:02}"
    found = Outcome(confirmed, _by_weight(rows, label), Coverage(), planted)
    for row in rows:
        _cover(found.coverage, row, planted, label)
    if planted is not None:
        _check(found, rows, planted, label)
    return found


def _check(found: Outcome, rows: Sequence[FindingRow], planted: Planted, label: str | None) -> None:
    """Whether the planted label has its line, and the right sign."""
    for row in rows:
        if row.label != label or row.state != codes.CONFIRMED or row.scope == codes.TEST:
            continue
        if row.scope == codes.LABEL:
            found.lines += row.reason_code == codes.VALUE_NOT_SHOWN
        elif row.test == TESTS[planted.what] and row.value in ("v1", "ln(age)"):
            found.lines += 1
            up = planted.jump > 0 or planted.what != AMOUNT
            right = (row.effect or 0.0) > 0 if up else (row.effect or 0.0) < 0
            found.wrong_sign += not (right and (planted.what != KIND or row.to_kind == "acquitted"))


def _by_weight(rows: Sequence[FindingRow], label: str | None) -> dict[float, bool]:
    """Whether the label is found with other weights of the primary test; its own p and Holm's are as ever."""
    tests: dict[str, dict[str, FindingRow]] = {}
    for row in rows:
        if row.scope == codes.TEST and row.p is not None and (row.least_p or 0.0) < LEVEL:
            tests.setdefault(row.label, {})[row.test] = row
    found = {}
    for primary in ALTERNATIVES:
        p = {}
        for name, of_label in tests.items():
            weight = {
                test: primary if test == OUTCOME else (1 - primary) / (len(WEIGHTS) - 1) for test in of_label
            }
            total = sum(weight.values())
            if total:
                p[name] = min(1.0, *((of_label[t].p or 0.0) * total / w for t, w in weight.items() if w > 0))
        adjusted = dict(zip(p, holm(np.array(list(p.values()))), strict=True)) if p else {}
        rejected = {name for name, value in adjusted.items() if value < LEVEL}
        found[primary] = bool(rejected) if label is None else label in rejected
    return found


def _cover(coverage: Coverage, row: FindingRow, planted: Planted | None, label: str | None) -> None:
    if row.scope != codes.VALUE or row.ci_low is None or row.ci_high is None or row.effect is None:
        return
    if row.test == confirmatory.KIND:
        return
    mine = planted is not None and row.label == label and row.value in ("v1", "ln(age)")
    truth = 0.0
    if mine and planted is not None:
        if row.test != TESTS[planted.what] or planted.what == DECLINES:
            return  # declined on top of what is missing anyway: no truth to hold it against
        truth = planted.effect
    name = "months" if row.test == OUTCOME else "missing"
    if row.ci_kind == codes.SELECTED:
        coverage.add(f"{name}, confirmed effects, adjusted for the selection", row.ci_low, row.ci_high, truth)
    low, high = row.ci_low, row.ci_high
    if row.ci_kind == codes.SELECTED and row.se is not None:
        width = float(stats.t.isf(0.025, row.n_compared - 1)) * row.se
        low, high = row.effect - width, row.effect + width
    few = ", few cases carry it" if codes.FEW_CHANGERS in row.notes else ""
    coverage.add(f"{name}, {'planted' if mine else 'null'} effects, 95%{few}", low, high, truth)


def outcomes(studies: int, seed: int, planting: bool, draws: int = DRAWS, workers: int = 1) -> list[Outcome]:
    """So many studies, in several processes if wanted."""
    one = partial(one_study, seed=seed, planting=planting, draws=draws)
    if workers == 1:
        return [one(number) for number in range(studies)]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(one, range(studies), chunksize=5))


def null_studies(studies: int, seed: int, draws: int = DRAWS, workers: int = 1) -> bool:
    """Of studies in which nothing matters, how many have anything confirmed?"""
    found = outcomes(studies, seed, False, draws, workers)
    any_confirmed = sum(bool(one.confirmed) for one in found)
    most = int(stats.binom.ppf(0.975, studies, LEVEL))
    print(f"Null: {studies} studies of {len(SHAPE) + AGES} labels, {draws} draws")
    print(f"  with anything confirmed: {any_confirmed} (at most {most})")
    for test in WEIGHTS:
        count = sum(any(t == test for _, value, t in one.confirmed if value) for one in found)
        print(f"    a value by the test of {test}: {count}")
    _print_weights("any label found", found)
    return any_confirmed <= most


def planted_studies(studies: int, seed: int, draws: int = DRAWS, workers: int = 1) -> bool:
    """Of studies with one planted label: how often it is found, with a line of the right sign; coverage."""
    found = outcomes(studies, seed, True, draws, workers)
    print(f"Planted: {studies} studies of {len(SHAPE) + AGES} labels, one of which matters, {draws} draws")
    good = True
    for what in TESTS:
        of = [one for one in found if one.planted is not None and one.planted.what == what]
        hit = [one for one in of if _hit(one)]
        lines = sum(one.lines > 0 for one in hit)
        wrong = sum(one.wrong_sign for one in hit)
        print(
            f"  {what:9} planted {len(of):4}, confirmed {len(hit):4}, with its line {lines:4}, "
            f"wrong sign {wrong}"
        )
        _print_weights("    found", of)
        good &= lines == len(hit) and wrong == 0
    others = sum(any(label != _label(one) for label, _, _ in one.confirmed) for one in found)
    most = int(stats.binom.ppf(0.975, studies, LEVEL))
    print(f"  with another label confirmed: {others} (at most {most})")
    coverage = Coverage()
    for one in found:
        coverage.merge(one.coverage)
    good &= others <= most
    return _print_coverage(coverage) and good


def _label(one: Outcome) -> str:
    return f"label {one.planted.label:02}" if one.planted is not None else ""


def _hit(one: Outcome) -> bool:
    return any(label == _label(one) and value is None for label, value, _ in one.confirmed)


def _print_weights(what: str, found: Iterable[Outcome]) -> None:
    of = list(found)
    cells = [f"{primary:.2f}: {sum(one.by_weight[primary] for one in of)}" for primary in ALTERNATIVES]
    print(f"    {what}, by the primary test's weight (1: that test alone): {', '.join(cells)} of {len(of)}")


def _print_coverage(coverage: Coverage) -> bool:
    """Unconditionally: over all intervals of a kind, whatever the tests said."""
    print("  Coverage, over all intervals of a kind, whatever was confirmed:")
    good = True
    for kind in sorted(coverage.tried):
        share, n = coverage.held[kind] / coverage.tried[kind], coverage.tried[kind]
        print(f"    {kind:60} {share:6.1%} of {n}")
        if "few" not in kind:
            good &= coverage.held[kind] >= stats.binom.ppf(0.005, n, 0.93)
    return good


def recovery(labels: int, seed: int, draws: int = 9_999, cases: Sequence[int] = (30, 60, 120, 300)) -> bool:
    """Are effects called detectable found four times in five by the confirmatory test of one label of 65?"""
    rng = np.random.default_rng(seed)
    level = LEVEL / (len(SHAPE) + AGES)
    found: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for number in range(labels):
        values = int(rng.choice([1, 2, 3, 5]))
        shape = replace(draw_shape(rng), cases=int(rng.choice(cases)), missing=0.0, other_kind=0.0)
        before = _amounts(shape, rng, values)
        moves = (before[:, 1:] - before[:, :1]).ravel()
        jumps = np.abs(moves[moves != 0])
        smallest = confirmable(moves[::values], moves, level=level, values=values, seed=number)
        if smallest is None:
            continue
        y = _amounts(shape, rng, values)
        y[:, 1] += rng.choice(jumps, len(y)) * (rng.random(len(y)) < smallest.share)
        design = np.broadcast_to(np.eye(1 + values), (len(y), 1 + values, 1 + values))
        there = np.ones(y.shape, dtype=np.bool_)
        if values == 1:
            p = permute(design, y[:, :, None], there, draws, (seed, number)).p
        else:
            p = permute_mean(design, y, there, draws, (seed, number)).p
        for kind in ("all labels", "of one value" if values == 1 else "of several values"):
            tried[kind] += 1
            found[kind] += bool(p < level and (y[:, 1] - y[:, 0]).mean() > 0)
    print(
        f"Recovery: {tried['all labels']} labels of 65 with an effect called detectable after the correction"
    )
    for kind, n in sorted(tried.items()):
        print(f"  {kind:18} found {found[kind] / n:6.1%} of {n}")
    error = 3 * np.sqrt(0.8 * 0.2 / tried["all labels"])
    return bool(abs(found["all labels"] / tried["all labels"] - 0.8) <= error + 0.1)


def _amounts(shape: Shape, rng: np.random.Generator, values: int) -> Floats:
    (rows,) = draw_study(shape, rng, values=(values,), ages=0)
    return rows.columns["amount"].reshape(shape.cases, 1 + values)
