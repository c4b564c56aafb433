"""Decides which cells of tables may be shown, on shares of the counts at two servers.

The rules, and why nobody learns from them that a small cell is not empty, are those of
`anonymity.counts.hidden_cells`. In: the plan, which all parties know, and shares of the counts at
the servers, also of the joint tables by which tables that share attributes are judged
(`joint_tables`). Out, at every party: one bit for each cell, whether the rules show it; no count, nor
which of the hidden cells are small, and nothing of a joint table. Which cells are large, and which cells the first of two rules
shows, stays with the servers as XOR shares from one garbled circuit to the next.

Adversary: semi-honest; the servers must not collude. Messages: those of `garbling`, for one circuit
on all cells and one or two for each rule. Cost for each cell: 31 AND gates and 4 or 8 for the rules
(with zeros shown 63 more); for each atom of a joint table 31 and some 12 for each table. Of compared
tables 35 for each combination of nodes, and some 60 for each of at most 8,192 combinations and starts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from coterie.anonymity.counts.compared_tables import compared, comparisons
from coterie.anonymity.counts.hidden_cells import (
    Component,
    Crossed,
    Grid,
    Lines,
    Rule,
    Table,
    protected,
)
from coterie.base.arrays import Bits, Ints, Mask
from coterie.protocols.circuits.boolean import Circuit, to_bits
from coterie.protocols.statistics.shared_counts import Ring, one_hot
from coterie.protocols.statistics.visibility_circuits import (
    WIDTH,
    few_circuit,
    line_circuit,
    linked_circuit,
    reached_circuit,
    some_circuit,
    whole_circuit,
)

MOST_PLACES = 1 << 12  # the most combinations of nodes by which components are compared

Shared = Mapping[str, "Bits | None"]


class Servers(Protocol):
    """Circuits on bits that two servers share. All parties call; only servers have shares."""

    def large(self, share: Ring | None, count: int, minimum: int, zeros: bool) -> Bits | None:
        """Shares of whether each count is large."""
        ...

    def shared(self, circuit: Circuit, count: int, inputs: Shared) -> dict[str, Bits | None]:
        """Shares of the circuit's outputs, for `count` rows of inputs."""
        ...

    def public(self, bits: Bits) -> Bits | None:
        """Shares of bits that all know."""
        ...

    def revealed(self, circuit: Circuit, count: int, inputs: Shared, output: str) -> Bits:
        """One output at every party. The other outputs are revealed to nobody."""
        ...


def visible_cells(
    servers: Servers,
    components: Sequence[Component],
    share: Ring | None,
    cells: int,
    minimum: int,
    zeros: bool = False,
) -> Mask:
    """For every cell whether its count may be opened. Shares of the cells of joint tables follow."""
    if minimum == 1:
        return np.ones(cells, np.bool_)  # no cell is small
    visible = np.zeros(cells, np.bool_)
    judged = cells + sum(table.cells for part in components for table in part.joints)
    large = servers.large(None if share is None else share[:judged], judged, minimum, zeros)
    for component in components:
        if component.atoms is not None and _all_large(servers, component.atoms, large):
            visible[component.cells] = True
            continue
        for rule in component.rules:
            visible[rule.cells] = protected(rule, _shown(servers, rule, large, zeros))
    tables, start = {}, judged
    for some, table in comparisons(components).items():
        tables[some] = table, None if share is None else share[start : start + table.cells]
        start += table.cells
    _hide_compared(servers, components, tables, visible, minimum)
    return visible


def _hide_compared(
    servers: Servers,
    components: Sequence[Component],
    tables: Mapping[tuple[int, ...], tuple[Table, Ring | None]],
    visible: Mask,
    minimum: int,
) -> None:
    """Hides every component that cannot be shown beside those before it."""
    together = tables.get(tuple(range(len(components))))
    shown: list[int] = []
    for at, component in enumerate(components):
        if not visible[component.cells].any():
            continue
        trials = [(*shown, at)] if together and shown else [(other, at) for other in shown]
        for some in trials:
            found = together or tables.get(some)
            if not found or not _beside(servers, components, some, *found, visible, minimum):
                visible[component.cells] = False
                break
        else:
            shown.append(at)


