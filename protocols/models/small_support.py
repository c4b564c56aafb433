"""Whether sums of products would be sums over a few people, decided before they are opened.

A model is fitted from sums over records of products of two columns. Where one of the columns is 0
for all but a few people, or 1 for all but a few, such a sum (or the difference of two) is about
these people alone. So for every two columns the records that are not a in the one and not b in the
other are counted, for a and b each 0 and 1; of columns of zeros and ones these are the four cells
of their table, and of columns of other numbers nearly all records. Every such count must be 0 or at
least `minimum`.

In: at every party its own records. Out, at every party: one bit, whether all counts are so. Each
party shares its counts out to two servers (`shared_counts`), which decide by garbled circuits
(`hidden_counts`). Adversary: semi-honest; the servers must not collude. Messages and cost: one
message of 4 bytes for each count from each party to each server, and 95 AND gates for each count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Floats, UInt32s
from coterie.base.record_sums import pair_counts
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.scale import in_rows
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import share_out
from coterie.protocols.statistics.visibility_circuits import whole_circuit

ALL_LARGE = declare(
    "statistics: whether a sum would be over few records",
    what="One bit: whether every number of records that a sum would be over is 0 or at least `minimum`.",
    to="every party",
    why="A job whose sums would tell of a few people ends before any sum is opened.",
)


def support_counts(columns: Floats) -> UInt32s:
    """This party's counts for every two columns: records that are not a here and not b there."""
    width = 2 * columns.shape[1]
    both = np.zeros((width, width))  # records that are a here and b there
    for rows in in_rows(len(columns)):
        part = columns[rows]
        both += pair_counts(np.concatenate([part == 0, part == 1], axis=1))
    each = np.diag(both)
    apart = len(columns) - each[:, None] - each + both
    found: UInt32s = np.rint(apart[np.tril_indices(width)]).astype(np.uint32)
    return found


def all_large(
    counts: HiddenCounts,
    holders: Sequence[str],
    mine: UInt32s,
    minimum: int,
    rng: Random,
) -> bool:
    """Whether every sum of the parties' counts is 0 or at least `minimum`."""
    if minimum == 1:
        return True
    share = share_out(counts.channel, counts.servers, holders, len(mine), mine, rng)
    large = counts.large(share, len(mine), minimum, zeros=True)
    inputs = {"large": None if large is None else large[None]}
    whole, _ = counts.decided(whole_circuit(len(mine)), 1, inputs, "whole")
    return bool(counts.channel.open(ALL_LARGE, whole)[0, 0])
