"""The strict, self-describing encoding of what parties send each other.

A message body is a sequence of values: bytes, integers of any size, strings, NumPy arrays, and
lists of these. There is one encoding of each value, so equal values have equal bytes. Decoding
checks every length against what is left before it takes memory, refuses anything that the encoder
would not have written, and raises `WireError` and nothing else.

    value  := tag:u8 body
    bytes  := 0x01 length:u64 data
    int    := 0x02 sign:u8 length:u64 magnitude        little-endian, no leading zero byte
    str    := 0x03 length:u64 utf-8
    array  := 0x04 dtype:u8 ndim:u8 dims:u64* padding data     C order, little-endian
    list   := 0x05 count:u64 value*

An array's data starts at a multiple of 16 bytes from the start of the body (the padding is zeros),
so that a decoded array is an aligned, writable view of the received buffer and nothing is copied.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from coterie.errors import CoterieError

Value: TypeAlias = "bytes | int | str | np.ndarray[Any, Any] | list[Value]"
Buffer: TypeAlias = "bytes | bytearray | memoryview"

_BYTES, _INT, _STR, _ARRAY, _LIST = 1, 2, 3, 4, 5
_ALIGN = 16
_MAX_DEPTH = 16
_MAX_DIMENSIONS = 8
_LONG = 4096  # bytes; shorter ones are copied into the head
_U64 = struct.Struct("<Q")
_DTYPES = [
    np.dtype(code)
    for code in ("|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8")
]
_CODES = {dtype.str: code for code, dtype in enumerate(_DTYPES)}


class WireError(CoterieError):
    """Bytes that no honest encoder writes, or a value that has no encoding."""

    exit_code = 7


def encode(values: Iterable[Value]) -> list[Buffer]:
    """The body as a list of buffers; the data of arrays and long bytes is referred to, not copied."""
    out: list[Buffer] = []
    head = bytearray()
    size = 0  # of what is already in `out`

    def refer(data: Buffer) -> None:
        nonlocal head, size
        out.extend((bytes(head), data))
        size += len(head) + len(data)
        head = bytearray()

    def put(value: Value, depth: int) -> None:
        nonlocal head
        if depth > _MAX_DEPTH:
            raise WireError(f"lists nest deeper than {_MAX_DEPTH}")
        if isinstance(value, bytes | bytearray | memoryview):
            data = value if isinstance(value, bytes) else bytes(value)
            head += bytes([_BYTES]) + _U64.pack(len(data))
            if len(data) < _LONG:
                head += data
            else:
                refer(data)
        elif isinstance(value, str):
            try:
                data = value.encode()
            except UnicodeEncodeError:
                raise WireError("a string with half a surrogate pair has no encoding") from None
            head += bytes([_STR]) + _U64.pack(len(data)) + data
        elif isinstance(value, np.ndarray):
            code = _CODES.get(
                value.dtype.newbyteorder("<").str if value.dtype.kind in "iuf" else value.dtype.str
            )
            if code is None or value.ndim > _MAX_DIMENSIONS:
                raise WireError(
                    f"an array of {value.dtype} with {value.ndim} dimensions has no encoding"
                )
            head += bytes([_ARRAY, code, value.ndim])
            head += b"".join(map(_U64.pack, value.shape))
            head += bytes(-(size + len(head)) % _ALIGN)
            if value.nbytes:
                flat = np.ascontiguousarray(value, dtype=_DTYPES[code]).reshape(-1)
                refer(flat.view(np.uint8).data)
        elif isinstance(value, list | tuple):
            head += bytes([_LIST]) + _U64.pack(len(value))
            for item in value:
                put(item, depth + 1)
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            number = int(value)
            data = abs(number).to_bytes((abs(number).bit_length() + 7) // 8, "little")
            head += bytes([_INT, number < 0]) + _U64.pack(len(data)) + data
        else:
            raise WireError(f"a value of type {type(value).__name__} has no encoding")

    for value in values:
        put(value, 0)
    if head or not out:
        out.append(bytes(head))
    return out


def decode(body: Buffer) -> list[Any]:
    """The values of one body. Arrays are views of `body`, writable if it is."""
    view = memoryview(body).cast("B")
    whole = np.frombuffer(view, np.uint8)
    end = len(view)
    at = 0

    def take(count: int, what: str) -> int:
        nonlocal at
        if count > end - at:
            raise WireError(f"{what} of {count} bytes at byte {at}, but only {end - at} are left")
        start = at
        at += count
        return start

    def u8(what: str) -> int:
        return view[take(1, what)]

    def u64(what: str) -> int:
        return int(_U64.unpack_from(view, take(8, what))[0])

    def array() -> np.ndarray[Any, Any]:
        nonlocal at
        code, ndim = u8("array type"), u8("array dimensions")
        if code >= len(_DTYPES) or ndim > _MAX_DIMENSIONS:
            raise WireError(f"array of unknown type {code} or {ndim} dimensions at byte {at}")
        shape = [u64("array dimension") for _ in range(ndim)]
        dtype = _DTYPES[code]
        count = 1
        for length in shape:
            if length > 1 << 62:
                raise WireError(f"array dimension {length} at byte {at}")
            count *= length
        padding = -at % _ALIGN
        start = take(padding, "padding")
        if any(view[start:at]):
            raise WireError(f"padding at byte {start} is not zero")
        start = take(count * dtype.itemsize, "array")
        flat = whole[start:at].view(dtype)
        if dtype.kind == "b" and flat.view(np.uint8).max(initial=0) > 1:
            raise WireError(f"array of booleans at byte {start} holds other bytes than 0 and 1")
        try:
            return flat.reshape(shape)
        except ValueError as error:
            raise WireError(f"array shape {shape} at byte {start}: {error}") from None

    def value(depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise WireError(f"lists nest deeper than {_MAX_DEPTH}")
        tag = u8("tag")
        if tag == _BYTES:
            start = take(u64("length"), "bytes")
            return bytes(view[start:at])
        if tag == _INT:
            sign, length = u8("sign"), u64("length")
            start = take(length, "integer")
            if sign > 1 or (length and not view[at - 1]) or (sign and not length):
                raise WireError(f"integer at byte {start} is not in its one form")
            magnitude = int.from_bytes(view[start:at], "little")
            return -magnitude if sign else magnitude
        if tag == _STR:
            start = take(u64("length"), "string")
            try:
                return str(view[start:at], "utf-8")
            except UnicodeDecodeError:
                raise WireError(f"string at byte {start} is not UTF-8") from None
        if tag == _ARRAY:
            return array()
        if tag == _LIST:
            count = u64("count")
            if count > end - at:
                raise WireError(
                    f"list of {count} values at byte {at}, but only {end - at} bytes are left"
                )
            return [value(depth + 1) for _ in range(count)]
        raise WireError(f"unknown tag {tag} at byte {at - 1}")

    values = []
    while at < end:
        values.append(value(0))
    return values


def size_of(buffers: Sequence[Buffer]) -> int:
    """The number of bytes in an encoded body."""
    return sum(memoryview(buffer).nbytes for buffer in buffers)
