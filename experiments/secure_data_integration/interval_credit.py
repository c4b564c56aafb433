"""Measures how much credit a party can get for a split of its own numbers that reveals little.

An honest party splits an interval where the information gain is largest, and is credited the gain
ratio of that split. No other party has the column, so no other party can check the split: a party
may split where the gain ratio is largest instead, and be credited for less information. `search`
looks for the column on which that pays most, over random columns and classes.

    python -m coterie.experiments.secure_data_integration.interval_credit
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np

from coterie.anonymity.specialization.scores import SCALE, best_split, gain_ratio, information_gain
from coterie.base.arrays import Array

COLUMNS, SEED = 1500, 1  # the settings of the figures in docs/threat-model.md


@dataclass(frozen=True)
class Finding:
    """Credit (gain ratio) and revealed information (gain, in bits) of both splits of one column."""

    honest_credit: float
    honest_bits: float
    credit: float
    bits: float
    records: int

    @property
    def difference(self) -> float:
        """The extra credit of the other split, beyond the extra information that it reveals."""
        return (self.credit - self.bits) - (self.honest_credit - self.honest_bits)


def compared(counts: Array, k: int) -> Finding | None:
    """Both splits of one column; `counts` has a row per class and a column per value.

    Splits that leave fewer than k records on a side are not valid. None if no split is valid.
    """
    places = [
        place
        for place in range(1, counts.shape[1])
        if counts[:, :place].sum() >= k and counts[:, place:].sum() >= k
    ]
    honest = best_split(counts)
    if honest not in places:
        return None
    parts = {
        place: [counts[:, :place].sum(axis=1).tolist(), counts[:, place:].sum(axis=1).tolist()]
        for place in places
    }
    other = max(places, key=lambda place: gain_ratio(parts[place]))
    return Finding(
        gain_ratio(parts[honest]) / SCALE,
        information_gain(parts[honest]) / SCALE,
        gain_ratio(parts[other]) / SCALE,
        information_gain(parts[other]) / SCALE,
        int(counts.sum()),
    )


def search(columns: int, k: int, seed: int) -> Finding:
    """The finding with the largest difference over `columns` random columns of up to 400 records."""
    rng = np.random.default_rng(seed)
    best: Finding | None = None
    for _ in range(columns):
        values = int(rng.integers(3, 20))
        sizes = rng.integers(1, 21, values)
        # The share of a class drifts along the column, so that splits have an information gain.
        shares = np.clip(np.cumsum(rng.normal(0, 0.25, values)) + rng.random(), 0.0, 1.0)
        ones = rng.binomial(sizes, shares)
        found = compared(np.array([ones, sizes - ones], np.int32), k)
        if found is not None and (best is None or found.difference > best.difference):
            best = found
    if best is None:
        raise ValueError("no column could be split")
    return best


def main() -> None:
    for k in (1, 5, 10):
        found = search(COLUMNS, k, SEED)
        print(json.dumps({"k": k, "difference": found.difference, **asdict(found)}))


if __name__ == "__main__":
    main()
