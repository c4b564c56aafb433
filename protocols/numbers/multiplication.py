"""Products of one party's numbers with the other's, as shares modulo any m, by oblivious transfer.

Gilboa, "Two Party RSA Key Generation" (CRYPTO 1999), section 4.1, on random transfers with one
correction each. In: x at the sender, y of `bits` bits at the receiver, both below m. Out: u at the
sender and v at the receiver, each uniform modulo m, with u + v = x y (mod m); nobody learns
anything else. For bit j of y a random transfer gives the sender r0 and r1 and the receiver r(bit);
the sender sends r0 - r1 + (x 2^j mod m), which the receiver adds if its bit is one, so that they
hold r0 and r0 + bit x 2^j. u is minus the sum of the sender's numbers, v the sum of the receiver's.

Modulo 2^k the pads have k bits. Modulo any other m the pads have at least 64 bits more than m, the
sums are taken over the integers and reduced at the end: a share is then within 2^-64 of uniform,
and wrong with at most that probability for each transfer.

`x` may have several numbers for each y (shape (n, several)): they share the transfers, which is the
cheapest way to get a matrix of products. Shares of x and of y become shares of x y by
`multiply_shares`, and bits that are shared by XOR shares of numbers by `numbers_of_bits`.

Adversary: semi-honest. The transfers are checked, so that a cheating party learns neither the sender's
secret nor the receiver's choices (`protocols.transfer.oblivious_transfer`, whose assumptions are the
ones here). But it can make the shares wrong, and nothing here notices: a wrong correction adds its
error where the receiver's bit is one, and an opened result then tells that bit.

Messages: receiver -> sender n bits transfers (4 bytes each); sender -> receiver a correction for
each, of as many bytes as the pads. In chunks; one round. Cost: the transfers, and a handful of word
operations for each word of a pad.

Numbers are arrays of an integer type, or lists or object arrays of Python integers; results are
uint64 for m up to 2^64 and object arrays of Python integers beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Array, Bits, Words
from coterie.base.compiled import compiled
from coterie.protocols.messaging.wire import same_value
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

Numbers: TypeAlias = "Array | Sequence[int]"
Limbs: TypeAlias = Words

STEP = "products"
CHUNK = 1 << 17  # transfers that are run together
_MASK = 64


class _Ring:
    """The representation of numbers modulo m in words, and the number of words of a pad."""

    def __init__(self, modulus: int) -> None:
        if modulus < 2:
            raise ValueError(f"no products modulo {modulus}")
        self.modulus = modulus
        width = (modulus - 1).bit_length()
        self.power = modulus == 1 << width
        self.words = (width + 63) // 64 if self.power else (width + _MASK + 63) // 64
        # Corrections modulo 2^k need only the low bytes.
        self.bytes = (width + 7) // 8 if self.power else 8 * self.words
        self.limbs = (
            np.zeros(self.words, np.uint64) if self.power else _limbs([modulus], self.words)[0]
        )

    def load(self, values: Numbers) -> Limbs:
        """Numbers as words, of shape (count, words); ValueError for one outside [0, m)."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            if values.size and (int(values.min()) < 0 or int(values.max()) >= self.modulus):
                raise ValueError("a number to multiply is outside the ring")
            out = np.zeros((values.size, self.words), np.uint64)
            out[:, 0] = values.reshape(-1)
            return out
        flat = [int(value) for value in np.asarray(values, object).reshape(-1)]
        if flat and not 0 <= min(flat) <= max(flat) < self.modulus:
            raise ValueError("a number to multiply is outside the ring")
        return _limbs(flat, self.words)

    def store(self, totals: Limbs, sign: int) -> Array:
        """Sums, which have one word more than a number, reduced modulo m."""
        if self.power and self.words == 1:
            low = totals[..., 0] if sign > 0 else np.uint64(0) - totals[..., 0]
            return low & np.uint64(self.modulus - 1)
        shape, size = totals.shape[:-1], 8 * totals.shape[-1]
        data = totals.tobytes()
        modulus = self.modulus
        values = [
            sign * int.from_bytes(data[at : at + size], "little") % modulus
            for at in range(0, len(data), size)
        ]
        if modulus <= 1 << 64:
            return np.array(values, np.uint64).reshape(shape)
        out = np.empty(len(values), object)
        out[:] = values
        return out.reshape(shape)


