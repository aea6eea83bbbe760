"""What a value of a result is to people and programs: in Python, in JSON, and as the text of a cell.

Arrow and Python lack some of DuckDB's types, and hold others wrongly (an UHUGEINT becomes -1). Columns of
such types leave DuckDB as the text that it prints itself.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from store.errors import BadInput

_AS_TEXT = re.compile(r"\b(INTERVAL|UHUGEINT|BIGNUM|BIT|TIME WITH TIME ZONE|TIMETZ)\b")
_QUOTED = re.compile(r'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'')
_EXACT_DIGITS = 15
"""Decimal digits that a double surely holds."""
_INFINITE_DAY = 2**31 - 1
_INFINITE_TIME = 2**63 - 1
_MIDNIGHT_AFTER = {"us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def faithful(statement: str, types: Sequence[str]) -> str:
    """The statement, with the columns whose type Arrow does not hold cast to text, in DuckDB's own form.

    Args:
        statement: one SELECT.
        types: of its columns, as DuckDB names them.
    """
    columns = [f"c{place}" for place in range(len(types))]
    selected = [
        f"CAST({column} AS {text_type})" if (text_type := _text_type(kind)) else column
        for column, kind in zip(columns, types, strict=True)
    ]
    if selected == columns:
        return statement
    # The line's end closes a comment that the statement may end with.
    return f"SELECT {', '.join(selected)} FROM ({statement}\n) AS result({', '.join(columns)})"


def _text_type(kind: str) -> str | None:
    """The type to cast to: the same with texts in the place of what Arrow lacks; None if it lacks nothing."""
    parts = _QUOTED.split(kind)  # the names of a struct's fields are no types
    if not any(_AS_TEXT.search(part) for part in parts):
        return None
    quoted = [*_QUOTED.findall(kind), ""]
    return "".join(_AS_TEXT.sub("VARCHAR", part) + name for part, name in zip(parts, quoted, strict=True))


def rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """The rows of a batch as Python values.

    Raises:
        BadInput: a list or struct holds a date that neither Python nor a file can hold.
    """
    return zip(*(_python(column) for column in batch.columns), strict=True)


def _python(column: pa.Array) -> list[Any]:
    kind = column.type
    if pa.types.is_time64(kind):
        return [_time(value, kind.unit) for value in column.cast(pa.int64()).to_pylist()]
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    except (OverflowError, ValueError, TypeError):
        if pa.types.is_date32(kind) or pa.types.is_timestamp(kind):
            return [_day_or_time(value) for value in column]
        raise BadInput(
            f"a column of type {kind} holds a value that cannot be shown", hint="Cast it: column::VARCHAR."
        ) from None
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return [None if value is None else int(value) for value in values]  # sums of integers are HUGEINT
    return values


def _time(value: int | None, unit: str) -> dt.time | str | None:
    """A time of day; a text where Python's has no room for it (24:00, nanoseconds)."""
    if value is None:
        return None
    if value == _MIDNIGHT_AFTER[unit]:
        return "24:00:00"
    micros, rest = (value, 0) if unit == "us" else divmod(value, 1000)
    time = (dt.datetime.min + dt.timedelta(microseconds=micros)).time()
    return f"{time:%H:%M:%S}.{micros % 10**6:06}{rest:03}" if rest else time


def _day_or_time(value: pa.Scalar) -> Any:
    """A date or time; a text where it is infinite or Python's years (1 to 9999) do not reach."""
    if not value.is_valid:
        return None
    number, kind = value.value, value.type
    infinite = _INFINITE_DAY if pa.types.is_date32(kind) else _INFINITE_TIME
    if abs(number) == infinite:
        return "infinity" if number > 0 else "-infinity"
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        # numpy reckons with all years; it has a year 0, so that -43 is 44 BC.
        text = str(np.datetime64(number, "D" if pa.types.is_date32(kind) else kind.unit))
        return text.replace("T", " ") + ("" if getattr(kind, "tz", None) is None else "+00")


def jsonable(value: Any) -> Any:
    """A value of a result as JSON can hold it.

    Times are in ISO form and bytes in hex. A NaN is null, an infinite number the text "inf" or "-inf"; a
    decimal is a number where a double holds all its digits, else a text.
    """
    if isinstance(value, float):
        return None if math.isnan(value) else _infinite(value) if math.isinf(value) else value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, decimal.Decimal):
        return float(value) if fits_double(value) else format(value, "f")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list) or type(value) is tuple:
        return [jsonable(inner) for inner in value]
    return str(value)


def as_text(value: Any) -> str:
    """A value as a cell shows it; nothing for NULL."""
    if value is None:
        return ""
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else _infinite(value)
    plain = jsonable(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def fits_double(value: decimal.Decimal) -> bool:
    """Whether a double holds all its digits."""
    return value.is_finite() and len(value.normalize().as_tuple().digits) <= _EXACT_DIGITS


def _infinite(value: float) -> str:
    return "inf" if value > 0 else "-inf"
