"""Digests of a table's columns as they were read, by which a party commits to its data.

Equal values in equal order have equal digests, however the reader has cut the columns into chunks.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.base.arrays import Array


def column_digests(table: pa.Table, key: bytes) -> dict[str, bytes]:
    """By column a digest under a key: it tells nothing of the values to somebody without the key."""
    return {
        name: hmac.digest(
            key,
            f"{name}\n{column.type}\n{table.num_rows}\n".encode() + _column_digest(column),
            "sha256",
        )
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


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
