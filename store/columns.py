"""Python values to Arrow columns, without `pyarrow.array`.

On its first call `pyarrow.array` imports pandas where that is installed: 50 MB and half a second that a run
has no other use for. Columns are made from their buffers instead, which for these few types is as fast.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

UUID, TEXT, INT, BIG, REAL, TIME = (
    pa.uuid(),
    pa.string(),
    pa.int32(),
    pa.int64(),
    pa.float64(),
    pa.timestamp("us"),
)
_NUMPY = {INT: np.int32, BIG: np.int64, REAL: np.float64}
_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)


def column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """An Arrow array of one of the types above; None is null.

    What a provider sent must never stop a batch from being stored: half a surrogate pair becomes U+FFFD, and
    a number beyond 32 bits in an INT column null.

    Raises:
        TypeError: a value is of another type.
    """
    values = values if isinstance(values, list | tuple) else list(values)
    size, gaps = len(values), values.count(None)
    if gaps == size:
        return pa.nulls(size, kind)
    if kind == UUID:
        if gaps:
            raise TypeError("an id is missing")
        if values.count(values[0]) == size:
            return uuids(values[0].bytes * size)
        return uuids(b"".join([value.int.to_bytes(16, "big") for value in values]))
    mask = _bitmap(values) if gaps else None
    if kind == TEXT:
        # 64-bit offsets: a chunk of long documents may pass 2 GB.
        offsets, text = _texts(values)
        return pa.Array.from_buffers(pa.large_string(), size, [mask, pa.py_buffer(offsets), text])
    if kind == TIME:
        times = [0 if value is None else (value - _EPOCH) // _MICROSECOND for value in values]
        data = np.array(times, np.int64)
    else:
        numbers = [0 if value is None else value for value in values] if gaps else values
        if kind == INT and (min(numbers) < _LOWEST or max(numbers) > _HIGHEST):
            fits = [None if value is None or not _LOWEST <= value <= _HIGHEST else value for value in values]
            return column(fits, kind)
        data = np.array(numbers, _NUMPY[kind])
    return pa.Array.from_buffers(kind, size, [mask, pa.py_buffer(data)], gaps)


def uuids(joined: bytes) -> pa.Array:
    """Ids, each of 16 bytes, as DuckDB reads them: of type UUID."""
    storage = pa.Array.from_buffers(pa.binary(16), len(joined) // 16, [None, pa.py_buffer(joined)])
    return pa.ExtensionArray.from_storage(UUID, storage)


def table(**columns: tuple[Sequence[Any], pa.DataType]) -> pa.Table:
    """An Arrow table of columns given as (values, type)."""
    arrays = [column(values, kind) for values, kind in columns.values()]
    return pa.Table.from_arrays(arrays, names=list(columns))


def uuid_array(ids: Sequence[uuid.UUID]) -> pa.Array:
    """Ids as a column of type UUID."""
    return column(ids, UUID)


def _bitmap(values: Sequence[Any]) -> pa.Buffer:
    return pa.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))


def _texts(values: Sequence[str | None]) -> tuple[np.ndarray, pa.Buffer]:
    """The bounds of the texts in their bytes, and these bytes."""
    size = len(values)
    if values.count(values[0]) == size:  # most columns of a commit hold one and the same name
        one = _utf8(values[0])
        return np.arange(size + 1, dtype=np.int64) * len(one), pa.py_buffer(one * size)
    encoded = [_utf8(value) for value in values]
    bounds = np.zeros(size + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=bounds[1:])
    return bounds, pa.py_buffer(b"".join(encoded))


def _utf8(text: str | None) -> bytes:
    if text is None:
        return b""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
