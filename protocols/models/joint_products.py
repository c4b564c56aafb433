"""Linear models of columns that several parties hold of the same people, from scalar products.

Vertical partition, after the intersection. Paper 2, third article, §7, computes counts so (after
Wright and Yang); for a linear model the sums of all columns and of the products of any two suffice.
Columns are numbers of a public range: the middle is taken off and the rest rounded to 2^20 steps on
either side. The answer is exactly that of the columns so rounded.

In: at every party its own columns of the common records. Out, at every party: the sums, the
coefficients, their standard errors.

1. For any two parties scalar products of their columns as shares modulo 2^64 (`scalar_product`, by
   oblivious transfer), and, for columns of few values, how many records have which values of both
   (`small_support`, `shared_counts`), as shares modulo 2^32.
2. Two servers decide from shares of these counts whether every sum is over none or at least
   `minimum` records (`small_support`); one bit is opened.
3. A secure sum adds everybody's shares and own sums; the sums are opened.

Adversary: semi-honest; the servers must not collude. What each party learns: the number of common
records, and the sums. Cost for n records and p, q columns of two parties: 22 n q transfers with 8 p
bytes each, and 4 n q transfers with 16 p bytes for the counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coterie.base.arrays import Array, Floats, Ints, UInt32s, Words
from coterie.base.errors import DataError
from coterie.base.record_sums import pair_counts
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.regression import Fit
from coterie.protocols.models.scale import Scale, in_rows
from coterie.protocols.models.small_support import PAIRED, least_count, supported
from coterie.protocols.models.symmetric import (
    Factored,
    Matrix,
    SingularError,
    Vector,
    added,
    applied,
    dot,
    product,
)
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.numbers.scalar_product import Sizes, TransferProducts, scalar_products
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers, masked_sums

STEPS = 1 << 20  # on either side of the middle of a range

PRODUCTS = declare(
    "regress: sums of products of columns",
    what="With vertical partition, of the common records the sum of every column, and of the products of every two; every value of a column of few values, and every combination of two such columns' values, is held by none or at least `minimum` records.",
    to="every party",
    why="The coefficients of a linear model follow from them.",
)
NOISY = declare(
    "regress: sums of products with noise",
    what="With `noise`, of the common records the sum of every column, and of the products of every two, each with the noise of both servers.",
    to="every party",
    why="The coefficients of a linear model follow from them.",
)


def in_steps(columns: Floats, limits: Sequence[tuple[float, float]], reach: int = STEPS) -> Ints:
    """Numbers of public ranges as whole steps from the middle of the range."""
    low, high = (np.array(ends) for ends in zip(*limits, strict=True))
    found: Ints = np.rint((columns - (low + high) / 2) / ((high - low) / 2) * reach).astype(
        np.int64
    )
    return found


def joint_sums(
    transfers: Transfers,
    names: Sequence[str],
    held: Mapping[str, Sequence[int]],
    mine: Floats,
    steps: Ints,
    records: int,
    large: Callable[[UInt32s], bool] | None,
    few: Callable[[], DataError],
    rng: Random,
    noise: Callable[[], Words | None] = lambda: None,
    reach: int = STEPS,
) -> list[list[int]]:
    """The sums of products of all columns, the last of which is one everywhere.

    `held` has the places of each party's columns; `mine` are this party's own, `steps` the same as
    whole steps up to `reach`. `large` says whether all parties' counts are each 0 or large; `few` is
    the error. With None the sums have noise: that of this party, if it is a server, is `noise`, which
    is drawn when it is needed.
    """
    channel, me = transfers.channel, transfers.channel.me
    width = sum(map(len, held.values())) + 1
    sums = np.zeros((width, width), np.uint64)
    counted = large is not None
    cells, least = supported(mine, steps if counted else steps[:, :0])
    counts = [_own_counts(cells, least) if n == me else np.zeros(_pairs(held[n]), np.uint32) for n in names]  # fmt: skip
    own = [*held[me], width - 1]
    whole = np.concatenate([steps, np.ones((records, 1), np.int64)], axis=1)
    sums[np.ix_(own, own)] = (whole.T @ whole).view(np.uint64)
    sums = np.tril(sums)
    if me != names[0]:
        sums[-1, -1] = 0  # the number of records, which all know, is counted once
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            sizes = PAIRED * len(held[first]), PAIRED * len(held[second])
            if me not in (first, second) or not all(sizes):
                counts.append(np.zeros(sizes[0] * sizes[1], np.uint32))
                continue
            many, peer = me == first, second if me == first else first
            if counted:
                flat = cells.reshape(records, -1)
                rows, bits = (flat.astype(np.uint32), None) if many else (None, flat)
                maskers = [(second, sizes[1])]
                found = masked_sums(transfers, first, maskers, records, sizes[0], rows, bits)
                assert found is not None  # noqa: S101 this party is one of the two
                counts.append(found)
            span = (-reach, reach)
            due = Sizes(records, len(held[first]), len(held[second]), span, span)
            session = transfers.sender(peer) if many else transfers.receiver(peer)
            products = TransferProducts(channel, peer, many, rng.fork(peer), session)
            share = scalar_products(products, due, steps, rng.fork(f"with {peer}"))
            assert share is not None  # noqa: S101 shares are for both
            sums[np.ix_(held[first], held[second])] = share
    if large is not None and not large(np.concatenate(counts)):
        raise few()
    with channel.step("sums"):
        part = _folded(sums)
        if (added := noise()) is not None:
            part += added
        total = SecureSum(channel, names, rng.fork("sums")).modular(part).view(np.int64)
        found = total.tolist()
        told = channel.open(PRODUCTS, found) if counted else channel.open(NOISY, found)
    rows_of = [told[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] for i in range(width)]
    return [[rows_of[max(i, j)][min(i, j)] for j in range(width)] for i in range(width)]


def _pairs(columns: Sequence[int]) -> int:
    """The number of pairs of columns, each with itself, too."""
    return len(columns) * (len(columns) + 1) // 2


def _own_counts(cells: Array, least: UInt32s) -> UInt32s:
    """Of every two columns of this party the least count of records with certain values of both."""
    records, width, _ = cells.shape
    both = np.zeros((width * PAIRED, width * PAIRED))
    flat = cells.reshape(records, width * PAIRED).astype(np.bool_)
    for rows in in_rows(records):
        both += pair_counts(flat[rows])
    blocks = np.rint(both).astype(np.int64).reshape(width, PAIRED, width, PAIRED)
    found = [
        least[i] if i == j else least_count(blocks[i, :, j]) for i in range(width) for j in range(i + 1)
    ]  # fmt: skip
    return np.array(found, np.uint32)


def _folded(table: Array) -> Array:
    """The lower triangle of a table of which each pair has its number in one of the triangles."""
    return (np.tril(table) + np.triu(table, 1).T)[np.tril_indices(len(table))]


@dataclass(frozen=True)
class Moments:
    """What sums of products say of the columns, the last of which is the outcome.

    `centred` are the sums of products of two columns less their means, in the columns' own units.
    """

    records: int
    limits: Sequence[tuple[float, float]]
    means: Vector
    centred: Matrix

    @property
    def deviations(self) -> Vector:
        """Those of the features."""
        return [math.sqrt(row[at] / self.records) for at, row in enumerate(self.centred[:-1])]

    @property
    def scale(self) -> Scale:
        return Scale(self.means[:-1], self.deviations)

    def squares(self) -> Matrix:
        """X'X of a constant and the features, each divided by its deviation, less its mean."""
        by = self.deviations
        inner = [
            [self.centred[i][j] / by[i] / by[j] for j in range(len(by))] for i in range(len(by))
        ]
        return [[float(self.records), *[0.0] * len(by)], *([0.0, *row] for row in inner)]

    def across(self) -> Vector:
        """X'y of the same columns and the outcome."""
        outcome = [row[-1] / d for row, d in zip(self.centred[:-1], self.deviations, strict=True)]
        return [self.means[-1] * self.records, *outcome]

    def reaches(self) -> Vector:
        """How far from its mean the range of each feature goes, in deviations."""
        ends = zip(self.limits[:-1], self.scale.means, self.scale.deviations, strict=True)
        return [max(mean - low, high - mean) / deviation for (low, high), mean, deviation in ends]


