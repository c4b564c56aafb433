"""Scores of records and sums over them, in one pass, compiled, and in the calling thread.

A matrix library shares such products out to threads of its own, which spin while they wait for each
other. Parties on one machine, or a party beside other work, then spend many times the seconds that
the products take: three parties on two cores took 20 s for sums of half a second. These loops wait
for nobody. They read each record once, and the sums that they add to stay in the processor's cache.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Array, Codes, Floats
from coterie.base.compiled import compiled


def scores(x: Floats, at: Floats) -> Floats:
    """The score of each record: the sum of its entries, each times its coefficient."""
    found = np.zeros(len(x))
    _add_scores(x, np.asarray(at, np.float64), found)
    return found


def weighted_sums(
    x: Floats, slopes: Floats, weights: Floats, parts: Codes | None = None, number: int = 1
) -> tuple[Floats, Floats]:
    """The sums of slope * x and of weight * x x' over the records of each part.

    `parts` has the number of each record's part, below `number`; without it, all records are of one
    part. The products are symmetric: they are added up, and returned, on and below the diagonal
    only, row after row, as `protocols.models.symmetric.unpacked` takes them.
    """
    size = x.shape[1]
    first, second = np.zeros((number, size)), np.zeros((number, size, size))
    places = np.zeros(len(x), np.int64) if parts is None else parts.astype(np.int64, copy=False)
    _add_products(x, slopes, weights, places, first, second)
    below = np.tril_indices(size)
    return first, second[:, below[0], below[1]]


def pair_counts(truths: Array) -> Floats:
    """For every two columns of truth values, the number of records in which both are true."""
    found = np.zeros((truths.shape[1], truths.shape[1]), np.int64)
    _add_pairs(truths, found)
    return (found + np.tril(found, -1).T).astype(np.float64)


@compiled
def _add_scores(x: Floats, at: Floats, found: Floats) -> None:
    for record in range(x.shape[0]):
        total = 0.0
        for column in range(x.shape[1]):
            total += x[record, column] * at[column]
        found[record] = total


@compiled
def _add_products(
    x: Floats, slopes: Floats, weights: Floats, parts: Codes, first: Floats, second: Floats
) -> None:
    for record in range(x.shape[0]):
        slope, weight, part = slopes[record], weights[record], parts[record]
        if slope == 0 and weight == 0:
            continue
        row, sums, products = x[record], first[part], second[part]
        for column in range(x.shape[1]):
            sums[column] += slope * row[column]
            times = weight * row[column]
            into = products[column]
            for other in range(column + 1):
                into[other] += times * row[other]


@compiled
def _add_pairs(truths: Array, found: Array) -> None:
    true = np.empty(truths.shape[1], np.int64)
    for record in range(truths.shape[0]):
        number = 0
        for column in range(truths.shape[1]):
            if truths[record, column]:
                true[number] = column
                number += 1
        for one in range(number):
            into = found[true[one]]
            for two in range(one + 1):
                into[true[two]] += 1
