"""The parts of squares make up the squares."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.jobs.data.measured import MeasuredAttribute
from coterie.jobs.kinds.aggregate.tables import square_parts


@settings(deadline=None, max_examples=50)
@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6), st.integers(0, 4), st.data())
def test_three_parts_are_the_square_of_the_distance_from_the_middle(low, width, decimals, data):
    item = MeasuredAttribute("x", None, low, low + width, True, decimals)
    least, most = item.ends
    units = np.array(data.draw(st.lists(st.integers(least, most), min_size=1, max_size=5)))
    parts = square_parts(item, units)
    for at, unit in enumerate(units.tolist()):
        high, both, low_part = (int(parts[name][at]) for name in ("high", "both", "low"))
        found = (high << 2 * item.half) + (both << (item.half + 1)) + low_part
        assert found == (unit - item.middle) ** 2
        assert max(high, both, low_part) < 1 << 2 * item.half
