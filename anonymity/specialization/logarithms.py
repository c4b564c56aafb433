"""n log2 n in whole numbers, the same on every machine.

Scores compare sums of n log2 n over counts. The platform's `log2` differs in the last bits from one
processor or library to the next, so that parties could round a score differently and accuse each
other. Here all computation is in whole numbers:

- `scaled(n, bits)` is n log2 n, times 2^(57 - bits), for 0 <= n < 2^bits and bits up to 31, at most
  `ULPS` away from the true number. It is compiled, takes some 10 ns, and serves whole columns.
- `exact_sum` gives a sum of such terms with as many bits as asked for, by MPFR, which rounds every
  logarithm correctly on all machines. Callers need it only if `scaled` is not exact enough to decide.

How `scaled` works: n is 2^k x with x in [1, 2). The first ten bits of x choose a tabulated c just
below 1/x, so that r = 1 - c x lies between 0 and 2^-10, and
log2 n = k - log2 c - (r + r^2/2 + r^3/3 + r^4/4 + r^5/5) / ln 2, less some r^6/4. All factors
are fractions of 2^64, multiplied as 64-bit numbers of which the upper half of the product counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gmpy2
import numpy as np

from coterie.base.compiled import compiled

MOST_BITS = 31
ULPS = 2  # the error of `scaled`: 1.6 n / 2^(bits + 1) from the logarithm, and 1 from the last cut
NO_SPLIT = -(2**63)
_INDEX_BITS = 10
_FRACTION = 58  # binary digits of a logarithm after the point


def _tables() -> tuple[Any, Any, Any]:
    """The c of each index (times 2^64), -log2 c (times 2^58), and 1 / (i ln 2) (times 2^62)."""
    count = 1 << _INDEX_BITS
    below = [(count << 64) // (count + i + 1) for i in range(count)]
    with gmpy2.context(gmpy2.context(), precision=192):
        logs = [int(gmpy2.rint((64 - gmpy2.log2(gmpy2.mpfr(c))) * 2**_FRACTION)) for c in below]
        powers = [int(gmpy2.rint(2**62 / (i * gmpy2.log(gmpy2.mpfr(2))))) for i in range(1, 6)]
    return np.array(below, np.uint64), np.array(logs, np.uint64), np.array(powers, np.uint64)


_BELOW, _LOGS, _POWERS = _tables()


@compiled
def _upper(a: Any, b: Any) -> Any:
    """The upper half of the product of two 64-bit numbers."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a0, a1 = a & low, a >> half
    b0, b1 = b & low, b >> half
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


@compiled
def scaled(n: Any, bits: Any) -> Any:
    """n log2 n times 2^(57 - bits), for n below 2^bits; 0 for n = 0."""
    if n < 2:
        return np.int64(0)
    number = np.uint64(n)
    k = np.uint64(0)
    top = number
    for step in (16, 8, 4, 2, 1):
        if top >> np.uint64(step):
            top >>= np.uint64(step)
            k += np.uint64(step)
    x = number << (np.uint64(63) - k)
    index = (x >> np.uint64(53)) & np.uint64(1023)
    r = ((np.uint64(1) << np.uint64(63)) - _upper(x, _BELOW[index])) << np.uint64(10)
    total = _POWERS[4]
    for i in (3, 2, 1, 0):
        total = _POWERS[i] + (_upper(r, total) >> np.uint64(9))
    logarithm = (k << np.uint64(58)) + _LOGS[index] - (_upper(r, total) >> np.uint64(13))
    return np.int64(_upper(number << np.uint64(63 - bits), logarithm))


@compiled
def split_terms(by_class: Any, bits: Any) -> Any:
    """Records times information gain, and records times split information, as `scaled` gives them.

    `by_class` has a row for each child and a column for each class.
    """
    children, classes = by_class.shape
    records = np.int64(0)
    cells = np.int64(0)
    rows = np.int64(0)
    columns = np.int64(0)
    for i in range(children):
        size = np.int64(0)
        for c in range(classes):
            size += by_class[i, c]
            cells += scaled(by_class[i, c], bits)
        rows += scaled(size, bits)
        records += size
    for c in range(classes):
        size = np.int64(0)
        for i in range(children):
            size += by_class[i, c]
        columns += scaled(size, bits)
    split = scaled(records, bits) - rows
    return split - columns + cells, split


@compiled
def gains_of_splits(counts: Any, bits: Any, gains: Any) -> None:
    """gains[j]: records times the gain of a split before value j, as `scaled` gives it.

    `counts` has a row for each class and a column for each value. NO_SPLIT if no record is at value
    j or none is before it.
    """
    classes, values = counts.shape
    whole = np.zeros(classes, np.int64)
    left = np.zeros(classes, np.int64)
    terms = np.zeros(classes, np.int64)  # of both sides
    for c in range(classes):
        for j in range(values):
            whole[c] += counts[c, j]
    records = whole.sum()
    constant = scaled(records, bits)
    inside = np.int64(0)
    for c in range(classes):
        terms[c] = scaled(whole[c], bits)
        constant -= terms[c]
        inside += terms[c]
    before = np.int64(0)
    for j in range(values):
        size = np.int64(0)
        for c in range(classes):
            size += counts[c, j]
        if before == 0 or size == 0:
            gains[j] = NO_SPLIT
        else:
            sides = scaled(before, bits) + scaled(records - before, bits)
            gains[j] = constant - sides + inside
        if size:
            before += size
            for c in range(classes):
                if counts[c, j]:
                    left[c] += counts[c, j]
                    inside -= terms[c]
                    terms[c] = scaled(left[c], bits) + scaled(whole[c] - left[c], bits)
                    inside += terms[c]


def exact_sum(terms: Iterable[tuple[int, int]], precision: int) -> Any:
    """The sum of sign n log2 n over (sign, n), with an error below 2^(40 - precision) or so.

    A sum that is a rational number is a whole one (2 to the sum is rational, and a rational root of
    2 to a whole number is a power of 2), and is then returned exactly, as an `int`: a sum closer to
    a whole number than 2^(40 - precision), that is 2^-88 or less, counts as that number.
    """
    with gmpy2.context(gmpy2.context(), precision=precision + 64):
        total = gmpy2.mpfr(0)
        for sign, n in terms:
            if n > 1:
                total += sign * n * gmpy2.log2(gmpy2.mpfr(n))
        nearest = gmpy2.rint(total)
        if abs(total - nearest) < gmpy2.mpfr(2) ** -(precision - 40):
            return int(nearest)
        return total
