"""Which sets of columns may single people out in a population, from numbers of values alone.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 2. A set of columns is an
α-quasi-identifier of a population of n people if a share α of them is unique on it. If the people
are independent draws over D cells, the expected share of unique ones is at most

    D (1-1/n)^(n-1) / n   for D <= n,        (1-1/D)^(n-1)   for D >= n

whatever the distribution. A set whose bound is below α is no α-quasi-identifier; the others
possibly are. The bound grows with D, so that sets with a possible subset are possible; only minimal
ones are listed.

D is the product of the numbers of values that each column *can* have in the population
(`values_in_population`). Guarantee: no set is missed except by chance, but many are named that are
none (on Adult with α = 0.2, 754 where 302 are). Cost: at most 2^m sets, no look at the data; a search
that becomes too long is cut off, and says how far it came.

Errata. The paper's D/(en) and e^(-n/D) are limits and no bounds for small n (n = D = 2: 0.368,
attained is 0.5). Theorem 3 is a necessary condition. Counting the combinations that *occur* in
place of D is wrong: then sets are missed. "k-anonymity = n/D" is a mean, here called the expected
crowd.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

_MOST_SETS = 200_000  # of one size that are kept, open or found
_NEARLY_ALL = 0.8  # records with a value of their own: the column identifies by itself
_ALL = 0.999  # no number of cells has a bound of 1


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


def values_in_population(
    distinct: int, share: float, records: int, population: int, alpha: float
) -> int:
    """How many values a column may have among `population` people, from a table of `records` of them.

    `share` of the records of the table have a value that occurs once. On average that is no less than
    the share of people whose value is not in the table (Good), and than that of people who are unique:
    a unique person is a draw with such a value. Each person outside the table with a new value may be
    the only one with it; as many values are added as let the bound reach that share, which is e times
    as many. And the column alone has no fewer values than its share of unique people needs. Values that
    nearly never repeat, such as telephone numbers, count as if none did.
    """
    added = math.ceil(math.e * share * max(0, population - records))
    unique = max(alpha, _ALL) if share >= _NEARLY_ALL else share
    return max(distinct + added, least_cells(unique, population))


@dataclass(frozen=True)
class Search:
    """The minimal sets that were found; all sets of up to `looked_at` of the `columns` were tried."""

    sets: list[Finding]
    looked_at: int
    columns: int  # with more than one value

    @property
    def complete(self) -> bool:
        return self.looked_at == self.columns

    def as_dict(self) -> dict[str, int | bool]:
        return {"columns": self.looked_at, "of": self.columns, "complete": self.complete}


def cut_off(searched: Mapping[str, int | bool]) -> str:
    """What a search that is not complete does not know."""
    return (
        f"The {searched['of']} columns have too many sets: all sets of up to {searched['columns']} "
        "columns were tried, and of the larger ones not all: others may single people out, too."
    )


def possible(
    values: Mapping[str, int], population: int, alpha: float, largest: int | None = None
) -> Search:
    """The minimal sets that may be α-quasi-identifiers, smaller ones first.

    The search ends at sets of `largest` columns, and where there are too many of one size. A set of the
    fewest columns is always among those found, whatever its size, unless `largest` forbids it.
    """
    least = max(2, least_cells(alpha, population))  # one cell is that of no column
    # A column with one value is in no minimal set.
    order = sorted((name for name in values if values[name] > 1), key=lambda name: values[name])
    sizes = [values[name] for name in order]
    most = min(largest or len(order), len(order))
    found, looked_at = _minimal_sets(sizes, least, most)
    fewest = _fewest(sizes, least)
    if fewest and len(fewest) <= most and fewest not in found:
        found.append(fewest)
    place = {name: at for at, name in enumerate(values)}
    findings = []
    for chosen in found:
        names = tuple(sorted((order[j] for j in chosen), key=place.__getitem__))
        cells = math.prod(values[name] for name in names)
        findings.append(
            Finding(names, cells, singleton_share(cells, population), population / cells)
        )
    findings.sort(key=lambda f: (len(f.columns), [place[name] for name in f.columns]))
    return Search(findings, looked_at, len(order))


def _minimal_sets(sizes: list[int], least: int, most: int) -> tuple[list[tuple[int, ...]], int]:
    """The minimal sets of up to `most` columns, and up to which size all sets were tried."""
    found: list[tuple[int, ...]] = []
    sets: list[tuple[tuple[int, ...], int]] = [((), 1)]
    for size in range(1, most + 1):
        grown: list[tuple[tuple[int, ...], int]] = []
        for chosen, cells in sets:
            for j in range(chosen[-1] + 1 if chosen else 0, len(sizes)):
                wider = cells * sizes[j]
                if wider < least:
                    if len(grown) <= _MOST_SETS:
                        grown.append(((*chosen, j), wider))
                elif _is_minimal((*chosen, j), wider, sizes, least):
                    found.append((*chosen, j))
            if len(found) > _MOST_SETS:
                return found, size - 1
        if not grown:  # every larger set has one of those found
            return found, len(sizes)
        if len(grown) > _MOST_SETS:
            return found, size
        sets = grown
    return found, most


def _fewest(sizes: list[int], least: int) -> tuple[int, ...]:
    """The columns of most values that have enough cells together: no set of fewer columns has."""
    cells = 1
    for at in reversed(range(len(sizes))):
        cells *= sizes[at]
        if cells >= least:
            return tuple(range(at, len(sizes)))
    return ()


def _is_minimal(chosen: tuple[int, ...], cells: int, sizes: list[int], least: int) -> bool:
    """Whether leaving out any column leaves too few cells; the column with fewest values decides."""
    return cells // sizes[chosen[0]] < least
