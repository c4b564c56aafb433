"""Joint diversity of columns in two houses: the single table's release, decided by frequencies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.privacy import JointDiversity
from coterie.anonymity.table.table import Labels
from coterie.base.errors import DataError
from coterie.protocols.integration.sensitive.joint_frequencies import JointFrequencies
from tests.protocols.integration.splits import assert_equal, loans, splits
from tests.views import assert_alike


@settings(max_examples=40, deadline=None)
@given(splits(max_rows=30), st.data())
def test_the_release_is_the_single_tables(split, data):
    houses = data.draw(st.permutations(split.names))[:2]
    size = len(split.case.rows)
    for name, house in zip("st", houses, strict=True):
        split.holders[name] = house
        values = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
        for row, value in zip(split.case.rows, values, strict=True):
            row[name] = str(value)
    least = data.draw(st.integers(2, 3))
    most = data.draw(st.sampled_from([{}, {"t": 1}]))
    model = JointDiversity(least, ("s", "t"), most, by_frequency=True)
    split.models = {0: (("s", "t"), model)}
    split.conditions = "holder"
    try:
        single = split.single()
    except DataError:
        with pytest.raises(DataError, match="not even the whole table satisfies joint"):
            split.run()
        return
    for outcome in split.run().values():
        assert_equal(outcome, single)


def test_proposals_are_rejected_by_two_houses_together():
    split = loans()
    split.names, split.class_holders = ("ann", "bob", "cat"), ("ann",)
    split.holders |= {"s": "ann", "t": "cat"}
    for i, row in enumerate(split.case.rows):
        row["s"], row["t"] = str(i % 7), str(i % 5 if row["Sex"] == "Male" else 0)
    model = JointDiversity(3, ("s", "t"), by_frequency=True)
    split.models = {0: (("s", "t"), model)}
    split.conditions = "holder"
    single = split.single()
    assert 0 < len(single.winners) < len(loans().single().winners)
    for outcome in split.run().values():
        assert_equal(outcome, single)


GROUPS = np.repeat([0, 1], 40)


def holders_of(watched, other):
    """Both decide on two groups of forty records; `other` is the column that is not watched's."""

    def party(channel, rng):
        codes = np.arange(80) % 9 if channel.me == watched else other
        labels = Labels(codes, tuple("abcdefghi"))
        model = JointDiversity(3, ("s", "t"), by_frequency=True)
        both = JointFrequencies(channel, ("ann", "bob"), model, [(labels, 2)], rng)
        return both.hold(GROUPS, np.arange(80), 2)

    return dict.fromkeys(("ann", "bob"), party)


@pytest.mark.parametrize("watched", ["ann", "bob"])
def test_a_holder_learns_nothing_of_the_others_column_but_the_verdict(watched):
    others = [np.random.default_rng(world).integers(0, 9, 80) for world in (3, 4)]
    assert_alike(lambda world: holders_of(watched, others[world]), watched, runs=3)


@pytest.mark.parametrize("watched", ["ann", "bob"])
def test_a_holder_does_not_learn_which_group_is_not_diverse(watched):
    diverse = np.arange(80) % 9
    others = [np.where(world == GROUPS, 0, diverse) for world in (0, 1)]
    assert_alike(lambda world: holders_of(watched, others[world]), watched, runs=7)
