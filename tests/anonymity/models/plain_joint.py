"""Joint diversity by its definition: every set of values is tried."""

import itertools


def diversity(rows, limits=None, below=None):
    """The least number of values, at most limits[c] of column c, that are in all rows; or None.

    With `below`, None also where it is no smaller than that, which is told much earlier.
    """
    rows = [set(enumerate(row)) for row in rows]
    values = sorted(set().union(*rows))
    sizes = range(len(values) + 1)
    for size in sizes if below is None else sizes[:below]:
        for deleted in map(set, itertools.combinations(values, size)):
            if limits is not None and any(
                sum(column == at for column, _ in deleted) > limit for at, limit in limits.items()
            ):
                continue
            if all(row & deleted for row in rows):
                return size
    return None


def is_diverse(rows, least, limits=None):
    return diversity(rows, limits, least) is None
