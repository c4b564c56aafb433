"""Which tables may be shown beside each other, though they share no attribute.

Sex by G1 and Gender by G2 share no attribute. If Sex and Gender are nearly one column, whoever holds
them, and G1 and G2 nearly another, the difference of two cells is about the people in whom they differ.
So may be sums over three tables, if three columns follow from each other, and the whole rows of two
tables. The components of `hidden_cells` are therefore compared by the table of all their attributes,
which is counted and never shown (`visible_cells` computes on shares of it):

- A *node* is a set of people whom a component's shown cells do not tell apart; those in hidden cells
  are one node. Whole factors of the shown cells give each node a number; a person's number is the sum
  over the person's nodes, one of each component.
- Say a sum is about few people if 1 to minimum-1 people have another number than 0. Suppose that it
  is. Begin with one node of each component that at least `minimum` people have together: their numbers
  add up to 0. If at least `minimum` people have a node together with nodes that are reached already, in
  all other components, then its number is that of the reached nodes of its component. So once every
  node is reached, everybody's number is 0, and no sum is about few people.
- What need not be reached: a node with nobody in it, and a small node of shown cells, whose number
  follows from the large ones (a shown cell is large; cells of several tables are linked).

Nodes that 0 to minimum-1 people have together link nothing, whether it is 0 or more: so Job by AgeGroup
is not shown beside Sex by Age. To tell such columns, of which one follows from the other, from those
with a few exceptions would tell that there are exceptions, in any set of people that a partner's column
or the class marks.

Components that do not pass are hidden whole. To pass takes more people, never fewer. Moving people from one hidden cell to another changes
nothing here. Values of attributes that everybody knows, and that all compared components have, are
compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coterie.anonymity.counts.hidden_cells import Component, Table, joint_of
from coterie.base.arrays import Ints, Mask

MOST_TOGETHER = 1 << 12  # the most cells of a table by which all components are compared
MOST_PAIR = 1 << 16  # the most cells of a table by which two are


@dataclass(frozen=True)
class Slice:
    """What is compared for one value of the attributes that everybody knows.

    `cells` are those of the joint table, and `places` where each is added up: the number of its
    combination of nodes. `hidden` has the number of a component's node of hidden cells, or None.
    """

    cells: Ints
    places: Ints
    shape: tuple[int, ...]
    hidden: tuple[int | None, ...]


def comparisons(components: Sequence[Component]) -> dict[tuple[int, ...], Table]:
    """The tables by which components are compared: all together, or else every two."""
    if len(components) < 2:
        return {}
    every = tuple(range(len(components)))
    together = _joint(components, every)
    if together.cells <= MOST_TOGETHER:
        return {every: together}
    pairs = {pair: _joint(components, pair) for pair in combinations(every, 2)}
    return {pair: table for pair, table in pairs.items() if table.cells <= MOST_PAIR}


def joint_tables(components: Sequence[Component]) -> list[Table]:
    """The tables that are counted besides those to show, in the order of their cells."""
    own = [table for component in components for table in component.joints]
    return [*own, *comparisons(components).values()]


def compared(
    components: Sequence[Component], some: Sequence[int], table: Table, visible: Mask
) -> Iterator[Slice]:
    """What is compared to show some components together, by the joint table of these or more."""
    values = dict(
        zip(table.names, np.indices(table.shape).reshape(len(table.shape), -1), strict=True)
    )
    shapes = dict(zip(table.names, table.shape, strict=True))
    owners = [{name for own in components[at].tables for name in own.names} for at in some]
    shared = [name for name in table.names if all(name in names for names in owners)]
    which = _number(values, shared, shapes)
    nodes = [_nodes(components[at], values, visible) for at in some]
    for value in range(int(which.max()) + 1):
        cells = np.flatnonzero(which == value)
        axes, hidden = [], []
        for node in nodes:
            names, axis = np.unique(node[cells], return_inverse=True)
            axes.append(axis.reshape(-1))
            hidden.append(0 if names[0] == 0 else None)
        shape = tuple(int(axis.max()) + 1 for axis in axes)
        yield Slice(cells, np.ravel_multi_index(axes, shape), shape, tuple(hidden))


def _joint(components: Sequence[Component], some: Sequence[int]) -> Table:
    return joint_of([table for at in some for table in components[at].tables])


def _number(values: Mapping[str, Ints], names: Sequence[str], shapes: Mapping[str, int]) -> Ints:
    """One number of the values of some attributes, for each cell of the joint table."""
    number = np.zeros(len(next(iter(values.values()))), np.int64)
    for name in names:
        number = number * shapes[name] + values[name]
    return number


def _nodes(component: Component, values: Mapping[str, Ints], visible: Mask) -> Ints:
    """The node of each cell of the joint table: 0 where all cells of the component are hidden."""
    shown, start = [], 0
    for table in component.tables:
        sizes = dict(zip(table.names, table.shape, strict=True))
        cell = _number(values, table.names, sizes)
        shown.append(np.where(visible[component.cells[start + cell]], cell + 1, 0))
        start += table.cells
    rows, node = np.unique(np.stack(shown, axis=1), axis=0, return_inverse=True)
    return node.reshape(-1) + int(rows[0].any())
