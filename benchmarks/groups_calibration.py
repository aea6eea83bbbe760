"""Calibration of group inference against simulated test sets with known answers, and its speed.

    python -m benchmarks.groups_calibration [--sets 200] [--seed 1] [--only level,shift,excess,gaps,speed]
        [--worlds "SCOTUS direction,ECtHR age"]

Five questions, each answered with a table and a verdict:

1. Level and power: do the permutation tests reject in 5% of sets without a disparity, within binomial error,
   and how often with one?
2. Label shift: where groups differ in their label shares alone, does the plain test reject, and the test
   within labels not?
3. Excess: how often does its interval hold the true disparity of 0, 1, 3 and 8 points; the percentile
   interval of the bootstrapped disparity beside it; the error of the excess and of the corrected worst group.
4. Models and gaps: do the interval of a gap between groups and those of differences of two models cover, and
   does the swap test hold its level?
5. Speed: 9,999 draws for one seed, and a whole model at the size of CAIL's test set.

Worlds have six classes with the shares and the ordered confusions of prison terms, mean score 0.7, and test
sets of the sizes of CAIL, SCOTUS and ECtHR. True disparities are exact: each group's accuracy is solved for.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from analyze.groups import Attribute, Classes, GroupData, Predictions, Rule, Settings, Variant, analyze
from analyze.groups.analysis import difference_rows
from analyze.groups.attribute_rows import AttributeRows, attribute_rows
from analyze.groups.disparity import summarize
from analyze.groups.inference.permutation import shuffle
from analyze.groups.inference.strata import Null, permutation
from analyze.groups.rules import RULES, macro_f1
from analyze.groups.scores import score

Floats = NDArray[np.float64]

CAIL_REGION = (2_488, 2_100, 1_900, 1_700, 1_700, 1_488, 624)
SIZES: dict[str, tuple[int, ...]] = {
    "CAIL gender": (11_093, 907),
    "CAIL region": CAIL_REGION,
    "SCOTUS direction": (479, 452),
    "SCOTUS respondent": (401, 265, 106, 60),
    "ECtHR age": (472, 125, 93),
}
SHARES = np.array([0.04, 0.34, 0.24, 0.13, 0.20, 0.05])
CLASSES = Classes(tuple("abcdef"))
_NEAR = np.exp(-1.2 * np.abs(np.subtract.outer(np.arange(6), np.arange(6))))
_NEAR /= _NEAR.sum(axis=1, keepdims=True)
SUPPORT = RULES.index(Rule.SUPPORT)


def confusion(accuracy: float) -> Floats:
    """P(predicted | true): right with this probability, else near the true class."""
    return np.asarray(accuracy * np.eye(6) + (1 - accuracy) * _NEAR)


def true_score(accuracy: float, shares: Floats = SHARES) -> float:
    """The macro-F1 of infinitely many rows."""
    cells = shares[:, None] * confusion(accuracy)
    return float(macro_f1(np.stack([np.diag(cells), cells.sum(axis=0), cells.sum(axis=1)]), Rule.SUPPORT))


_GRID = np.linspace(0, 1, 2_001)
_SCORES = np.array([true_score(accuracy) for accuracy in _GRID])


def accuracy_for(target: float) -> float:
    """The accuracy at which the true macro-F1 is the target."""
    near = float(np.interp(target, _SCORES, _GRID))
    low, high = max(0.0, near - 0.01), min(1.0, near + 0.01)
    return float(optimize.brentq(lambda accuracy: true_score(accuracy) - target, low, high, xtol=1e-12))


def true_scores(rng: np.random.Generator, groups: int, disparity: float) -> Floats:
    """Scores around 0.7 with exactly this disparity, in a random direction that the worlds can have."""
    while True:
        direction = rng.normal(size=groups)
        direction -= direction.mean()
        scores = 0.7 + disparity * direction / np.sqrt(np.square(direction).mean())
        if _SCORES[0] < scores.min() and scores.max() < _SCORES[-1]:
            return np.asarray(scores)


def draw_set(
    rng: np.random.Generator,
    sizes: tuple[int, ...],
    scores: Floats,
    shares: list[Floats] | None = None,
    models: int = 1,
    seeds: int = 1,
) -> GroupData:
    """A test set and the answers of models that are equally good."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    own = [SHARES] * len(sizes) if shares is None else shares
    truth = np.concatenate([rng.choice(6, size, p=share) for size, share in zip(sizes, own, strict=True)])
    tables = np.stack([confusion(accuracy_for(value)) for value in scores]).cumsum(axis=2)
    predictions = []
    for model in range(models):
        for seed in range(seeds):
            values = (tables[groups, truth] < rng.random(len(truth))[:, None]).sum(axis=1)
            predictions.append(Predictions(f"m{model}", seed, np.minimum(values, 5)))
    attribute = Attribute("group", tuple(f"g{k}" for k in range(len(sizes))), groups)
    return GroupData("simulated", CLASSES, truth, (attribute,), tuple(predictions))


