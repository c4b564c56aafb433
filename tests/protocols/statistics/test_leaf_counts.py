"""Records of leaves and right predictions: shown when no difference of them is small, and only then."""

import itertools

import numpy as np
import pytest

from coterie.protocols.statistics.leaf_counts import (
    Leaf,
    coalitions,
    leaf_counts,
    leaf_numbers,
    parts_of,
)
from coterie.protocols.statistics.shared_tables import Axis
from tests.protocols.statistics.plain_servers import PlainServers

AXES = (Axis("a", "ann", 2), Axis("b", "bob", 2))
# b = 0 is divided by a; b = 1 is a leaf.
LEAVES = [Leaf({1: 0, 0: 0}, 0), Leaf({1: 0, 0: 1}, 1), Leaf({1: 1}, 1)]
MINIMUM = 5


class Door:
    """A channel that notes what is opened."""

    def __init__(self):
        self.opened = []

    def step(self, name):
        import contextlib

        return contextlib.nullcontext()

    def open(self, opening, value):
        self.opened.append(opening.name)
        return value


class Servers(PlainServers):
    """Both servers in one place, with the calls that leaves need."""

    servers = ("ann", "bob")

    def __init__(self):
        super().__init__()
        self.channel = Door()

    def decided(self, circuit, count, inputs, output):
        return self.shared(circuit, count, inputs)[output], {}

    def added(self, share, count):
        assert len(share) == count
        return np.asarray(share, np.int64)


def told(table, show=("records", "accuracy"), minimum=MINIMUM, leaves=LEAVES, axes=AXES):
    """What is told of counts by a, b and class."""
    servers = Servers()
    share = np.array(table, np.uint32).reshape(-1)
    shown = leaf_counts(servers, axes, 2, leaves, share, minimum, show)
    records = None if shown.records is None else shown.records.tolist()
    return records, shown.correct, servers.channel.opened


#              a=0: b=0      b=1       a=1: b=0       b=1      (class 0, class 1 each)
LARGE = [[[9, 6], [7, 8]], [[5, 12], [6, 20]]]


def test_large_leaves_are_shown_with_the_right_predictions():
    records, correct, opened = told(LARGE)
    assert records == [15, 17, 41]
    assert correct == 9 + 12 + 8 + 20
    assert opened == [
        "tree: leaves are large enough",
        "tree: records of leaves",
        "tree: leaves are large enough",
        "tree: right predictions",
    ]


@pytest.mark.parametrize("few", [0, 1, 4])
def test_a_count_that_is_only_a_difference_of_leaves_hides_them_all(few):
    """Every leaf is large; Ann, who knows how many have a = 0, would compute those with b = 1."""
    table = [[[9, 6], [few, 0]], [[5, 12], [16, 20]]]
    leaves = np.bincount(leaf_numbers((2, 2), LEAVES), np.array(table).sum(axis=2).reshape(-1))
    assert leaves.min() >= MINIMUM
    records, correct, opened = told(table)
    assert (records, correct) == (None, None)
    assert opened == ["tree: leaves are large enough"]


@pytest.mark.parametrize("few", [0, 1, 4])
def test_few_records_of_a_class_in_a_part_hide_the_right_predictions_alone(few):
    records, correct, _ = told([[[9, few], [7, 8]], [[5, 12], [6, 20]]])
    assert records == [9 + few, 17, 41]
    assert correct is None


def test_nothing_is_opened_that_the_job_does_not_ask_for():
    records, correct, opened = told(LARGE, show=("accuracy",))
    assert (records, correct) == (None, 49)
    assert "tree: records of leaves" not in opened
    records, correct, opened = told(LARGE, show=("records",))
    assert (records, correct) == ([15, 17, 41], None)
    assert "tree: right predictions" not in opened


def solutions(table, known):
    """All tables of a, b that a coalition cannot tell from this one by leaf sizes and own sums."""
    total = sum(table.values())
    leaf = {(a, b): 2 if b else a for a in (0, 1) for b in (0, 1)}
    for cells in itertools.product(range(total + 1), repeat=3):
        rest = total - sum(cells)
        if rest < 0:
            continue
        other = dict(zip(table, (*cells, rest), strict=True))
        own = [sum(v for k, v in t.items() if k[known] == 0) for t in (table, other)]
        sizes = [
            [sum(v for k, v in t.items() if leaf[k] == at) for at in range(3)]
            for t in (table, other)
        ]
        if own[0] == own[1] and sizes[0] == sizes[1]:
            yield other


def test_whatever_is_shown_no_coalition_computes_a_small_count():
    """By enumeration: where sizes are shown, no cell that all solutions agree on is below the minimum."""
    rng = np.random.default_rng(4)
    shown = 0
    for _ in range(60):
        cells = rng.choice([0, 1, 2, 3, 4, 5], 4)
        table = dict(zip([(0, 0), (0, 1), (1, 0), (1, 1)], cells.tolist(), strict=True))
        if not 0 < sum(table.values()) <= 16:
            continue
        by_class = [[[table[a, b], 0] for b in (0, 1)] for a in (0, 1)]
        if told(by_class, ("records",), minimum=2)[0] is None:
            continue
        shown += 1
        for known in (0, 1):
            found = list(solutions(table, known))
            for cell, value in table.items():
                if len({other[cell] for other in found}) == 1:
                    assert value >= 2
    assert shown


def test_a_coalition_without_a_server_divides_leaves_by_all_it_knows():
    axes = (*AXES, Axis("c", "cat", 3))
    assert set(coalitions(("ann", "bob"), axes)) == {frozenset({"b", "c"}), frozenset({"a", "c"})}
    leaves = [Leaf({1: 0}, 0), Leaf({1: 1, 0: 0}, 0), Leaf({1: 1, 0: 1}, 0)]
    servers = Servers()
    reader, *others = parts_of(servers, axes, leaves, leaf_numbers((2, 2, 3), leaves))
    assert len(set(reader.tolist())) == 3
    # Who lacks b divides all three leaves, by a and c; who lacks a not the leaf that tests b alone.
    assert sorted(len(set(part.tolist())) for part in others) == [7, 12]


def test_with_a_minimum_of_one_no_count_is_small():
    assert told([[[1, 0], [0, 1]], [[0, 1], [2, 0]]], minimum=1)[0] == [1, 1, 3]
