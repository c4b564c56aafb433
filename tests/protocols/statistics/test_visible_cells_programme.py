"""A small cell could be empty in larger tables, too: an integer programme finds the other world.

The programme knows nothing of the module but what it opens. Its unknowns are the counts of a world
over all attributes; it has the attacker's own sums, the visible counts, and the rules as the docs
state them, which must open the same bits.
"""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import coo_matrix

from coterie.anonymity.counts.compared_tables import joint_tables
from coterie.anonymity.counts.hidden_cells import (
    Crossed,
    Grid,
    Holders,
    Lines,
    Slices,
    Table,
    plan,
)
from coterie.protocols.statistics.visible_cells import visible_cells
from tests.protocols.statistics.plain_servers import PlainServers


class Programme:
    """Integer unknowns from 0 to an upper bound, and linear conditions."""

    def __init__(self):
        self.bounds, self.rows, self.low, self.high = [], [], [], []

    def unknowns(self, number, upper):
        start = len(self.bounds)
        self.bounds += [upper] * number
        return list(range(start, start + number))

    def between(self, terms, low, high=np.inf):
        """low <= the sum of factor * unknown <= high"""
        self.rows.append(terms)
        self.low.append(low)
        self.high.append(high)

    def both(self, one, other):
        """An unknown that is 1 if both are."""
        [result] = self.unknowns(1, 1)
        self.between([(1, one), (-1, result)], 0)
        self.between([(1, other), (-1, result)], 0)
        self.between([(1, result), (-1, one), (-1, other)], -1)
        return result

    def at_least(self, bits, number):
        """An unknown that is 1 if so many bits are."""
        [result] = self.unknowns(1, 1)
        self.between([*((1, bit) for bit in bits), (-number, result)], 0)
        self.between([*((1, bit) for bit in bits), (-len(bits), result)], -np.inf, number - 1)
        return result

    def two_or_none(self, line):
        """The bits of a line if two are set, else zeros."""
        enough = self.at_least(line, 2)
        return [self.both(bit, enough) for bit in line]

    def linked(self, rows):
        """An unknown that is 1 if rows of bits are linked by chains of up to three, from the first."""
        reached = [self.at_least(rows[0], 1)]
        for _ in range(min(3, len(rows) - 1)):
            through = [
                self.at_least([self.both(a, b) for a, b in zip(reached, column, strict=False)], 1)
                for column in zip(*rows, strict=True)
            ]
            reached = [
                self.at_least([self.both(a, b) for a, b in zip(row, through, strict=True)], 1)
                for row in rows
            ]
        return self.at_least(reached, len(reached))

    def fixed(self, unknowns, values):
        for unknown, value in zip(unknowns, np.ravel(values), strict=True):
            self.between([(1, unknown)], value, value)

    def feasible(self):
        entries = [(at, u, f) for at, row in enumerate(self.rows) for f, u in row]
        at, unknown, factor = map(np.array, zip(*entries, strict=True))
        matrix = coo_matrix((factor, (at, unknown)), (len(self.rows), len(self.bounds)))
        found = milp(
            np.zeros(len(self.bounds)),
            constraints=LinearConstraint(matrix.tocsr(), self.low, self.high),
            integrality=np.ones(len(self.bounds)),
            bounds=(0, np.array(self.bounds, float)),
        )
        assert found.status in (0, 2)  # solved, or proven to have no solution
        return found.status == 0


def margin_of(names, shape, wanted):
    """For every cell of the world the number of its cell in the table over these attributes."""
    index = np.indices(shape).reshape(len(shape), -1)
    key = np.zeros(index.shape[1], int)
    for name in wanted:
        key = key * shape[names.index(name)] + index[names.index(name)]
    return key