def _beside(
    servers: Servers,
    components: Sequence[Component],
    some: Sequence[int],
    table: Table,
    share: Ring | None,
    visible: Mask,
    minimum: int,
) -> bool:
    """Whether components can be shown together, by shares of their joint table."""
    some = sorted(some, key=lambda at: len(components[at].cells))  # the last has most nodes
    told = []
    for part in compared(components, some, table, visible):
        size = math.prod(part.shape)
        if size > MOST_PLACES:
            return False
        few: Bits | None = None
        if share is not None:
            counts = np.zeros(size, np.uint32)
            np.add.at(counts, part.places, share[part.cells])
            few = to_bits(counts, WIDTH)
        few = servers.shared(few_circuit(minimum), size, {"count": few})["few"]
        starts = _starts(part.shape)
        rows = None if few is None else np.repeat(few.reshape(1, -1), len(starts), axis=0)
        inputs = {"few": rows}
        for other, nodes in enumerate(part.shape[:-1]):
            inputs[f"start{other}_"] = servers.public(one_hot(starts[:, other], nodes, np.uint8))
        circuit = reached_circuit(part.shape, part.hidden, minimum)
        bits = servers.shared(circuit, len(starts), inputs)["reached"]
        row = None if bits is None else bits.reshape(1, -1)
        told.append(servers.shared(some_circuit(len(starts)), 1, {"bits": row})["some"])
    held = [bits for bits in told if bits is not None]
    row = np.concatenate(held, axis=1) if held else None
    return bool(servers.revealed(whole_circuit(len(told)), 1, {"large": row}, "whole")[0, 0])


def _starts(shape: tuple[int, ...]) -> Ints:
    """Nodes of all components but the last to begin with: as many as the largest circuit permits."""
    every = math.prod(shape[:-1])
    most = min(every, 2 * MOST_PLACES // math.prod(shape))
    chosen = np.linspace(0, every - 1, most).astype(np.int64)
    return np.stack(np.unravel_index(chosen, shape[:-1]), axis=1)


def _all_large(servers: Servers, atoms: Ints, large: Bits | None) -> bool:
    rows = None if large is None else large[atoms][None]
    circuit = whole_circuit(len(atoms))
    return bool(servers.revealed(circuit, 1, {"large": rows}, "whole")[0, 0])


def _shown(servers: Servers, rule: Rule, large: Bits | None, zeros: bool) -> Mask:
    """Which cells a rule shows (opened to every party), in the shape of the rule's cells."""
    cells = rule.cells
    bits = None if large is None else large[cells]
    if isinstance(rule, Lines):
        return _good_lines(servers, bits, *cells.shape)
    if isinstance(rule, Grid):
        return _good_grid(servers, bits, *cells.shape)
    slices, size = conditions = cells.shape
    if isinstance(rule, Crossed):
        conditions, bits = _linked(servers, rule.atoms, large, zeros)
    circuit = whole_circuit(conditions[1])
    whole = servers.shared(circuit, slices, {"large": bits})["whole"]
    good = _good_lines(servers, None if whole is None else whole.reshape(1, slices), 1, slices)
    return np.repeat(good.reshape(slices, 1), size, axis=1)


def _linked(
    servers: Servers, atoms: Ints, large: Bits | None, zeros: bool
) -> tuple[tuple[int, int], Bits | None]:
    """Shares of bits that are all set for a good slice, a row for each slice; and their shape.

    Where empty atoms count as large they link nothing, so that all atoms must be large.
    """
    slices, blocks, *tables = atoms.shape
    if zeros or len(tables) == 1:
        every = atoms.reshape(slices, -1)
        return (slices, every.shape[1]), None if large is None else large[every]
    found = []
    for at, cells in enumerate(tables):
        turned = np.moveaxis(atoms, 2 + at, 2).reshape(slices * blocks, -1)
        circuit = linked_circuit(cells, turned.shape[1] // cells)
        rows = None if large is None else large[turned]
        linked = servers.shared(circuit, len(turned), {"large": rows})["linked"]
        if linked is not None:
            found.append(linked.reshape(slices, blocks))
    bits = np.concatenate(found, axis=1) if found else None
    return (slices, blocks * len(tables)), bits


def _good_lines(servers: Servers, large: Bits | None, lines: int, cells: int) -> Mask:
    told = servers.revealed(line_circuit(cells), lines, {"large": large}, "shown")
    return told.astype(np.bool_)


def _good_grid(servers: Servers, large: Bits | None, blocks: int, rows: int, columns: int) -> Mask:
    """Applies the rule to rows, then to columns of what the rows show, which stays shared."""
    by_row = None if large is None else large.reshape(blocks * rows, columns)
    left = servers.shared(line_circuit(columns), blocks * rows, {"large": by_row})["shown"]
    by_column = None
    if left is not None:
        turned = left.reshape(blocks, rows, columns).transpose(0, 2, 1)
        by_column = np.ascontiguousarray(turned).reshape(blocks * columns, rows)
    shown = _good_lines(servers, by_column, blocks * columns, rows)
    return shown.reshape(blocks, columns, rows).transpose(0, 2, 1)
