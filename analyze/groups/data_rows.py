"""The rows of results that need no model: representation, label counts, drift, overlap of attributes."""

from __future__ import annotations

from itertools import combinations

from analyze.groups import rows
from analyze.groups.cross_attribute import crossing
from analyze.groups.data import Bools, GroupData, Split, Values
from analyze.groups.drift import drift_with_floor, label_counts, measures, representation
from analyze.groups.settings import Settings, known

COMPARISONS = (("train", "test"), ("train", "val"), ("val", "test"))


def representation_rows(data: GroupData) -> list[rows.Representation]:
    """Rows and shares of each group in every split."""
    found = []
    for split, content in data.all_splits().items():
        for attribute in data.attributes:
            counts, shares = representation(content.groups[attribute.name], attribute.is_reported)
            for group, name in enumerate(attribute.groups):
                found.append(
                    rows.Representation(
                        data.collection,
                        split,
                        attribute.name,
                        name,
                        bool(attribute.is_reported[group]),
                        int(counts[group]),
                        known(shares[group]),
                    )
                )
    return found


def label_rows(data: GroupData) -> list[rows.LabelCount]:
    """How often each class is true in each group of every split."""
    found = []
    for split, content in data.all_splits().items():
        for attribute in data.attributes:
            for group, name in enumerate(attribute.groups):
                truth = content.truth[content.groups[attribute.name] == group]
                counts = label_counts(truth, data.classes)
                found += [
                    rows.LabelCount(data.collection, split, attribute.name, name, label, int(count))
                    for label, count in zip(data.classes.columns, counts, strict=True)
                ]
    return found


def drift_rows(data: GroupData, settings: Settings) -> list[rows.GroupDrift]:
    """Label drift of each group between every two of the splits train, val and test."""
    splits = data.all_splits()
    found = []
    for first, second in COMPARISONS:
        if first not in splits or second not in splits:
            continue
        for attribute in data.attributes:
            for group, name in enumerate(attribute.groups):
                pair = [_truth(splits[split], attribute.name, group) for split in (first, second)]
                for measure in measures(data.classes):
                    seed = settings.generator(
                        "drift", data.collection, attribute.name, name, first, second, measure
                    ).integers(1 << 62)
                    drift = drift_with_floor(
                        pair[0], pair[1], data.classes, measure, settings.drift_draws, int(seed)
                    )
                    found.append(
                        rows.GroupDrift(
                            data.collection,
                            attribute.name,
                            name,
                            bool(attribute.is_reported[group]),
                            f"{first}-{second}",
                            measure.value,
                            drift.value,
                            drift.floor,
                            drift.floor_95,
                            drift.p,
                        )
                    )
    return found


def overlap_rows(data: GroupData) -> list[rows.Overlap]:
    """How much of each reported group of one attribute those of another are, in every split."""
    found = []
    for split, content in data.all_splits().items():
        for first, second in combinations(data.attributes, 2):
            table = crossing(first, second, (content.groups[first.name], content.groups[second.name]))
            for one, code in enumerate(first.reported):
                for other, other_code in enumerate(second.reported):
                    found.append(
                        rows.Overlap(
                            data.collection,
                            split,
                            first.name,
                            first.groups[code],
                            second.name,
                            second.groups[other_code],
                            int(table.rows[one, other]),
                            known(table.first_within_second[one, other]),
                            known(table.second_within_first[one, other]),
                        )
                    )
    return found


def _truth(split: Split, attribute: str, group: int) -> Values:
    inside: Bools = split.groups[attribute] == group
    return split.truth[inside]
