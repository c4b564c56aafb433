"""The score of a specialization (paper 1 §4), and the best split of an interval.

Scores are compared as whole numbers, `round(score * 2**30)`, so that every way of computing them
gives the same winner. The number is the exact score rounded to the nearest whole number, and to the
even one if it is exactly between two. (A gain exactly between two needs 2^31 records, since a
rational gain is a whole number over the number of records, and a gain ratio 2^26 or more.) First
`logarithms` computes the score in 64-bit whole numbers, with a bound on the error; if the bound
leaves two roundings open, the score is computed again with as many bits as needed. So the result
depends on the counts alone, not on a processor or a library of mathematical functions.

| rule | score of v -> its children |
|---|---|
| `gain-ratio` | information gain over split information; the gain itself where that is zero |
| `information-gain` | entropy of the class in v, less the mean entropy in the children |
| `information-gain-per-anonymity-loss` | gain / (1 + mean fall of the smallest group, over the QIDs with v's attribute) (Fung, Wang, Yu 2007) |
| `discernibility` | fall of the sum of squared partition sizes, as a part of the squared number of records; needs no class |
| `discernibility-by-quantile` | the same, with intervals split towards groups of k records (`split: quantile` in a file) |

With N records, a child of n_i, a class of n_c and n_ic in both, and T(n) = n log2 n:
    N gain              = T(N) - sum T(n_c) - sum T(n_i) + sum T(n_ic)
    N split information = T(N) - sum T(n_i)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import gmpy2
import numpy as np

from coterie.anonymity.specialization.logarithms import (
    MOST_BITS,
    NO_SPLIT,
    ULPS,
    exact_sum,
    gains_of_splits,
    split_terms,
)
from coterie.base.arrays import Array

SCALE = 2**30
_PRECISIONS = (128, 512, 2048)

Counts: TypeAlias = "Sequence[Sequence[int] | Array]"
Terms: TypeAlias = "list[tuple[int, int]]"


@dataclass(frozen=True)
class Effect:
    """The counts before and after a specialization, from which scores are computed.

    `by_class` has a row per child and a column per class. `partitions` has a row per leaf partition
    concerned and a column per child. `smallest` has, for each QID concerned, the smallest group
    before and after.
    """

    by_class: Counts
    partitions: Array
    smallest: Sequence[tuple[int, int]]
    records: int


@dataclass(frozen=True)
class Rule:
    """A rule for scores. A `lasting` score does not change when other attributes are specialized."""

    name: str
    score: Callable[[Effect], int]
    lasting: bool
    needs_class: bool
    by_quantile: bool = False  # intervals are split towards groups of k, not in halves


def nearest(numerator: int, denominator: int) -> int:
    """The whole number nearest to a fraction; the even one if two are equally near."""
    below, rest = divmod(2 * numerator + denominator, 2 * denominator)
    return below - (rest == 0 and below % 2)


def information_gain(by_class: Counts, times: int = 1, over: int = 1) -> int:
    """The information gain, multiplied and divided by whole numbers, times 2^30."""
    table, records, bits = _prepared(by_class)
    gain, _ = split_terms(table, bits)
    error = _error(table)
    below = over * records << (57 - bits)
    factor = SCALE * times
    low, high = nearest((gain - error) * factor, below), nearest((gain + error) * factor, below)
    if low == high:
        return max(0, low)
    return _exactly(_gain(table.tolist()), times, over * records)


def gain_ratio(by_class: Counts) -> int:
    """Information gain over split information, times 2^30; 0 if all records have one child."""
    table, _, bits = _prepared(by_class)
    if np.count_nonzero(table.any(axis=1)) < 2:
        return 0
    gain, split = split_terms(table, bits)
    error = _error(table)
    if split > error:
        low = nearest((gain - error) * SCALE, split + error)
        high = nearest((gain + error) * SCALE, split - error)
        if low == high:
            return max(0, low)
    return _exactly(_gain(table.tolist()), 1, _split(table.tolist()))


def _prepared(by_class: Counts) -> tuple[Array, int, int]:
    """The counts as an array, their sum and its bits."""
    table = np.array(by_class, np.int64)
    records = int(table.sum())
    bits = records.bit_length()
    assert bits <= MOST_BITS  # noqa: S101
    return table, records, bits


def _error(table: Array) -> int:
    """The largest error of the sums over these counts."""
    children, classes = table.shape
    return ULPS * (int(children) + 1) * (int(classes) + 1)


def _gain(by_class: Counts) -> Terms:
    cells = [(1, n) for row in by_class for n in row]
    classes = [(-1, sum(column)) for column in zip(*by_class, strict=True)]
    return _split(by_class) + cells + classes


def _split(by_class: Counts) -> Terms:
    sizes = [sum(row) for row in by_class]
    return [(1, sum(sizes)), *((-1, n) for n in sizes)]


def _exactly(above: Terms, times: int, below: Terms | int) -> int:
    """`round(above * times / below * 2**30)`, where `above` and `below` are sums of terms T(n)."""
    for precision in _PRECISIONS:
        numerator = exact_sum(above, precision)
        denominator = below if isinstance(below, int) else exact_sum(below, precision)
        if isinstance(numerator, int) and isinstance(denominator, int):
            return max(0, nearest(numerator * times * SCALE, denominator))
        with gmpy2.context(gmpy2.context(), precision=precision + 64):
            score = numerator * times * SCALE / denominator
            part = score - gmpy2.floor(score)
            if abs(part - 0.5) > gmpy2.mpfr(2) ** (80 - precision):
                return max(0, int(gmpy2.floor(score)) + int(part > 0.5))
    return max(0, nearest(int(gmpy2.rint(2 * score)), 2))  # exactly between two


def _gain_per_loss(effect: Effect) -> int:
    losses = [max(0, before - after) for before, after in effect.smallest]
    return information_gain(effect.by_class, len(losses), len(losses) + sum(losses))


def _discernibility(effect: Effect) -> int:
    sizes = effect.partitions.astype(np.int64)
    fall = int((sizes.sum(axis=1) ** 2).sum()) - int((sizes**2).sum())
    return max(0, nearest(fall * SCALE, effect.records**2))


RULES = {
    rule.name: rule
    for rule in (
        Rule("gain-ratio", lambda effect: gain_ratio(effect.by_class), True, True),
        Rule("information-gain", lambda effect: information_gain(effect.by_class), True, True),
        Rule("information-gain-per-anonymity-loss", _gain_per_loss, False, True),
        Rule("discernibility", _discernibility, False, False),
        Rule("discernibility-by-quantile", _discernibility, False, False, True),
    )
}
SCORES = tuple(name for name, rule in RULES.items() if not rule.by_quantile)  # of a file
BY_QUANTILE = "discernibility-by-quantile"
COLUMNS, GROUPS = "columns", "groups"  # what a second phase refines
REFINING = "discernibility"  # the rule of a second phase of columns


def best_split(counts: Array, by_size: bool = False) -> int | None:
    """The place at which the second part of the best binary split begins.

    `counts` has a row per class and a column per distinct value, in order. The best split has the
    largest information gain in whole numbers, and the smallest value among equals. `by_size` takes
    the most even split instead, for releases without a class. None if only one value occurs.
    """
    if by_size:
        return _most_even(counts.sum(axis=0))
    records = int(counts.sum())
    bits = records.bit_length()
    assert bits <= MOST_BITS  # noqa: S101
    gains = np.empty(counts.shape[1], np.int64)
    gains_of_splits(counts, bits, gains)
    top = int(gains.max())
    if top == NO_SPLIT:
        return None
    error = ULPS * 3 * (len(counts) + 1)
    below = records << (57 - bits)

    def exactly(place: int) -> int:
        return information_gain([counts[:, :place].sum(axis=1), counts[:, place:].sum(axis=1)])

    best, other = (nearest((top + way) * SCALE, below) for way in (-error, error))
    if best != other:
        best = max(exactly(int(place)) for place in np.flatnonzero(gains >= top - 2 * error))
    if best <= 0:
        return int(np.argmax(gains != NO_SPLIT))
    # Gains from this one on round to the best gain, up to the error.
    bound = (2 * best - 1) * below // (2 * SCALE)
    sure = gains > bound + error + 1
    end = int(np.argmax(sure)) if sure.any() else len(gains)
    for place in np.flatnonzero(gains[:end] >= bound - error):
        if exactly(int(place)) >= best:
            return int(place)
    return end


def _most_even(sizes: Array) -> int | None:
    """The split with the largest 1 - sum of squared shares, that is 2 left right / records^2."""
    occurring = np.flatnonzero(sizes)
    if len(occurring) < 2:
        return None
    left = np.cumsum(sizes[occurring], dtype=np.int64)
    records = int(left[-1])
    products = left[:-1] * (records - left[:-1])
    best = nearest(2 * SCALE * int(products.max()), records**2)
    bound, rest = divmod((2 * best - 1) * records**2, 4 * SCALE)
    # Exactly between two the even number counts, so that the bound itself belongs to an even best.
    at_least = bound if rest == 0 and best % 2 == 0 else bound + 1
    return int(occurring[1 + int(np.argmax(products >= at_least))])


def quantile_split(sizes: Array, k: int) -> int | None:
    """The place of a split that leaves floor(records/k) groups of even size to further splits.

    Half of these groups, the larger half if their number is odd, go to the left; the split is
    the one between two values nearest to where they end, the lower of two. An interval of fewer than
    2k records has no such groups, and is split in halves.
    """
    occurring = np.flatnonzero(sizes)
    if len(occurring) < 2:
        return None
    left = np.cumsum(sizes[occurring], dtype=np.int64)
    records = int(left[-1])
    groups = records // max(k, 1)
    if groups < 2:
        return _most_even(sizes)
    size, more = divmod(records, groups)
    half = (groups + 1) // 2
    target = half * size + min(half, more)
    return int(occurring[1 + int(np.argmin(np.abs(left[:-1] - target)))])
