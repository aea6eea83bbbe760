"""The cases and answers of a study as the arrays that group analysis works on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.compute as pc

from analyze.groups.data import Answer, Attribute, Bools, Classes, GroupData, Ints, Predictions, Split, Values
from analyze.groups.stored.work import Design, Settled
from store.errors import RunFailed
from store.migrate import quoted

_HERE = Path(__file__).parent
_CASES = (_HERE / "cases.sql").read_text(encoding="utf-8")
_ANSWERS = (_HERE / "answers.sql").read_text(encoding="utf-8")
_SPLIT_NAMES = {"validation": "val", "dev": "val", "training": "train", "": "test"}
"""A collection without splits is all of it the split that is predicted."""

PREDICTED = "test"


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a collection for one outcome, without answers."""

    data: GroupData
    places: dict[str, int]
    """Id of a case of the predicted split -> its row."""
    without_truth: int
    """Cases of the predicted split that were left out, as their true value is not known."""


def read_cases(connection: duckdb.DuckDBPyConnection, design: Design) -> Cases:
    """The truth and groups of every split.

    Raises:
        RunFailed: no case of the predicted split has a known truth, or a stored value is no class.
    """
    table = connection.sql(
        _CASES, params={"collection": design.collection, "outcome": design.outcome}
    ).to_arrow_table()
    split = np.array([_SPLIT_NAMES.get(name, name) for name in table["split"].to_pylist()], dtype=object)
    known = pc.is_valid(table["truth"]).to_numpy(zero_copy_only=False)
    truth_text = table["truth"].to_pylist()
    known &= np.array([text != "null" for text in truth_text], dtype=np.bool_)
    test = known & (split == PREDICTED)
    if not test.any():
        raise RunFailed(
            f"No case of the test split of '{design.collection}' has a true value of {design.outcome}.",
            hint="Groups are scored against true answers: load the data set with them.",
        )
    truth = _decoded(truth_text, known, _truth_of(design), design)
    groups = table["groups"].to_pylist()
    codes = {
        one.name: _group_codes(groups, one.name, one.groups, design.collection) for one in design.attributes
    }
    splits = {
        name: Split(truth[inside], {one: of_rows[inside] for one, of_rows in codes.items()})
        for name in ("train", "val")
        if (inside := known & (split == name)).any()
    }
    cluster = pc.fill_null(table["cluster"], "").to_pylist()
    data = GroupData(
        collection=design.collection,
        classes=design.classes,
        truth=truth[test],
        attributes=tuple(
            Attribute(one.name, one.groups, codes[one.name][test], one.unidentified)
            for one in design.attributes
        ),
        rule=design.rule,
        split=PREDICTED,
        minimum_n=design.minimum_n,
        cluster=_clusters([cluster[row] for row in np.flatnonzero(test)]),
        splits=splits,
    )
    ids = table["doc_id"].to_pylist()
    places = {ids[row]: place for place, row in enumerate(np.flatnonzero(test).tolist())}
    return Cases(data, places, int(np.count_nonzero((split == PREDICTED) & ~known)))


def read_predictions(
    connection: duckdb.DuckDBPyConnection,
    design: Design,
    cases: Cases,
    coding: str,
    arm: str,
    models: Sequence[Settled],
) -> list[Predictions]:
    """What the models answered, one for each seed or repeat, in the order of `models`."""
    table = connection.sql(
        _ANSWERS.format(schema=quoted(design.schema)),
        params={"collection": design.collection, "arm": arm, "coding": coding, "outcome": design.outcome},
    ).to_arrow_table()
    rows: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        rows.setdefault((row["model_key"], row["repeat"]), []).append(row)
    value_of = _value_of(design)
    found = []
    for model in models:
        repeats = sorted(repeat for key, repeat in rows if key == model.model_key)
        for repeat in repeats:
            seed = model.seed + repeat if model.seed is not None else repeat if len(repeats) > 1 else None
            found.append(
                _predictions(
                    model.model, seed, rows[model.model_key, repeat], cases, design.classes, value_of
                )
            )
    return found


