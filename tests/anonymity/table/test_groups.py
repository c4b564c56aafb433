"""Records are in one group exactly when they are equal in all columns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.anonymity.table.groups import group_numbers

rows = st.lists(st.tuples(*[st.integers(0, 2**32 - 1)] * 3), min_size=1, max_size=30)


@given(rows | st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=30))
def test_equal_rows_share_a_number_and_numbers_have_no_gaps(found):
    numbers = group_numbers([np.array(column, np.int64) for column in zip(*found, strict=True)])
    assert len(set(zip(found, numbers, strict=True))) == len(set(found)) == len(set(numbers))
    assert set(numbers) == set(range(max(numbers) + 1))
