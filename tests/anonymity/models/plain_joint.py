"""Joint diversity by its definition: every set of values is tried."""

import itertools


def diversity(rows, limits=None):
    """The least number of values, at most limits[c] of column c, that are in all rows; or None."""
    rows = [set(enumerate(row)) for row in rows]
    values = sorted(set().union(*rows))
    for size in range(len(values) + 1):
        for deleted in itertools.combinations(values, size):
            if limits is not None and any(
                sum(column == at for column, _ in deleted) > limit for at, limit in limits.items()
            ):
                continue
            if all(row & set(deleted) for row in rows):
                return size
    return None


def is_diverse(rows, least, limits=None):
    found = diversity(rows, limits)
    return found is None or found >= least
