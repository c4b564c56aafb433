"""The times of a survival model: a grid that all know, joined until no step is about a few people.

The sums of a Cox model are over the records at risk at each time. If a single person died or left
between two times, the difference of their sums would be this person. So times are known only by the
cell of a public grid that they fall into, and cells are joined with those after them until each has
at least `minimum` events; what is left at the end is joined to the last cell. The records that
leave in a cell are then at least as many.

`longest_power`: the least power of two that no party's times exceed, where a job names no grid.
    In: the longest time of each party's own. Out, at every party: the power. Each party adds random
    numbers modulo the prime 2^61 - 1 for every smaller power, and zeros otherwise; a sum is zero
    only where all parts are (except with probability 2^-61).
`merged_cells`: In: each party's events in each cell. Out, at every party: which cells are the last
    of a joined one; no count. Two servers decide on shares, by one garbled circuit of some 130 AND
    gates for each cell.

Adversary: semi-honest; the servers must not collude. Messages: one secure sum of 64 numbers; one
message from each party to each server, and a run of `garbling`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Mask, UInt32s
from coterie.base.errors import DataError
from coterie.protocols.circuits.arithmetic import Builder, Circuit
from coterie.protocols.circuits.boolean import built_once, to_bits
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.count_circuits import WIDTH
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import share_out

PRIME = (1 << 61) - 1
POWERS = 64  # from 2^-31 to 2^32
_FIRST = -31

LONGEST = declare(
    "regress: power of two above the longest time",
    what="Where the job names no grid of times, the least power of two that no time exceeds.",
    to="every party",
    why="The grid of times reaches as far as the data.",
)
CELLS = declare(
    "regress: joined times",
    what="Which times of the grid are joined with later ones, so that each has at least `minimum` events; no number of events.",
    to="every party",
    why="Sums are opened for these times only.",
)


def longest_power(channel: Channel, names: Sequence[str], longest: float, rng: Random) -> float:
    """The power of two, at every party, for this party's longest time."""
    if longest > 2.0 ** (_FIRST + POWERS - 1):
        raise DataError("a time is too large for a grid of its own: name a 'grid' in the job")
    below = [longest > 2.0 ** (_FIRST + at) for at in range(POWERS)]
    drawn = np.array([1 + number for number in rng.integers(PRIME - 1, POWERS)], np.uint64)
    mine = np.where(below, drawn, np.uint64(0))
    with channel.step("longest time"):
        total = SecureSum(channel, names, rng.fork("longest")).modular(mine, PRIME)
        return float(2.0 ** (_FIRST + channel.open(LONGEST, int(np.count_nonzero(total)))))


def even_grid(step: float, end: float) -> list[float]:
    """The ends of cells of one width."""
    return [step * (at + 1) for at in range(math.ceil(end / step - 1e-9))]


@built_once(8)
def merge_circuit(cells: int, minimum: int) -> Circuit:
    """Whether each cell is the last of a joined one, from shares of the events of all cells."""
    builder = Builder()
    ours, theirs = (builder.input(f"events{place}", cells * WIDTH) for place in (0, 1))
    least = builder.constant(minimum, WIDTH)
    gathered = builder.constant(0, WIDTH)
    closed = []
    for at in range(0, cells * WIDTH, WIDTH):
        count = builder.add(ours[at : at + WIDTH], theirs[at : at + WIDTH], WIDTH)
        gathered = builder.add(gathered, count, WIDTH)
        few = builder.less(gathered, least)
        closed.append(builder.invert(few))
        gathered = builder.gate_word(few, gathered)
    builder.output("closed", closed)
    return builder.build()


def merged_cells(
    counts: HiddenCounts, holders: Sequence[str], events: UInt32s, minimum: int, rng: Random
) -> Mask:
    """For each cell whether a joined cell ends with it, from this party's events in each cell.

    The last joined cell goes on to the end of the grid.
    """
    cells = len(events)
    share = share_out(counts.channel, counts.servers, holders, cells, events, rng)
    bits = None if share is None else to_bits(share, WIDTH).reshape(1, cells * WIDTH)
    circuit = merge_circuit(cells, minimum)
    closed, _ = counts.decided(circuit, 1, {"events": bits}, "closed")
    ends: Mask = counts.channel.open(CELLS, closed)[0].astype(np.bool_)
    found = np.flatnonzero(ends)
    if not len(found):
        raise DataError(f"fewer than {minimum} events are too few for a model of survival")
    ends[found[-1] :] = False
    ends[-1] = True
    return ends
