"""Scenes of counts, trees and nets."""

from __future__ import annotations

import numpy as np

from coterie.anonymity.counts.hidden_cells import Holders, Table, plan
from coterie.protocols.statistics import shared_counts
from coterie.protocols.statistics.bayesnet import Family, search
from coterie.protocols.statistics.family_costs import CountedFamily, family_costs
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.hidden_scores import HiddenScores
from coterie.protocols.statistics.leaf_counts import Leaf, leaf_counts
from coterie.protocols.statistics.mixed_cells import held_once
from coterie.protocols.statistics.predictions import predict_by_costs
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_lookup import looked_up, looked_up_anywhere
from coterie.protocols.statistics.shared_tables import (
    Axis,
    JointTable,
    horizontal_shares,
    mixed_sums,
    table_shares,
)
from coterie.protocols.statistics.tree import TreePlan, grow
from coterie.protocols.statistics.tree_predictions import predict
from coterie.protocols.statistics.visible_cells import _good_lines, visible_cells
from tests.protocols.scenes.form import SERVERS, THREE, scene, secret

# Among records that look the same to the watched party, which has its own column and the class, the
# others' values change places between the worlds, so that every count is the same.

RECORDS = 120
AXES = [Axis("x", "ann", 2), Axis("y", "bob", 3), Axis("z", "cat", 2)]


def columns(watched, world):
    """Codes of the three attributes, and the class."""
    draw = np.random.default_rng(7)
    codes = {axis.name: draw.integers(0, axis.size, RECORDS) for axis in AXES}
    # As many exceptions as make a tree of two levels.
    label = np.where(draw.random(RECORDS) < 0.7, codes["x"], codes["z"])
    mine = next(axis.name for axis in AXES if axis.owner == watched)
    order = np.arange(RECORDS)
    if world:
        for alike in np.unique(2 * codes[mine] + label):
            places = np.flatnonzero(2 * codes[mine] + label == alike)
            order[places] = np.roll(places, 1)
    moved = {name: values[order] for name, values in codes.items()}
    return {**moved, mine: codes[mine]}, label


def own_codes(codes, me):
    return {axis.name: codes[axis.name] for axis in AXES if axis.owner == me}


@scene("statistics/shared_counts statistics/shared_tables", THREE, shares=True, runs=4)
def a_shared_table(watched, world):
    codes, _ = columns(watched, world)

    def party(channel, rng):
        transfers = Transfers(channel, rng.fork("transfers"))
        mine = own_codes(codes, channel.me)
        return table_shares(transfers, JointTable(THREE, SERVERS, AXES, mine, RECORDS), rng)

    return dict.fromkeys(THREE, party)


@scene("statistics/shared_counts statistics/shared_tables", THREE, shares=True)
def a_shared_table_of_divided_records(watched, world):
    """All records of a party lie in one cell, the others' in another one in each world."""

    def party(channel, rng):
        cell = secret(watched, channel.me, world, 0, 255, 100)
        axes, codes = [Axis("w", None, 256)], {"w": np.full(3000, cell)}
        return horizontal_shares(channel, JointTable(THREE, SERVERS, axes, codes, 3000), rng)

    return dict.fromkeys(THREE, party)


@scene("statistics/shared_counts", SERVERS, shares=True)
def what_a_server_gets_of_one_holder(watched, world):
    """Cat alone holds the numbers: zeros in one world, large ones in the other."""

    def party(channel, rng):
        share = np.full(300, (0, 2**32 - 1)[world], np.uint32) if channel.me == "cat" else None
        return shared_counts.share_out(channel, SERVERS, ["cat"], 300, share, rng)

    return dict.fromkeys(THREE, party)


def halves(values, watched, me, world):
    """Shares of the servers: the watched one's is the same in both worlds."""
    if me not in SERVERS:
        return None
    fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
    mask = np.random.default_rng(3).integers(0, 2**32, np.shape(values), np.uint32)
    return mask if me == fixed else np.asarray(values, np.uint32) - mask


@scene("statistics/hidden_counts", SERVERS, shares=True)
def shares_of_what_is_large(watched, world):
    """All counts are empty in one world and large in the other; nothing is opened."""

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        share = halves([(0, 900)[world]] * 300, watched, channel.me, world)
        return group.large(share, 300, 5, zeros=False)

    return dict.fromkeys(THREE, party)


