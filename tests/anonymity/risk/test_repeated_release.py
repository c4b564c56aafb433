"""Where the groups of two releases meet."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.anonymity.risk.repeated_release import same_groups, smallest_meeting


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_the_smallest_meeting_is_the_rarest_pair_of_groups(pairs):
    one, other = (np.array(column) for column in zip(*pairs, strict=True))
    assert smallest_meeting(one, other) == min(pairs.count(pair) for pair in pairs)


def test_without_people_there_is_no_meeting():
    assert smallest_meeting(np.zeros(0, int), np.zeros(0, int)) is None


def test_groups_are_the_same_whatever_their_numbers():
    assert same_groups(np.array([0, 0, 1, 2]), np.array([5, 5, 1, 0]))
    assert not same_groups(np.array([0, 0, 1]), np.array([0, 0, 0]))
    assert not same_groups(np.array([0, 0, 0]), np.array([0, 0, 1]))
