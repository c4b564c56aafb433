"""The rules for which cells of count tables may be shown, so that a small cell could be empty.

A cell of 1 to minimum-1 records is small. An attacker knows some attributes of every record, hence
all sums over lines of cells that agree in these attributes, and also the rules of this module. The
promise: for every attacker and every small cell there is another table, in which that cell is
empty, and from which the same sums, the same opened bits and the same visible counts follow. So no
rule here may turn out differently when the records of a small cell move to a cell that is hidden
from the attacker, in a direction that the attacker does not know.

The rules work on one bit for each cell: whether the cell is large, with at least `minimum` records.
They do not distinguish cells of 0 to minimum-1 records. (With `zeros: show` empty cells count as
large, and less is promised: the other table need not lead to the same opened bits.) Three rules,
for three kinds of tables:

- `Lines`, where all attackers see the same lines of one table. A line with fewer than two large
  cells is hidden whole; of the others, the large cells are shown.
  Why: if the line of a small cell has a large one, a large one of it is hidden (below), and records
  that move there change no bit. If it has none, the cell they move to may become its only large
  one, and the line is hidden as before.
- `Grid`, where attackers see the rows or the columns of one table, block by block (a block is what
  both know). Rows are treated as lines; then columns are, by what the rows leave.
  Why: movements within a row as above. Within a column without large cells the records move to
  another row, where a large cell may arise. A row that had none, or two and more, is treated as
  before, and the column hides that cell. If all other rows have exactly one, then only one row can
  have two, and nothing of the block is shown; nor is it if all records of all columns are in one
  other row, which has the same sums.
- `Slices`, for more than two kinds of lines, or a table with margins of its own. All cells with the
  same value of one attribute, in all these tables, are a slice: it is shown if all its cells are
  large, and no slice is shown unless two can be.
  Why: who does not know the attribute is deceived by a move to another slice, which is hidden
  (below) and stays large, or which becomes the only good one. Who knows it is deceived by a move
  within the slice, which stays bad because of the cell that becomes empty.
- `Crossed`, for several tables that share attributes and differ in others. Large cells are not
  enough here: of Sex by G1 and Sex by G2, whose holder lets G1 and G2 differ in one person, the
  difference of two large cells is this person's sex. So the slices are judged by the joint table of
  all attributes, whose cells are called atoms and which is never shown: a slice is shown if its large
  atoms link all cells of each table (`linked`), and no slice is shown unless two can be.
  Why: a sum of shown cells with whole factors gives each atom a factor, the sum of a factor for
  each table. If it is 0 for all large atoms of a slice it is 0 for all atoms: two large atoms that
  differ in the cell of one table only have the same factor for both cells of this table, hence all
  cells of the table have, since large atoms link them, and every atom has the factor of a large one.
  So each such sum is over none or at least `minimum` people of every slice in which it counts
  anybody, whatever the columns are. To be linked needs more records, never fewer, and a slice with a
  small cell is not linked; hence the deceptions of `Slices` work here, too.

The bits that these rules leave are opened. `protected` then hides one more cell (one slice)
wherever a line has both shown and hidden cells: it uses nothing but these bits, and the cell that
it hides is a large one, to which the records of a small cell can move without changing anything.

Tables that no rule fits are hidden, unless all atoms of all connected tables are large. Tables that
are not connected are compared after that (`compared_tables`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np

from coterie.base.arrays import Ints, Mask
from coterie.base.errors import DataError

MOST_SUBSETS = 10  # the most tables of one component of which all subsets are tried
MOST_ATOMS = 1024  # the most cells of a joint table that is counted to judge others


@dataclass(frozen=True)
class Table:
    """The attributes of a table with their numbers of values. Cells are numbered in this order."""

    names: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def size(self, names: Collection[str]) -> int:
        """The number of combinations of values of some of the attributes."""
        return int(np.prod([s for n, s in zip(self.names, self.shape, strict=True) if n in names]))

    def grouped(self, *groups: Sequence[str]) -> Ints:
        """The numbers of the cells, an axis for each group of attributes."""
        places = [self.names.index(name) for group in groups for name in group]
        numbers = np.arange(self.cells).reshape(self.shape).transpose(places)
        return numbers.reshape([self.size(group) for group in groups])


@dataclass(frozen=True)
class Holders:
    """Who knows which attributes.

    `owner` has the party that holds each attribute, or None if every party holds its own part of
    the records; `known` has the attributes that everybody knows of every record. The two servers
    never collude.
    """

    owner: Mapping[str, str | None]
    servers: tuple[str, str]
    known: frozenset[str] = frozenset()

    def attackers(self, table: Table) -> list[frozenset[str]]:
        """The attributes of a table that the strongest coalitions know.

        These are coalitions that lack a server and do not know all attributes. Other coalitions,
        and readers of the result, know a part of that.
        """
        names = [name for name in table.names if name not in self.known]
        owners = list(dict.fromkeys(self.owner[name] for name in names))
        missing = self.servers if set(self.servers) <= set(owners) else owners
        return [
            frozenset(table.names) - {name for name in names if self.owner[name] == party}
            for party in missing
        ]


@dataclass(frozen=True)
class Lines:
    """Cells by line: shape (lines, cells of a line)."""

    cells: Ints


@dataclass(frozen=True)
class Grid:
    """Cells by block, row and column. Rows are the shorter lines."""

    cells: Ints


@dataclass(frozen=True)
class Slices:
    """Cells by slice: shape (slices, cells of a slice)."""

    cells: Ints


@dataclass(frozen=True)
class Crossed:
    """Cells by slice, and the atoms by which slices are judged.

    Atoms have the shape (slices, blocks, cells of a table …): a block is what all tables share besides
    the attribute of the slices; then there is an axis for each table.
    """

    cells: Ints
    atoms: Ints


Rule = Lines | Grid | Slices | Crossed


@dataclass(frozen=True)
class Component:
    """Connected tables: all their cells, and the rules for the cells that can be shown.

    Cells in no rule are shown only if all `atoms` are large, which are the cells of the joint table;
    if that has too many there are none, and the cells stay hidden. `joints` are the joint tables that
    are counted for this component, besides the tables: their cells come after those of all tables
    and of earlier components' joint tables. `tables` are the component's tables.
    """

    cells: Ints
    rules: tuple[Rule, ...]
    atoms: Ints | None = None
    joints: tuple[Table, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every cell is in a rule."""
        return sum(rule.cells.size for rule in self.rules) == len(self.cells)


