"""Decides which cells of tables may be shown, on shares of the counts at two servers.

The rules, and why nobody learns from them that a small cell is not empty, are those of
`anonymity.counts.hidden_cells`. In: the plan, which all parties know, and shares of the counts at
the servers. Out, at every party: one bit for each cell, whether the rules show it; no count, nor
which of the hidden cells are small. Which cells are large, and which cells the first of two rules
shows, stays with the servers as XOR shares from one garbled circuit to the next.

Adversary: semi-honest; the servers must not collude. Messages: those of `garbling`, for one circuit
on all cells and one or two for each rule. Cost for each cell: 31 AND gates and 4 or 8 for the rules
(with zeros shown 63 more).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from coterie.anonymity.counts.hidden_cells import Component, Grid, Lines, Rule, protected
from coterie.base.arrays import Bits, Mask
from coterie.protocols.circuits.boolean import Circuit
from coterie.protocols.statistics.shared_counts import Ring
from coterie.protocols.statistics.visibility_circuits import line_circuit, whole_circuit

Shared = Mapping[str, "Bits | None"]


class Servers(Protocol):
    """Circuits on bits that two servers share. All parties call; only servers have shares."""

    def large(self, share: Ring | None, count: int, minimum: int, zeros: bool) -> Bits | None:
        """Shares of whether each count is large."""
        ...

    def shared(self, circuit: Circuit, count: int, inputs: Shared) -> dict[str, Bits | None]:
        """Shares of the circuit's outputs, for `count` rows of inputs."""
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
    """For every cell whether its count may be opened."""
    if minimum == 1:
        return np.ones(cells, np.bool_)  # no cell is small
    visible = np.zeros(cells, np.bool_)
    large = servers.large(share, cells, minimum, zeros)
    for component in components:
        if not component.whole and _all_large(servers, component, large):
            visible[component.cells] = True
            continue
        for rule in component.rules:
            visible[rule.cells] = protected(rule, _shown(servers, rule, large))
    return visible


def _all_large(servers: Servers, component: Component, large: Bits | None) -> bool:
    rows = None if large is None else large[component.cells][None]
    circuit = whole_circuit(len(component.cells))
    return bool(servers.revealed(circuit, 1, {"large": rows}, "whole")[0, 0])


def _shown(servers: Servers, rule: Rule, large: Bits | None) -> Mask:
    """Which cells a rule shows (opened to every party), in the shape of the rule's cells."""
    cells = rule.cells
    bits = None if large is None else large[cells]
    if isinstance(rule, Lines):
        return _good_lines(servers, bits, *cells.shape)
    if isinstance(rule, Grid):
        return _good_grid(servers, bits, *cells.shape)
    slices, size = cells.shape
    whole = servers.shared(whole_circuit(size), slices, {"large": bits})["whole"]
    good = _good_lines(servers, None if whole is None else whole.reshape(1, slices), 1, slices)
    return np.repeat(good.reshape(slices, 1), size, axis=1)


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
