"""The different values of an array, against Python's own sets."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.base.distinct import distinct, ranks

RANGES = {
    "none": [],
    "one": [7],
    "few": [3, 1, 3, 3, 2],
    "below zero": [-4, 9, -4, 0],
    "far apart": [5, 2**62, -(2**62), 5],
    "the ends": [np.iinfo(np.int64).max, np.iinfo(np.int64).min],
}


@pytest.mark.parametrize("values", RANGES.values(), ids=RANGES.keys())
def test_values_and_ranks(values: list[int]) -> None:
    there = sorted(set(values))
    array = np.array(values, np.int64)
    assert distinct(array).tolist() == there
    assert ranks(array).tolist() == [there.index(value) for value in values]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("share", [1, 2])
def test_every_kind_of_number(kind: type[np.integer], share: int) -> None:
    limits = np.iinfo(kind)
    array = np.random.default_rng(1).integers(
        limits.min // share, limits.max // share, 3000, kind, endpoint=True
    )
    there = sorted(set(array.tolist()))
    place = {value: at for at, value in enumerate(there)}
    assert distinct(array).tolist() == there
    assert ranks(array).tolist() == [place[value] for value in array.tolist()]
