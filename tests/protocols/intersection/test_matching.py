"""Tags are found where they stand, against Python's dictionaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.protocols.intersection.matching import (
    RepeatedTagError,
    Table,
    as_tags,
    common,
    in_tag_order,
)


def tags(numbers):
    """Tags that collide in their low bits, which are their hash."""
    return np.array([(n % 4, n) for n in numbers], np.uint64).reshape(-1, 2)


@given(st.sets(st.integers(0, 60)), st.lists(st.integers(0, 60)))
def test_lookup_is_that_of_a_dictionary(held, wanted):
    held = list(held)
    places = {number: at for at, number in enumerate(held)}
    assert Table(tags(held)).find(tags(wanted)).tolist() == [places.get(n, -1) for n in wanted]


@given(st.sets(st.integers(0, 30)), st.lists(st.sets(st.integers(0, 30)), max_size=3))
def test_common_is_the_intersection_of_all(own, others):
    own = sorted(own)
    found = common(Table(tags(own)), len(own), [tags(sorted(other)) for other in others])
    assert found.tolist() == [all(n in other for other in others) for n in own]


def test_a_repeated_tag_is_named_by_its_row():
    with pytest.raises(RepeatedTagError) as caught:
        Table(tags([5, 6, 5]))
    assert caught.value.index == 2


def test_the_order_of_tags_does_not_depend_on_the_order_of_rows():
    held = tags([9, 2, 7, 4])
    assert (
        in_tag_order(held, np.arange(4)).tolist()
        == in_tag_order(held, np.array([3, 1, 0, 2])).tolist()
    )


def test_a_tag_is_the_first_16_bytes_of_a_row():
    rows = np.arange(40, dtype=np.uint8).reshape(2, 20)
    assert as_tags(rows).tobytes() == rows[:, :16].tobytes()
