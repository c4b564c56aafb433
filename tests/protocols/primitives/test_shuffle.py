"""A shuffle is a permutation, and each order of few things is as likely as any other."""

from collections import Counter

import pytest

from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.shuffle import shuffled


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_every_number_stands_once(count):
    assert sorted(shuffled(count, Random(count)).tolist()) == list(range(count))


def test_all_orders_of_three_are_equally_likely():
    rng = Random("orders")
    seen = Counter(tuple(shuffled(3, rng).tolist()) for _ in range(6000))
    assert len(seen) == 6
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 25  # chi squared, 5 degrees
