"""The whole group analysis of a collection, from arrays to rows of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from analyze.groups import rows
from analyze.groups.attribute_rows import AttributeRows, attribute_rows
from analyze.groups.confusion import confusion_rows
from analyze.groups.counts import group_sums, panel
from analyze.groups.cross_attribute import crossed
from analyze.groups.data import Answer, GroupData, Variant
from analyze.groups.data_rows import drift_rows, label_rows, overlap_rows, representation_rows
from analyze.groups.disparity import average
from analyze.groups.inference.comparison import Difference, compare
from analyze.groups.rules import Rule, macro_f1
from analyze.groups.settings import Settings, known
from analyze.inference.multiplicity import holm


@dataclass(frozen=True, slots=True)
class GroupAnalysis:
    """Every row of results of a collection."""

    answers: tuple[rows.AnswerCounts, ...]
    group_scores: tuple[rows.GroupScore, ...]
    disparities: tuple[rows.Disparity, ...]
    gaps: tuple[rows.Gap, ...]
    rates: tuple[rows.GroupRates, ...]
    class_scores: tuple[rows.ClassScore, ...]
    confusion: tuple[rows.Confusion, ...]
    worst_classes: tuple[rows.WorstClass, ...]
    seed_noise: tuple[rows.SeedNoise, ...]
    cross_scores: tuple[rows.CrossScore, ...]
    differences: tuple[rows.ModelDifference, ...]
    representation: tuple[rows.Representation, ...]
    label_counts: tuple[rows.LabelCount, ...]
    drift: tuple[rows.GroupDrift, ...]
    overlaps: tuple[rows.Overlap, ...]


def analyze(
    data: GroupData,
    settings: Settings | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    progress: Callable[[str], None] | None = None,
) -> GroupAnalysis:
    """Analyze every model and attribute.

    Args:
        data: the rows, their groups and predictions.
        settings: draws and variants.
        pairs: which models to compare, first less second; None: every two, in the order of the predictions.
        progress: told what is worked on.

    Raises:
        ValueError: a pair names a model without predictions.
    """
    chosen = settings or Settings()
    tell = progress or (lambda _: None)
    found = AttributeRows()
    crosses: list[rows.CrossScore] = []
    for model in data.models:
        for attribute in data.attributes:
            tell(f"{model}: {attribute.name}")
            found.add(attribute_rows(data, model, attribute, chosen))
        crosses += cross_rows(data, model)
    differences: list[rows.ModelDifference] = []
    for first, second in combinations(data.models, 2) if pairs is None else pairs:
        tell(f"{first} and {second}")
        differences += difference_rows(data, first, second, chosen)
    tell("label drift")
    return GroupAnalysis(
        answers=tuple(answer_rows(data)),
        group_scores=tuple(found.group_scores),
        disparities=tuple(with_holm(found.disparities)),
        gaps=tuple(found.gaps),
        rates=tuple(found.rates),
        class_scores=tuple(found.class_scores),
        confusion=tuple(confusion_rows(data)),
        worst_classes=tuple(found.worst_classes),
        seed_noise=tuple(found.seed_noise),
        cross_scores=tuple(crosses),
        differences=tuple(differences),
        representation=tuple(representation_rows(data)),
        label_counts=tuple(label_rows(data)),
        drift=tuple(drift_rows(data, chosen)),
        overlaps=tuple(overlap_rows(data)),
    )


def answer_rows(data: GroupData) -> list[rows.AnswerCounts]:
    """How many rows each model and seed answered."""
    return [
        rows.AnswerCounts(
            data.collection,
            one.model,
            one.seed,
            data.split,
            len(data.truth),
            one.count(Answer.VALID),
            one.count(Answer.MISSING),
            one.count(Answer.INVALID),
        )
        for one in data.predictions
    ]


def cross_rows(data: GroupData, model: str) -> list[rows.CrossScore]:
    """Scores of two attributes crossed: every seed, then their mean; rows without answer are wrong."""
    predictions = data.of_model(model)
    found = []
    for first, second in combinations(data.attributes, 2):
        cells = crossed(first, second)
        size = len(first.reported) * len(second.reported)
        part = panel(data, predictions, cells >= 0, Variant.ALL)
        inside = cells[part.rows]
        n = np.bincount(inside, minlength=size)
        scores = macro_f1(group_sums(part.counts, part.pattern, inside, size), data.rule).T
        of_seeds = list(zip([one.seed for one in predictions], scores, strict=True))
        if predictions[0].seed is not None:
            of_seeds.append((None, average(scores, axis=0)))
        for seed, values in of_seeds:
            for cell in range(size):
                one, other = divmod(cell, len(second.reported))
                found.append(
                    rows.CrossScore(
                        data.collection,
                        model,
                        seed,
                        first.name,
                        first.groups[first.reported[one]],
                        second.name,
                        second.groups[second.reported[other]],
                        int(n[cell]),
                        known(values[cell]),
                    )
                )
    return found


def difference_rows(
    data: GroupData, first: str, second: str, settings: Settings
) -> list[rows.ModelDifference]:
    """Two models compared on every attribute; ValueError if one has no predictions."""
    for model in (first, second):
        if model not in data.models:
            raise ValueError(
                f"there are no predictions of {model}; there are those of {', '.join(data.models)}"
            )
    one, other = data.of_model(first), data.of_model(second)
    complete = all(prediction.answered.all() for prediction in (*one, *other))
    found: list[rows.ModelDifference] = []
    for variant in settings.variants:
        if variant is Variant.ANSWERED and complete and Variant.ALL in settings.variants:
            found += [
                replace(row, variant=variant.value) for row in found if row.variant == Variant.ALL.value
            ]
            continue
        for attribute in data.attributes:
            size = np.bincount(attribute.codes + 1, minlength=len(attribute.groups) + 1)[1:]
            taken = np.flatnonzero(attribute.is_reported & (size >= data.minimum_n))
            place = np.full(len(attribute.groups) + 1, -1, dtype=np.int64)
            place[taken] = np.arange(len(taken))
            if len(taken) == 0:
                continue
            generator = settings.generator("compare", data.collection, first, second, attribute.name, variant)
            compared = compare(
                data,
                one,
                other,
                place[attribute.codes],
                len(taken),
                variant,
                permutations=settings.permutations,
                bootstraps=settings.bootstraps,
                generator=generator,
            )
            for rule, measures in compared.items():
                for difference in measures:
                    if not np.isnan(difference.difference):
                        found.append(
                            _difference_row(data, attribute.name, variant, rule, difference, (first, second))
                        )
    return _differences_with_holm(found)


def with_holm(found: Sequence[rows.Disparity]) -> list[rows.Disparity]:
    """Holm's correction over attributes x (disparity, worst group) of each model, seed, variant and rule."""
    families: dict[tuple[object, ...], list[int]] = {}
    for place, row in enumerate(found):
        families.setdefault((row.model, row.seed, row.variant, row.rule), []).append(place)
    corrected = list(found)
    for places in families.values():
        for gd, worst in (("p_plain", "p_worst"), ("p_within_label", "p_worst_within_label")):
            p = [(place, name, getattr(corrected[place], name)) for place in places for name in (gd, worst)]
            p = [one for one in p if one[2] is not None]
            for (place, name, _), value in zip(p, holm(np.array([one[2] for one in p])), strict=True):
                changes: dict[str, Any] = {f"{name}_holm": float(value)}
                corrected[place] = replace(corrected[place], **changes)
    return corrected


def _difference_row(
    data: GroupData,
    attribute: str,
    variant: Variant,
    rule: Rule,
    difference: Difference,
    models: tuple[str, str],
) -> rows.ModelDifference:
    seeds = [len(data.of_model(model)) for model in models]
    return rows.ModelDifference(
        data.collection,
        *models,
        attribute,
        variant.value,
        rule.value,
        rule is data.rule,
        difference.measure.value,
        difference.first,
        difference.second,
        difference.difference,
        difference.interval.low,
        difference.interval.high,
        difference.p,
        None,
        seeds[0],
        seeds[1],
        min(seeds),
        difference.draws,
    )


def _differences_with_holm(found: list[rows.ModelDifference]) -> list[rows.ModelDifference]:
    families: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(found):
        if row.p is not None:
            families.setdefault((row.variant, row.rule), []).append(place)
    corrected = list(found)
    for places in families.values():
        values = holm(np.array([found[place].p for place in places], dtype=np.float64))
        for place, value in zip(places, values, strict=True):
            corrected[place] = replace(found[place], p_holm=float(value))
    return corrected
