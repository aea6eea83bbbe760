"""Columns made from their buffers are the ones that `pyarrow.array` makes."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pyarrow as pa
import pytest

from store.columns import BIG, INT, REAL, TEXT, TIME, UUID, column

ONE, TWO = uuid.UUID(int=1), uuid.UUID(int=2**128 - 1)
EARLY, LATE = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(2026, 11, 30, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (TEXT, ["判决", "判决", "判决"]),
        (TEXT, ["判决", None, "", "🙂"]),
        (TEXT, ["", "", ""]),
        (TEXT, ["甲", "甲", None]),
        (INT, [1, 1, 1]),
        (INT, [1, None, -(2**31)]),
        (INT, range(3)),
        (BIG, [2**40, None, -1]),
        (REAL, [0.1, None, -1e300]),
        (TIME, [EARLY, LATE, None]),
        (TIME, [LATE, LATE, LATE]),
        (UUID, [ONE, TWO, ONE]),
        (UUID, [ONE, ONE, ONE]),
    ],
)
@pytest.mark.parametrize("as_tuple", [False, True])
def test_columns_hold_what_was_given(kind: pa.DataType, values: Any, as_tuple: bool) -> None:
    made = column(tuple(values) if as_tuple else values, kind)
    made.validate(full=True)
    assert made.to_pylist() == list(values)
    assert made.null_count == list(values).count(None)
    assert made.type == (pa.large_string() if kind == TEXT else kind)
    if kind != UUID:
        assert made.cast(kind) == pa.array(list(values), kind)


@pytest.mark.parametrize("kind", [TEXT, INT, REAL, TIME])
def test_nothing_but_gaps_is_a_column_of_gaps(kind: pa.DataType) -> None:
    assert column([None, None], kind).null_count == 2
    assert column([], kind).to_pylist() == []


def test_what_does_not_fit_is_mended_or_refused() -> None:
    assert column(["\ud83d", "\ud83d"], TEXT).to_pylist() == ["\ufffd", "\ufffd"]
    assert column([2**31, 2**31 - 1], INT).to_pylist() == [None, 2**31 - 1]
    with pytest.raises(TypeError, match="an id is missing"):
        column([ONE, None], UUID)
