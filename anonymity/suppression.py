"""Which cells of a table of counts must stay hidden, and which others with them.

A cell with 1 to minimum-1 records is small and is hidden. Hiding it alone is not enough: whoever
knows the sum of a line of cells subtracts the visible ones and has it back. So further cells are
hidden until nobody can: for each attacker, described by the margins it knows, the hidden cells are
the unknowns of a linear system, and a cell that this system determines is exposed.

Only the pattern of small and empty cells is used, never a count, so that parties who hold the
counts as shares can decide what to open before they open anything. The linear test is exact over
the rational numbers; it takes no account of how large counts can be, so a reader may still bound
a hidden cell by the sum of its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Group = tuple[int, ...]  # axes whose margin is known: () is the total


def hidden_cells(small: Mask, empty: Mask, attackers: Iterable[Sequence[Group]]) -> Mask:
    """The cells to hide: all small ones, and others so that no attacker gets a hidden one back.

    `attackers` has, for each, the groups of axes whose margins it knows. A group of all axes is
    an attacker's own knowledge of every cell, against which nothing can be hidden: it is passed
    over.
    """
    hidden = small.copy()
    knowledge = [
        _lines(small.shape, [group for group in groups if len(group) < small.ndim])
        for groups in attackers
    ]
    order = np.argsort(empty.ravel(), kind="stable")  # cells with records first, in table order
    flat = hidden.ravel()
    grown = True
    while grown:
        grown = False
        for lines in knowledge:
            for line in _exposed_lines(flat, small.ravel(), lines):
                candidates = order[(lines[line][order]) & ~flat[order]]
                if len(candidates):
                    flat[candidates[0]] = True
                    grown = True
                    break
    return hidden


def exposed_cells(hidden: Mask, groups: Sequence[Group]) -> Mask:
    """The hidden cells that follow from the visible ones and the margins of these groups."""
    lines = _lines(hidden.shape, [group for group in groups if len(group) < hidden.ndim])
    exposed = np.zeros(hidden.size, bool)
    exposed[np.flatnonzero(hidden.ravel())] = _determined(lines[:, hidden.ravel()])
    return exposed.reshape(hidden.shape)


def _lines(shape: tuple[int, ...], groups: Sequence[Group]) -> Mask:
    """One row for each known sum: which cells it adds up."""
    index = np.indices(shape).reshape(len(shape), -1)
    rows: list[Mask] = []
    for group in groups:
        key = np.zeros(index.shape[1], np.int64)
        for axis in group:
            key = key * shape[axis] + index[axis]
        rows.extend(key == value for value in np.unique(key))
    return np.array(rows, np.bool_).reshape(len(rows), index.shape[1])


def _exposed_lines(hidden: Mask, small: Mask, lines: Mask) -> list[int]:
    """Lines that need another hidden cell: they hold an exposed one, or small ones only."""
    cells = np.flatnonzero(hidden)
    exposed = np.zeros(len(hidden), bool)
    exposed[cells] = _determined(lines[:, cells])
    through = lines[:, exposed].any(axis=1)
    only_small = (lines & hidden).any(axis=1) & ~(lines & hidden & ~small).any(axis=1)
    return [int(line) for line in np.flatnonzero(through | only_small)]


def _determined(system: Mask) -> Mask:
    """The unknowns that a homogeneous system forces to be zero."""
    unknowns = system.shape[1]
    if not unknowns:
        return np.zeros(0, bool)
    used = np.unique(system[system.any(axis=1)], axis=0).astype(float)
    if not len(used):
        return np.zeros(unknowns, bool)
    _, values, vectors = np.linalg.svd(used, full_matrices=True)
    rank = int((values > 1e-9 * values[0]).sum())
    null_space = vectors[rank:]
    return np.asarray(np.abs(null_space).max(axis=0, initial=0.0) < 1e-9)
