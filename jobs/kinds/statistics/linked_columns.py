"""Columns of one party that say the same of people, in tables that share no attribute.

Sex by G1 and Gender by G2 are judged apart, since they have no attribute in common. If Sex and Gender
are one column under two names, their difference is about the people in whom G1 and G2 differ, whom
the partner that wrote G1 and G2 has chosen. The party that holds Sex and Gender looks for that in its
own table, and ends the job before anything is exchanged.

Two columns are linked if some values of the one have the same people as some values of the other, but
for fewer than `minimum`: the values are the nodes of a graph, its edges the people who have both, and
values that `minimum` people have together are never parted. Where no exception is found, sums over these
values are equal, which tells of people only if both tables have attributes of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from coterie.base.arrays import Codes, Ints
from coterie.base.errors import DataError


def check_linked(
    tables: Sequence[Sequence[str]],
    own: Mapping[str, Codes],
    known: Sequence[str],
    minimum: int,
    source: str,
) -> None:
    """Refuses tables without a common attribute that have linked columns; `known`: those all know."""
    shown = [set(table) - set(known) for table in tables]
    for one, other in combinations(shown, 2):
        if one & other:
            continue
        mixed = bool(one - own.keys() and other - own.keys())
        for name in sorted(one & own.keys()):
            for second in sorted(other & own.keys()):
                if linked(own[name], own[second], minimum, mixed):
                    raise DataError(
                        f"the columns '{name}' and '{second}', in two tables, say the same of all but a "
                        "few people, so that the tables together would tell of a few: use one of the "
                        "two in both tables, or leave out a table",
                        file=source,
                    )


def linked(one: Codes, other: Codes, minimum: int, mixed: bool) -> bool:
    """Whether some values of two columns have the same people, but for fewer than `minimum`."""
    if not len(one):
        return False
    height, width = int(one.max()) + 1, int(other.max()) + 1
    both: Ints = np.zeros((height, width), np.int64)
    np.add.at(both, (one, other), 1)
    parts = _parts(both >= minimum)
    if len(parts) < 2:
        return False
    for rows, columns in parts:
        inside = both[np.ix_(rows, columns)].sum()
        exceptions = int(both[rows].sum() + both[:, columns].sum() - 2 * inside)
        if exceptions < minimum and (mixed or exceptions):
            return True
    return False


def _parts(
    large: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> list[tuple[list[int], list[int]]]:
    """The connected parts of the graph: rows and columns, without rows or columns on their own."""
    left, found = set(np.flatnonzero(large.any(axis=1)).tolist()), []
    while left:
        rows, columns = {left.pop()}, set[int]()
        while True:
            columns = set(np.flatnonzero(large[sorted(rows)].any(axis=0)).tolist())
            wider = set(np.flatnonzero(large[:, sorted(columns)].any(axis=1)).tolist())
            if wider == rows:
                break
            rows = wider
        left -= rows
        found.append((sorted(rows), sorted(columns)))
    return found
