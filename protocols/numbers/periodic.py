"""Smooth functions of shared numbers, from sines and cosines of each party's own share.

Two parties hold shares a and b of a real number x: a + b = x 2^40 / PERIOD (mod 2^40). A series of
sines and cosines of this period does not change when a + b exceeds 2^40, and by

    sin(k (a + b)) = sin(k a) cos(k b) + cos(k a) sin(k b)
    cos(k (a + b)) = cos(k a) cos(k b) - sin(k a) sin(k b)

it is a sum of products of numbers that one party knows by numbers that the other knows. So a
function needs one round of products and neither a comparison nor a truncation, however many digits
the shares have. Addition theorems on shares are common knowledge; the products are Gilboa's
(`multiplication`).

In: shares modulo 2^40, and public series. Out: uniform shares modulo 2^64 of each function, in units
of 1 / UNIT; nobody learns anything. The answer is right for numbers within WITHIN of zero, where the
series are close to the functions that they stand for (each says how close); beyond, it is that of
the series. The first party's factors are rounded to 2^-15 or, `coarse`, to 2^-12, the second's to
1/4095: a share's rounding is random, since the share is, and has a deviation of 7e-5 at most, for
coarse series of 6e-4.

Adversary: semi-honest (`multiplication`). Messages and cost for n numbers, f functions of K terms:
26 n K transfers, 4 + 8 f bytes each; one round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array, Floats, Words
from coterie.protocols.numbers.multiplication import receive_products, send_products
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

PERIOD = 30.0
WITHIN = 12.0  # the numbers for which the series below stand for their functions
ANGLES = 1 << 40  # shares of numbers are modulo this
NOISE = 7e-5  # the deviation of an answer's rounding, unless it is coarse
_OTHERS = 4095  # the second party's sines and cosines are multiples of 1 / _OTHERS
_BITS = 13
_RING = 1 << 64
_RECORDS = 1 << 13  # numbers that are worked on together


@dataclass(frozen=True)
class Series:
    """constant + sum over k of sines[k-1] sin(2 pi k x / PERIOD) + cosines[k-1] cos(…)."""

    constant: float
    sines: tuple[float, ...] = ()
    cosines: tuple[float, ...] = ()
    error: float = 0.0  # the largest difference from the function that the series stands for

    @property
    def terms(self) -> int:
        return max(len(self.sines), len(self.cosines))

    def of(self, numbers: Floats) -> Floats:
        """The series in plain arithmetic."""
        found = np.full(numbers.shape, self.constant)
        for k in range(1, self.terms + 1):
            angle = 2 * np.pi * k * numbers / PERIOD
            found += _coefficient(self.sines, k) * np.sin(angle)
            found += _coefficient(self.cosines, k) * np.cos(angle)
        return found


# 1 / (1 + exp(-x)), to 0.0073 and to 0.00003.
COARSE_SIGMOID = Series(
    0.5, sines=(0.6009279, -0.0117648, 0.1290725, -0.0061629, 0.0339421, 0.0033102), error=7.4e-3
)
SIGMOID = Series(
    0.5,
    sines=(
        0.6081712, -0.0252724, 0.1470627, -0.0262919, 0.0527614, -0.016041, 0.0194354, -0.0070698,
        0.0064048, -0.0022138, 0.0016304, -0.0003822, 0.0002453, 0.0000299,
    ),
    error=3.0e-5,
)  # fmt: skip
# The derivative of the sigmoid.
SLOPE = Series(
    0.0567918,
    cosines=(
        0.0160182, 0.0943226, -0.0024958, 0.0602854, -0.0130657, 0.0339431, -0.012219, 0.0171067,
        -0.0072303, 0.0072909, -0.0029533, 0.0023735, -0.0007173, 0.0004856,
    ),
    error=6.5e-5,
)  # fmt: skip
# log(2 cosh(x / 2)), which is log(1 + exp(x)) less x / 2.
SOFTPLUS = Series(
    3.7870832,
    cosines=(
        -2.9001362, 0.0568685, -0.2309081, 0.0286329, -0.0480794, 0.0109193, -0.0118477, 0.0031998,
        -0.0027034, 0.0006167, -0.0004519, 0.0000196, -0.0000315, -0.0000279,
    ),
    error=7.0e-6,
)  # fmt: skip


def _coefficient(coefficients: Sequence[float], k: int) -> float:
    return coefficients[k - 1] if k <= len(coefficients) else 0.0


def angles(numbers: Floats) -> Words:
    """Real numbers as elements that shares modulo 2^40 add up to."""
    steps = np.rint(numbers * (ANGLES / PERIOD)).astype(np.int64).astype(np.uint64)
    return steps & np.uint64(ANGLES - 1)


def unit(coarse: bool) -> int:
    """The number that stands for 1 in an answer, by which the answer is to be divided."""
    return _OTHERS << (12 if coarse else 15)


def evaluate(
    session: Sender | Receiver, share: Words, functions: Sequence[Series], coarse: bool = False
) -> Words:
    """This party's shares of each function of each number, of shape (numbers, functions)."""
    found = np.empty((len(share), len(functions)), np.uint64)
    for start in range(0, len(share), _RECORDS):
        part = share[start : start + _RECORDS]
        found[start : start + _RECORDS] = _part(session, part, functions, coarse)
        session.channel.progress(start + len(part), len(share))
    return found


def _part(
    session: Sender | Receiver, share: Words, functions: Sequence[Series], coarse: bool
) -> Words:
    terms = max(one.terms for one in functions)
    places = np.multiply.outer(share, np.arange(1, terms + 1, dtype=np.uint64))
    places &= np.uint64(ANGLES - 1)
    angle = places.astype(np.float64) * (2 * np.pi / ANGLES)
    sines, cosines = np.sin(angle), np.cos(angle)
    shape = (len(share), 2 * terms, len(functions))
    if isinstance(session, Receiver):
        both = np.concatenate([cosines, sines], axis=1)
        chosen = np.rint(both * _OTHERS + _OTHERS).astype(np.uint64).reshape(-1)
        several = len(functions)
        products = receive_products(session, chosen, _RING, _BITS, several)
        total: Words = products.reshape(shape).sum(axis=1, dtype=np.uint64)
        return total
    mine = _factors(sines, cosines, functions, unit(coarse) // _OTHERS)
    products = send_products(session, mine.reshape(-1, len(functions)), _RING, _BITS)
    # The second party's numbers were moved up, so as not to be negative.
    moved = mine.sum(axis=1, dtype=np.uint64) * np.uint64(_OTHERS)
    level = np.array([round(one.constant * unit(coarse)) for one in functions], np.uint64)
    found: Words = products.reshape(shape).sum(axis=1, dtype=np.uint64) - moved + level
    return found


def _factors(sines: Array, cosines: Array, functions: Sequence[Series], scale: int) -> Words:
    """What the first party multiplies the second's cosines by, then what it multiplies sines by."""
    count, terms = sines.shape
    found = np.zeros((count, 2 * terms, len(functions)))
    for place, one in enumerate(functions):
        s = np.array([_coefficient(one.sines, k) for k in range(1, terms + 1)])
        c = np.array([_coefficient(one.cosines, k) for k in range(1, terms + 1)])
        found[:, :terms, place] = s * sines + c * cosines
        found[:, terms:, place] = s * cosines - c * sines
    whole: Words = np.rint(found * scale).astype(np.int64).view(np.uint64)
    return whole
