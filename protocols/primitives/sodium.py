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
from typing import Any, TypeAlias

import llvmlite.binding
import numba
import numpy as np
import rbcl
from numba import types

from coterie.base.arrays import Bytes, Int32s, Ints
from coterie.base.compiled import compiled

Offsets: TypeAlias = "Ints | Int32s"

_loader = sys.modules["rbcl._sodium"]
_library: Any = _loader.__dict__["_sodium"]
with contextlib.suppress(OSError, KeyError):
    # rbcl writes its library to a temporary file at every import and leaves the file there. The
    # library is mapped by now, so the file can go; Windows cannot remove a loaded file.
    os.unlink(_loader.__dict__["lib_path"])
if not getattr(rbcl, "crypto_scalarmult_ristretto255_BYTES", 32) == 32:
    raise ImportError("rbcl carries a libsodium with another ristretto255 than RFC 9496")


def external(name: str, *arguments: Any) -> Any:
    """A function of libsodium for use in compiled loops; pointers are passed as integers."""
    llvmlite.binding.add_symbol(
        name, ctypes.cast(getattr(_library, name), ctypes.c_void_p).value or 0
    )
    return types.ExternalFunction(name, types.int32(*arguments))


_PTR = types.uintp
_sha512 = external("crypto_hash_sha512", _PTR, _PTR, types.uint64)
blake2b_function = _blake2b = external(
    "crypto_generichash_blake2b", _PTR, _PTR, _PTR, types.uint64, _PTR, _PTR
)
_salted = external(
    "crypto_generichash_blake2b_salt_personal",
    *(_PTR, _PTR, _PTR, types.uint64, _PTR, _PTR, _PTR, _PTR),
)


@compiled
def _digests(data: Any, offsets: Any, salt: Any, out: Any) -> None:
    source, salted = numba.uintp(data.ctypes.data), numba.uintp(salt.ctypes.data)
    target, width = numba.uintp(out.ctypes.data), numba.uintp(out.shape[1])
    nothing = numba.uintp(0)
    for i in range(out.shape[0]):
        _salted(
            numba.uintp(target + numba.uintp(i) * width),
            width,
            numba.uintp(source + numba.uintp(offsets[i])),
            numba.uint64(offsets[i + 1] - offsets[i]),
            nothing,
            nothing,
            salted,
            numba.uintp(salted + numba.uintp(16)),
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
    source, target = numba.uintp(rows.ctypes.data), numba.uintp(out.ctypes.data)
    length, width = numba.uintp(rows.shape[1]), numba.uintp(out.shape[1])
    nothing = numba.uintp(0)
    for i in range(out.shape[0]):
        _blake2b(
            numba.uintp(target + numba.uintp(i) * width),
            width,
            numba.uintp(source + numba.uintp(i) * length),
            numba.uint64(length),
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
        numba.uintp(first.ctypes.data),
        numba.uintp(second.ctypes.data),
        numba.uintp(block.ctypes.data),
    )
    for i in range(messages.shape[0]):
        first[128 : 128 + size] = messages[i]
        _sha512(b, a, numba.uint64(first.shape[0]))
        _sha512(c, b, numba.uint64(second.shape[0]))
        out[i] = block[: out.shape[1]]


def expand_message_xmd(messages: Bytes, tag: bytes, length: int) -> Bytes:
    """RFC 9380, section 5.3.1, with SHA-512, of every row; `length` up to one block of 64 bytes."""
    if not 0 < length <= 64 or not 0 < len(tag) <= 255:
        raise ValueError("one block of output and a tag of 1 to 255 bytes")
    out = np.empty((len(messages), length), np.uint8)
    prime = np.frombuffer(tag + bytes([len(tag)]), np.uint8)
    _expand(np.ascontiguousarray(messages), prime, length, out)
    return out
