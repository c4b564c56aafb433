"""Whether sums of products would be sums over a few people, decided before they are opened.

A model is fitted from sums over records of products of two columns. Where one of the columns is 0
for all but a few people, or 1 for all but a few, such a sum (or the difference of two) is about
these people alone. Every count below must be 0 or at least `minimum`.

Horizontal partition (`support_counts`): for every two columns the records that are not a in the one
and not b in the other, for a and b each 0 and 1. Of columns of zeros and ones these are the four
cells of their table, and of columns of other numbers nearly all records.

Vertical partition (`supported`): a party may have written a column for the purpose, in any coding (2
and 3 say as much as 0 and 1, since the sum of all records is known). So values count, whatever they
are:

    a column of at most 16 values       the records of each value
    a column of more                    the records without the value that half of all have, or 0
    two columns of at most 4 values     the records of each combination of their values
    one of at most 4 and one of more    the records of each value that are not as above in the other

Sums of products are known to 2^41 steps, so that the numbers of some six combinations can be read
from one sum if the values are chosen for it. Two columns of more than 4 values have more combinations
than that, and honest ones (scores from 1 to 10) would have rare combinations. No rule covers a column
of many values that a party has written: noise in it hides from any count that two such columns differ
in one person. So exact sums are for partners that a policy names (`policy.exact`).

In: at every party its own records. Out, at every party: one bit, whether all counts are so. Each
party shares its counts out to two servers (`shared_counts`), which decide by garbled circuits
(`hidden_counts`). Adversary: semi-honest; the servers must not collude. Messages and cost: one
message of 4 bytes for each count from each party to each server, and 95 AND gates for each count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Array, Floats, Ints, UInt32s
from coterie.base.record_sums import pair_counts
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.scale import in_rows
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import share_out
from coterie.protocols.statistics.visibility_circuits import whole_circuit

FEW = 16  # values of a column, each of which is counted
PAIRED = 4  # values of a column whose combinations with those of another are counted

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


def supported(columns: Floats, steps: Ints) -> tuple[Array, UInt32s]:
    """The records to be counted for each column, of shape (records, columns, PAIRED), as zeros and
    ones; and of each column its least count. `steps` are the columns as the sums have them.
    """
    records, width = steps.shape
    cells = np.zeros((records, width, PAIRED), np.uint8)
    least = np.zeros(width, np.uint32)
    for at in range(width):
        values, places, counts = np.unique(steps[:, at], return_inverse=True, return_counts=True)
        if len(values) <= PAIRED:
            cells[np.arange(records), at, places.reshape(-1)] = 1
        else:
            common = values[2 * counts >= records]
            cells[:, at, 0] = steps[:, at] != common[0] if len(common) else columns[:, at] != 0
        least[at] = counts.min(initial=records) if len(values) <= FEW else least_count(cells[:, at].sum(axis=0))  # fmt: skip
    return cells, least


def least_count(counts: Array) -> int:
    """The least of the counts that are not 0, or 0: it is 0 or large if all of them are."""
    return int(counts[counts > 0].min(initial=1 << 30)) if counts.any() else 0


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
    return all_shares_large(counts, share, len(mine), minimum)


def all_shares_large(counts: HiddenCounts, share: UInt32s | None, size: int, minimum: int) -> bool:
    """What `all_large` returns, from shares of the counts at the servers."""
    large = counts.large(share, size, minimum, zeros=True)
    inputs = {"large": None if large is None else large[None]}
    whole, _ = counts.decided(whole_circuit(size), 1, inputs, "whole")
    return bool(counts.channel.open(ALL_LARGE, whole)[0, 0])