def _limbs(values: Sequence[int], words: int) -> Limbs:
    data = b"".join(value.to_bytes(8 * words, "little") for value in values)
    # A copy, because numba compiles another version for a read-only array.
    return np.frombuffer(data, np.uint64).reshape(len(values), words).copy()


@compiled
def _correct(
    zero: Any, one: Any, values: Any, modulus: Any, reduced: Any, bits: Any, out: Any, total: Any
) -> None:
    """out = zero - one + 2^j x for bit j; total = the sum of zero over the bits."""
    count, several, words = values.shape
    x = np.empty(words, np.uint64)
    less = np.empty(words, np.uint64)
    none, unit = np.uint64(0), np.uint64(1)
    for i in range(count):
        for c in range(several):
            for w in range(words):
                x[w] = values[i, c, w]
                total[i, c, w] = none
            total[i, c, words] = none
            for j in range(bits):
                row = i * bits + j
                carry, borrow, overflow = none, none, none
                for w in range(words):
                    a, b = zero[row, c, w], one[row, c, w]
                    s = total[i, c, w] + a
                    k = unit if s < a else none
                    s2 = s + overflow
                    overflow = k + (unit if s2 < s else none)
                    total[i, c, w] = s2
                    d = a - b
                    k = unit if a < b else none
                    d2 = d - borrow
                    borrow = k + (unit if d < borrow else none)
                    e = d2 + x[w]
                    k = unit if e < d2 else none
                    e2 = e + carry
                    carry = k + (unit if e2 < e else none)
                    out[row, c, w] = e2
                total[i, c, words] += overflow
                carry = none
                for w in range(words):
                    high = x[w] >> np.uint64(63)
                    x[w] = (x[w] << unit) | carry
                    carry = high
                if reduced:  # 2 x fits, because the words have spare bits
                    borrow = none
                    for w in range(words):
                        d = x[w] - modulus[w]
                        k = unit if x[w] < modulus[w] else none
                        less[w] = d - borrow
                        borrow = k + (unit if d < borrow else none)
                    if borrow == none:
                        for w in range(words):
                            x[w] = less[w]


@compiled
def _collect(pads: Any, corrections: Any, choices: Any, bits: Any, total: Any) -> None:
    """The sum over the bits of pad + choice * correction, each modulo its words."""
    count, several, more = total.shape
    words = more - 1
    none, unit = np.uint64(0), np.uint64(1)
    for i in range(count):
        for c in range(several):
            for w in range(more):
                total[i, c, w] = none
            for j in range(bits):
                row = i * bits + j
                mask = none - np.uint64(choices[row])
                carry, overflow = none, none
                for w in range(words):
                    a, b = pads[row, c, w], corrections[row, c, w] & mask
                    e = a + b
                    k = unit if e < a else none
                    e2 = e + carry
                    carry = k + (unit if e2 < e else none)
                    s = total[i, c, w] + e2
                    k = unit if s < e2 else none
                    s2 = s + overflow
                    overflow = k + (unit if s2 < s else none)
                    total[i, c, w] = s2
                total[i, c, words] += overflow