def results(data: GroupData, permutations: int, bootstraps: int, seed: int) -> AttributeRows:
    """The rows of the first model, by the data's own rule only where that saves time."""
    settings = Settings(permutations=permutations, bootstraps=bootstraps, variants=(Variant.ALL,), seed=seed)
    one = replace(data, predictions=(replace(data.predictions[0], seed=None),))
    return attribute_rows(one, "m0", data.attributes[0], settings)


def known(value: float | None) -> float:
    """The number; infinity where there is no upper end."""
    return np.inf if value is None else value


def within(rejections: int, trials: int, level: float = 0.05) -> bool:
    """A number of rejections that the binomial at the level gives in 99 of 100 runs."""
    return bool(stats.binom.ppf(0.005, trials, level) <= rejections <= stats.binom.ppf(0.995, trials, level))


def levels(sets: int, seed: int) -> bool:
    """Question 1."""
    print("\n1. Level and power of the permutation tests at 5%, in % of the sets")
    print(f"   {'':20}{'true GD':>8}{'plain':>8}{'within':>8}{'worst':>8}{'worst within':>14}  verdict")
    rng = np.random.default_rng([seed, 1])
    good = True
    for name, sizes in SIZES.items():
        for disparity in (0.0, 0.03):
            number = sets if disparity == 0 else max(20, sets // 4)
            hits = np.zeros(4, dtype=int)
            for trial in range(number):
                data = draw_set(rng, sizes, true_scores(rng, len(sizes), disparity))
                found = results(data, 499, 0, trial)
                row = next(row for row in found.disparities if row.is_default)
                p = (row.p_plain, row.p_within_label, row.p_worst, row.p_worst_within_label)
                hits += [value is not None and value <= 0.05 for value in p]
            verdict = ""
            if disparity == 0:
                held = all(within(int(one), number) for one in hits)
                good &= held
                verdict = "holds" if held else "DOES NOT HOLD"
            shown = "".join(f"{100 * one / number:8.1f}" for one in hits[:3])
            print(
                f"   {name:20}{100 * disparity:8.0f}{shown}{100 * hits[3] / number:14.1f}  {verdict}",
                flush=True,
            )
    return good


def label_shift(sets: int, seed: int) -> bool:
    """Question 2."""
    print("\n2. Label shift alone, 4,400 and 3,400 rows, equal P(predicted | true): rejections at 5%, in %")
    rng = np.random.default_rng([seed, 2])
    shifted = [SHARES, np.array([0.02, 0.60, 0.25, 0.05, 0.05, 0.03])]
    table = np.stack([confusion(value) for value in (0.9, 0.85, 0.8, 0.55, 0.7, 0.3)])
    table = np.stack([table[k, k] for k in range(6)]).cumsum(axis=1)
    hits = np.zeros(2, dtype=int)
    behaviour, gaps = [], []
    for trial in range(sets):
        data = draw_set(rng, (4_400, 3_400), np.array([0.7, 0.7]), shifted)
        values = (table[data.truth] < rng.random(len(data.truth))[:, None]).sum(axis=1)
        data = replace(data, predictions=(Predictions("m0", 0, np.minimum(values, 5)),))
        found = results(data, 499, 200, trial)
        row = next(row for row in found.disparities if row.is_default)
        hits += [p is not None and p <= 0.05 for p in (row.p_plain, row.p_within_label)]
        gaps.append(found.gaps[0].gap)
        one = found.gaps[0]
        behaviour.append((one.behaviour, (one.behaviour_low or 0) <= 0 <= (one.behaviour_high or 0)))
    parts = np.array(behaviour, dtype=np.float64)
    print(f"   plain {100 * hits[0] / sets:.1f}, within labels {100 * hits[1] / sets:.1f}")
    print(
        f"   mean gap {100 * np.mean(gaps):+.2f} points, of which behaviour {100 * parts[:, 0].mean():+.2f}; "
        f"its interval holds 0 in {100 * parts[:, 1].mean():.1f}%"
    )
    return bool(hits[0] > sets / 2 and hits[1] <= stats.binom.ppf(0.995, sets, 0.05))


def excesses(sets: int, seed: int) -> bool:
    """Question 3."""
    print("\n3. Excess and worst group; errors in points: mean, and (root mean square)")
    print(
        f"   {'':20}{'true GD':>8}{'covered':>9}{'percentile':>12}{'excess':>16}{'worst as is':>16}"
        f"{'corrected':>16}{'P(worst)':>10}"
    )
    rng = np.random.default_rng([seed, 3])
    good = True
    for name, sizes in SIZES.items():
        for disparity in (0.0, 0.01, 0.03, 0.08):
            covered = percentile = 0
            errors: list[tuple[float, float, float]] = []
            chance: list[float] = []
            for trial in range(sets):
                scores = true_scores(rng, len(sizes), disparity)
                data = draw_set(rng, sizes, scores)
                found = results(data, 499, 500, trial)
                row = next(row for row in found.disparities if row.is_default)
                low, high, excess = known(row.excess_low), known(row.excess_high), known(row.gd_excess)
                lowest, corrected = known(row.worst_score), known(row.worst_corrected)
                covered += low - 1e-9 <= disparity <= high + 1e-9
                whole = np.ones(len(data.truth), dtype=np.bool_)
                drawn = score(
                    data, data.attributes[0], data.predictions[:1], whole, Variant.ALL, 500, rng
                ).drawn
                bottom, top = np.quantile(summarize(drawn[SUPPORT, :, 0]).gd, [0.025, 0.975])
                percentile += bottom <= disparity <= top
                least = float(scores.min())
                errors.append((excess - disparity, lowest - least, corrected - least))
                worst = f"g{int(np.argmin(scores))}"
                own = next(one for one in found.group_scores if one.is_default and one.group_name == worst)
                chance.append(own.probability_worst or 0.0)
            mean = 100 * np.mean(errors, axis=0)
            size = 100 * np.sqrt(np.mean(np.square(errors), axis=0))
            shown = "".join(
                f"{one:+8.2f} ({other:4.2f})".rjust(16) for one, other in zip(mean, size, strict=True)
            )
            good &= covered >= stats.binom.ppf(0.005, sets, 0.92)
            print(
                f"   {name:20}{100 * disparity:8.0f}{100 * covered / sets:8.1f}%"
                f"{100 * percentile / sets:11.1f}%{shown}{100 * np.mean(chance):9.0f}%",
                flush=True,
            )
    return bool(good)


def gaps_and_models(sets: int, seed: int) -> bool:
    """Question 4."""
    print("\n4. Coverage of 95% intervals, and level of the swap test, two models alike; in %")
    print(f"   {'':20}{'true GD':>8}{'score':>8}{'gap':>8}{'mean':>14}{'worst':>14}{'gd':>14}")
    rng = np.random.default_rng([seed, 4])
    good = True
    for name, sizes in SIZES.items():
        for disparity in (0.0, 0.03):
            scored = gapped = pairs = groups = 0
            covered, hits = np.zeros(3, dtype=int), np.zeros(3, dtype=int)
            for trial in range(sets):
                scores = true_scores(rng, len(sizes), disparity)
                data = draw_set(rng, sizes, scores, models=2)
                found = results(data, 0, 500, trial)
                for one in (row for row in found.group_scores if row.is_default):
                    groups += 1
                    scored += (one.ci_low or 0) <= scores[one.group_code] <= (one.ci_high or 0)
                for gap in found.gaps:
                    pairs += 1
                    true = scores[int(gap.first[1:])] - scores[int(gap.second[1:])]
                    gapped += (gap.ci_low or 0) <= true <= (gap.ci_high or 0)
                settings = Settings(permutations=199, bootstraps=300, variants=(Variant.ALL,), seed=trial)
                rows = [row for row in difference_rows(data, "m0", "m1", settings) if row.is_default]
                covered += [(row.ci_low or 0) <= 0 <= (row.ci_high or 0) for row in rows]
                hits += [(row.p or 0) <= 0.05 for row in rows]
            held = bool((hits <= stats.binom.ppf(0.995, sets, 0.05)).all())
            good &= held
            shown = "".join(
                f"{100 * one / sets:.1f} / {100 * other / sets:.1f}".rjust(14)
                for one, other in zip(covered, hits, strict=True)
            )
            print(
                f"   {name:20}{100 * disparity:8.0f}{100 * scored / groups:8.1f}{100 * gapped / pairs:8.1f}"
                f"{shown}  {'holds' if held else 'DOES NOT HOLD'}",
                flush=True,
            )
    return good


def speed(_: int, seed: int) -> bool:
    """Question 5."""
    print("\n5. Speed at 12,000 rows")
    rng = np.random.default_rng([seed, 5])
    data = draw_set(rng, CAIL_REGION, true_scores(rng, 7, 0.03), seeds=3)
    gender = Attribute("gender", ("male", "female"), (rng.random(12_000) < 0.076).astype(np.int64))
    data = replace(data, attributes=(gender, replace(data.attributes[0], name="region")))
    for attribute in data.attributes:
        one = replace(data, attributes=(attribute,), predictions=data.predictions[:1])
        whole = np.ones(12_000, dtype=np.bool_)
        found = score(one, attribute, one.predictions, whole, Variant.ALL, 0, rng)
        started = time.perf_counter()
        for null in Null:
            blocks = permutation(one, found.panel, found.groups, len(attribute.groups), null)
            shuffle(blocks, 9_999, rng)
        seconds = (time.perf_counter() - started) / 2
        print(f"   9,999 draws of one test, one seed, {attribute.name}: {seconds:.2f} s")
    seconds = []
    gone = np.zeros(12_000, dtype=np.int8)
    gone[rng.choice(12_000, 120, replace=False)] = 1
    unanswered = replace(data, predictions=tuple(replace(one, answers=gone) for one in data.predictions))
    print("   whole model, 2 attributes, 3 seeds, 9,999 draws, 2,000 bootstraps:")
    for what, chosen in (("every row answered", data), ("1% of the rows unanswered", unanswered)):
        started = time.perf_counter()
        analyze(chosen)
        seconds.append(time.perf_counter() - started)
        print(f"      {what}: {seconds[-1]:.1f} s")
    return max(seconds) < 20


QUESTIONS: dict[str, Callable[[int, int], bool]] = {
    "level": levels,
    "shift": label_shift,
    "excess": excesses,
    "gaps": gaps_and_models,
    "speed": speed,
}


def main() -> int:
    """Answer the questions asked; 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=200, help="simulated test sets a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(QUESTIONS), help="questions, by comma")
    parser.add_argument("--worlds", default=",".join(SIZES), help="test sets simulated, by comma")
    options = parser.parse_args()
    worlds = options.worlds.split(",")
    if unknown := [name for name in worlds if name not in SIZES]:
        parser.error(f"no world {unknown[0]}; there are {', '.join(SIZES)}")
    for name in set(SIZES) - set(worlds):
        del SIZES[name]
    names = options.only.split(",")
    unknown = [name for name in names if name not in QUESTIONS]
    if unknown:
        parser.error(f"no question {unknown[0]}; there are {', '.join(QUESTIONS)}")
    kept = {name: QUESTIONS[name](options.sets, options.seed) for name in names}
    print("\n" + ", ".join(f"{name}: {'kept' if good else 'NOT KEPT'}" for name, good in kept.items()))
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
