"""The tables of the group report, as people read them: scores in points, counts with commas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from analyze.groups.report.disparities import disparities, shown
from analyze.report import numbers
from analyze.report.numbers import count, p_value
from analyze.report.numbers import percent as points

_CONFUSION = (Path(__file__).parent / "confusion.sql").read_text(encoding="utf-8")

Format = Callable[[Any], str]

decimals: Format = partial(numbers.decimal, places=3)
"""A fraction as it is, in three decimals."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: the first `texts` columns are words, the rest numbers."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1


def text(value: Any) -> str:
    """A word, or nothing."""
    return "" if value is None else str(value)


def interval(low: float | None, high: float | None) -> str:
    """An interval in points."""
    return numbers.NOTHING if low is None or high is None else f"{points(low)} to {points(high)}"


def grid(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    title: str,
    columns: Sequence[tuple[str, Format]],
    sql: str,
    parameters: Sequence[Any] = (),
) -> Grid:
    """The rows of a SELECT, each column by its format."""
    rows = connection.execute(sql, list(parameters)).fetchall()
    return Grid(
        name,
        title,
        tuple(heading for heading, _ in columns),
        tuple(tuple(form(cell) for (_, form), cell in zip(columns, row, strict=True)) for row in rows),
        texts=sum(form is text for _, form in columns),
    )


def overview(connection: duckdb.DuckDBPyConnection) -> Grid:
    """Every model's disparity of every attribute."""
    columns = ("data set", "model", "attribute", "mean", "GD", "floor", "p", "p, Holm", "p within labels")
    return Grid(
        "disparities",
        "Mean score, disparity and worst group, in points of macro-F1",
        (*columns, "worst group", "reading"),
        tuple(shown(row) for row in disparities(connection)),
        texts=3,
    )


def of_attribute(
    connection: duckdb.DuckDBPyConnection, collection: str, outcome: str, arm: str, model: str, attribute: str
) -> list[Grid]:
    """What is told of one model and attribute: scores, gaps, rates, confusion."""
    key = [collection, outcome, arm, model, attribute]
    where = (
        "WHERE collection = ? AND outcome = ? AND arm = ? AND model = ? AND attribute = ? AND seed IS NULL "
    )
    variants = where + "AND variant = 'all' "
    scores = grid(
        connection,
        "scores",
        "Scores of groups, in points",
        [
            ("group", text), ("n", count), ("n, train", count), ("macro-F1", points), ("low", points),
            ("high", points), ("at common label shares", points), ("micro-F1", points), ("accuracy", points),
            ("probability to be worst", decimals),
        ],
        "SELECT group_name, n, n_train, score, ci_low, ci_high, reweighted, micro_f1, accuracy, "
        f"probability_worst FROM group_scores {variants} AND is_default ORDER BY group_code",
        key,
    )  # fmt: skip
    gaps = grid(
        connection,
        "gaps",
        "Gaps between two groups, in points, divided into label shift and behaviour",
        [
            ("group", text), ("less", text), ("gap", points), ("low", points), ("high", points),
            ("label shift", points), ("behaviour", points), ("low", points), ("high", points),
        ],
        "SELECT first, second, gap, ci_low, ci_high, label_shift, behaviour, behaviour_low, behaviour_high "
        f"FROM group_gaps {variants} ORDER BY abs(gap) DESC LIMIT 12",
        key,
    )  # fmt: skip
    rates = grid(
        connection,
        "rates",
        "Rates of the favourable class",
        [
            ("group", text), ("n", count), ("selection rate", decimals), ("true positive rate", decimals),
            ("false positive rate", decimals), ("ratio to the best group (four-fifths rule)", decimals),
        ],
        "SELECT group_name, n, selection_rate, true_positive_rate, false_positive_rate, four_fifths_ratio "
        f"FROM group_rates {variants} ORDER BY rowid",
        key,
    )  # fmt: skip
    confusion = grid(
        connection,
        "confusion",
        "Confusion by group: the most frequent errors, all seeds together",
        [("group", text), ("true class", text), ("answered as", text), ("cases", count), ("share", decimals)],
        _CONFUSION,
        key,
    )
    return [one for one in (scores, gaps, rates, confusion) if one.rows]


def of_data(connection: duckdb.DuckDBPyConnection) -> list[Grid]:
    """What is told of the data sets, and of models against each other."""
    differences = grid(
        connection,
        "differences",
        "Models against each other: paired differences, first less second, in points",
        [
            ("data set", text), ("first", text), ("second", text), ("attribute", text), ("measure", text),
            ("first", points), ("second", points), ("difference", points), ("low", points), ("high", points),
            ("p", p_value), ("p, Holm", p_value),
        ],
        "SELECT collection, model_1, model_2, attribute, measure, value_1, value_2, difference, ci_low, "
        "ci_high, p, p_holm FROM group_differences WHERE is_default AND variant = 'all' ORDER BY rowid",
    )  # fmt: skip
    drift = grid(
        connection,
        "drift",
        "Label drift between train and test (Jensen-Shannon distance)",
        [
            ("data set", text), ("attribute", text), ("group", text), ("distance", decimals),
            ("without drift", decimals), ("p", p_value),
        ],
        "SELECT collection, attribute, group_name, value, floor, p FROM group_drift "
        "WHERE comparison = 'train-test' AND measure = 'js_distance' AND reported ORDER BY rowid",
    )  # fmt: skip
    answers = grid(
        connection,
        "answers",
        "Answers",
        [
            ("data set", text), ("model", text), ("seed", text), ("rows", count), ("answered", count),
            ("missing", count), ("invalid", count),
        ],
        "SELECT collection, model, seed, n, n_answered, n_missing, n_invalid FROM group_answers "
        "ORDER BY rowid",
    )  # fmt: skip
    return [one for one in (differences, drift, answers) if one.rows]