def send_products(session: Sender, x: Numbers, modulus: int, bits: int) -> Array:
    """The sender's shares of x y, in the shape of x: (n,), or (n, several) for n numbers y."""
    ring = _Ring(modulus)
    shape = np.shape(x)
    count, several = shape[0], shape[1] if len(shape) == 2 else 1
    values = ring.load(x).reshape(count, several, ring.words)
    totals = np.empty((count, several, ring.words + 1), np.uint64)
    channel, peer = session.channel, session.peer
    step = max(CHUNK // (bits * several), 1)
    with channel.step(STEP):
        for first in range(0, count, step):
            last = min(first + step, count)
            size = (last - first) * bits
            shape_of_pads = (size, several, ring.words)
            zero, one = session.random(size, several * ring.words)
            out = np.empty(shape_of_pads, np.uint64)
            _correct(
                zero.reshape(shape_of_pads),
                one.reshape(shape_of_pads),
                values[first:last],
                ring.limbs,
                not ring.power,
                bits,
                out,
                totals[first:last],
            )
            packed = out.view(np.uint8).reshape(size, several, 8 * ring.words)[..., : ring.bytes]
            channel.send(peer, [modulus, bits], packed)
    return ring.store(totals, -1).reshape(shape)


def receive_products(
    session: Receiver, y: Numbers, modulus: int, bits: int, several: int | None = None
) -> Array:
    """The receiver's shares of x y, of shape (n,), or (n, several) if the sender has several."""
    ring = _Ring(modulus)
    count, each = len(y), 1 if several is None else several
    low = ring.load(y)
    if _exceeds(low, bits):
        raise ValueError(f"a number to multiply has more than {bits} bits")
    choices = np.unpackbits(low.view(np.uint8), axis=1, count=bits, bitorder="little")
    totals = np.empty((count, each, ring.words + 1), np.uint64)
    channel, peer = session.channel, session.peer
    step = max(CHUNK // (bits * each), 1)
    with channel.step(STEP):
        for first in range(0, count, step):
            last = min(first + step, count)
            chosen = choices[first:last].reshape(-1)
            pads = session.random(chosen, each * ring.words)
            message = channel.recv(peer)
            packed = _corrections(session, message, ring, bits, (len(chosen), each, ring.bytes))
            corrections = np.zeros((len(chosen), each, ring.words), np.uint64)
            corrections.view(np.uint8)[..., : ring.bytes] = packed
            _collect(pads.reshape(corrections.shape), corrections, chosen, bits, totals[first:last])
    return ring.store(totals, 1).reshape((count,) if several is None else (count, each))


def _exceeds(limbs: Limbs, bits: int) -> bool:
    """Whether some number has more than `bits` bits."""
    word, rest = divmod(bits, 64)
    if word >= limbs.shape[1]:
        return False
    return bool((limbs[:, word] >> np.uint64(rest)).any() or limbs[:, word + 1 :].any())


def _corrections(
    session: Receiver, message: Any, ring: _Ring, bits: int, shape: tuple[int, ...]
) -> Any:
    fault = session.channel.fault
    what = "corrections of products"
    terms, packed = session.channel.check_list(session.peer, message, 2, what)
    if not same_value(terms, [ring.modulus, bits]):
        raise fault(
            session.peer,
            f"multiplies {str(terms)[:80]} (modulus, bits), not {ring.modulus}, {bits}",
        )
    what = f"corrections of shape {shape}"
    return session.channel.check_array(session.peer, packed, np.uint8, shape, what)


def multiply_shares(session: Sender | Receiver, x: Numbers, y: Numbers, modulus: int) -> Array:
    """Shares of x y modulo m from shares of x and of y: two products for the cross terms."""
    ring = _Ring(modulus)
    width = (modulus - 1).bit_length()
    count = len(x)
    if isinstance(session, Sender):
        cross = send_products(session, _joined(x, y), modulus, width)
    else:
        cross = receive_products(session, _joined(y, x), modulus, width)
    result: Array
    if ring.power and ring.words == 1:
        own = np.asarray(x, np.uint64) * np.asarray(y, np.uint64)
        result = (own + cross[:count] + cross[count:]) & np.uint64(modulus - 1)
        return result
    a, b, c = (np.asarray(part, object) for part in (x, y, cross))
    result = (a * b + c[:count] + c[count:]) % modulus
    return result.astype(np.uint64) if modulus <= 1 << 64 else result


def numbers_of_bits(session: Sender | Receiver, bits: Bits, modulus: int) -> Words:
    """Shares modulo a power of two up to 2^64 of bits that are shared by XOR, flat: a transfer each.

    The XOR of a and b is a + b - 2 a b.
    """
    flat = bits.reshape(-1).astype(np.uint64)
    if isinstance(session, Sender):
        both = send_products(session, flat, modulus, 1)
    else:
        both = receive_products(session, flat, modulus, 1)
    found: Words = np.subtract(flat, both << np.uint64(1))
    found &= np.uint64(modulus - 1)
    return found


def _joined(x: Numbers, y: Numbers) -> Numbers:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return np.concatenate([x, y])
    return [*x, *y]
