"""A small cell could be empty, whatever an attacker has seen: by counting all worlds it allows.

Worlds are all ways to spread some records over the values of a few attributes. An attacker's view of
a world is what it knows of the records, every bit that was opened, and the visible counts. In each
view in which a cell is small in some world, it must be empty in another.
"""

import itertools

import numpy as np
import pytest

from coterie.anonymity.counts.compared_tables import joint_tables
from coterie.anonymity.counts.hidden_cells import (
    Component,
    Grid,
    Holders,
    Table,
    plan,
)
from coterie.base.errors import DataError
from coterie.protocols.statistics.visible_cells import visible_cells
from tests.protocols.statistics.plain_servers import PlainServers


def spread(total, cells):
    """All ways to put `total` records into so many cells, one in each row."""
    bars = np.array(list(itertools.combinations(range(total + cells - 1), cells - 1)))
    first, last = np.full((len(bars), 1), -1), np.full((len(bars), 1), total + cells - 1)
    return np.diff(np.concatenate([first, bars, last], axis=1), axis=1) - 1


def margin(worlds, names, sizes, wanted):
    """The table over the wanted attributes of each world, flat, in their order."""
    cube = worlds.reshape(len(worlds), *sizes)
    away = tuple(1 + at for at, name in enumerate(names) if name not in wanted)
    left = [name for name in names if name in wanted]
    table = cube.sum(axis=away)
    order = [1 + left.index(name) for name in wanted]
    return table.transpose(0, *order).reshape(len(worlds), -1)


def groups(*columns):
    """A number for each different row, from columns of small numbers.

    As many columns as fit are the digits of one number: sorting numbers takes a tenth of the time that
    sorting rows takes.
    """
    rows = np.concatenate([np.asarray(c).reshape(len(c), -1) for c in columns], axis=1)
    number, several = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        least, base = int(column.min()), int(np.ptp(column)) + 1
        if several * base >= 1 << 62:
            number = np.unique(number, return_inverse=True)[1].reshape(-1)
            several = len(rows)
        number, several = number * base + (column - least), several * base
    return np.unique(number, return_inverse=True)[1].reshape(-1)


def with_joints(components, counts, worlds, names, sizes):
    """The counts, and after them those of the joint tables, which decide and are not shown."""
    joints = [margin(worlds, names, sizes, table.names) for table in joint_tables(components)]
    return np.concatenate([counts, *joints], axis=1)


def shown(components, counts, minimum, zeros=False):
    """For each world what is opened, as a number, and the visible counts, -1 where hidden.

    Only what is large decides, so that one world stands for all with the same large cells.
    """
    cells = sum(len(component.cells) for component in components)
    large = (counts >= minimum) | (zeros & (counts == 0))
    which = groups(large.astype(np.int8))
    _, first = np.unique(which, return_index=True)
    opened, visible = [], []
    for at in first:
        servers = PlainServers()
        visible.append(visible_cells(servers, components, counts[at], cells, minimum, zeros))
        opened.append(tuple(bits.tobytes() for bits in servers.opened))
    number = {bits: at for at, bits in enumerate(dict.fromkeys(opened))}
    seen = np.array([number[bits] for bits in opened])[which]
    return seen, np.where(np.array(visible)[which], counts[:, :cells], -1)


def never_empty(view, counts, minimum, own=None):
    """How many small cells are known not to be empty. `own` is what the attacker put in itself."""
    own = np.zeros_like(counts) if own is None else own
    found = 0
    for at in range(counts.shape[1]):
        possible = np.zeros(view.max() + 1, bool)
        possible[view[counts[:, at] == own[:, at]]] = True
        small = (counts[:, at] > own[:, at]) & (counts[:, at] < minimum)
        found += int((small & ~possible[view]).sum())
    return found


def vertical(owner, sizes, tables, total, minimum, label=None, servers=("A", "B"), zeros=False):
    """For each attacker how many small cells it knows not to be empty; and the share of cells shown."""
    names = list(sizes)
    worlds = spread(total, int(np.prod(list(sizes.values()))))
    known = frozenset([label] if label else [])
    shapes = [Table(tuple(t), tuple(sizes[n] for n in t)) for t in tables]
    components = plan(shapes, Holders(owner, servers, known))
    parts = [margin(worlds, names, list(sizes.values()), t) for t in tables]
    counts = np.concatenate(parts, axis=1)
    every = with_joints(components, counts, worlds, names, list(sizes.values()))
    seen, visible = shown(components, every, minimum, zeros)
    parties = sorted(set(owner.values()))
    found = {}
    for size in range(len(parties) + 1):
        for coalition in itertools.combinations(parties, size):
            if set(servers) <= set(coalition):
                continue
            own = {n for n in names if owner.get(n) in coalition} | (known if coalition else set())
            margins = margin(worlds, names, list(sizes.values()), [n for n in names if n in own])
            view = groups(seen[:, None], visible, margins)
            found[coalition] = sum(
                never_empty(view, part, minimum)
                for table, part in zip(tables, parts, strict=True)
                if not set(table) <= own
            )
    return found, (visible >= 0).mean()


