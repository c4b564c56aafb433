"""The one text of every typed value, so that equal data gives equal jobs whatever it is stored in.

Whole numbers are written without a point (also those of a floating-point column), other
floating-point numbers in their shortest exact form, booleans as `true` and `false`, dates and times
as in ISO 8601 with a space between them. A missing value and the empty text are both null.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.scales import declared_form
from coterie.base.errors import DataError


def filled(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts, with the empty text for null.

    Where there is none, Arrow is not asked: its call imports pandas where that is installed.
    """
    return pc.fill_null(texts, "") if texts.null_count else texts


def as_text(table: pa.Table, source: str) -> pa.Table:
    """The table with every value in its text form."""
    arrays = [
        _column_text(table.column(at), name, source) for at, name in enumerate(table.column_names)
    ]
    return pa.table(arrays, names=table.column_names)


def declared_text(column: pa.ChunkedArray, declared: Sequence[str]) -> pa.ChunkedArray:
    """The texts, with the declared form of whole numbers: `32` for `32.0` where 32 is declared."""
    known = set(declared)
    strange = pc.unique(column.filter(pc.invert(pc.is_in(column, pa.array(declared, column.type)))))
    forms = {v: declared_form(v, known) for v in strange.to_pylist() if v is not None}
    forms = {value: form for value, form in forms.items() if value != form}
    if not forms:
        return column
    place = pc.index_in(column, pa.array([*forms], column.type))
    return pc.coalesce(pa.array([*forms.values()], column.type).take(place), column)


def _column_text(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column, kind = column.cast(kind.storage_type), kind.storage_type
    if pa.types.is_dictionary(kind):
        column, kind = _decoded(column), kind.value_type
    if pa.types.is_floating(kind):
        if pc.any(pc.invert(pc.is_finite(column))).as_py():
            row = pc.index(pc.fill_null(pc.is_finite(column), True), False).as_py()
            raise DataError(
                "{column} is not a finite number", file=source, column=name, rows=[row + 1]
            )
        # Minus zero becomes zero; Arrow writes other whole numbers without a point.
        column = pc.if_else(pc.equal(column, 0), pa.scalar(0, kind), column)
    elif pa.types.is_timestamp(kind):
        return _timestamp_text(column, kind)
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_time(kind)
        or pa.types.is_null(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    ):
        raise DataError(f"{source}: column '{name}' is of type {kind}, which has no text form")
    text = column.cast(pa.string())
    if pa.types.is_time(kind):
        text = _without_zero_fraction(text)
    return empty_to_null(text)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Categories as their values, a chunk at a time: Arrow cannot cast every kind of dictionary."""
    kind = column.type.value_type
    text = pa.string() if pa.types.is_string_view(kind) else kind
    chunks = [chunk.dictionary.cast(text).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, text)


def _timestamp_text(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if kind.tz is None:
        return _without_zero_fraction(column.cast(pa.string()))
    plain = column.cast(pa.timestamp(kind.unit, "UTC")).cast(pa.timestamp(kind.unit))
    text = _without_zero_fraction(plain.cast(pa.string()))
    return pc.binary_join_element_wise(text, "+00", "")


def _without_zero_fraction(text: pa.ChunkedArray) -> pa.ChunkedArray:
    shorter = pc.replace_substring_regex(text, r"(\.[0-9]*?)0+$", r"\1")
    return pc.replace_substring_regex(shorter, r"\.$", "")


def empty_to_null(text: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