def moments_of(
    sums: Sequence[Sequence[int]], limits: Sequence[tuple[float, float]], names: Sequence[str]
) -> Moments:
    """From sums in steps, the last column of which is of ones; a constant column is named."""
    records = sums[-1][-1]
    width = len(limits)
    units = [(high - low) / 2 / STEPS for low, high in limits]
    centred = [
        [
            float(Fraction(sums[i][j]) - Fraction(sums[i][-1] * sums[j][-1], records))
            * units[i] * units[j]
            for j in range(width)
        ]
        for i in range(width)
    ]  # fmt: skip
    means = [
        (low + high) / 2 + float(Fraction(sums[i][-1], records)) * units[i]
        for i, (low, high) in enumerate(limits)
    ]
    for i, name in enumerate(names):
        if not centred[i][i] > 0:
            if i + 1 == len(limits):
                raise DataError(
                    f"the column '{name}' has the same value in all records: there is nothing to "
                    "explain"
                )
            raise DataError(f"the column '{name}' has the same value in all records: leave it out")
    return Moments(records, limits, means, centred)


def fit_linear(moments: Moments, names: Sequence[str], penalty: float) -> Fit:
    """The linear model of the last column by those before it; `names` are those of all columns."""
    records, means, centred = moments.records, moments.means, moments.centred
    width = len(means)
    size = width - 1
    roots = [math.sqrt(centred[i][i]) for i in range(size)]
    inside: Matrix = [
        [centred[i][j] / roots[i] / roots[j] for j in range(size)] for i in range(size)
    ]
    pull = [[penalty / roots[i] ** 2 if i == j else 0.0 for j in range(size)] for i in range(size)]
    across = [centred[i][-1] / roots[i] for i in range(size)]
    try:
        factored = Factored(added(inside, pull))
    except SingularError as error:
        raise DataError(
            f"the column '{names[error.at]}' follows from the other columns: leave it out, or take "
            "'model: ridge'"
        ) from None
    at = factored.solve(across)
    left = centred[-1][-1] - 2 * dot(at, across) + dot(at, applied(inside, at))
    noise = max(left, 0.0) / (records - width)
    inverse = factored.inverse()
    spread = product(product(inverse, inside), inverse)
    values = [value / root for value, root in zip(at, roots, strict=True)]
    errors: list[float | None] = [
        math.sqrt(max(noise * spread[i][i], 0.0)) / roots[i] for i in range(size)
    ]
    lean = [mean / root for mean, root in zip(means, roots, strict=False)]
    constant = noise * (1 / records + dot(lean, applied(spread, lean)))
    return Fit(
        means[-1] - dot(values, means[:-1]),
        math.sqrt(max(constant, 0.0)),
        values,
        errors,
        1,
        {"r_squared": 1 - left / centred[-1][-1], "residual_deviation": math.sqrt(noise)},
    )
