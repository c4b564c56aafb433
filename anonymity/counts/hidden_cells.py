"""Which cells of tables of counts must stay hidden, and which others with them.

A cell with 1 to minimum-1 records is small and is hidden. Hiding it alone is not enough: whoever
knows the sum of a line of cells subtracts the visible ones and has it back. So further cells are
hidden until nobody can: for each attacker, described by the attributes it holds itself, the hidden
cells are the unknowns of a linear system, and a cell that this system determines is exposed. The
system's equations:

- the sum over each table is the number of records, which everybody knows
- an attacker knows the sum of every line of cells that agree in its own attributes
- two tables with common attributes have the same sums over them

Only the pattern of small and empty cells is used, never a count, so that parties who hold the
counts as shares can decide what to open before they open anything. The linear test is exact over
the rational numbers; it takes no account of how large counts can be, so a reader may still bound
a hidden cell by the sum of its line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.base.arrays import Ints, Mask

Lines = np.ndarray[Any, np.dtype[np.int8]]


@dataclass(frozen=True)
class Table:
    """The attributes of a table, and how many values each has. Cells count in this order."""

    names: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def keys(self, names: Collection[str]) -> Ints:
        """For every cell a number for its values of some attributes, taken in sorted order."""
        index = np.indices(self.shape).reshape(len(self.shape), -1)
        key = np.zeros(self.cells, np.int64)
        for name in sorted(names):
            axis = self.names.index(name)
            key = key * self.shape[axis] + index[axis]
        return key


def hidden_cells(
    tables: Sequence[Table],
    small: Sequence[Mask],
    empty: Sequence[Mask],
    attackers: Sequence[Collection[str]],
) -> list[Mask]:
    """For each table the cells to hide: small ones, and others so that nobody gets one back.

    Masks are flat. `attackers` has the attributes that each party holds itself. A table whose
    attributes are all an attacker's own is known to it; nothing can be hidden there from that one.
    """
    flat_small = np.concatenate(small)
    hidden = flat_small.copy()
    order = np.argsort(np.concatenate(empty), kind="stable")  # cells with records first
    knowledge = [equations(tables, own) for own in attackers] or [equations(tables, ())]
    known = [_known_cells(tables, own) for own in attackers] or [np.zeros(len(hidden), np.bool_)]
    grown = True
    while grown:
        grown = False
        for lines, theirs in zip(knowledge, known, strict=True):
            for line in _weak_lines(hidden & ~theirs, flat_small, lines):
                candidates = order[(lines[line][order] != 0) & ~hidden[order] & ~theirs[order]]
                if len(candidates):
                    hidden[candidates[0]] = True
                    grown = True
                    break
    return _split(hidden, tables)


def exposed_cells(
    tables: Sequence[Table], hidden: Sequence[Mask], own: Collection[str]
) -> list[Mask]:
    """The hidden cells that follow from the visible ones for one who holds these attributes."""
    flat = np.concatenate(hidden) & ~_known_cells(tables, own)
    exposed = np.zeros(len(flat), np.bool_)
    exposed[flat] = _determined(equations(tables, own)[:, flat])
    return _split(exposed, tables)


def equations(tables: Sequence[Table], own: Collection[str]) -> Lines:
    """One row for each known sum over cells of all tables, side by side."""
    starts = np.cumsum([0, *(table.cells for table in tables)])
    rows: list[Lines] = []

    def add(parts: Sequence[tuple[int, Mask, int]]) -> None:
        row = np.zeros(starts[-1], np.int8)
        for at, chosen, sign in parts:
            row[starts[at] : starts[at + 1]][chosen] = sign
        rows.append(row)

    for at, table in enumerate(tables):
        own_names = tuple(sorted(set(table.names) & set(own)))
        # A list: all parties must come to the same lines in the same order, each in its process.
        for group in [(), own_names] if own_names else [()]:
            if len(group) == len(table.names):
                continue
            key = table.keys(group)
            for value in np.unique(key):
                add([(at, key == value, 1)])
        for other in range(at):
            shared = set(table.names) & set(tables[other].names)
            if not shared:
                continue
            mine, theirs = table.keys(shared), tables[other].keys(shared)
            for value in np.unique(mine):
                add([(at, mine == value, 1), (other, theirs == value, -1)])
    return np.array(rows, np.int8).reshape(len(rows), int(starts[-1]))


def _known_cells(tables: Sequence[Table], own: Collection[str]) -> Mask:
    """The cells of tables over an attacker's own attributes alone."""
    return np.concatenate([np.full(t.cells, set(t.names) <= set(own), np.bool_) for t in tables])


def _weak_lines(hidden: Mask, small: Mask, lines: Lines) -> list[int]:
    """Lines that need another hidden cell: they hold an exposed one, or small ones only."""
    exposed = np.zeros(len(hidden), np.bool_)
    exposed[hidden] = _determined(lines[:, hidden])
    through = (lines[:, exposed] != 0).any(axis=1)
    present = (lines != 0) & hidden
    only_small = present.any(axis=1) & ~(present & ~small).any(axis=1) & (lines >= 0).all(axis=1)
    return [int(line) for line in np.flatnonzero(through | only_small)]


def _determined(system: Lines) -> Mask:
    """The unknowns that a homogeneous system forces to be zero."""
    unknowns = system.shape[1]
    used = np.unique(system[(system != 0).any(axis=1)], axis=0).astype(float)
    if not unknowns or not len(used):
        return np.zeros(unknowns, np.bool_)
    _, values, vectors = np.linalg.svd(used, full_matrices=True)
    rank = int((values > 1e-9 * values[0]).sum())
    free: Mask = np.abs(vectors[rank:]).max(axis=0, initial=0.0) >= 1e-9
    return ~free


def _split(flat: Mask, tables: Sequence[Table]) -> list[Mask]:
    return np.split(flat, np.cumsum([table.cells for table in tables])[:-1])
