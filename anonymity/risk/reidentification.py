"""The chance to find a person in a table by the columns that somebody knows.

Domingo-Ferrer, Mateo-Sanz and others name three attackers; the textbook chapter (section 20.3) has
the attack. With n records in groups of sizes f that are equal in the known columns:

* prosecutor, who knows that a person is in the table: 1/f, highest over all records;
* marketer, who wants to find as many as possible: the mean of 1/f over the records, groups/n;
* journalist, who does not know who is in the table, a sample of a population of N: the expected 1/F,
  highest over all records, where F is the number of people in the population with the same values.
  Given f, F is taken to be f plus a negative binomial number with share π = n/N (Benedetti, Franconi
  1998): E[1/F] = π ∫ y^(f-1) / (π + (1-π) y) dy from 0 to 1, by a recurrence in f. With N = n it is
  1/f.

`known_at_random` answers exercise 16: for random sets of B columns, the mean share of unique
records.

Cost: one pass for each column. Errata: exercise 14's chance is n/2^B; the print lost the exponent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.risk.grouping import Sizes, counted_sizes
from coterie.base.arrays import Codes, Floats, Ints

_BELOW = (2, 5, 10)  # groups smaller than these are counted


@dataclass(frozen=True)
class Risk:
    prosecutor: float
    marketer: float
    uniques: int
    journalist: float | None  # None: nobody said how large the population is
    below: dict[int, int]  # records in groups smaller than so many

    def as_dict(self) -> dict[str, object]:
        return {
            "prosecutor": self.prosecutor,
            "journalist": self.journalist,
            "marketer": self.marketer,
            "uniques": self.uniques,
            "below": {str(size): records for size, records in self.below.items()},
        }


def risk_of(sizes: Ints | Sizes, population: int | None = None) -> Risk:
    """The risk of groups of these sizes; none without records."""
    counted = Sizes.of(sizes)
    if not len(counted):
        return Risk(0.0, 0.0, 0, None if population is None else 0.0, dict.fromkeys(_BELOW, 0))
    journalist = None
    if population is not None:
        share = min(counted.records / population, 1.0)
        journalist = float(expected_inverse(counted.smallest, share))
    return Risk(
        1 / counted.smallest,
        len(counted) / counted.records,
        counted.uniques,
        journalist,
        {size: counted.below(size) for size in _BELOW},
    )


def expected_inverse(records: int, share: float) -> float:
    """E[1/F] of a group with so many records, in a sample that is this share of the population."""
    if share >= 1:
        return 1 / records
    rest = 1 - share
    if share <= 0.5:  # upwards, errors shrink by share/rest in each step
        value = -np.log(share) / rest
        for f in range(1, records):
            value = (1 / f - share * value) / rest
        return float(share * value)
    last = records + 2000
    value = 1 / last  # a rough start, whose error shrinks by rest/share in each step down
    for f in range(last - 1, records - 1, -1):
        value = (1 / f - rest * value) / share
    return float(share * value)


def known_at_random(
    columns: Sequence[Codes],
    records: int,
    known: int,
    draws: int,
    rng: np.random.Generator,
    most: int | None = None,
) -> Floats:
    """The share of unique records on each of some random sets of so many columns."""
    found = []
    for _ in range(draws):
        chosen = rng.choice(len(columns), known, replace=False)
        sizes = counted_sizes([columns[j] for j in chosen.tolist()], records, most)
        found.append(sizes.uniques / max(records, 1))
    return np.array(found)
