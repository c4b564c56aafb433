"""Small tables as codes, and plain counts to compare with."""

from collections import Counter
from itertools import combinations

import numpy as np

# The worked example of Motwani and Xu: age, sex, state.
ROWS = [
    ("20", "F", "CA"),
    ("30", "F", "CA"),
    ("40", "F", "TX"),
    ("20", "M", "NY"),
    ("40", "M", "CA"),
]
AGE, SEX, STATE = 0, 1, 2


def codes_of(rows):
    """Columns of codes, in the order of first occurrence."""
    found = []
    for column in zip(*rows, strict=True):
        number = {value: at for at, value in enumerate(dict.fromkeys(column))}
        found.append(np.array([number[value] for value in column], np.uint8))
    return found


def random_rows(rng, records, sizes):
    return [tuple(int(rng.integers(size)) for size in sizes) for _ in range(records)]


def group_counts(rows, chosen):
    return Counter(tuple(row[j] for j in chosen) for row in rows)


def separation(rows, chosen):
    pairs = list(combinations(rows, 2))
    apart = sum(any(a[j] != b[j] for j in chosen) for a, b in pairs)
    return apart / len(pairs)


def subsets(number):
    return [s for size in range(number + 1) for s in combinations(range(number), size)]