def safe(*arguments, **options):
    found, share = vertical(*arguments, **options)
    assert found == dict.fromkeys(found, 0)
    return share


AB = {"x": "A", "y": "B"}


@pytest.mark.parametrize("minimum", [2, 3])
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
@pytest.mark.parametrize("total", [3, 5, 7, 9])
def test_no_attacker_knows_that_a_small_cell_of_a_small_table_is_not_empty(shape, total, minimum):
    safe(AB, dict(zip("xy", shape, strict=True)), ["xy"], total, minimum)


def test_in_larger_tables_something_is_shown_beside_small_cells():
    assert safe(AB, {"x": 3, "y": 3}, ["xy"], 10, 2) > 0.001
    assert safe(AB, {"x": 4, "y": 2}, ["xy"], 11, 2) > 0.005


@pytest.mark.parametrize("sizes", [(2, 2, 2), (2, 3, 2)])
def test_what_all_know_cuts_a_table_into_blocks(sizes):
    total = 8 if sizes[1] == 2 else 6
    safe(AB, dict(zip("xyc", sizes, strict=True)), ["xyc"], total, 2, "c")


def test_a_table_of_one_holder_is_hidden_from_the_others():
    assert safe({"x": "A", "y": "B"}, {"x": 5, "y": 1}, ["x"], 11, 2) > 0
    safe({"x": "A", "z": "A", "y": "B"}, {"x": 2, "z": 3, "y": 1}, ["xz"], 8, 3)
    safe({"x": "A", "y": "B"}, {"x": 3, "y": 1, "c": 2}, ["xc"], 8, 2, "c")


@pytest.mark.parametrize("servers", [("A", "B"), ("A", "C"), ("A", "D")])
def test_coalitions_without_one_of_the_servers_learn_no_more(servers):
    owner = {"x": "A", "y": "B", "z": "C"}
    for total, minimum in ((7, 2), (8, 3)):
        safe(owner, {"x": 2, "y": 2, "z": 2}, ["xyz"], total, minimum, servers=servers)


def with_sums(table, axis):
    """All tables with the same sums along an axis, one in each row, flat."""
    lines = np.moveaxis(np.asarray(table), axis, -1)
    flat = lines.reshape(-1, lines.shape[-1])
    worlds = itertools.product(*(spread(int(line.sum()), len(line)) for line in flat))
    turned = np.array(list(worlds)).reshape(-1, *lines.shape)
    return np.moveaxis(turned, -1, 1 + axis).reshape(-1, np.size(table))


@pytest.mark.parametrize(
    "table",
    [
        [[1, 2, 2], [1, 2, 2], [1, 2, 2]],
        [[1, 1, 1], [3, 2, 2], [2, 2, 3]],
        [[0, 2, 3], [1, 2, 2], [2, 2, 2]],
        [[1, 2], [2, 2], [2, 3], [3, 2]],
        [[1, 1], [1, 1], [4, 2], [2, 3]],
        [[1, 0, 2], [2, 2, 3], [2, 3, 2]],
    ],
)
def test_of_all_tables_with_the_same_sums_one_looks_the_same_and_has_the_cell_empty(table):
    could_be_empty(plan([Table(("x", "y"), np.shape(table))], Holders(AB, ("A", "B"))), table)


def test_lines_of_two_classes_do_not_protect_each_other():
    """Class by class: a large cell of one class hides nothing in the other, whose sums are known."""
    table = np.stack([[[1, 2, 2], [2, 2, 2]], [[2, 0, 0], [2, 0, 0]]], axis=-1)
    holders = Holders(AB, ("A", "B"), frozenset("c"))
    could_be_empty(plan([Table(("x", "y", "c"), table.shape)], holders), table)


