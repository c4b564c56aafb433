"""ristretto255 (RFC 9496), a group of prime order, on whole arrays of encoded elements.

An element is 32 bytes, an array of them has shape (n, 32). Arithmetic is libsodium's, in constant
time. Hashing to the group is `hash_to_ristretto255` of RFC 9380, appendix B, with SHA-512: the
digest is a random element whose discrete logarithm nobody knows. Every element has exactly one
encoding; multiplication refuses bytes that encode no element, and the identity as a result.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Bytes, Mask
from coterie.base.compiled import compiled
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.sodium import expand_message_xmd, external, sodium

Elements: TypeAlias = Bytes
ELEMENT_BYTES = 32
TAG = b"coterie-V01-CS01-with-ristretto255_XMD:SHA-512_R255MAP_RO_"

_scalarmult = external("crypto_scalarmult_ristretto255", "uintp uintp uintp")
_from_hash = external("crypto_core_ristretto255_from_hash", "uintp uintp")
_is_valid = external("crypto_core_ristretto255_is_valid_point", "uintp")


class InvalidElementError(ValueError):
    """Bytes that encode no element, or encode the identity; `index` is the number of their row."""

    def __init__(self, index: int) -> None:
        super().__init__(f"element {index} is not one of the group, or is its identity")
        self.index = index

    def __reduce__(self) -> tuple[type[InvalidElementError], tuple[int]]:
        return InvalidElementError, (self.index,)


@compiled
def _multiply(scalar: Any, elements: Any, out: Any) -> Any:
    k, source, target = (
        np.uintp(scalar.ctypes.data),
        np.uintp(elements.ctypes.data),
        np.uintp(out.ctypes.data),
    )
    for i in range(elements.shape[0]):
        at = np.uintp(32 * i)
        if _scalarmult(np.uintp(target + at), k, np.uintp(source + at)) != 0:
            return i
    return -1


@compiled
def _derive(uniform: Any, out: Any) -> None:
    source, target = np.uintp(uniform.ctypes.data), np.uintp(out.ctypes.data)
    for i in range(uniform.shape[0]):
        _from_hash(np.uintp(target + np.uintp(32 * i)), np.uintp(source + np.uintp(64 * i)))


@compiled
def _validate(elements: Any, out: Any) -> None:
    source = np.uintp(elements.ctypes.data)
    for i in range(elements.shape[0]):
        out[i] = _is_valid(np.uintp(source + np.uintp(32 * i))) == 1


def random_scalar(rng: Random) -> bytes:
    """A scalar modulo the group's order, uniform up to a statistical distance of 2^-252."""
    return bytes(sodium().crypto_core_ristretto255_scalar_reduce(rng.bytes(64)))


def invert_scalar(scalar: bytes) -> bytes:
    return bytes(sodium().crypto_core_ristretto255_scalar_invert(scalar))


def multiply(scalar: bytes, elements: Elements) -> Elements:
    """Every element times the scalar; `InvalidElementError` names the first invalid one."""
    out = np.empty((len(elements), ELEMENT_BYTES), np.uint8)
    bad = _multiply(np.frombuffer(scalar, np.uint8), np.ascontiguousarray(elements), out)
    if bad >= 0:
        raise InvalidElementError(bad)
    return out


def derive(uniform: Bytes) -> Elements:
    """RFC 9496, section 4.3.4: elements from rows of 64 uniform bytes."""
    out = np.empty((len(uniform), ELEMENT_BYTES), np.uint8)
    _derive(np.ascontiguousarray(uniform), out)
    return out


def hash_to_group(messages: Bytes, tag: bytes = TAG) -> Elements:
    """RFC 9380, appendix B: a random element for every row."""
    return derive(expand_message_xmd(messages, tag, 64))


def hash_and_multiply(scalar: bytes, messages: Bytes) -> Elements:
    """The pseudorandom function of the group: the hashed row times the scalar."""
    return multiply(scalar, hash_to_group(messages))


def valid(elements: Elements) -> Mask:
    """Which rows encode an element other than the identity."""
    out = np.empty(len(elements), np.bool_)
    _validate(np.ascontiguousarray(elements), out)
    return out & elements.any(axis=1)
