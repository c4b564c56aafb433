"""Which groups' sums may be shown, decided on shares at two servers, and their opening.

In: shares at the servers of every group's number of records and sums (`group_tables`), modulo 2^64;
None at the others; all parties call. Out, at every party: which groups are shown, and the numbers of
these that a job asks for; nothing of a hidden group.

Which groups are shown is decided by the rules for counts (`anonymity.counts.hidden_cells`), on one
bit a group: whether it has `minimum` records. Their promise holds for sums as well: for every group
of 1 to minimum-1 records and every coalition without one of the servers there is another table in
which this group is empty and everything that they see is the same. The other table arises from the
first by moving the group's records, with all their numbers, to another hidden group, in a direction
that the coalition does not know. So neither a shown sum changes, nor a total over hidden groups that
somebody knows from its own columns: the sum of a small group does not follow by subtraction.

What an exact sum itself tells is another matter: who knows the numbers of all records can try which
of them add up to a shown sum (docs/aggregate.md).

Adversary: semi-honest; the servers must not collude. Messages: those of `visible_cells`, then one of
each server to everybody for each kind of sum. A sum of squares is put together from its parts by a
garbled circuit (`aggregate_circuits`), so that the parts stay hidden. Cost: 31 AND gates and the
rules for each group; some 250 for each shown sum of squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coterie.anonymity.counts.hidden_cells import Component
from coterie.base.arrays import Array, Bits, Codes, Ints
from coterie.protocols.aggregates.aggregate_circuits import WIDTH, square_circuit
from coterie.protocols.circuits.boolean import Circuit, from_bits, to_bits
from coterie.protocols.messaging.opening import declare
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring
from coterie.protocols.statistics.visible_cells import visible_cells

GROUPS = declare(
    "aggregate: which groups are shown",
    what="A bit for each group: whether the rules for small counts let it be shown. Hidden groups of few records, of none and of many look the same.",
    to="every party",
    why="All parties must know which numbers to open.",
)
COUNTS = declare(
    "aggregate: numbers of records",
    what="The number of records of each shown group, where the job asks for it, for a mean or for a variance.",
    to="every party",
    why="It is part of the result; a mean is the sum divided by it.",
)
SUMS = declare(
    "aggregate: sums",
    what="The sum of a column over each shown group, where the job asks for it, for a mean or for a variance.",
    to="every party",
    why="It is part of the result, or a mean or a variance is computed from it.",
)
SQUARES = declare(
    "aggregate: sums of squares",
    what="The sum, over each shown group, of the squared distances of a column from the middle of its range, where the job asks for a variance.",
    to="every party",
    why="A variance is computed from it, the sum and the number of records.",
)

Shared = Mapping[str, "Bits | None"]


class Aggregates:
    """The group of parties and its two servers, at one party; the `Servers` of `visible_cells`."""

    def __init__(self, group: HiddenCounts) -> None:
        self.group = group
        self.channel = group.channel

    def large(self, share: Ring | None, count: int, minimum: int, zeros: bool) -> Bits | None:
        """Shares of whether each group may be shown as far as it alone is concerned."""
        return self.group.large(share, count, minimum, zeros)

    def shared(self, circuit: Circuit, count: int, inputs: Shared) -> dict[str, Bits | None]:
        return self.group.shared(circuit, count, inputs)

    def revealed(self, circuit: Circuit, count: int, inputs: Shared, output: str) -> Bits:
        return self.channel.open(GROUPS, self.group.decided(circuit, count, inputs, output)[0])

    def shown(
        self, components: Sequence[Component], counts: Array | None, cells: int, minimum: int
    ) -> Ints:
        """The numbers of the groups that are shown, from shares of their numbers of records."""
        share = None if counts is None else counts.astype(np.uint32)
        with self.channel.step("groups"):
            visible = visible_cells(self, components, share, cells, minimum)
        return np.flatnonzero(visible).astype(np.int64)

    def records(self, share: Array | None, count: int) -> Codes:
        """Numbers of records of shown groups. Pass only shares of what everybody may see."""
        return self.channel.open(COUNTS, self.group.added(share, count, np.uint64))

    def sums(self, share: Array | None, count: int) -> Codes:
        """Sums of shown groups. Pass only shares of what everybody may see."""
        return self.channel.open(SUMS, self.group.added(share, count, np.uint64))

    def squares(self, parts: Mapping[str, Array | None], half: int, count: int) -> list[int]:
        """Sums of squares of shown groups, from shares of the sums of their parts."""
        inputs = {
            name: None if share is None else to_bits(share, WIDTH) for name, share in parts.items()
        }
        bits, _ = self.group.decided(square_circuit(half), count, inputs, "square")
        return [int(square) for square in from_bits(self.channel.open(SQUARES, bits))]
