"""How many people a set of columns makes unique: the cells of a table with exactly one record.

Paper 4 (Lodha and Thomas), section 2, bounds the share of unique people from numbers of values. A
sample overstates uniqueness, so here it is counted on all common records, where the table is small.

In: at the two servers, shares of all cells of the table over the set's columns (`shared_tables`). Out,
at every party: the number of cells with exactly one record. Nobody learns the count of a cell, nor
which cells they are.

The number is exact: whoever knows all but one of the people, or that a group of its own has at most
one unique person, learns from it. So each party's policy must permit groups of one.

Adversary: semi-honest; the servers must not collude. Messages: three garbled circuits and the number
to the other parties. Cost: for each cell 63 AND gates, and some two for the sum.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Bits
from coterie.protocols.circuits.boolean import from_bits, to_bits
from coterie.protocols.messaging.opening import declare
from coterie.protocols.patterns.unique_circuits import WIDTH, one_circuit, sum_circuit
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring

MOST_CELLS = 1 << 16
_ROW = 64  # cells that are added up in the first of two sums

UNIQUES = declare(
    "identify: unique people",
    what="With `uniques`, how many of the common records are the only one with their values in the named columns.",
    to="every party",
    why="The job asks for the exact number, and each party's policy permits groups of one.",
)


def unique_cells(group: HiddenCounts, share: Ring | None, cells: int) -> int:
    """The number of cells with one record, at every party; `share` is of every cell."""
    rows = -(-cells // _ROW)
    rest = None
    if share is not None:
        # Cells that fill up the last row have no record: their count less 1 is not 0.
        filled = np.zeros(rows * _ROW, np.uint32)
        filled[:cells] = share
        rest = to_bits(filled - np.uint32(1 if group.first else 0), WIDTH)
    ones = group.shared(one_circuit(), rows * _ROW, {"rest": rest})["one"]
    first = sum_circuit(_ROW, 1)
    by_row = None if ones is None else ones.reshape(rows, _ROW)
    parts = group.shared(first, rows, {"bits": by_row})["sum"]
    width = len(first.outputs["sum"])
    whole: Bits | None = None if parts is None else parts.reshape(1, rows * width)
    found, _ = group.decided(sum_circuit(rows, width), 1, {"bits": whole}, "sum")
    return int(from_bits(group.channel.open(UNIQUES, found))[0])
