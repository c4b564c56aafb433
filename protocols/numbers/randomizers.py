"""Randomizers for Paillier: the n-th residues that hide a plaintext, made ahead of use.

A ciphertext is (1 + m n) R mod n². How R is drawn decides the speed and what must be assumed:

- `exact`: R = r^n for a uniform unit r, as Paillier defines it. Assumes the decisional composite
  residuosity problem (DCR) to be hard, nothing else. The key's owner computes it modulo p² and q².
- `full`: R = H^e for a fixed H = b^n and e uniform in a range 2^64 times larger than the order of H
  can be. Also assumes DCR only: the outcome is the same if e is uniform modulo n times that order;
  under DCR H cannot be distinguished from H (1+n)^a, and then (1+n)^(a e) hides m perfectly. The
  owner draws an exponent for each prime, half as long; the two are equal modulo gcd(p-1, q-1), so
  that they belong to one power of H.
- `half`: b = -x² and e of half the modulus' bits, by Damgård, Jurik and Nielsen ("A generalization
  of Paillier's public-key system with applications to electronic voting", 2010). That such
  exponents cannot be distinguished from full ones follows from the hardness of factoring (Goldreich
  and Rosen, 2003), which DCR implies, for p and q that are 3 modulo 4, as in keys of
  `paillier.generate`.
- `short`: e of 512 bits. Faster, on the extra assumption that logarithms to a fixed base modulo n
  are hard for so short exponents. Only on request; nothing in Coterie chooses it by itself.

Powers of H use a table for each window of w bits of the exponent: one product for each window.

The reader of the ciphertext matters. `half` and `short` hide only from parties without the private
key. An answer to the key's owner, made from the owner's ciphertexts, must be masked by `full` over
the base that the owner announced and uses for its own ciphertexts: then all randomizers lie in one
cyclic group, in which the mask is uniform to within 2^-64, and the answer reveals nothing but its
plaintext. If the owner's ciphertexts come from elsewhere (plain phe), the mask must be `exact`.

Cost for 3072 bits, one core, for each randomizer, as products modulo n² (8 µs; 2.7 µs modulo p²):
exact 3,700 (owner: two of 1,850 modulo p² and q²); with 8-bit windows full 392 (owner two of 200),
half 192, short 64. A table of w-bit windows costs 2^w products for each window once; w depends on
the number of randomizers that are requested, up to 10, with a table of at most 128 MB.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor, Future
from typing import Any, Literal

import gmpy2
import numpy as np
from gmpy2 import mpz

from coterie.protocols.numbers.paillier import (
    Ciphertexts,
    KeySizeError,
    PrivateKey,
    PublicKey,
    from_bytes,
    in_threads,
)
from coterie.protocols.primitives.randomness import Random

Method = Literal["exact", "full", "half", "short"]
SHORT_BITS = 512
SLACK_BITS = 64  # bits of an exponent beyond the group's order, to be uniform modulo it
_TABLE_FROM = 16  # below this number of powers a table does not pay off
_TABLE_BYTES = 1 << 27


class FixedBase:
    """Powers of one base modulo root² for uniform exponents of at least `bits` bits.

    The table stores u + v root as (u, v). The product of two such numbers modulo root² takes three
    products and two divisions of half the size, a fifth less time than one product and one division
    of the whole size.
    """

    def __init__(self, base: Any, root: Any, bits: int) -> None:
        self.base, self.root, self.bits = base, root, bits
        self.window = 0
        self._asked = 0
        self._rows: list[list[tuple[Any, Any]]] = []

    def random_powers(self, count: int, rng: Random) -> Ciphertexts:
        self._asked += count
        if self._asked >= _TABLE_FROM:
            # Assume that demand doubles; a wider table then still pays off.
            wanted = self._best_window(self._asked)
            if wanted > self.window + (1 if self.window else 0):
                self._build(wanted)
        root = self.root
        if not self.window:
            size = (self.bits + 7) // 8
            exponents = from_bytes(rng.array((count, size), np.uint8))
            with gmpy2.context(allow_release_gil=True):
                return [gmpy2.powmod(self.base, e, root * root) for e in exponents]
        digits = rng.array((count, len(self._rows)), np.uint16) & ((1 << self.window) - 1)
        first, *rest = self._rows
        divide = gmpy2.t_divmod
        powers = []
        for leading, *others in digits.tolist():
            u, v = first[leading]
            for row, digit in zip(rest, others, strict=True):
                x, y = row[digit]
                carry, low = divide(u * x, root)
                v = (u * y + v * x + carry) % root
                u = low
            powers.append(u + root * v)
        return powers

    def _best_window(self, count: int) -> int:
        """The window with the fewest products for the table and `count` powers."""
        size = (2 * self.root.bit_length() + 7) // 8
        windows = [
            w for w in range(2, 11) if (math.ceil(self.bits / w) << w) * size <= _TABLE_BYTES
        ]
        return min(windows, key=lambda w: math.ceil(self.bits / w) * (count + (1 << w)))

    def _build(self, window: int) -> None:
        self.window = window
        self._rows = []
        root, square = self.root, self.root**2
        step = self.base
        for _ in range(math.ceil(self.bits / window)):
            row = [mpz(1)]
            for _ in range((1 << window) - 1):
                row.append(row[-1] * step % square)
            self._rows.append([gmpy2.t_divmod(power, root)[::-1] for power in row])
            step = row[-1] * step % square


def random_powers(base: Any, root: Any, bits: int, count: int, seed: bytes) -> Ciphertexts:
    """`FixedBase.random_powers` as a function that an executor can send to another process."""
    return FixedBase(base, root, bits).random_powers(count, Random(seed))


class Randomizers:
    """A pool of randomizers under one key. Each is handed out once.

    With a `PrivateKey` the work is done modulo p² and q². `prepare` is the offline part; `take`
    makes missing randomizers when it is called. Products of large numbers hold the interpreter's
    lock; an executor of two processes passed to `prepare` halves the time.
    """

    def __init__(self, key: PublicKey, rng: Random, method: Method = "full") -> None:
        self.key, self.method = key, method
        # The seed is drawn from the generator, not forked: two pools must never give the same.
        self._rng = Random(rng.bytes(32))
        self._pool: Ciphertexts = []
        self._powers: list[FixedBase] = []
        self._starts: list[tuple[Any, Any]] = []
        if method == "exact":
            return
        if method == "half" and key.n % 4 != 1:
            raise KeySizeError("half-length exponents need primes that are 3 modulo 4")
        base = key.base
        if base is None:  # a party may choose any base for its own encryptions
            base = -(self._unit() ** 2) % key.n
        if method == "full" and isinstance(key, PrivateKey):
            self._common = gmpy2.gcd(key.p - 1, key.q - 1)
            for square, prime in ((key.p2, key.p), (key.q2, key.q)):
                power = gmpy2.powmod(base, key.n, square)
                stride = gmpy2.powmod(power, self._common, square)
                self._starts.append((power, square))
                self._powers.append(FixedBase(stride, prime, prime.bit_length() + SLACK_BITS))
            return
        lengths = {"full": key.bits + SLACK_BITS, "half": (key.bits + 1) // 2, "short": SHORT_BITS}
        self._powers.append(FixedBase(gmpy2.powmod(base, key.n, key.n2), key.n, lengths[method]))

    @property
    def prepared(self) -> int:
        return len(self._pool)

    def prepare(self, count: int, executor: Executor | None = None) -> None:
        """Fills the pool up to at least `count` randomizers."""
        missing = count - len(self._pool)
        if missing > 0:
            self._pool = self._make(missing, executor) + self._pool

    def take(self, count: int) -> Ciphertexts:
        self.prepare(count)
        cut = len(self._pool) - count
        taken = self._pool[cut:]
        del self._pool[cut:]
        return taken

    def _make(self, count: int, executor: Executor | None) -> Ciphertexts:
        if self.method == "exact":
            return self._exact(count)
        if self._starts and isinstance(self.key, PrivateKey):
            return self._full_by_owner(self.key, count, executor)
        if executor is None:
            return self._powers[0].random_powers(count, self._rng)
        cut = (count + 1) // 2
        halves = [self._elsewhere(self._powers[0], part, executor) for part in (cut, count - cut)]
        return [power for half in halves for power in half.result()]

    def _elsewhere(self, fixed: FixedBase, count: int, executor: Executor) -> Future[Ciphertexts]:
        seed = self._rng.bytes(32)
        return executor.submit(random_powers, fixed.base, fixed.root, fixed.bits, count, seed)

    def _exact(self, count: int) -> Ciphertexts:
        key = self.key
        if isinstance(key, PrivateKey):
            # x -> x^n permutes the units modulo a prime, so x^p mod p² is a uniform residue
            halves = [(key.p, key.p2), (key.q, key.q2)]
            drawn = [[mpz(x) + 1 for x in self._rng.integers(int(p) - 1, count)] for p, _ in halves]
            return key.join(
                *in_threads(lambda at: gmpy2.powmod_base_list(drawn[at], *halves[at]), range(2))
            )
        units = [self._unit() for _ in range(count)]
        cut = (count + 1) // 2
        parts = in_threads(
            lambda part: gmpy2.powmod_base_list(part, key.n, key.n2), [units[:cut], units[cut:]]
        )
        return [*parts[0], *parts[1]]

    def _full_by_owner(self, key: PrivateKey, count: int, executor: Executor | None) -> Ciphertexts:
        # Exponents modulo p-1 and q-1 belong to one power of the base only if they agree modulo the
        # common divisor; otherwise the results would fill the product of the two groups, and an
        # answer would show in which coset of the base's group it lies.
        agreed = self._rng.integers(int(self._common), count)
        if executor is None:
            rests = [fixed.random_powers(count, self._rng) for fixed in self._powers]
        else:
            waiting = [self._elsewhere(fixed, count, executor) for fixed in self._powers]
            rests = [future.result() for future in waiting]
        residues = []
        for rest, (power, square) in zip(rests, self._starts, strict=True):
            residues.append(
                [
                    x * gmpy2.powmod(power, c, square) % square if c else x
                    for x, c in zip(rest, agreed, strict=True)
                ]
            )
        return key.join(*residues)

    def _unit(self) -> Any:
        while gmpy2.gcd(r := mpz(self._rng.below(int(self.key.n))), self.key.n) != 1:
            pass
        return r
