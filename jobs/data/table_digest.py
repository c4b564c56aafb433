"""Digests of a table's columns as they were read, by which a party commits to its data.

Equal values of the same people have equal digests, in whichever order the rows stand and however the
reader has cut the columns into chunks: a digest is of the column in the order of the identifiers. A
table that has this order already is digested several times as fast.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.base.arrays import Array


def column_digests(
    table: pa.Table, key: bytes, order: pa.UInt64Array | None = None
) -> dict[str, bytes]:
    """By column a digest under a key: it tells nothing of the values to somebody without the key."""
    return {
        name: hmac.digest(
            key,
            f"{name}\n{column.type}\n{table.num_rows}\n".encode()
            + _column_digest(_ordered(column, order)),
            "sha256",
        )
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def order_of(table: pa.Table, identified_by: Sequence[str]) -> pa.UInt64Array | None:
    """The rows in the order of the columns that identify people; None if they have it, or none does."""
    if not identified_by:
        return None
    first = table.column(identified_by[0])
    if pc.all(
        pc.less(first.slice(0, max(0, len(first) - 1)), first.slice(1)), skip_nulls=False
    ).as_py():
        return None
    return pc.sort_indices(table, sort_keys=[(name, "ascending") for name in identified_by])


def _ordered(column: pa.ChunkedArray, order: pa.UInt64Array | None) -> pa.ChunkedArray:
    if order is None:
        return column
    wide = column.cast(pa.large_string()) if pa.types.is_string(column.type) else column
    return wide.take(order)


def _column_digest(column: pa.ChunkedArray) -> bytes:
    """Missing values, lengths and data have digests of their own, so that chunks leave no trace."""
    missing, lengths, data = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    for chunk in column.chunks:
        if not _is_text(chunk.type):
            chunk = pc.cast(chunk, pa.large_string())
        missing.update(_bytes(chunk.is_null()))
        if chunk.null_count:
            chunk = chunk.fill_null("")
        lengths.update(_bytes(pc.binary_length(chunk)))
        wide = pa.types.is_large_string(chunk.type)
        _, offsets, values = chunk.buffers()
        if values is None or not len(chunk):
            continue
        places = np.frombuffer(offsets, np.int64 if wide else np.int32)
        first, last = places[chunk.offset], places[chunk.offset + len(chunk)]
        data.update(memoryview(values)[first:last])
    return missing.digest() + lengths.digest() + data.digest()


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _bytes(array: Any) -> bytes:
    numbers: Array = array.to_numpy(zero_copy_only=False)
    return numbers.astype(np.int64 if numbers.dtype != np.bool_ else np.bool_).tobytes()
