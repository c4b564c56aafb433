"""Paillier encryption on vectors, with phe's keys.

Paillier, "Public-key cryptosystems based on composite degree residuosity classes" (1999), with g =
n + 1: Enc(m; R) = (1 + m n) R mod n², where R = r^n mod n² is an n-th residue. Sums of plaintexts
are products of ciphertexts, multiples are powers. Keys are phe's `PaillierPublicKey` and
`PaillierPrivateKey`, and a ciphertext here is the integer inside phe's `EncryptedNumber`: each of
the two can decrypt what the other encrypts. `protocols.numbers.randomizers` makes R.

A vector of ciphertexts is a list of gmpy2 integers; on the wire it is a uint8 array of shape
(count, width), little-endian. Received ciphertexts are checked to be in Z*_{n²} before use.

Security: plaintexts are hidden from everyone without the private key if deciding n-th residuosity
is hard. gmpy2's arithmetic is not constant-time: an attacker that measures a party's computing time
to the microsecond may learn about its secrets.

Cost for a modulus of 3072 bits, one core: one product of ciphertexts about 10 µs, one decryption
9 ms, a power by a b-bit number about 12 b µs, 768 bytes for each ciphertext. Decryption and powers
run on two threads (gmpy2 frees the interpreter in `powmod_base_list`); products do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import gmpy2
import numpy as np
from gmpy2 import mpz
from phe import EncryptedNumber, PaillierPrivateKey, PaillierPublicKey

from coterie.base.arrays import Bytes
from coterie.base.errors import UsageError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random

DEFAULT_BITS = 3072
MOST_BITS = 16384  # the longest key that is accepted from a peer
_LARGEST = 1 << 4 * MOST_BITS  # a key beyond this is not even measured
THREADS = 2

Ciphertexts: TypeAlias = list[Any]  # of gmpy2.mpz, which has no type stubs


class KeySizeError(UsageError):
    """A modulus is too small for its plaintexts; raised before any work starts."""


def to_bytes(values: Iterable[Any], width: int) -> Bytes:
    """Non-negative integers as rows of `width` bytes, little-endian."""
    rows = [mpz(value).to_bytes(width, "little") for value in values]
    return np.frombuffer(bytearray().join(rows), np.uint8).reshape(len(rows), width)


def from_bytes(rows: Bytes) -> list[Any]:
    """The inverse of `to_bytes`."""
    count, width = rows.shape
    data = np.ascontiguousarray(rows).tobytes()
    read = int.from_bytes
    return [mpz(read(data[at : at + width], "little")) for at in range(0, count * width, width)]


class PublicKey:
    """A phe public key, with operations on vectors of ciphertexts.

    `base` is a residue modulo n that the key's owner announces: the n-th powers of its powers are
    the owner's randomizers, and with them an answer to the owner can be masked (see
    `protocols.numbers.randomizers`). A key that comes from plain phe has no base.
    """

    def __init__(self, key: PaillierPublicKey, base: int | None = None) -> None:
        self.phe = key
        self.n = mpz(key.n)
        self.n2 = self.n * self.n
        self.base = None if base is None else mpz(base)
        self.bits = int(self.n.bit_length())
        self.width = (2 * self.bits + 7) // 8

    @property
    def plaintext_bits(self) -> int:
        """The length up to which every non-negative number is a plaintext."""
        return self.bits - 1

    def encrypt(self, values: Sequence[Any], randomizers: Ciphertexts) -> Ciphertexts:
        """One ciphertext for each value in (-n, n); each randomizer may be used once only."""
        if len(values) != len(randomizers):
            raise ValueError(f"{len(values)} values and {len(randomizers)} randomizers")
        n, n2 = self.n, self.n2
        if any(not -n < value < n for value in values):
            raise ValueError("a value does not fit the modulus")
        return [
            (r + n * (value * (r % n) % n)) % n2
            for value, r in zip(map(mpz, values), randomizers, strict=True)
        ]

    def add(self, left: Ciphertexts, right: Ciphertexts) -> Ciphertexts:
        """Ciphertexts of the sums, element by element."""
        n2 = self.n2
        return [a * b % n2 for a, b in zip(left, right, strict=True)]

    def multiply(self, ciphertexts: Ciphertexts, scalars: Sequence[Any]) -> Ciphertexts:
        """Ciphertexts of the multiples, element by element; not masked."""
        n2 = self.n2

        def power(part: tuple[Ciphertexts, Sequence[Any]]) -> Ciphertexts:
            with gmpy2.context(allow_release_gil=True):
                return [gmpy2.powmod(c, s, n2) for c, s in zip(*part, strict=True)]

        cut = (len(ciphertexts) + 1) // THREADS
        parts = [(ciphertexts[:cut], scalars[:cut]), (ciphertexts[cut:], scalars[cut:])]
        return [c for part in in_threads(power, parts) for c in part]

    def weighted_sum(
        self, ciphertexts: Ciphertexts, weights: Sequence[int], weight_bits: int
    ) -> Any:
        """The ciphertext of Σ weight · plaintext, by buckets; not masked.

        Weights are in [0, 2^weight_bits). For each window of w bits every ciphertext is multiplied
        into the bucket of its digit, and running products add the buckets up: about
        (weight_bits / w) (count + 2^(w+1)) products in place of a power for each weight.
        """
        n2 = self.n2
        count = len(ciphertexts)
        if len(weights) != count:
            raise ValueError(f"{count} ciphertexts and {len(weights)} weights")
        windows = range(1, min(weight_bits, 12) + 1) or range(1, 2)
        w = min(windows, key=lambda w: math.ceil(weight_bits / w) * (count + (2 << w)))
        mask = (1 << w) - 1
        total = mpz(1)
        for shift in range((weight_bits - 1) // w * w, -1, -w):
            for _ in range(w):
                total = total * total % n2
            buckets: list[Any] = [None] * (mask + 1)
            for c, weight in zip(ciphertexts, weights, strict=True):
                digit = weight >> shift & mask
                if digit:
                    held = buckets[digit]
                    buckets[digit] = c if held is None else held * c % n2
            running = mpz(1)
            for held in reversed(buckets[1:]):
                if held is not None:
                    running = running * held % n2
                total = total * running % n2
        return total

    def to_wire(self, ciphertexts: Ciphertexts) -> Bytes:
        return to_bytes(ciphertexts, self.width)

    def from_wire(self, channel: Channel, peer: str, rows: Any, count: int) -> Ciphertexts:
        """Received ciphertexts; a wrong number, or one outside Z*_{n²}, is the peer's fault."""
        channel.check_array(peer, rows, np.uint8, (count, self.width), f"{count} ciphertexts")
        ciphertexts = from_bytes(rows)
        n, n2 = self.n, self.n2
        unit = mpz(1)  # the product is a unit only if every factor is one, so that one gcd suffices
        for c in ciphertexts:
            unit = unit * c % n
        if any(c >= n2 for c in ciphertexts) or gmpy2.gcd(unit, n) != 1:
            at = next(i for i, c in enumerate(ciphertexts) if c >= n2 or gmpy2.gcd(c, n) != 1)
            raise channel.fault(peer, f"sent ciphertext {at + 1}, which is outside the group")
        return ciphertexts

    def to_phe(self, ciphertexts: Ciphertexts) -> list[EncryptedNumber]:
        return [EncryptedNumber(self.phe, int(c), 0) for c in ciphertexts]

    def from_phe(self, numbers: Sequence[EncryptedNumber]) -> Ciphertexts:
        """phe's numbers as ciphertexts; they must be integers (exponent 0) under this key."""
        if any(x.public_key != self.phe or x.exponent != 0 for x in numbers):
            raise ValueError("a number of another key, or not an integer")
        return [mpz(x.ciphertext(be_secure=False)) for x in numbers]


