"""Which rule is for which tables, and what is hidden besides, by public knowledge alone.

That the rules keep their promise is tested where their circuits are, in test_visible_cells.py.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from coterie.anonymity.counts.compared_tables import joint_tables
from coterie.anonymity.counts.hidden_cells import (
    MOST_ATOMS,
    Crossed,
    Grid,
    Holders,
    Lines,
    Slices,
    Table,
    plan,
    protected,
)
from coterie.base.errors import DataError

SIZES = {"x": 4, "y": 3, "z": 2, "w": 5, "c": 2, "one": 1}
OWNER = {"x": "A", "y": "B", "z": "C", "w": "A", "one": "B"}


def planned(*tables, servers=("A", "B"), known="c", owner=OWNER):
    shapes = [Table(tuple(t), tuple(SIZES[n] for n in t)) for t in tables]
    return plan(shapes, Holders(owner, servers, frozenset(known)))


def rules(*tables, **options):
    return [[type(rule) for rule in part.rules] for part in planned(*tables, **options)]


def test_attackers_are_the_strongest_coalitions_without_both_servers():
    table = Table(("x", "y", "z", "c"), (4, 3, 2, 2))

    def known(*servers):
        return [set(own) for own in Holders(OWNER, servers, frozenset("c")).attackers(table)]

    assert known("A", "B") == [set("yzc"), set("xzc")]
    assert known("A", "D") == [set("yzc"), set("xzc"), set("xyc")]


def test_two_holders_make_a_grid_whose_rows_are_the_shorter_lines():
    [part] = planned("xy")
    [grid] = part.rules
    assert isinstance(grid, Grid)
    assert grid.cells.tolist() == np.arange(12).reshape(1, 4, 3).tolist()
    [part] = planned("yx")
    assert part.rules[0].cells.tolist() == np.arange(12).reshape(3, 4).T[None].tolist()


def test_what_all_know_makes_blocks():
    [part] = planned("xyc")
    assert part.rules[0].cells.shape == (2, 4, 3)
    [part] = planned("xc")
    assert isinstance(part.rules[0], Lines)
    assert part.rules[0].cells.tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_three_holders_make_slices_unless_two_of_them_are_the_servers():
    assert rules("xyz") == [[Grid]]
    assert rules("xyz", servers=("A", "D")) == [[Slices]]


def test_with_different_people_a_table_is_one_line_a_class():
    [part] = planned("xy", owner=dict.fromkeys(OWNER))
    assert part.rules[0].cells.shape == (1, 12)
    [part] = planned("xyc", owner=dict.fromkeys(OWNER))
    assert part.rules[0].cells.shape == (2, 12)


def test_tables_that_share_an_attribute_are_cut_by_it():
    [part] = planned("xy", "yc", "yz")
    [slices] = part.rules
    assert isinstance(slices, Crossed)
    assert slices.cells.shape == (3, 4 + 2 + 2)
    assert slices.cells[1].tolist() == [1, 4, 7, 10, 14, 15, 20, 21]


def test_tables_that_share_an_attribute_are_judged_by_their_joint_table():
    [part] = planned("xy", "yc", "yz")
    assert [table.names for table in joint_tables([part])] == [tuple("xycz")]
    [rule] = part.rules
    assert rule.atoms.shape == (3, 1, 4, 2, 2)
    assert sorted(rule.atoms.reshape(-1)) == list(range(24, 24 + 48))
    [part] = planned("xyw", "yxz")  # both share x and y: x is cut, and y makes blocks
    assert part.rules[0].atoms.shape == (4, 3, 5, 2)
    first, second = planned("xy", "yc"), planned("xz", "zc")
    own = [tuple("xyc"), tuple("xzc")]
    assert [table.names for table in joint_tables(first + second)] == [*own, tuple("xycz")]


def test_tables_that_overlap_beside_the_slices_need_all_atoms_to_be_large():
    [part] = planned("xyz", "xzc", "xyc")
    assert part.rules[0].atoms.shape == (4, 1, 3 * 2 * 2)


def test_margins_of_one_table_need_no_joint_table():
    [part] = planned("xy", "y")
    assert isinstance(part.rules[0], Slices)
    assert joint_tables([part]) == []


def test_tables_whose_joint_table_is_too_large_are_not_shown_together():
    wide = Table(("x", "y"), (4, 80)), Table(("x", "z"), (4, 80))
    assert MOST_ATOMS < 4 * 80 * 80
    [part] = plan(wide, Holders(OWNER, ("A", "B")))
    assert not part.whole
    assert part.atoms is None
    assert joint_tables([part]) == []
    assert sum(rule.cells.size for rule in part.rules) <= 4 * 80


def test_tables_that_share_only_what_all_know_are_apart():
    assert rules("xc", "yc") == [[Lines], [Lines]]


def test_a_margin_across_the_slices_is_hidden_unless_all_is_large():
    [part] = planned("xy", "y", "x")
    assert not part.whole
    assert [rule.cells.size for rule in part.rules] == [12 + 3]


def test_of_tables_that_no_rule_fits_some_are_hidden():
    [part] = planned("xy", "yz", "zw")
    assert not part.whole
    shown = sum(rule.cells.size for rule in part.rules)
    assert shown < 12 + 6 + 10


def test_a_table_that_somebody_knows_whatever_is_hidden_is_refused():
    with pytest.raises(DataError, match="the table of x, one: one has one value only, so whoever"):
        planned(("x", "one"))
    with pytest.raises(DataError, match="knows the number of records knows every count"):
        planned(("one",))


def test_one_more_cell_is_hidden_of_lines_that_are_not_whole():
    shown = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 0]], bool)
    assert protected(Lines(np.zeros((3, 3), int)), shown).tolist() == [
        [True, True, True], [False, False, True], [False, False, False],
    ]  # fmt: skip


def test_one_more_cell_serves_a_row_and_a_column():
    shown = np.ones((1, 4, 4), bool)
    shown[0, 0, 0] = shown[0, 1, 1] = False
    visible = protected(Grid(np.zeros((1, 4, 4), int)), shown)
    assert visible.sum() == 16 - 2 - 2


def test_one_more_slice_is_hidden():
    shown = np.repeat([[True], [False], [True]], 2, axis=1)
    visible = protected(Slices(np.zeros((3, 2), int)), shown)
    assert visible[:, 0].tolist() == [False, False, True]


SCRIPT = """
import sys
from coterie.anonymity.counts.hidden_cells import Holders, Table, plan
sizes = {"x": 3, "y": 3, "z": 2, "w": 2}
for tables in (["xy", "yz", "zw"], ["xyz"], ["xy", "zw"], ["xyw", "xyz"]):
    shapes = [Table(tuple(t), tuple(sizes[n] for n in t)) for t in tables]
    for servers in (("A", "B"), ("A", "D")):
        holders = Holders({"x": "A", "y": "B", "z": "C", "w": "A"}, servers)
        for part in plan(shapes, holders):
            print(part.cells.tolist(), [(type(r).__name__, r.cells.tolist()) for r in part.rules])
"""


def test_every_process_makes_the_same_plan():
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(5)
    }
    assert len(found) == 1
