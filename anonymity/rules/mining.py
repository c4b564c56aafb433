"""Frequent itemsets and association rules of one table, level by level.

Paper: Agrawal and Srikant, Fast algorithms for mining association rules (1994). An itemset is frequent
if at least s n of n transactions have all its items; a rule X -> Y has the support of X and Y together
and the confidence count(XY) / count(X). Counts are compared as whole numbers with s n and c count(X),
rounded up after a slack for the rounding errors of floats.

Cost: a pass over the transactions of every candidate. Only items that are frequent are combined, and
candidates whose subsets are not all frequent are never counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from coterie.base.arrays import Mask

Items: TypeAlias = tuple[int, ...]  # numbers of items, ascending
MOST_SETS = 200_000
_SLACK = 1e-9


class TooManySetsError(ValueError):
    """There are more frequent itemsets than anybody would read."""


@dataclass(frozen=True, order=True)
class Rule:
    """X -> Y, the premise and the conclusion; no item is in both."""

    premise: Items
    conclusion: Items

    @property
    def whole(self) -> Items:
        return tuple(sorted({*self.premise, *self.conclusion}))


def least_count(share: float, records: int) -> int:
    """The fewest transactions that are a share of all, at least one."""
    return max(math.ceil(share * records - _SLACK * max(records, 1)), 1)


def count(table: Mask, items: Items) -> int:
    """How many transactions have all the items; `table` has a row for each item."""
    return int(table[list(items)].all(axis=0).sum())


def frequent_sets(table: Mask, least: int, longest: int) -> dict[Items, int]:
    """Every itemset of at most `longest` items that at least `least` transactions have."""
    sizes = table.sum(axis=1)
    found: dict[Items, int] = {(i,): int(n) for i, n in enumerate(sizes.tolist()) if n >= least}
    rows = {items: table[items[0]] for items in found}
    for _ in range(longest - 1):
        larger: dict[Items, Mask] = {}
        level = sorted(rows)
        for at, one in enumerate(level):
            for other in level[at + 1 :]:
                if other[:-1] != one[:-1]:
                    break
                joined = (*one, other[-1])
                if not all(part in found for part in combinations(joined, len(joined) - 1)):
                    continue
                both = rows[one] & table[other[-1]]
                size = int(both.sum())
                if size >= least:
                    found[joined], larger[joined] = size, both
                    if len(found) > MOST_SETS:
                        raise TooManySetsError(f"more than {MOST_SETS:,} frequent sets")
        rows = larger
    return found


def rules_of(found: dict[Items, int], confidence: float) -> Iterator[Rule]:
    """Every rule between the items of a frequent set with at least this confidence."""
    for items, together in found.items():
        for size in range(1, len(items)):
            for premise in combinations(items, size):
                if together >= least_count(confidence, found[premise]):
                    yield Rule(premise, tuple(i for i in items if i not in premise))


def maximal(sets: list[Items]) -> list[Items]:
    """Those that no other one contains: the positive border."""
    by_size = sorted(map(frozenset, sets), key=len, reverse=True)
    kept: list[frozenset[int]] = []
    for candidate in by_size:
        if not any(candidate <= larger for larger in kept):
            kept.append(candidate)
    return [tuple(sorted(items)) for items in kept]
