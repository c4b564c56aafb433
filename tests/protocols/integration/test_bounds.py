"""Bounds on generalization in a joint table: the right records go, and nothing of them is told."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError
from coterie.protocols.integration.bounds import Demand, records_within_bounds
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_tables import Axis
from tests.views import assert_alike

NAMES = ("ann", "bob", "cat", "dan")


def parties(axes, columns, demands, most, names=NAMES):
    """Every party with the start values of its own attributes."""

    def party(name):
        own = {axis.name: np.array(columns[axis.name]) for axis in axes if axis.owner == name}
        records = len(next(iter(columns.values())))
        return lambda channel, rng: records_within_bounds(
            channel, names, axes, own, demands, records, most, rng
        )

    return {name: party(name) for name in names}


def run(*arguments, **options):
    functions = parties(*arguments, **options)
    return run_parties({name: lambda c, n=name: functions[n](c, Random(n)) for name in functions})


def staying(columns, names, demands):
    """Record by record, as long as some group is too small."""
    rows = set(range(len(next(iter(columns.values())))))
    while True:
        gone = set()
        for demand in demands:
            keys = {i: tuple(columns[names[a]][i] for a in demand.axes) for i in rows}
            numbers = Counter(keys.values())
            gone |= {i for i in rows if numbers[keys[i]] < demand.k}
        if not gone:
            return rows
        rows -= gone


@st.composite
def scenes(draw):
    count = draw(st.integers(1, 4))
    axes = [
        Axis(f"a{i}", draw(st.sampled_from(NAMES)), draw(st.integers(2, 4))) for i in range(count)
    ]
    size = draw(st.integers(4, 40))
    columns = {
        axis.name: draw(st.lists(st.integers(0, axis.size - 1), min_size=size, max_size=size))
        for axis in axes
    }
    qid = st.lists(st.integers(0, count - 1), unique=True, max_size=3).map(sorted).map(tuple)
    demands = draw(st.lists(st.builds(Demand, qid, st.integers(1, 4)), min_size=1, max_size=3))
    return axes, columns, demands


@settings(max_examples=40, deadline=None)
@given(scenes(), st.floats(0, 1))
def test_just_the_records_in_small_groups_go_or_all_are_told_that_it_is_too_many(scene, share):
    axes, columns, demands = scene
    expected = staying(columns, [axis.name for axis in axes], demands)
    size = len(columns["a0"])
    most = int(share * size)
    if size - len(expected) > most:
        with pytest.raises(DataError, match="cost more records"):
            run(axes, columns, demands, most)
        return
    for stays in run(axes, columns, demands, most).values():
        assert set(np.flatnonzero(stays).tolist()) == expected


def test_strings_longer_than_a_word_are_picked_too():
    axes = [Axis("a", "ann", 9), Axis("b", "bob", 9), Axis("c", "cat", 9)]
    rng = np.random.default_rng(5)
    columns = {name: rng.integers(0, 9, 60).tolist() for name in "abc"}
    for name in "abc":
        columns[name][:12] = [8] * 12
    demands = [Demand((0, 1, 2), 3)]
    expected = staying(columns, "abc", demands)
    for stays in run(axes, columns, demands, 60).values():
        assert set(np.flatnonzero(stays).tolist()) == expected


AXES = [Axis("a", "ann", 3), Axis("b", "bob", 2), Axis("c", "cat", 2)]


def world(number, scene):
    """Bob's and the others' columns; what ann has differs between the worlds."""
    rng = np.random.default_rng(3)
    base = [[0, 0, 0]] * 30 + [[1, 1, 0]] * 30 + [[2, 0, 1]] * 30
    if scene == "who goes":  # the records that go have another value of ann's, and are as many
        small = [[2, 1, 1]] * 2 + [[1, 0, 1]] * 1 if number == 0 else [[0, 1, 1]] * 2 + [[0, 0, 1]]
    elif scene == "too many":  # another group is large, and others are small
        small = [[2, 1, 1]] * 9 if number == 0 else [[2, 1, 1]] * 4 + [[0, 1, 1]] * 5
        base = base if number == 0 else [[1, 0, 0]] * 30 + base[30:]
    else:  # other groups fail in the first pass; in the end all of these go
        small = [[2, 1, 1]] * 6 if number == 0 else [[0, 1, 1]] * 3 + [[1, 1, 1]] * 3
    rows = np.array(base + small)
    rows = rows[rng.permutation(len(rows))] if scene == "too many" else rows
    return {name: rows[:, at].tolist() for at, name in enumerate("abc")}


@pytest.mark.parametrize("watched", ["bob", "cat", "dan"])
@pytest.mark.parametrize(
    ("scene", "demands", "most"),
    [
        ("who goes", [Demand((0, 1, 2), 4)], 10),
        ("too many", [Demand((0, 1, 2), 10)], 5),
        ("passes", [Demand((1, 2), 10), Demand((0, 1), 4)], 20),
    ],
)
def test_nothing_is_told_of_records_that_go(scene, demands, most, watched):
    def made(number):
        functions = parties(AXES, world(number, scene), demands, most)

        def told(function):
            def run(channel, rng):
                try:
                    return function(channel, rng).tolist()
                except DataError as error:
                    return str(error)

            return run

        return {name: told(function) for name, function in functions.items()}

    assert_alike(made, watched)