def plan(tables: Sequence[Table], holders: Holders) -> list[Component]:
    """The rules for these tables, by public knowledge. Cells of all tables are numbered in a row.

    Raises DataError if the attributes that an attacker does not know have one value only, so that
    the attacker knows the table whatever is hidden.
    """
    for table in tables:
        _check(table, holders)
    starts = [int(start) for start in np.cumsum([0, *(table.cells for table in tables)])]
    end = starts[-1]
    components = []
    for places in _connected(tables, holders.known):
        shown = next(
            some for some in _subsets(places) if _sound(tables, places, some, holders)
        )  # fmt: skip
        joints = _Joints(end)
        rules = [
            _rule([(tables[at], starts[at]) for at in group], holders, joints)
            for group in _connected(tables, holders.known, shown)
        ]
        cells = np.concatenate([np.arange(starts[at], starts[at + 1]) for at in places])
        part = Component(cells, tuple(rules))
        if not part.whole:
            part = replace(part, atoms=joints.atoms([(tables[at], starts[at]) for at in places]))
        own = tuple(tables[at] for at in places)
        components.append(replace(part, joints=tuple(joints.found), tables=own))
        end = joints.end
    return components


def protected(rule: Rule, shown: Mask) -> Mask:
    """Which of the cells that a rule shows may be seen, in the shape of the rule's cells."""
    if isinstance(rule, Lines):
        return _lines_protected(shown)
    if isinstance(rule, Grid):
        return np.stack([_block_protected(block) for block in shown])
    slices = _lines_protected(shown[:, 0].reshape(1, -1))
    return np.repeat(slices.reshape(-1, 1), shown.shape[1], axis=1)


