"""Calibration of the inference against simulations with known answers.

    python -m benchmarks.calibration.run [--labels 1000] [--models 1000] [--studies 200] [--seed 1]

Five questions, each answered with a table and a verdict:

1. Level: over null labels of realistic shape, does the flip p fall below alpha no more often than alpha plus
   binomial error, at 0.1, 0.05, 0.01; and the cluster p, where it is not flagged?
2. Count: over null models, does the count test by common signs hold its level at a cross-label correlation of
   0 and 0.25, and what does the Bernoulli test do? How often is any label rejected by the max-t?
3. Recovery: are effects of the size called detectable found in 80% of the cases, by single tests at 5%, and
   by the confirmatory test of one label of 65?
4. Null studies of 65 labels: how many have anything confirmed, and with other weights of the tests?
5. Studies with one planted label: is it confirmed, under its name and with its sign; what does the weight of
   the primary test cost against that test alone; how many intervals hold the true effect?
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy import stats

from analyze.inference import discordant as changers
from analyze.inference.bernoulli import THRESHOLDS, bernoulli_p
from analyze.inference.equivalence import detectable
from analyze.inference.flips import flip
from analyze.inference.multiplicity import step_down_max
from analyze.inference.scores import ValueScores
from analyze.inference.signs import Signs
from benchmarks.calibration.findings import null_studies, planted_studies
from benchmarks.calibration.findings import recovery as confirmatory_recovery
from benchmarks.calibration.worlds import answers, correlated_pairs, draw_world

LEVEL = 0.05


def cluster_p(value: ValueScores) -> float:
    """The p of the cluster t."""
    t = abs(value.effect) / np.sqrt(value.variance)
    return float(2 * stats.t.sf(t, value.documents - 1))


def within(rejections: int, trials: int, level: float) -> bool:
    """No more rejections than the 99.5% quantile of the binomial at the level."""
    return rejections <= stats.binom.ppf(0.995, trials, level)


def levels(labels: int, seed: int, draws: int = 1_999) -> bool:
    """Question 1."""
    rng = np.random.default_rng(seed)
    flips: list[float] = []
    leading: list[float] = []
    unflagged: list[float] = []
    flagged: list[float] = []
    joint: list[float] = []
    beside: list[float] = []
    for number in range(labels):
        world = draw_world(rng)
        scores = answers(world, rng)
        if scores is None:
            continue
        results = flip([scores], Signs(draws, seed=seed * 1_000_003 + number))
        if world.null_values == world.values:
            joint.append(results.labels[0].p)
        for value, flipped in zip(scores.values, results.values, strict=True):
            if value.column >= world.null_values or not value.moving.any():
                continue
            flips.append(flipped.p)
            (flagged if changers.flag(value) else unflagged).append(cluster_p(value))
            leading.append(flipped.p if changers.flag(value) else cluster_p(value))
            if world.biased_sibling:
                beside.append(flipped.p)
    print(f"Level: {labels} null labels, {len(flips)} null values, {draws} draws")
    rows = [
        ("flip p of values", flips, True),
        ("  of these beside a biased value", beside, True),
        ("joint flip p of labels", joint, True),
        ("cluster p, not flagged", unflagged, True),
        ("leading p", leading, True),
        ("cluster p, flagged (not to be used)", flagged, False),
    ]
    held = [_row(name, p, judged) for name, p, judged in rows]
    return all(held)


def _row(name: str, p_values: Sequence[float], judged: bool) -> bool:
    p, n = np.array(p_values), len(p_values)
    cells, good = [], True
    for threshold in THRESHOLDS:
        rejected = int(np.count_nonzero(p <= threshold))
        held = within(rejected, n, threshold)
        good &= held or not judged
        cells.append(f"{rejected / max(n, 1):7.2%}{' ' if held else '!'} at {threshold:g}")
    print(f"  {name:38} n {n:5}  {'  '.join(cells)}")
    return good


def counts(models: int, seed: int, draws: int = 999, documents: int = 400, values: int = 96) -> bool:
    """Question 2."""
    good = True
    for correlation in (0.0, 0.25):
        rng = np.random.default_rng(seed + int(100 * correlation))
        common = dict.fromkeys(THRESHOLDS, 0)
        bernoulli = dict.fromkeys(THRESHOLDS, 0)
        family = 0
        for number in range(models):
            scores = correlated_pairs(documents, values, correlation, rng)
            results = flip(scores, Signs(draws, seed=seed * 7_919 + number))
            p = np.array([cluster_p(one.values[0]) for one in scores])
            own = np.array([flipped.p for flipped in results.labels])
            family += step_down_max(results.observed_z, list(results.label_z), own).min() <= LEVEL
            for threshold in THRESHOLDS:
                observed = int(np.count_nonzero(p < threshold))
                drawn = results.value_counts[threshold]
                common[threshold] += (1 + np.count_nonzero(drawn >= observed)) / (1 + draws) <= LEVEL
                bernoulli[threshold] += bernoulli_p(observed, values, threshold) <= LEVEL
        print(f"Count: {models} null models of {values} values, correlation {correlation:g}, at {LEVEL:.0%}")
        for name, rejected in (("common signs", common), ("Bernoulli", bernoulli)):
            cells = [f"{rejected[t] / models:6.1%} for p < {t:g}" for t in THRESHOLDS]
            print(f"  {name:14} {'  '.join(cells)}")
        print(f"  {'max-t':14} {family / models:6.1%} with any label rejected")
        good &= all(within(rejected, models, LEVEL) for rejected in (family, *common.values()))
    return good


def recovery(labels: int, seed: int, draws: int = 999) -> bool:
    """Question 3."""
    rng = np.random.default_rng(seed)
    found = {"cluster p": 0, "flip p": 0}
    tried = 0
    for number in range(labels):
        world = draw_world(rng)
        if world.documents < 300:
            continue
        scores = answers(world, rng)
        if scores is None:
            continue
        moves = np.concatenate([v.difference for v in scores.values if v.column < world.null_values])
        moves = moves[np.isfinite(moves)]
        first = scores.values[0].difference
        smallest = detectable(first[np.isfinite(first)], moves, seed=number)
        if smallest is None:
            continue
        jump = smallest.effect / smallest.share
        moved = answers(world, rng, effect=smallest.share, jump=jump)
        if moved is None:
            continue
        tried += 1
        (flipped, *_) = flip([moved], Signs(draws, seed=seed * 31 + number)).values
        up = moved.values[0].effect > 0
        found["cluster p"] += up and cluster_p(moved.values[0]) < LEVEL
        found["flip p"] += up and flipped.p <= LEVEL
    print(f"Recovery: {tried} labels with an effect of the size called detectable at 80%")
    for name, count in found.items():
        print(f"  found by {name:10} {count / tried:6.1%}")
    error = 3 * np.sqrt(0.8 * 0.2 / tried)
    return all(0.8 - error - 0.05 <= count / tried <= 0.8 + error + 0.05 for count in found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description="Calibration of the inference.")
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    good, workers = True, os.cpu_count() or 1
    questions: tuple[tuple[str, Callable[[int, int], bool], int], ...] = (
        ("levels", levels, options.labels),
        ("counts", counts, options.models),
        ("recovery", recovery, options.labels),
        ("confirmatory recovery", confirmatory_recovery, options.labels),
        ("null studies", partial(null_studies, workers=workers), options.studies),
        ("planted studies", partial(planted_studies, workers=workers), options.studies),
    )
    for name, question, size in questions:
        started = time.perf_counter()
        held = question(size, options.seed)
        good &= held
        print(
            f"  {name}: {'held' if held else 'NOT HELD'} ({time.perf_counter() - started:.0f} s)\n",
            flush=True,
        )
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
