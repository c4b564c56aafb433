"""The commutative cipher of the ring: multiplication on Curve25519 by X25519 (RFC 7748).

Agrawal, Evfimievski and Srikant, "Information Sharing Across Private Databases" (SIGMOD 2003),
section 3, ask for a power function on a group in which the decisional Diffie-Hellman problem is
hard. Here the function is f_k(P) = k P on the subgroup of prime order of Curve25519, with points
given up to sign by their first coordinate: f_a(f_b(P)) = f_b(f_a(P)). libsodium's X25519 takes 0.6
of the time that ristretto255 takes, in constant time, so it is used where commutative
multiplication is all that is needed.

What makes it safe as a cipher, beyond the key exchange it was made for:
- hashed values must lie on the curve. A value on its twist stays there under every key, which would
  show one bit of the value. Hashing is `encode_to_curve` of the suite
  curve25519_XMD:SHA-512_ELL2_NU_ of RFC 9380 (Elligator 2), which never leaves the curve. It
  reaches about half of the points, each with the same probability, and can be inverted; the proofs
  need no more of a random oracle than that.
- a key is a multiple of the cofactor 8, so that multiplication removes the part of a point that lies
  outside the subgroup, both for hashed values and for points that a peer sends.
- received points are checked: each must have its unique encoding, lie on the curve, and not be of
  small order (the result would be zero). A peer that sends any other point is refused.

Keys are 32 random bytes, fresh for each job. The check and the map compute on public values or on
the party's own with gmpy2, not in constant time; neither uses the key.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import gmpy2
import numpy as np
from gmpy2 import mpz

from coterie.base.arrays import Bytes, Mask
from coterie.base.compiled import compiled
from coterie.protocols.primitives.group import InvalidElementError
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.sodium import expand_message_xmd, external

Points: TypeAlias = Bytes
POINT_BYTES = 32
TAG = b"coterie-V01-CS02-with-curve25519_XMD:SHA-512_ELL2_NU_"

_P = mpz(2) ** 255 - 19
_J = mpz(486662)
ORDER = 2**252 + 27742317777372353535851937790883648493
# -1 modulo the order, as the only multiple of 8 in [2^254, 2^255): X25519 does not change it.
_MINUS_ONE = (5 * ORDER - 1).to_bytes(POINT_BYTES, "little")

_x25519 = external("crypto_scalarmult_curve25519", "uintp uintp uintp")


@compiled
def _multiply(key: Any, points: Any, out: Any) -> Any:
    k, source, target = (
        np.uintp(key.ctypes.data),
        np.uintp(points.ctypes.data),
        np.uintp(out.ctypes.data),
    )
    for i in range(points.shape[0]):
        at = np.uintp(32 * i)
        if _x25519(np.uintp(target + at), k, np.uintp(source + at)) != 0:
            return i
    return -1


def random_key(rng: Random) -> bytes:
    return rng.bytes(POINT_BYTES)


def encrypt(key: bytes, points: Points) -> Points:
    """Every point under the key; `InvalidElementError` names the first that is of small order."""
    out = np.empty((len(points), POINT_BYTES), np.uint8)
    bad = _multiply(np.frombuffer(key, np.uint8), np.ascontiguousarray(points), out)
    if bad >= 0:
        raise InvalidElementError(bad)
    return out


def check(points: Points) -> None:
    """Raises `InvalidElementError` for the first row that is not the encoding of a curve point."""
    data = np.ascontiguousarray(points).tobytes()
    jacobi, p, j = gmpy2.jacobi, _P, _J
    for index in range(len(points)):
        u = mpz(int.from_bytes(data[32 * index : 32 * index + 32], "little"))
        if u >= p or jacobi(u * (u * (u + j) + 1), p) != 1:
            raise InvalidElementError(index)


def in_subgroup(points: Points) -> Mask:
    """Which rows are encodings of points of the subgroup of prime order.

    Those are the points that multiplication by -1 gives again, up to their sign; other points of
    the curve lose a component. Three quarters of all numbers need no such trial: twice the point
    (u, v) has the first coordinate ((u^2 - 1) / 2 v)^2, a square, and every point of the subgroup
    is twice another. `InvalidElementError` names the first point of small order that was tried.
    """
    data = np.ascontiguousarray(points).tobytes()
    jacobi, p, j = gmpy2.jacobi, _P, _J
    found = np.zeros(len(points), bool)
    for index in range(len(points)):
        u = mpz(int.from_bytes(data[32 * index : 32 * index + 32], "little"))
        found[index] = u < p and jacobi(u, p) == 1 == jacobi(u * (u + j) + 1, p)
    tried = points[found]
    found[found] = (encrypt(_MINUS_ONE, tried) == tried).all(axis=1)
    return found


def check_and_encrypt(key: bytes, points: Points) -> Points:
    """Another party's points, checked and then encrypted under this party's key."""
    check(points)
    return encrypt(key, points)


def map_to_curve(uniform: Bytes) -> Points:
    """Elligator 2 (RFC 9380, section 6.7.1) of every row, a big-endian number modulo p."""
    jacobi, invert, p, j = gmpy2.jacobi, gmpy2.invert, _P, _J
    data, width = np.ascontiguousarray(uniform).tobytes(), uniform.shape[1]
    out = bytearray()
    for at in range(0, len(data), width):
        r = mpz(int.from_bytes(data[at : at + width])) % p
        # 1 + 2 r^2 is never zero: -1/2 is no square modulo p.
        x = -j * invert(1 + 2 * r * r, p) % p
        if jacobi(x * (x * (x + j) + 1), p) < 0:
            x = (-x - j) % p
        out += int(x).to_bytes(POINT_BYTES, "little")
    return np.frombuffer(out, np.uint8).reshape(-1, POINT_BYTES)


def hash_to_curve(messages: Bytes, tag: bytes = TAG) -> Points:
    """`encode_to_curve` of RFC 9380 for every row, before the cofactor, which the cipher clears."""
    return map_to_curve(expand_message_xmd(messages, tag, 48))


def hash_and_encrypt(key: bytes, messages: Bytes) -> Points:
    """This party's own values, hashed to the curve and then encrypted under its key."""
    return encrypt(key, hash_to_curve(messages))
