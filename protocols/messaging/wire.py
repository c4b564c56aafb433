"""The strict, self-describing encoding of messages between parties.

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
so that a decoded array is an aligned, read-only view of the received buffer and nothing is copied.
A receiver that wants to change an array makes a copy.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Array
from coterie.base.errors import CoterieError

Value: TypeAlias = "bytes | int | str | Array | list[Value]"
Buffer: TypeAlias = "bytes | bytearray | memoryview"

_BYTES, _INT, _STR, _ARRAY, _LIST = 1, 2, 3, 4, 5
_ALIGN = 16
_MAX_DEPTH = 16
_MAX_DIMENSIONS = 8
_LONG = 4096  # bytes; shorter data is copied, longer data is referred to
_U64 = struct.Struct("<Q")
_DTYPES = [
    np.dtype(code)
    for code in ("|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8")
]
_CODES = {dtype.str: code for code, dtype in enumerate(_DTYPES)}


class WireError(CoterieError):
    """Bytes that the encoder never writes, or a value that has no encoding."""

    exit_code = 7


def encode(values: Iterable[Value]) -> list[Buffer]:
    """The body as a list of buffers; the data of arrays and long bytes is referred to, not copied."""
    encoder = _Encoder()
    for value in values:
        encoder.put(value, 0)
    return encoder.buffers()


def decode(body: Buffer) -> list[Any]:
    """The values of one body. Arrays are read-only views of `body`."""
    decoder = _Decoder(body)
    values = []
    while decoder.at < decoder.end:
        values.append(decoder.value(0))
    return values


def same_value(received: Any, own: Value) -> bool:
    """Whether a received value, of whatever type, equals this party's own.

    `==` would not do: a peer may send an array in place of anything, and `==` with an array gives
    no truth value.
    """
    return b"".join(encode([received])) == b"".join(encode([own]))


# The encoder and the decoder are classes, not nested functions: recursive closures refer to
# themselves, and would keep whole messages in memory until the garbage collector runs.


class _Encoder:
    def __init__(self) -> None:
        self._out: list[Buffer] = []
        self._head = bytearray()
        self._size = 0  # bytes already in `out`

    def buffers(self) -> list[Buffer]:
        if self._head or not self._out:
            self._out.append(bytes(self._head))
        return self._out

    def _refer(self, data: Buffer) -> None:
        self._out.extend((bytes(self._head), data))
        self._size += len(self._head) + len(data)
        self._head = bytearray()

    def _lead(self, tag: int, length: int) -> None:
        self._head.append(tag)
        self._head += _U64.pack(length)

    def put(self, value: Value, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise WireError(f"lists nest deeper than {_MAX_DEPTH}")
        if isinstance(value, bytes | bytearray | memoryview):
            data = value if isinstance(value, bytes) else bytes(value)
            self._lead(_BYTES, len(data))
            if len(data) < _LONG:
                self._head += data
            else:
                self._refer(data)
        elif isinstance(value, str):
            try:
                data = value.encode()
            except UnicodeEncodeError:
                raise WireError("a string with half a surrogate pair has no encoding") from None
            self._lead(_STR, len(data))
            self._head += data
        elif isinstance(value, np.ndarray):
            self._put_array(value)
        elif isinstance(value, list | tuple):
            self._lead(_LIST, len(value))
            for item in value:
                self.put(item, depth + 1)
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            number = int(value)
            data = abs(number).to_bytes((abs(number).bit_length() + 7) // 8, "little")
            self._head += bytes([_INT, number < 0]) + _U64.pack(len(data)) + data
        else:
            raise WireError(f"a value of type {type(value).__name__} has no encoding")

    def _put_array(self, value: Array) -> None:
        plain = value.dtype.newbyteorder("<") if value.dtype.kind in "iuf" else value.dtype
        code = _CODES.get(plain.str)
        if code is None or value.ndim > _MAX_DIMENSIONS:
            raise WireError(
                f"an array of {value.dtype} with {value.ndim} dimensions has no encoding"
            )
        self._head += bytes([_ARRAY, code, value.ndim])
        self._head += b"".join(map(_U64.pack, value.shape))
        self._head += bytes(-(self._size + len(self._head)) % _ALIGN)
        if value.nbytes:
            flat = np.ascontiguousarray(value, dtype=_DTYPES[code]).reshape(-1)
            self._refer(flat.view(np.uint8).data)


class _Decoder:
    def __init__(self, body: Buffer) -> None:
        self._view = memoryview(body).cast("B")
        self._whole = np.frombuffer(self._view, np.uint8)
        self._whole.flags.writeable = False
        self.end = len(self._view)
        self.at = 0

    def _take(self, count: int, what: str) -> int:
        left = self.end - self.at
        if count > left:
            raise WireError(f"{what} of {count} bytes at byte {self.at}, but only {left} are left")
        start = self.at
        self.at += count
        return start

    def _u8(self, what: str) -> int:
        return self._view[self._take(1, what)]

    def _u64(self, what: str) -> int:
        return int(_U64.unpack_from(self._view, self._take(8, what))[0])

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise WireError(f"lists nest deeper than {_MAX_DEPTH}")
        tag = self._u8("tag")
        if tag == _BYTES:
            start = self._take(self._u64("length"), "bytes")
            return bytes(self._view[start : self.at])
        if tag == _INT:
            return self._integer()
        if tag == _STR:
            start = self._take(self._u64("length"), "string")
            try:
                return str(self._view[start : self.at], "utf-8")
            except UnicodeDecodeError:
                raise WireError(f"string at byte {start} is not UTF-8") from None
        if tag == _ARRAY:
            return self._array()
        if tag == _LIST:
            count, left = self._u64("count"), self.end - self.at
            if count > left:
                raise WireError(
                    f"list of {count} values at byte {self.at}, but only {left} bytes are left"
                )
            return [self.value(depth + 1) for _ in range(count)]
        raise WireError(f"unknown tag {tag} at byte {self.at - 1}")

    def _integer(self) -> int:
        sign, length = self._u8("sign"), self._u64("length")
        start = self._take(length, "integer")
        if sign > 1 or (length and not self._view[self.at - 1]) or (sign and not length):
            raise WireError(f"integer at byte {start} is not in its one form")
        magnitude = int.from_bytes(self._view[start : self.at], "little")
        return -magnitude if sign else magnitude

    def _array(self) -> Array:
        code, ndim = self._u8("array type"), self._u8("array dimensions")
        if code >= len(_DTYPES) or ndim > _MAX_DIMENSIONS:
            raise WireError(f"array of unknown type {code} or {ndim} dimensions at byte {self.at}")
        shape = [self._u64("array dimension") for _ in range(ndim)]
        dtype = _DTYPES[code]
        count = 1
        for length in shape:
            if length > 1 << 62:
                raise WireError(f"array dimension {length} at byte {self.at}")
            count *= length
        start = self._take(-self.at % _ALIGN, "padding")
        if any(self._view[start : self.at]):
            raise WireError(f"padding at byte {start} is not zero")
        start = self._take(count * dtype.itemsize, "array")
        flat = self._whole[start : self.at].view(dtype)
        if dtype.kind == "b" and flat.view(np.uint8).max(initial=0) > 1:
            raise WireError(f"array of booleans at byte {start} holds other bytes than 0 and 1")
        try:
            return flat.reshape(shape)
        except ValueError as error:
            raise WireError(f"array shape {shape} at byte {start}: {error}") from None


def size_of(buffers: Sequence[Buffer]) -> int:
    """The number of bytes in an encoded body."""
    return sum(memoryview(buffer).nbytes for buffer in buffers)