def _lines_protected(shown: Mask) -> Mask:
    """The shown cells without the first one of each line that has hidden cells as well."""
    visible = shown.copy()
    mixed = np.flatnonzero(shown.any(axis=1) & ~shown.all(axis=1))
    visible[mixed, shown[mixed].argmax(axis=1)] = False
    return visible


def _block_protected(shown: Mask) -> Mask:
    """The shown cells without one of every row and column that has hidden cells as well."""
    visible = shown.copy()
    rows = shown.any(axis=1) & ~shown.all(axis=1)
    columns: Mask = np.asarray(shown.any(axis=0) & ~shown.all(axis=0))
    for row in np.flatnonzero(rows):
        both = shown[row] & columns
        chosen = int((both if both.any() else shown[row]).argmax())
        visible[row, chosen] = columns[chosen] = False
    for column in np.flatnonzero(columns):
        visible[int(shown[:, column].argmax()), column] = False
    return visible


def _check(table: Table, holders: Holders) -> None:
    for own in holders.attackers(table):
        rest = [name for name in table.names if name not in own]
        if table.size(rest) < 2:
            others = f"the values of {', '.join(sorted(own))}" if own else "the number of records"
            raise DataError(
                f"the table of {', '.join(table.names)}: {', '.join(rest)} has one value only, so "
                f"whoever knows {others} knows every count; leave the table out"
            )


def _connected(
    tables: Sequence[Table], known: Collection[str], places: Sequence[int] | None = None
) -> list[list[int]]:
    """The places of the tables, grouped by shared attributes that not everybody knows."""
    groups: list[tuple[set[str], list[int]]] = []
    for at in range(len(tables)) if places is None else places:
        names = set(tables[at].names) - set(known)
        touching = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        groups.append(
            (
                names.union(*(group[0] for group in touching)),
                sorted([at, *(place for group in touching for place in group[1])]),
            )
        )
    return sorted(places for _, places in groups)


