"""Sets of columns that nearly identify, from a sample that does not grow with the table.

Motwani, Xu, "Efficient algorithms for masking and finding quasi-identifiers" (P3DM 2008), sections
2.3 to 2.5. With m columns, L = ln(2^m / δ) (the text extraction of the paper lost the exponent):

| what | sample | chosen greedily | with probability 1-δ |
|---|---|---|---|
| (ε, δ)-separation key | ceil(L / ln(1/(1-ε))) pairs | until all of them are separated | separation >= 1-ε, at most (1 + ln k) times the smallest key |
| (ε, δ)-distinct key | records, see below | an exact key of the sample | distinct >= 1-ε, at most (1 + 2 ln k) times the smallest key |
| β-separation | ceil(16 L / (β ε²)) pairs | until (2-ε) β k / 2 are separated | separation >= (1-ε) β, at most (1 + ln((2-ε)βk/2)) times the smallest |

Cost: reading the sample, then m k for each column chosen: the number of records does not matter.

Errata. The paper draws sqrt(2 (1-ε)/ε n L) records for a distinct key; its lemma has k(k-1) in the
exponent, so ceil(1/2 + sqrt(1/4 + 2 (1-ε)/ε n L)) are needed. Lemma 3.2 allows repeated pairs
without saying so; here pairs and records are drawn without replacement. Pairs that are equal in all
columns are never separated: the search ends when no column gains, and the ratios reached are to be
counted on the whole table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from coterie.anonymity.risk.keys import greedy_key
from coterie.base.arrays import Array, Codes, Mask, Rows


def logarithm(columns: int, delta: float) -> float:
    """L = ln(2^m / δ), of a union bound over all sets of columns."""
    return columns * math.log(2) + math.log(1 / delta)


def pairs_for_separation(columns: int, epsilon: float, delta: float) -> int:
    return math.ceil(logarithm(columns, delta) / -math.log1p(-epsilon))


def records_for_distinct(columns: int, records: int, epsilon: float, delta: float) -> int:
    wanted = 2 * (1 - epsilon) / epsilon * records * logarithm(columns, delta)
    return min(records, math.ceil(0.5 + math.sqrt(0.25 + wanted)))


def pairs_for_share(columns: int, beta: float, epsilon: float, delta: float) -> int:
    return math.ceil(16 * logarithm(columns, delta) / (beta * epsilon**2))


def draw_pairs(records: int, number: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Different pairs of different records, all of them where there are no more."""
    pairs = records * (records - 1) // 2
    if number >= pairs:
        one, other = np.triu_indices(records, 1)
        return one.astype(np.int64), other.astype(np.int64)
    if number * 3 >= pairs:  # drawing again and again would take long
        places = rng.permutation(pairs)[:number]
    else:
        places = np.zeros(0, np.int64)
        while len(places) < number:
            more = rng.integers(0, pairs, number - len(places))
            places = np.unique(np.concatenate([places, more]))
    # Place p is the pair (i, j), i < j, with p = j (j - 1) / 2 + i.
    j = ((1 + np.sqrt(1 + 8 * places.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > places
    j += (j + 1) * j // 2 <= places
    return places - j * (j - 1) // 2, j


def separated(columns: Sequence[Codes], one: Rows, other: Rows) -> Mask:
    """Whether each column (a column of the result) tells the two records of each pair (row) apart."""
    return np.stack([codes[one] != codes[other] for codes in columns], axis=1)


def cover(apart: Mask, enough: float) -> tuple[int, ...]:
    """Columns, each the one that separates most pairs not yet separated, until enough are."""
    chosen: list[int] = []
    left, done = apart, 0
    while done < enough and len(left):
        gains = left.sum(axis=0)
        best = int(gains.argmax())
        if not gains[best]:
            break
        chosen.append(best)
        done += int(gains[best])
        left = left[~left[:, best]]
    return tuple(chosen)


def separation_key(
    columns: Sequence[Codes],
    records: int,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """An (ε, δ)-separation key, in the order of choice."""
    wanted = pairs_for_separation(len(columns), epsilon, delta)
    apart = separated(columns, *draw_pairs(records, wanted, rng))
    return cover(apart, len(apart))


def distinct_key(
    columns: Sequence[Codes],
    records: int,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """An (ε, δ)-distinct key, in the order of choice."""
    wanted = records_for_distinct(len(columns), records, epsilon, delta)
    rows: Array = np.sort(rng.choice(records, wanted, replace=False))
    return greedy_key([codes[rows] for codes in columns], wanted)


def share_set(
    columns: Sequence[Codes],
    records: int,
    beta: float,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """A small set that separates a share (1-ε) β of all pairs, in the order of choice."""
    wanted = pairs_for_share(len(columns), beta, epsilon, delta)
    apart = separated(columns, *draw_pairs(records, wanted, rng))
    return cover(apart, (2 - epsilon) * beta * len(apart) / 2)