@scene("statistics/visible_cells statistics/hidden_counts", THREE)
def lines_that_are_hidden_whole(watched, world):
    """A line with one large cell looks like a line with none: nothing of either is shown."""

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        mask = np.random.default_rng(5).integers(0, 2, (40, 4), np.uint8)
        large = np.zeros((40, 4), np.uint8)
        large[:, 3] = world
        fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
        share = mask if channel.me == fixed else mask ^ large
        return _good_lines(group, share if channel.me in SERVERS else None, 40, 4)

    return dict.fromkeys(THREE, party)


@scene("statistics/visible_cells statistics/hidden_counts", THREE)
def tables_that_are_compared(watched, world):
    """The second table is hidden, since x and y differ in a few people: in which, nobody learns."""
    table = np.eye(6, dtype=int) * 20
    table[[0, 2, 4], [1, 3, 5]] = (1, 2, 3) if world else (3, 2, 1)
    counts = np.concatenate([[40] * 12, table.reshape(-1)])
    holders = Holders({"x": "ann", "y": "bob"}, SERVERS)
    components = plan([Table(("x",), (6,)), Table(("y",), (6,))], holders)

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        share = halves(counts, watched, channel.me, world)
        return visible_cells(group, components, share, 12, 5)

    return dict.fromkeys(THREE, party)


@scene("statistics/hidden_scores numbers/logarithm", THREE, runs=2)
def chosen_splits_and_families(watched, world):
    """The best candidate is the same, by little or by much."""
    table = [30, 0, 0, 30, 20, 10, 10, 20] if world else [50, 1, 2, 7, 20, 10, 30, 0]
    net = [[30, 30], [60, 0, 0, 0]]

    def party(channel, rng):
        group = HiddenScores(channel, THREE, SERVERS, 100, rng)
        share = halves(table, watched, channel.me, world)
        split = group.split(share, 1, [[2, 2]], 2)
        family = [30, 0, 0, 30] if world else [40, 2, 1, 17]
        shares = [halves(v, watched, channel.me, world) for v in (net[0], family)]
        best = group.best([[Family(shares[0], 1, 2), Family(shares[1], 2, 2)]])
        return [split, best]

    return dict.fromkeys(THREE, party)


def decided_leaves(watched, world, tables, last):
    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        counts = [count for node in tables[world] for count in node]
        share = halves(counts, watched, channel.me, world)
        leaf, labels, _ = group.leaves(share, len(tables[world]), 2, None, 4, last)
        return [leaf, labels]

    return dict.fromkeys(THREE, party)


@scene("statistics/hidden_counts", THREE)
def leaves_of_the_last_level(watched, world):
    """A pure node, a small one and a mixed one of the same class look the same."""
    tables = [[9, 0], [9, 8], [0, 1]], [[9, 8], [1, 0], [9, 0]]
    return decided_leaves(watched, world, tables, True)


@scene("statistics/hidden_counts", THREE)
def nodes_that_are_divided(watched, world):
    """Of a node that is no leaf nobody learns the most frequent class."""
    return decided_leaves(watched, world, ([[9, 8], [0, 7]] * 30, [[8, 9], [0, 7]] * 30), False)


@scene("statistics/tree", ("bob", "cat"), runs=1)
def a_tree_whose_leaves_are_pure_or_not(watched, world):
    """Whoever knows every record's class does not learn in which records Ann's attribute differs."""
    return tree_of_a_few_others(6 * world, 1)


@scene("statistics/tree", ("bob", "cat"), runs=1)
def a_tree_whose_leaves_above_the_last_level_are_pure_or_not(watched, world):
    """Nor that no record of another class is in a leaf, where the tree could have been deeper."""
    return tree_of_a_few_others(4 * world, 2)