def _predictions(
    model: str,
    seed: int | None,
    rows: Sequence[dict[str, Any]],
    cases: Cases,
    classes: Classes,
    value_of: Callable[[dict[str, Any]], Any],
) -> Predictions:
    n = len(cases.places)
    answers = np.full(n, Answer.MISSING, dtype=np.int8)
    values: Values = (
        np.zeros((n, len(classes.names)), dtype=np.bool_) if classes.several else np.zeros(n, dtype=np.int64)
    )
    for row in rows:
        place = cases.places.get(row["doc_id"])
        if place is None or not row["is_prediction"]:
            continue  # a case without a true value; a query given up, which is no answer
        value = value_of(row)
        answers[place] = Answer.INVALID if value is None else Answer.VALID
        if value is not None:
            values[place] = value
    return Predictions(model, seed, values, answers)


def _value_of(design: Design) -> Callable[[dict[str, Any]], Any]:
    """How a reading becomes a code, or booleans for the classes; None where it has no value."""
    names = {name: code for code, name in enumerate(design.classes.names)}
    if design.kind == "yes_no":
        return lambda row: None if row["number"] is None else int(row["number"])
    if design.classes.several:
        return lambda row: None if row["classes"] is None else _mask(row["classes"], names)
    return lambda row: names.get(row["class"])


def _truth_of(design: Design) -> Callable[[Any], Any]:
    names = {name: code for code, name in enumerate(design.classes.names)}
    if design.kind == "yes_no":
        return int
    if design.classes.several:
        return lambda value: _mask(value, names)
    return lambda value: names[value]


def _mask(chosen: Sequence[str], names: dict[str, int]) -> Bools:
    mask = np.zeros(len(names), dtype=np.bool_)
    mask[[names[one] for one in chosen]] = True
    return mask


def _decoded(
    texts: Sequence[str | None], known: Bools, truth_of: Callable[[Any], Any], design: Design
) -> Values:
    """The true values of all rows; what stands in a row whose truth is not known means nothing."""
    decoded: dict[str, Any] = {}
    empty = np.zeros(len(design.classes.names), dtype=np.bool_) if design.classes.several else 0
    for text in {text for text, there in zip(texts, known, strict=True) if there and text is not None}:
        try:
            decoded[text] = truth_of(json.loads(text))
        except (KeyError, TypeError, ValueError):
            raise RunFailed(
                f"A case of '{design.collection}' has the true value {text}, which is no class of "
                f"{design.outcome}.",
                hint="Load the data set again with the present domain, under another --collection.",
            ) from None
    listed = [
        decoded[text] if there and text is not None else empty
        for text, there in zip(texts, known, strict=True)
    ]
    if design.classes.several:
        return np.array(listed, dtype=np.bool_)
    return np.array(listed, dtype=np.int64)


def _group_codes(groups: Sequence[Any], attribute: str, names: Sequence[str], collection: str) -> Ints:
    codes = {name: code for code, name in enumerate(names)}
    found = np.full(len(groups), -1, dtype=np.int64)
    for row, of_row in enumerate(groups):
        group = None if of_row is None else _entry(of_row, attribute)
        if group is not None:
            if group not in codes:
                raise RunFailed(
                    f"A case of '{collection}' is in the group {group!r} of {attribute}, which the domain "
                    "does not have.",
                    hint="Load the data set again with the present domain, under another --collection.",
                )
            found[row] = codes[group]
    return found


def _entry(of_row: Any, attribute: str) -> str | None:
    """A value of a MAP, which Arrow gives as a list of pairs."""
    pairs = of_row.items() if isinstance(of_row, dict) else of_row
    return next((value for key, value in pairs if key == attribute), None)


def _clusters(names: Sequence[str]) -> Ints | None:
    """A code for each cluster; None where no two rows share one. A row without one is alone."""
    named = [name for name in names if name]
    if len(set(named)) == len(named):
        return None
    codes: dict[object, int] = {}
    return np.array(
        [codes.setdefault(name or row, len(codes)) for row, name in enumerate(names)], dtype=np.int64
    )
