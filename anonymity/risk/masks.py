"""Which columns to withhold so that the others identify no more than a given share.

Motwani, Xu, "Efficient algorithms for masking and finding quasi-identifiers" (P3DM 2008), section
3. The published set starts empty; the column that separates the fewest further pairs (or adds the
fewest further groups) is published next, as long as the ratio stays within β.

Guarantee: the ratio of the published columns is at most β on the whole table. Sampled, with
probability 1-δ: β' = β (1 - sqrt(2 L / (β k))) stands in the place of β, and the ratio must be
below it. How many columns could have been published is NP-hard to tell, and no bound is promised.
Cost: m² passes over the table, or over the sample.

Errata. The definition forbids ratios greater than β and the algorithm stops below β: here at most β
on the whole table, below β' on samples. With k <= 2 L / β a sample publishes nothing, so it is
refused with the size that is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from coterie.anonymity.risk.grouping import pairs_within, size_counts, whole
from coterie.anonymity.risk.ratios import separation_of
from coterie.anonymity.risk.sampled_keys import draw_pairs, logarithm, separated
from coterie.base.arrays import Codes, Ints
from coterie.base.errors import UsageError

Measure = Literal["separation", "distinct"]
MEASURES: tuple[Measure, ...] = ("separation", "distinct")


def published(
    columns: Sequence[Codes], records: int, beta: float, measure: Measure
) -> tuple[int, ...]:
    """The columns that may be shown, in the order of choice."""
    ratio: Callable[[Ints], float] = (
        (lambda sizes: separation_of(pairs_within(sizes), records))
        if measure == "separation"
        else (lambda sizes: len(sizes) / records)
    )
    chosen: list[int] = []
    groups = whole(records)
    room = [int(codes.max(initial=0)) + 1 for codes in columns]
    while len(chosen) < len(columns):
        found = []
        for j, codes in enumerate(columns):
            if j not in chosen:
                keys = groups.numbers.astype(np.int64) * room[j] + codes
                found.append((ratio(size_counts(keys, groups.count * room[j])), j))
        least, best = min(found)
        if least > beta:
            break
        chosen.append(best)
        groups = groups.refined(columns[best])
    return tuple(chosen)


def sampled_threshold(columns: int, beta: float, delta: float, sample: int) -> float:
    """β', which stands in the place of β on a sample."""
    least = 2 * logarithm(columns, delta) / beta
    if sample <= least:
        raise UsageError(
            f"a sample of {sample:,} would let nothing be published; "
            f"it takes more than {math.ceil(least):,}"
        )
    return beta * (1 - math.sqrt(least / sample))


def published_by_pairs(
    columns: Sequence[Codes],
    records: int,
    beta: float,
    delta: float,
    sample: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """The columns that may be shown by separation, from a sample of pairs."""
    apart = separated(columns, *draw_pairs(records, sample, rng))
    limit = sampled_threshold(len(columns), beta, delta, len(apart))
    done = np.zeros(len(apart), bool)
    chosen: list[int] = []
    while len(chosen) < len(columns):
        found = [
            (int((done | apart[:, j]).sum()), j) for j in range(len(columns)) if j not in chosen
        ]
        least, best = min(found)
        if least / len(apart) >= limit:
            break
        chosen.append(best)
        done |= apart[:, best]
    return tuple(chosen)


def published_by_records(
    columns: Sequence[Codes],
    records: int,
    beta: float,
    delta: float,
    sample: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """The columns that may be shown by the distinct ratio, from a sample of records."""
    rows = np.sort(rng.choice(records, min(sample, records), replace=False))
    limit = sampled_threshold(len(columns), beta, delta, len(rows))
    part = [codes[rows] for codes in columns]
    return published(part, len(rows), np.nextafter(limit, 0), "distinct")