def tree_of_a_few_others(others, depth):
    """A leaf of Ann's attribute with so many records of another class than its own."""
    label = np.repeat([0, 1], 20)
    codes = {"x": label.copy(), "y": np.arange(40) % 2}
    codes["x"][:others] = 1
    axes = (Axis("x", "ann", 2), Axis("y", "bob", 2))
    plan = TreePlan(THREE, SERVERS, axes, 2, 40, depth, 5)

    def party(channel, rng):
        scores = HiddenScores(channel, THREE, SERVERS, 40, rng.fork("scores"))
        mine = {axis.name: codes[axis.name] for axis in axes if axis.owner == channel.me}
        return grow(Transfers(channel, rng.fork("transfers")), plan, mine, label, scores, rng)

    return dict.fromkeys(THREE, party)


def counts_of_leaves(watched, world, tables):
    """Leaves a and b = 0, and b = 1, of counts by a (Ann's), b (Bob's) and the class."""
    axes = (Axis("a", "ann", 2), Axis("b", "bob", 2))
    leaves = [Leaf({1: 0, 0: 0}, 0), Leaf({1: 0, 0: 1}, 1), Leaf({1: 1}, 1)]

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng)
        share = halves(np.array(tables[world]).reshape(-1), watched, channel.me, world)
        shown = leaf_counts(group, axes, 2, leaves, share, 5, ("records", "accuracy"))
        return [shown.records is None, shown.correct]

    return dict.fromkeys(THREE, party)


@scene("statistics/leaf_counts statistics/hidden_counts", THREE)
def leaves_whose_differences_are_small(watched, world):
    """All leaves are large; how many of Ann's records with a = 0 have b = 1 is few or none."""
    tables = [[[9, 6], [3, 0]], [[5, 12], [16, 20]]], [[[9, 9], [0, 0]], [[5, 12], [16, 20]]]
    return counts_of_leaves(watched, world, tables)


@scene("statistics/leaf_counts statistics/hidden_counts", THREE)
def right_predictions_that_stay_hidden(watched, world):
    """The leaves have the same records; of one class there are few or none in one of them."""
    tables = [[[12, 3], [7, 8]], [[5, 12], [6, 20]]], [[[15, 0], [7, 8]], [[5, 12], [6, 20]]]
    return counts_of_leaves(watched, world, tables)


@scene("statistics/tree statistics/tree_predictions statistics/hidden_counts", THREE, runs=1)
def a_tree_and_its_predictions(watched, world):
    codes, label = columns(watched, world)
    plan = TreePlan(THREE, SERVERS, tuple(AXES), 2, RECORDS, 2, 5)

    def party(channel, rng):
        transfers = Transfers(channel, rng.fork("transfers"))
        scores = HiddenScores(channel, THREE, SERVERS, RECORDS, rng.fork("scores"))
        mine = own_codes(codes, channel.me)
        tree = grow(transfers, plan, mine, label, scores, rng)
        receiver = "cat" if watched != "cat" else "ann"
        predict(transfers, plan, tree, mine, RECORDS, [receiver], rng)
        return tree

    return dict.fromkeys(THREE, party)


@scene("statistics/predictions", THREE, runs=2)
def classes_by_costs(watched, world):
    """Cat gets the same classes, by little or by much; the servers get none, and others each time."""
    draw = np.random.default_rng(11)
    first = draw.integers(0, 2, 64)
    if world and watched != "cat":
        first = 1 - first
    ahead = (5, 40_000)[world]
    costs = np.stack([ahead * first, ahead * (1 - first)], axis=1) + 7

    def party(channel, rng):
        hidden = HiddenCounts(channel, THREE, SERVERS, rng.fork("hidden"))
        holder = "bob" if watched != "bob" else "ann"
        mine = costs if channel.me == holder else np.full((64, 2), 3)
        return predict_by_costs(hidden, mine, 16, ["cat"], rng)

    return dict.fromkeys(THREE, party)


@scene("statistics/family_costs numbers/logarithm", SERVERS, shares=True)
def probabilities_of_a_family_across_parties(watched, world):
    """All records have one value, or all have the other."""
    table = [0, 90] * 8 if world else [90, 0] * 8

    def party(channel, rng):
        scores = HiddenScores(channel, THREE, SERVERS, 100, rng.fork("scores"))
        share = halves(table, watched, channel.me, world)
        return family_costs(scores, [CountedFamily(share, 8, 2, 1)], 90, rng)

    return dict.fromkeys(THREE, party)


