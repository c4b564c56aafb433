"""Which sets of columns may single people out in a population, from numbers of values alone.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 2. A set of columns is an
α-quasi-identifier of a population of n people if a share α of them is unique on it. If the people
are independent draws over D cells, the expected share of unique ones is at most

    D (1-1/n)^(n-1) / n   for D <= n,        (1-1/D)^(n-1)   for D >= n

whatever the distribution. A set whose bound is below α is no α-quasi-identifier; the others
possibly are. The bound grows with D, so that sets with a possible subset are possible; only minimal
ones are listed.

D is the product of the numbers of values that each column *can* have. Guarantee: no set is missed
except by chance, but many are named that are none (on Adult with α = 0.2, 754 where 302 are).
Cost: at most 2^m sets, no look at the data.

Errata. The paper's D/(en) and e^(-n/D) are limits and no bounds for small n (n = D = 2: 0.368,
attained is 0.5). Theorem 3 is a necessary condition. Counting the combinations that *occur* in
place of D is wrong: then sets are missed. "k-anonymity = n/D" is a mean, here called the expected
crowd.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

_MOST_SETS = 200_000  # of one size that are tried


@dataclass(frozen=True)
class Finding:
    """A set of columns, its cells, and the largest expected share of unique people."""

    columns: tuple[str, ...]
    cells: int
    bound: float
    crowd: float  # people in a cell, on average


def singleton_share(cells: float, population: int) -> float:
    """The largest expected share of people that are unique among so many cells."""
    if cells < 1 or population < 1:
        raise ValueError("cells and population must be at least 1")
    if population == 1:
        return 1.0
    if cells <= population:
        return cells * math.exp((population - 1) * math.log1p(-1 / population)) / population
    return math.exp((population - 1) * math.log1p(-1 / cells))


def least_cells(alpha: float, population: int) -> int:
    """The smallest number of cells on which a share α may be unique."""
    low, high = 1, 2
    while singleton_share(high, population) < alpha:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if singleton_share(middle, population) < alpha:
            low = middle + 1
        else:
            high = middle
    return low


def possible(
    values: Mapping[str, int], population: int, alpha: float, largest: int | None = None
) -> list[Finding]:
    """The minimal sets that may be α-quasi-identifiers, smaller ones first.

    The search ends at sets of `largest` columns, and where there are too many of one size.
    """
    least = least_cells(alpha, population)
    # A column with one value is in no minimal set.
    order = sorted((name for name in values if values[name] > 1), key=lambda name: values[name])
    found: list[tuple[int, ...]] = []
    sets: list[tuple[tuple[int, ...], int]] = [((), 1)]
    for _ in range(min(largest or len(order), len(order))):
        grown: list[tuple[tuple[int, ...], int]] = []
        for chosen, cells in sets:
            for j in range(chosen[-1] + 1 if chosen else 0, len(order)):
                wider = cells * values[order[j]]
                if wider < least:
                    grown.append(((*chosen, j), wider))
                elif _is_minimal((*chosen, j), wider, [values[name] for name in order], least):
                    found.append((*chosen, j))
        sets = grown
        if len(sets) > _MOST_SETS:
            break
    place = {name: at for at, name in enumerate(values)}
    findings = []
    for chosen in found:
        names = tuple(sorted((order[j] for j in chosen), key=place.__getitem__))
        cells = math.prod(values[name] for name in names)
        findings.append(
            Finding(names, cells, singleton_share(cells, population), population / cells)
        )
    return sorted(findings, key=lambda f: (len(f.columns), [place[name] for name in f.columns]))


def _is_minimal(chosen: tuple[int, ...], cells: int, sizes: list[int], least: int) -> bool:
    """Whether leaving out any column leaves too few cells; the column with fewest values decides."""
    return cells // sizes[chosen[0]] < least
