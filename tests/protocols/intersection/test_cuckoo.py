"""Every value stands in one of its three bins, and a table depends on nothing but its key."""

import numpy as np
import pytest

from coterie.protocols.intersection.cuckoo import bins_for, build, positions
from coterie.protocols.primitives.randomness import Random


@pytest.mark.parametrize("count", [0, 1, 2, 100, 5000])
def test_each_value_has_one_bin_of_its_three(count):
    values = Random("values").array((count, 2))
    table = build(values, Random("table"))
    assert len(table.item) == bins_for(count)
    filled = np.flatnonzero(table.item >= 0)
    assert sorted(table.item[filled].tolist()) == list(range(count))
    places = positions(values, table.key, len(table.item))
    assert (places[table.item[filled], table.which[filled]] == filled).all()


def test_equal_values_have_no_table():
    with pytest.raises(ValueError, match="cannot be random"):
        build(np.zeros((4, 2), np.uint64), Random(0))