class PrivateKey(PublicKey):
    """A phe private key: decrypts vectors, by the Chinese remainder theorem on two threads."""

    def __init__(self, key: PaillierPrivateKey, base: int | None = None) -> None:
        super().__init__(key.public_key, base)
        self.phe_private = key
        self.p, self.q = mpz(key.p), mpz(key.q)
        self.p2, self.q2 = self.p**2, self.q**2
        self._hp = gmpy2.invert((self.p - 1) * self.q % self.p, self.p)
        self._hq = gmpy2.invert((self.q - 1) * self.p % self.q, self.q)
        self._p_inverse = gmpy2.invert(self.p, self.q)
        self._p2_inverse = gmpy2.invert(self.p2, self.q2)

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.phe, None if self.base is None else int(self.base))

    def decrypt(self, ciphertexts: Ciphertexts) -> list[Any]:
        """The plaintexts in [0, n)."""

        def half(prime: tuple[Any, Any, Any]) -> list[Any]:
            p, p2, h = prime
            powers = gmpy2.powmod_base_list([c % p2 for c in ciphertexts], p - 1, p2)
            return [(power - 1) // p * h % p for power in powers]

        primes = [(self.p, self.p2, self._hp), (self.q, self.q2, self._hq)]
        mod_p, mod_q = in_threads(half, primes)
        p, q, inverse = self.p, self.q, self._p_inverse
        return [a + p * ((b - a) * inverse % q) for a, b in zip(mod_p, mod_q, strict=True)]

    def decrypt_signed(self, ciphertexts: Ciphertexts) -> list[int]:
        """The plaintexts in (-n/2, n/2), as phe reads them."""
        n = self.n
        return [int(m - n if m > n >> 1 else m) for m in self.decrypt(ciphertexts)]

    def join(self, mod_p2: Ciphertexts, mod_q2: Ciphertexts) -> Ciphertexts:
        """Residues modulo n² from residues modulo p² and q²."""
        p2, q2, inverse = self.p2, self.q2, self._p2_inverse
        return [a + p2 * ((b - a) * inverse % q2) for a, b in zip(mod_p2, mod_q2, strict=True)]


def in_threads(function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    """The function's result for each part; each part has a thread of its own."""
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(function, parts))


def generate(rng: Random, bits: int = DEFAULT_BITS) -> PrivateKey:
    """A new key. Less than 3072 bits are only for tests, and for benchmarks that say so.

    Both primes are 3 modulo 4 and gcd(p-1, q-1) = 2, as Damgård, Jurik and Nielsen ask, and the
    announced base is -x² for a random x.
    """
    if bits < 64 or bits % 2:
        raise KeySizeError(f"a Paillier modulus of {bits} bits is not possible")
    half = bits // 2
    while True:
        p, q = _prime(rng, half), _prime(rng, half)
        if p != q and gmpy2.gcd(p - 1, q - 1) == 2 and gmpy2.gcd(p * q, (p - 1) * (q - 1)) == 1:
            break
    public = PaillierPublicKey(int(p * q))
    return adopt(PaillierPrivateKey(public, int(p), int(q)), rng)


def adopt(key: PaillierPrivateKey, rng: Random) -> PrivateKey:
    """A key of phe with a random base -x² to announce."""
    n = int(key.public_key.n)
    while gmpy2.gcd(x := rng.below(n), n) != 1:
        pass
    return PrivateKey(key, -x * x % n)


def _prime(rng: Random, bits: int) -> Any:
    """A prime of exactly `bits` bits, 3 modulo 4, with its two upper bits set."""
    while True:
        start = rng.below(1 << (bits - 2)) | 3 << (bits - 2)
        prime = gmpy2.next_prime(start)
        if prime % 4 == 3 and prime.bit_length() == bits:
            return prime


def agree_on_key(
    channel: Channel,
    peer: str,
    owner: bool,
    rng: Random,
    bits: int = DEFAULT_BITS,
    key: PrivateKey | None = None,
) -> PublicKey:
    """The owner's key at both parties. The owner may pass its own; otherwise it generates one."""
    with channel.step("paillier key"):
        if not owner:
            return receive_key(channel, peer, bits)
        key = key or generate(rng, bits)
        announce_key(channel, peer, key)
        return key


def announce_key(channel: Channel, peer: str, key: PrivateKey) -> None:
    """Sends the public part of a key; the peer calls `receive_key` in the same step."""
    if key.base is None:
        raise ValueError("a key without a base has no way to have its answers masked")
    channel.send(peer, int(key.n), int(key.base))


def receive_key(channel: Channel, peer: str, minimum_bits: int = DEFAULT_BITS) -> PublicKey:
    """The peer's public key; a short (`minimum_bits`) or malformed key is the peer's fault."""
    n, base = channel.recv_ints(peer, 2, 0, _LARGEST, "Paillier key")
    if n.bit_length() < minimum_bits:
        raise channel.fault(
            peer, f"sent a Paillier key of {n.bit_length()} bits; at least {minimum_bits} are asked"
        )
    if n.bit_length() > MOST_BITS:  # before n is tested, in time cubic in its length
        raise channel.fault(peer, f"sent a Paillier key of {n.bit_length()} bits, over {MOST_BITS}")
    if n % 2 == 0 or gmpy2.is_prime(n) or gmpy2.is_power(n):
        raise channel.fault(peer, "sent a Paillier modulus that is not a product of two primes")
    if not 1 < base < n - 1 or gmpy2.gcd(base, n) != 1:
        raise channel.fault(peer, "sent a base that is outside the group")
    return PublicKey(PaillierPublicKey(n), base)
