"""A party's columns of a released table, and the table that all parties' columns make.

A party's share is an Arrow file with a column for each of its attributes: codes and their values,
in the joint order of the records. The table has the columns in job order and its rows sorted by
them, so that the order of the rows reveals nothing. Sorting works on codes; values are written
last.

Every party knows the generalized columns of all parties and sends the coordinator their digests: a
party that releases something else than it told the others is detected.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from coterie.base.arrays import Array
from coterie.base.errors import VerificationError

SHARE = "columns.arrow"
KNOWN = "known.json"
_SLICE = 1 << 18  # rows that are written together


@dataclass(frozen=True)
class Coded:
    """A column as codes into a list of values."""

    codes: Array
    values: Sequence[str]


def write_share(columns: Mapping[str, Coded], folder: Path) -> None:
    """Writes a party's columns for the coordinator."""
    arrays = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(column.codes.astype(_index_type(len(column.values)))),
            pa.array(column.values, pa.string()),
        )
        for name, column in columns.items()
    }
    table = pa.table(arrays)
    with pa.OSFile(str(folder / SHARE), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)


def digest(column: Coded) -> str:
    """A digest of a column's codes and values, the same for every party that has them."""
    total = hashlib.sha256()
    for value in column.values:
        data = value.encode()
        total.update(len(data).to_bytes(8, "little") + data)
    kind = np.dtype(_index_type(len(column.values))).newbyteorder("<")
    total.update(np.ascontiguousarray(column.codes.astype(kind)).data)
    return total.hexdigest()


def write_known(digests: Mapping[str, str], folder: Path) -> None:
    """Writes the digests of the generalized columns that this party knows, its own and others'."""
    (folder / KNOWN).write_text(json.dumps(digests, indent=1))


def check_known(
    columns: Mapping[str, Coded], holders: Mapping[str, str], folder: Path, party: str
) -> None:
    """Checks the columns that others released against a party's digests; the error names one."""
    try:
        known = json.loads((folder / KNOWN).read_text())
    except (OSError, ValueError, RecursionError):
        known = None
    if not isinstance(known, dict) or sorted(known) != sorted(columns):
        raise VerificationError(f"{party}: does not say which columns it knows")
    for name, column in columns.items():
        if known[name] != digest(column):
            raise VerificationError(
                f"{holders[name]}: released another column '{name}' than the one that {party} knows"
            )


def _index_type(size: int) -> Any:
    return np.int8 if size <= 1 << 7 else np.int16 if size <= 1 << 15 else np.int32


def read_share(folder: Path, party: str) -> dict[str, Coded]:
    """A party's columns; anything malformed is an error that names the party.

    The file is read whole rather than mapped, and checked whole before any value is taken: Arrow
    trusts the offsets in a file, and a damaged one would otherwise end this process.
    """
    try:
        table = pa.ipc.open_file(pa.py_buffer((folder / SHARE).read_bytes())).read_all()
        table.validate(full=True)
    except (OSError, ValueError, MemoryError, pa.ArrowException):
        raise VerificationError(f"{party}: its columns are missing or damaged") from None
    columns: dict[str, Coded] = {}
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise VerificationError(f"{party}: released the column '{name}' twice")
        chunks = table.column(name).chunks
        column = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else None
        if column is None or not pa.types.is_dictionary(column.type) or column.null_count:
            raise VerificationError(f"{party}: the column '{name}' is not one of codes")
        if not pa.types.is_string(column.type.value_type) or column.dictionary.null_count:
            raise VerificationError(f"{party}: the column '{name}' has values that are not text")
        values = column.dictionary.to_pylist()
        codes = column.indices.to_numpy()
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(values):
            raise VerificationError(f"{party}: the column '{name}' has a code without a value")
        columns[name] = Coded(codes, values)
    return columns


def write_release(columns: Mapping[str, Coded], path: Path | Any) -> None:
    """Writes the table to a path or an open file, with rows sorted by the columns in order."""
    options = pacsv.WriteOptions(quoting_style="needed", quoting_header="needed")
    schema = pa.schema([(name, pa.string()) for name in columns])
    target = str(path) if isinstance(path, Path) else path
    with pacsv.CSVWriter(target, schema, write_options=options) as out:
        for part in _sorted_parts(columns, schema):
            out.write_table(part)


def write_parquet(columns: Mapping[str, Coded], path: Path) -> None:
    """The same table, its rows in the same order, as a Parquet file of texts."""
    schema = pa.schema([(name, pa.string()) for name in columns])
    with pq.ParquetWriter(str(path), schema, compression="zstd") as out:
        for part in _sorted_parts(columns, schema):
            out.write_table(part)


def sorted_table(columns: Mapping[str, Coded]) -> pa.Table:
    """The same table, its rows in the same order, in memory."""
    schema = pa.schema([(name, pa.string()) for name in columns])
    return pa.concat_tables([schema.empty_table(), *_sorted_parts(columns, schema)])


def _sorted_parts(columns: Mapping[str, Coded], schema: pa.Schema) -> Iterator[pa.Table]:
    ordered: dict[str, Coded] = {}
    for name, column in columns.items():
        order = sorted(range(len(column.values)), key=column.values.__getitem__)
        rank = np.empty(len(order), np.uint32)
        rank[order] = np.arange(len(order))
        ordered[name] = Coded(rank[column.codes], [column.values[i] for i in order])
    rows = _sorted_rows(list(ordered.values()))
    texts = {name: pa.array(column.values, pa.string()) for name, column in ordered.items()}
    for start in range(0, len(rows), _SLICE):
        part = rows[start : start + _SLICE]
        yield pa.table(
            [texts[name].take(pa.array(c.codes[part])) for name, c in ordered.items()],
            schema=schema,
        )


def _sorted_rows(columns: Sequence[Coded]) -> Array:
    """The order of the rows. Several columns are packed into one 64-bit key while they fit."""
    keys: list[Array] = []
    room = 0
    for column in columns:
        size = max(len(column.values), 1)
        if not keys or room // size == 0:
            keys.append(column.codes.astype(np.uint64))
            room = 2**64 // size
        else:
            keys[-1] *= np.uint64(size)
            keys[-1] += column.codes.astype(np.uint64)
            room //= size
    if not keys:
        return np.empty(0, np.int64)
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