def may_be_empty(world, names, tables, components, opened, visible, minimum, own, cell):
    """Whether some world has this cell empty and looks the same to who knows the attributes `own`.

    `cell` is a table and a cell of it.
    """
    shape, total, flat = world.shape, int(world.sum()), world.reshape(-1)
    programme = Programme()
    counts = programme.unknowns(len(flat), total)
    key = margin_of(names, shape, own)
    for value in np.unique(key):
        there = np.flatnonzero(key == value)
        programme.between([(1, counts[at]) for at in there], flat[there].sum(), flat[there].sum())
    large, start = [], 0
    for number, table in enumerate([*tables, *joint_tables(components)]):
        key = margin_of(names, shape, table.names)
        bits = programme.unknowns(table.cells, 1)
        for at in range(table.cells):
            there = np.flatnonzero(key == at)
            terms = [(1, counts[place]) for place in there]
            programme.between([*terms, (-minimum, bits[at])], 0)
            programme.between([*terms, (-total, bits[at])], -np.inf, minimum - 1)
            if number < len(tables) and visible[start + at]:
                programme.between(terms, flat[there].sum(), flat[there].sum())
            if (number, at) == cell:
                programme.between(terms, 0, 0)
        large += bits
        start += table.cells
    seen = iter(opened)
    for component in components:
        if component.atoms is not None:
            [whole] = next(seen).reshape(-1)
            [bit] = [
                programme.at_least([large[at] for at in component.atoms], len(component.atoms))
            ]
            programme.fixed([bit], [whole])
            if whole:
                continue
        for rule in component.rules:
            bits = [
                [large[at] for at in line] for line in rule.cells.reshape(-1, rule.cells.shape[-1])
            ]
            if isinstance(rule, Lines):
                programme.fixed(
                    np.ravel([programme.two_or_none(line) for line in bits]), next(seen)
                )
            elif isinstance(rule, Grid):
                left = np.array([programme.two_or_none(row) for row in bits]).reshape(
                    rule.cells.shape
                )
                columns = left.transpose(0, 2, 1).reshape(-1, left.shape[1])
                shown = [programme.two_or_none(list(line)) for line in columns]
                programme.fixed(np.ravel(shown), next(seen))
            elif isinstance(rule, Crossed):
                good = []
                for part in rule.atoms:
                    links = []
                    for block in part:
                        for axis in range(block.ndim):
                            rows = np.moveaxis(block, axis, 0).reshape(block.shape[axis], -1)
                            links.append(programme.linked([[large[at] for at in r] for r in rows]))
                    good.append(programme.at_least(links, len(links)))
                programme.fixed(programme.two_or_none(good), next(seen))
            elif isinstance(rule, Slices):
                good = [programme.at_least(line, len(line)) for line in bits]
                programme.fixed(programme.two_or_none(good), next(seen))
    return programme.feasible()


def skewed(shape, total, seed):
    """A world of some records, with rare values."""
    rng = np.random.default_rng(seed)
    shares = 1.0
    for size in shape:
        shares = np.multiply.outer(shares, rng.dirichlet(np.full(size, 1.5)))
    return rng.multinomial(total, shares.reshape(-1)).reshape(shape)


CASES = [
    ({"x": ("A", 4), "y": ("B", 5)}, ["xy"], 150),
    ({"x": ("A", 3), "y": ("B", 4), "z": ("B", 2)}, ["xy", "yz"], 400),
    ({"x": ("A", 2), "y": ("B", 4), "z": ("C", 2)}, ["xyz"], 300),
    ({"x": ("A", 2), "y": ("B", 5), "z": ("C", 2)}, ["xy", "yz", "y"], 400),
    ({"x": ("A", 3), "y": ("B", 2), "z": ("C", 2), "w": ("A", 2)}, ["xy", "yz", "zw"], 300),
    ({"x": ("A", 3), "y": ("B", 4), "z": ("B", 2), "w": ("B", 2)}, ["xy", "zw", "xw"], 400),
    ({"x": ("A", 6), "y": ("A", 2), "z": ("B", 2)}, ["xy", "z"], 200),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "+".join(case[1]))
def test_an_integer_programme_finds_a_world_with_the_cell_empty(case):
    attributes, wanted, total = case
    minimum, names = 5, list(attributes)
    owner = {name: party for name, (party, _) in attributes.items()}
    shape = tuple(size for _, size in attributes.values())
    tables = [Table(tuple(t), tuple(attributes[n][1] for n in t)) for t in wanted]
    components = plan(tables, Holders(owner, ("A", "B")))
    coalitions = [("A",), ("B",), ("A", "C"), ("B", "C")] if "C" in owner.values() else ["A", "B"]
    tried = 0
    for seed in range(3):
        world = skewed(shape, total, seed)
        parts = [
            np.bincount(margin_of(names, shape, t.names), world.reshape(-1), t.cells).astype(int)
            for t in tables
        ]
        counts = np.concatenate(parts)
        joints = [
            np.bincount(margin_of(names, shape, t.names), world.reshape(-1), t.cells).astype(int)
            for t in joint_tables(components)
        ]
        every = np.concatenate([counts, *joints])
        servers = PlainServers()
        visible = visible_cells(servers, components, every, len(counts), minimum)
        assert (counts[visible] >= minimum).all()
        for coalition in coalitions:
            own = [name for name in names if owner[name] in coalition]
            for number, (table, part) in enumerate(zip(tables, parts, strict=True)):
                small = np.flatnonzero((part > 0) & (part < minimum))
                if set(table.names) <= set(own):
                    continue
                for at in small[:3]:
                    tried += 1
                    assert may_be_empty(
                        world, names, tables, components, servers.opened, visible, minimum, own,
                        (number, int(at)),
                    )  # fmt: skip
    assert tried
