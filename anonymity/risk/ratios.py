"""How much a set of columns identifies: the distinct ratio and the separation ratio.

Motwani, Xu, "Efficient algorithms for masking and finding quasi-identifiers" (P3DM 2008), section
1.1. With d groups of records that are equal in a set of columns, of sizes c, among n records:

* distinct ratio = d / n: the set is a key once n - d records are removed;
* separation ratio = 1 - sum C(c, 2) / C(n, 2): the share of pairs of records that are distinguished.

Cost: one pass over the records for each column.

Errata. "Separation is always larger than distinct" fails for constant columns (0 against 1/n) and
for keys (both are 1). The bounds 2α - α² and 1 - 2(1-α)/n that the paper gives for the separation
of d = αn groups are limits; `least_separation` and `most_separation` are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coterie.anonymity.risk.grouping import Sizes, counted_sizes
from coterie.base.arrays import Codes, Ints


@dataclass(frozen=True)
class Ratios:
    """How well a set of columns distinguishes records."""

    distinct: float
    separation: float
    uniques: int  # records that are equal to no other
    groups: int


def ratios_of(columns: Sequence[Codes], records: int, most: int | None = None) -> Ratios:
    """The ratios of a set of columns, with about `most` records in memory at a time."""
    return ratios_of_sizes(counted_sizes(columns, records, most), records)


def ratios_of_sizes(sizes: Ints | Sizes, records: int) -> Ratios:
    """The ratios of groups of these sizes. A single record counts as distinguished from all others."""
    counted = Sizes.of(sizes)
    return Ratios(
        len(counted) / max(records, 1),
        separation_of(counted.together, records),
        counted.uniques,
        len(counted),
    )


def separation_of(together: int, records: int) -> float:
    """The separation ratio if `together` pairs are not distinguished."""
    pairs = records * (records - 1) // 2
    return 1 - together / pairs if pairs else 1.0


def least_separation(records: int, groups: int) -> float:
    """The least separation ratio of so many groups: all records but d - 1 in one of them."""
    rest = records - groups + 1
    return separation_of(rest * (rest - 1) // 2, records)


def most_separation(records: int, groups: int) -> float:
    """The greatest separation ratio of so many groups: sizes that differ by at most one."""
    small, larger = divmod(records, groups)
    together = larger * (small + 1) * small // 2 + (groups - larger) * small * (small - 1) // 2
    return separation_of(together, records)