def _subsets(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Sets of tables to show, the best first; the last one is empty."""
    yield places
    if len(places) <= MOST_SUBSETS:
        for size in range(len(places) - 1, 0, -1):
            yield from combinations(places, size)
    yield ()


def _sound(
    tables: Sequence[Table], places: Sequence[int], shown: Sequence[int], holders: Holders
) -> bool:
    """Whether these tables of a component can be shown by a rule, and the others hidden.

    Tables that are shown and connected must have an attribute in common, the one that is cut into
    slices. The records of a small cell of a hidden table must be able to move without touching a
    shown one; or the table is a margin of a sliced one, so that a small cell in it means that the
    slices it crosses are bad, and the cell that becomes empty keeps them so.
    """
    groups = _connected(tables, holders.known, shown)
    for group in groups:
        if len(group) > 1 and not _common(tables, group, holders):
            return False
        finest = _finest([tables[at] for at in group])
        if len(finest) > 1 and joint_of(finest).cells > MOST_ATOMS:
            return False
    seen = {name for at in shown for name in tables[at].names}
    for at in set(places) - set(shown):
        table = tables[at]
        sliced = [
            group
            for group in groups
            if _cut([tables[other] for other in group], holders)
            and any(set(table.names) <= set(tables[other].names) for other in group)
        ]
        free = all(
            table.size([name for name in table.names if name not in own | seen]) > 1
            for own in holders.attackers(table)
        )
        if not sliced and not free:
            return False
    return True


def _common(tables: Sequence[Table], group: Sequence[int], holders: Holders) -> list[str]:
    """The attributes of all tables of a group that can be cut into slices."""
    shared = reduce(set.intersection, (set(tables[at].names) for at in group)) - holders.known
    first = tables[group[0]]
    return [name for name in first.names if name in shared and first.size([name]) > 1]


def _cut(group: Sequence[Table], holders: Holders) -> str | None:
    """The attribute with the most values that cuts a group of tables into slices.

    None if one of the other rules is for these tables.
    """
    if len(group) == 1 and len(holders.attackers(group[0])) <= 2:
        return None
    names = _common(group, range(len(group)), holders)
    return max(names, key=lambda name: group[0].size([name]), default=None)


def _finest(group: Sequence[Table]) -> list[Table]:
    """The tables that are no margins of others."""
    found: list[Table] = []
    for table in sorted(group, key=lambda table: -len(table.names)):
        if not any(set(table.names) <= set(other.names) for other in found):
            found.append(table)
    return found


def joint_of(group: Sequence[Table]) -> Table:
    """The table over all attributes of some tables."""
    sizes = {n: s for t in group for n, s in zip(t.names, t.shape, strict=True)}
    return Table(tuple(sizes), tuple(sizes.values()))


class _Joints:
    """The joint tables of a component that must be counted."""

    def __init__(self, start: int) -> None:
        self.end = start
        self.found: list[Table] = []

    def start(self, joint: Table) -> int:
        """The number of the first cell of a joint table."""
        if joint not in self.found:
            self.found.append(joint)
            self.end += joint.cells
        after = self.found[self.found.index(joint) :]
        return self.end - sum(table.cells for table in after)

    def atoms(self, group: Sequence[tuple[Table, int]]) -> Ints | None:
        """The cells of the joint table of a group; None if there are too many."""
        finest = _finest([table for table, _ in group])
        joint = joint_of(finest)
        if len(finest) == 1:
            return np.arange(joint.cells) + next(at for table, at in group if table == joint)
        if joint.cells > MOST_ATOMS:
            return None
        return np.arange(joint.cells) + self.start(joint)


def _rule(group: Sequence[tuple[Table, int]], holders: Holders, joints: _Joints) -> Rule:
    """The rule for tables, each with the number of its first cell."""
    attribute = _cut([table for table, _ in group], holders)
    if attribute is not None:
        parts = [
            table.grouped([attribute], [name for name in table.names if name != attribute]) + start
            for table, start in group
        ]
        cells = np.concatenate(parts, axis=1)
        finest = _finest([table for table, _ in group])
        if len(finest) == 1:
            return Slices(cells)
        return Crossed(cells, _atoms(finest, attribute) + joints.start(joint_of(finest)))
    [(table, start)] = group
    known = holders.attackers(table)
    both = frozenset.intersection(*known)
    if len(known) == 1:
        return Lines(table.grouped(_in(table, both), _out(table, both)) + start)
    one, other = sorted(known, key=lambda own: table.size(_out(table, own)))
    return Grid(
        table.grouped(_in(table, both), _in(table, one - both), _in(table, other - both)) + start
    )


def _atoms(finest: Sequence[Table], attribute: str) -> Ints:
    """The atoms of tables by slice, block and each table's own attributes.

    If two tables share attributes that others lack, all atoms of a slice are one axis, on which only
    large atoms are linked.
    """
    joint = joint_of(finest)
    shared = set.intersection(*(set(table.names) for table in finest))
    blocks = [name for name in joint.names if name in shared and name != attribute]
    own = [[name for name in table.names if name not in shared] for table in finest]
    if sum(map(len, own)) > len(set().union(*own)):
        blocks, own = [], [[name for name in joint.names if name != attribute]]
    return joint.grouped([attribute], blocks, *own)


def _in(table: Table, names: Collection[str]) -> list[str]:
    return [name for name in table.names if name in names]


def _out(table: Table, names: Collection[str]) -> list[str]:
    return [name for name in table.names if name not in names]