def half_of_a_table(watched, me, world, cells):
    """A server's share of small numbers, or of large ones; the watched server's is always the same."""
    half = halves(np.full(cells, (3, 2**25)[world]), watched, me, world)
    return None if half is None else half.astype(np.uint64)


def held_cells(watched, me, world):
    """Which of sixty cells a party holds, and which of them the watched one does.

    It holds every third; in each world another one of the others holds the rest.
    """
    mine = np.arange(60) % 3 == THREE.index(watched)
    others = [name for name in THREE if name != watched]
    return np.where(mine, watched, others[world]) == me, mine


@scene("statistics/shared_lookup statistics/shared_counts", THREE, shares=True, runs=4)
def cells_of_a_shared_table(watched, world):
    """Every other party's values are others in each world, and so is the table."""

    def party(channel, rng):
        codes = {axis.name: np.full(60, 1 if axis.owner == watched else world) for axis in AXES}
        share = half_of_a_table(watched, channel.me, world, 24)
        transfers = Transfers(channel, rng.fork("transfers"))
        mine = own_codes(codes, channel.me)
        return looked_up(transfers, SERVERS, AXES, 2, share, mine, 60, np.uint32)

    return dict.fromkeys(THREE, party)


@scene("statistics/shared_lookup statistics/shared_counts", THREE, shares=True, runs=4)
def cells_of_a_shared_table_that_lie_anywhere(watched, world):
    """The others' cells change hands between them, and their values are others in each world."""

    def party(channel, rng):
        held, mine = held_cells(watched, channel.me, world)
        codes = {"v": np.where(held, np.where(mine, 1, (0, 3)[world]), -1)}
        share = half_of_a_table(watched, channel.me, world, 8)
        transfers = Transfers(channel, rng.fork("transfers"))
        axes = [Axis("v", None, 4)]
        return looked_up_anywhere(transfers, THREE, SERVERS, axes, 2, share, codes, 60, np.uint32)

    return dict.fromkeys(THREE, party)


@scene("statistics/bayesnet", THREE, runs=1)
def a_net(watched, world):
    codes, _ = columns(watched, world)

    def party(channel, rng):
        transfers = Transfers(channel, rng.fork("transfers"))
        scores = HiddenScores(channel, THREE, SERVERS, RECORDS + 3, rng.fork("scores"))
        mine = own_codes(codes, channel.me)
        count = lambda axes: table_shares(  # noqa: E731
            transfers, JointTable(THREE, SERVERS, axes, mine, RECORDS), rng
        )
        return search(channel, AXES, 1, count, scores)

    return dict.fromkeys(THREE, party)


@scene("statistics/shared_tables statistics/grouped_sums", THREE, shares=True, runs=4)
def sums_of_cells_that_lie_anywhere(watched, world):
    """The others' cells change hands between them, and their values and numbers are far apart."""

    def party(channel, rng):
        held, mine = held_cells(watched, channel.me, world)
        number = np.where(mine, 7, (0, 2**63)[world]).astype(np.uint64)
        codes = {"v": np.where(held, np.where(mine, 1, (0, 3)[world]), -1)}
        numbers = np.where(held, number, np.uint64(0))[:, None]
        transfers = Transfers(channel, rng.fork("transfers"))
        axes = [Axis("v", None, 4)]
        table = JointTable(THREE, SERVERS, axes, codes, len(numbers))
        return mixed_sums(transfers, table, numbers, rng)

    return dict.fromkeys(THREE, party)


@scene(
    "statistics/mixed_cells", THREE,
    drawn=("statistics: seed of the check of cells",),
)  # fmt: skip
def columns_with_a_wrong_cell(watched, world):
    """The others' cells lie at one of them or at the other; one cell is at nobody, or one at both."""

    def party(channel, rng):
        others = [name for name in THREE if name != watched]
        names = np.where(np.arange(60) % 2, watched, others[world])
        cells = names == channel.me
        if channel.me in others:
            cells[(44, 10)[world]] = bool(world)
        group = HiddenCounts(channel, THREE, SERVERS, rng.fork("decide"))
        return held_once(group, [cells] * 30, rng)

    return dict.fromkeys(THREE, party)