def could_be_empty(components, table, minimum=2):
    for axis in (0, 1):
        worlds = with_sums(table, axis)
        seen, visible = shown(components, worlds, minimum)
        here = (worlds == np.ravel(table)).all(axis=1).argmax()
        same = (seen == seen[here]) & (visible == visible[here]).all(axis=1)
        small = np.flatnonzero((np.ravel(table) > 0) & (np.ravel(table) < minimum))
        assert small.size
        for at in small:
            assert (worlds[same, at] == 0).any()


TOGETHER = [
    ["xy", "y"],
    ["xy", "x", "y"],
    ["xy", "yz"],
    ["xy", "yz", "y"],
    ["xy", "z"],
    ["xy", "yz", "xz"],
    ["xyz", "xy"],
]


@pytest.mark.parametrize("tables", TOGETHER, ids="+".join)
@pytest.mark.parametrize("owner", ["ABA", "ABB", "ABC"])
def test_tables_of_one_job_do_not_give_each_other_away(tables, owner):
    holders = dict(zip("xyz", owner, strict=True))
    for total, minimum in ((6, 2), (7, 3)):
        safe(holders, {"x": 2, "y": 2, "z": 2}, tables, total, minimum)


@pytest.mark.parametrize("owner", ["ABA", "ABB", "ABC"])
def test_of_three_tables_in_a_ring_two_that_are_shown_would_give_the_third_away(owner):
    """Two values of y would bound x by z from below; so nothing is shown unless all atoms are large."""
    holders = dict(zip("xyz", owner, strict=True))
    sizes = {"x": 2, "y": 2, "z": 2}
    assert safe(holders, sizes, ["xy", "yz", "xz"], 13, 2) == 0
    shapes = [Table(tuple(t), (2, 2)) for t in ("xy", "yz", "xz")]
    components = plan(shapes, Holders(holders, ("A", "B")))
    world = np.full((1, 8), 2)
    parts = [margin(world, list(sizes), [2, 2, 2], t) for t in ("xy", "yz", "xz")]
    counts = np.concatenate(parts, axis=1)
    every = with_joints(components, counts, world, list(sizes), [2, 2, 2])
    assert (shown(components, every, 2)[1] == 4).all()


def test_who_knows_the_free_attribute_of_a_hidden_table_is_not_deceived_by_it():
    """A knows x and z: how many records have each value of y bounds x by y by z from below."""
    holders = {"x": "A", "y": "B", "z": "A"}
    for total in (5, 6):
        sizes = {"x": 2, "y": 2, "z": 2}
        safe(holders, sizes, ["x", "y", "xyz"], total, 2, servers=("A", "C"))


def test_tables_that_share_an_attribute_are_shown_where_large_atoms_link_them():
    """Three of four atoms of each value of y are enough; twelve records have two in each."""
    sizes = {"x": 2, "y": 2, "z": 2}
    assert safe(AB | {"z": "A"}, sizes, ["xy", "yz"], 12, 2) > 0


def test_slices_are_shown_where_all_their_cells_are_large():
    assert safe(AB | {"z": "A"}, {"x": 2, "y": 3, "z": 1}, ["xy", "y"], 12, 2) > 0


@pytest.mark.parametrize("tables", [["xc"], ["x"], ["xy"], ["xy", "x"], ["xyc"]], ids="+".join)
def test_parties_with_different_people_learn_no_more_than_their_own(tables):
    sizes = {"x": 2, "y": 2, "c": 2}
    cells, label = 8, "c"
    for total, minimum in ((4, 2), (4, 3)):
        both = spread(total, 2 * cells)
        mine, theirs = both[:, :cells], both[:, cells:]
        classes = margin(mine + theirs, list(sizes), [2, 2, 2], "c")
        occurs = (classes > 0).all(axis=1)  # the values of the class are those that occur
        mine, theirs = mine[occurs], theirs[occurs]
        shapes = [Table(tuple(t), (2,) * len(t)) for t in tables]
        holders = Holders(dict.fromkeys("xy"), ("A", "B"), frozenset(label))
        parts = [
            [margin(part, list(sizes), [2, 2, 2], t) for t in tables] for part in (mine, theirs)
        ]
        own = np.concatenate(parts[0], axis=1)
        counts = own + np.concatenate(parts[1], axis=1)
        seen, visible = shown(plan(shapes, holders), counts, minimum)
        view = groups(seen[:, None], visible, mine)
        assert never_empty(view, counts, minimum, own) == 0
        reader = groups(seen[:, None], visible)
        assert never_empty(reader, counts, minimum) == 0


def grid(table, minimum, zeros=False):
    counts = np.asarray(table)
    shape = counts.shape
    components = plan([Table(("x", "y"), shape)], Holders(AB, ("A", "B")))
    visible = visible_cells(
        PlainServers(), components, counts.reshape(-1), counts.size, minimum, zeros
    )
    return visible.reshape(shape)


