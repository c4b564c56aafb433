"""libsodium on whole buffers: loops that call it natively, without the interpreter or the GIL.

The library is the one inside the rbcl wheel. Its functions are registered with LLVM by name, so
that numba compiles a loop over them to plain native calls; the loop costs nothing beyond the calls,
and callers may run it in several threads. The module contains no cryptography of its own: RFC
9380's `expand_message_xmd` is the only construction, and it only arranges calls of SHA-512.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Bytes, Int32s, Ints
from coterie.base.compiled import Native, compiled

Offsets: TypeAlias = "Ints | Int32s"


@cache
def sodium() -> Any:
    """rbcl, whose import loads the library and half of a debugger."""
    import rbcl

    with contextlib.suppress(OSError, KeyError):
        # rbcl writes its library to a temporary file at every import and leaves the file there. The
        # library is mapped by now, so the file can go; Windows cannot remove a loaded file.
        os.unlink(sys.modules["rbcl._sodium"].__dict__["lib_path"])
    if rbcl.crypto_scalarmult_ristretto255_BYTES != 32:
        raise ImportError("rbcl carries a libsodium with another ristretto255 than RFC 9496")
    return rbcl


def _address(name: str) -> int:
    sodium()
    library = sys.modules["rbcl._sodium"].__dict__["_sodium"]
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def external(name: str, arguments: str) -> Native:
    """A function of libsodium for use in compiled loops; `arguments` are types of numba."""
    return Native(name, partial(_address, name), arguments)


_sha512 = external("crypto_hash_sha512", "uintp uintp uint64")
blake2b_function = _blake2b = external(
    "crypto_generichash_blake2b", "uintp uintp uintp uint64 uintp uintp"
)
_salted = external(
    "crypto_generichash_blake2b_salt_personal",
    "uintp uintp uintp uint64 uintp uintp uintp uintp",
)


@compiled
def _digests(data: Any, offsets: Any, salt: Any, out: Any) -> None:
    source, salted = np.uintp(data.ctypes.data), np.uintp(salt.ctypes.data)
    target, width = np.uintp(out.ctypes.data), np.uintp(out.shape[1])
    nothing = np.uintp(0)
    for i in range(out.shape[0]):
        _salted(
            np.uintp(target + np.uintp(i) * width),
            width,
            np.uintp(source + np.uintp(offsets[i])),
            np.uint64(offsets[i + 1] - offsets[i]),
            nothing,
            nothing,
            salted,
            np.uintp(salted + np.uintp(16)),
        )


def digests(data: Bytes, offsets: Offsets, salt: bytes, width: int = 16) -> Bytes:
    """Salted BLAKE2b of data[offsets[i]:offsets[i+1]] for every i, `width` bytes each.

    The salt of 32 bytes fills the salt and the personalization of BLAKE2b.
    """
    if not 16 <= width <= 64 or len(salt) != 32:
        raise ValueError("BLAKE2b is used with 16 to 64 bytes of digest and 32 of salt")
    out = np.empty((len(offsets) - 1, width), np.uint8)
    _digests(np.ascontiguousarray(data), offsets, np.frombuffer(salt, np.uint8), out)
    return out


@compiled
def _row_digests(rows: Any, out: Any) -> None:
    source, target = np.uintp(rows.ctypes.data), np.uintp(out.ctypes.data)
    length, width = np.uintp(rows.shape[1]), np.uintp(out.shape[1])
    nothing = np.uintp(0)
    for i in range(out.shape[0]):
        _blake2b(
            np.uintp(target + np.uintp(i) * width),
            width,
            np.uintp(source + np.uintp(i) * length),
            np.uint64(length),
            nothing,
            nothing,
        )


def row_digests(rows: Bytes, width: int = 16) -> Bytes:
    """BLAKE2b of every row."""
    out = np.empty((len(rows), width), np.uint8)
    _row_digests(np.ascontiguousarray(rows), out)
    return out


@compiled
def _expand(messages: Any, tag: Any, length: Any, out: Any) -> None:
    size, tag_size = messages.shape[1], tag.shape[0]
    # Z_pad || msg || I2OSP(length, 2) || I2OSP(0, 1) || DST_prime, then b_0 || I2OSP(1, 1) ||
    # DST_prime
    first = np.zeros(128 + size + 3 + tag_size, np.uint8)
    first[128 + size] = length >> 8
    first[129 + size] = length & 255
    first[131 + size :] = tag
    second = np.empty(65 + tag_size, np.uint8)
    second[64] = 1
    second[65:] = tag
    block = np.empty(64, np.uint8)
    a, b, c = (
        np.uintp(first.ctypes.data),
        np.uintp(second.ctypes.data),
        np.uintp(block.ctypes.data),
    )
    for i in range(messages.shape[0]):
        first[128 : 128 + size] = messages[i]
        _sha512(b, a, np.uint64(first.shape[0]))
        _sha512(c, b, np.uint64(second.shape[0]))
        out[i] = block[: out.shape[1]]


def expand_message_xmd(messages: Bytes, tag: bytes, length: int) -> Bytes:
    """RFC 9380, section 5.3.1, with SHA-512, of every row; `length` up to one block of 64 bytes."""
    if not 0 < length <= 64 or not 0 < len(tag) <= 255:
        raise ValueError("one block of output and a tag of 1 to 255 bytes")
    out = np.empty((len(messages), length), np.uint8)
    prime = np.frombuffer(tag + bytes([len(tag)]), np.uint8)
    _expand(np.ascontiguousarray(messages), prime, length, out)
    return out
