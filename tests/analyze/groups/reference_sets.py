"""Reads the reference bundle of group fairness into arrays: a small loader for tests alone.

A string is always a name, an integer always a code. Only what the bundle's README allows is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analyze.groups import Answer, Attribute, Classes, GroupData, Predictions, Rule, Split

SETS = ("ecthr", "scotus", "fscs", "cail")
MODELS = ("linear", "sim")


@dataclass(frozen=True)
class ReferenceSet:
    """One set: its arrays and the numbers that must be found."""

    data: GroupData
    expected: dict[str, Any]


def read_set(folder: Path) -> ReferenceSet:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    several = expected["task"] == "multi-label"
    names = tuple(expected["labels"])
    classes = Classes(
        names,
        several=several,
        none_name="none" if several else None,
        positive=1 if len(names) == 2 else None,
    )
    splits = {split: _lines(folder / f"{split}.jsonl") for split in ("train", "val", "test")}
    attributes = []
    for name, declared in expected["attributes"].items():
        groups = tuple(declared["groups"])
        attributes.append(
            Attribute(
                name,
                groups,
                _groups(splits["test"], name, groups),
                frozenset(groups.index(group) for group in declared["unidentified"]),
            )
        )
    truths = {split: _truth(lines, names, several) for split, lines in splits.items()}
    predictions = [
        read_predictions(
            folder / f"predictions-{model}-seed{seed}.jsonl", model, seed, classes, len(truths["test"])
        )
        for model in MODELS
        for seed in (1, 2, 3)
    ]
    data = GroupData(
        collection=folder.name,
        classes=classes,
        truth=truths["test"],
        attributes=tuple(attributes),
        predictions=tuple(predictions),
        rule=Rule(expected["fairlex_rule"]),
        splits={
            split: Split(
                truths[split], {one.name: _groups(splits[split], one.name, one.groups) for one in attributes}
            )
            for split in ("train", "val")
        },
    )
    return ReferenceSet(data, expected)


def read_predictions(path: Path, model: str, seed: int, classes: Classes, rows: int) -> Predictions:
    """A row without a line is missing; one whose answer names no class is invalid."""
    key = "predictions" if classes.several else "prediction"
    answers = np.full(rows, Answer.MISSING, dtype=np.int8)
    values = (
        np.zeros((rows, len(classes.names)), dtype=bool)
        if classes.several
        else np.zeros(rows, dtype=np.int64)
    )
    for line in _lines(path):
        code = _answer(line.get(key), classes)
        answers[line["row"]] = Answer.INVALID if code is None else Answer.VALID
        if code is not None and classes.several:
            values[line["row"], code] = True
        elif code is not None:
            values[line["row"]] = code
    return Predictions(model, seed, values, answers)


def _answer(value: Any, classes: Classes) -> Any:
    if classes.several:
        codes = [_code(one, classes.names) for one in value] if isinstance(value, list) else [None]
        return None if None in codes else codes
    return _code(value, classes.names)


def _code(value: Any, names: tuple[str, ...]) -> int | None:
    if isinstance(value, str):
        return names.index(value) if value in names else None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
        return value
    return None


def _truth(lines: list[dict[str, Any]], names: tuple[str, ...], several: bool) -> Any:
    if not several:
        return np.array([_code(line["label"], names) for line in lines], dtype=np.int64)
    truth = np.zeros((len(lines), len(names)), dtype=bool)
    for row, line in enumerate(lines):
        truth[row, [_code(one, names) for one in line["labels"]]] = True
    return truth


def _groups(lines: list[dict[str, Any]], attribute: str, groups: tuple[str, ...]) -> Any:
    return np.array([_code(line["attributes"][attribute], groups) for line in lines], dtype=np.int64)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