def test_a_row_with_one_cell_that_is_not_empty_is_not_given_away():
    rest = [[20, 30, 40, 50]] * 3
    visible = grid([[3, 0, 0, 0], *rest], 5)
    assert not visible[0].any()
    assert (visible[1:].sum(axis=0) == 2).all()  # of each column the other holder misses one, too


def test_a_row_of_one_small_and_one_least_large_cell_is_not_given_away():
    visible = grid([[1, 5], [20, 30], [40, 50]], 5)
    assert not visible[0].any()


def test_what_was_known_from_the_result_alone_is_not_any_more():
    for rows in itertools.product(spread(3, 3).tolist(), spread(4, 3).tolist()):
        assert grid(rows, 3).sum() in (0, 6)
    assert not grid([[3, 0, 0], [3, 1, 0]], 3).any()


def test_large_tables_hide_one_more_cell_a_line_and_no_more():
    table = np.full((6, 8), 50)
    table[0, 0] = 1
    assert grid(table, 5).sum() == 48 - 3
    assert grid(np.full((6, 8), 5), 5).all()


def test_zeros_are_shown_on_request():
    table = np.full((4, 5), 50)
    table[1, 2], table[3, 3] = 0, 2
    hidden, visible = grid(table, 5), grid(table, 5, zeros=True)
    assert visible[1, 2]
    assert not hidden[1, 2]
    assert not visible[3, 3]
    assert visible.sum() > hidden.sum()


@pytest.mark.parametrize("tables", [["xy"], ["xy", "y"]], ids="+".join)
def test_zeros_shown_still_leave_another_table_with_the_same_counts(tables):
    minimum, worlds = 3, spread(6, 6)
    shapes = [Table(tuple(t), (3, 2)[-len(t) :]) for t in tables]
    counts = np.concatenate([margin(worlds, "xy", [3, 2], t) for t in tables], axis=1)
    _, visible = shown(plan(shapes, Holders(AB, ("A", "B"))), counts, minimum, zeros=True)
    assert (visible == 0).any()
    for mask in np.unique(visible >= 0, axis=0):
        hides = ((visible >= 0) == mask).all(axis=1)
        for own in ("x", "y"):
            # All worlds that have these sums and counts, whatever would be hidden of them.
            view = groups(np.where(mask, counts, -1), margin(worlds, "xy", [3, 2], own))
            for at in range(6):
                possible = np.zeros(view.max() + 1, bool)
                possible[view[counts[:, at] == 0]] = True
                small = hides & (counts[:, at] > 0) & (counts[:, at] < minimum)
                assert possible[view[small]].all()


def test_without_small_cells_everything_is_shown():
    assert grid([[0, 1], [2, 3]], 1).all()


def test_where_nothing_could_be_hidden_the_table_is_refused():
    with pytest.raises(DataError, match="y has one value only"):
        safe(AB, {"x": 3, "y": 1}, ["xy"], 4, 2)
    with pytest.raises(DataError, match="whoever knows the number of records"):
        safe(AB, {"x": 1, "y": 3}, ["x"], 4, 2)


def test_many_tables_are_decided_as_one_batch():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, (50, 4, 3))
    batch = Component(np.arange(600), (Grid(np.arange(600).reshape(50, 4, 3)),))
    together = visible_cells(PlainServers(), [batch], counts.reshape(-1), 600, 3)
    alone = [grid(table, 3) for table in counts]
    assert (together.reshape(counts.shape) == np.array(alone)).all()


def test_of_tables_that_are_compared_one_bit_is_opened():
    """Besides what is opened of each table alone: neither which people they share, nor how many."""
    tables = [Table(("x",), (3,)), Table(("y",), (3,))]
    holders = Holders({"x": "A", "y": "B"}, ("A", "B"))
    components = plan(tables, holders)
    for joint, visible in ((np.eye(3) * 9 + 1, 3), (np.full((3, 3), 9), 6)):
        counts = np.concatenate([joint.sum(1), joint.sum(0), joint.reshape(-1)])
        together, alone = PlainServers(), PlainServers()
        found = visible_cells(together, components, counts, 6, 5)
        for table, cells in zip(tables, np.split(counts[:6], 2), strict=True):
            visible_cells(alone, plan([table], holders), cells, 3, 5)
        assert found.sum() == visible
        assert sum(b.size for b in together.opened) == 1 + sum(b.size for b in alone.opened)
