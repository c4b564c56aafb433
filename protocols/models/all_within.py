"""Whether numbers that the parties hold in parts are all close to zero, as one bit.

In: at every party a part of each number. Out, at every party: one bit, whether the sum of the parts
of every number is within a public limit of zero. Each party shares its parts out to two servers
(`shared_counts`), which compare by garbled circuits (`hidden_counts`). The caller knows what the bit
means, and passes it to `Channel.open`.

Adversary: semi-honest; the servers must not collude. Messages and cost: one message of 4 bytes for
each number from each party to each server, and 64 AND gates for each number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Bits, Floats
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import share_out
from coterie.protocols.statistics.visibility_circuits import whole_circuit

_POINT = 12  # bits after the point
_LARGE = 1 << 10  # a part from this size on is replaced by `_BEYOND`, so that it fits the ring
_BEYOND = 1 << 18  # the parts of other parties do not outweigh it
_TOGETHER = 1024  # bits that one circuit looks at


def all_within(
    hidden: HiddenCounts, names: Sequence[str], part: Floats, limit: float, rng: Random
) -> bool:
    """Whether the parties' parts of each number add up to one within the limit of zero."""
    count = len(part)
    if np.abs(part).max(initial=0.0) >= _LARGE:
        part = np.full(count, float(_BEYOND))
    steps = np.rint(part * (1 << _POINT)).astype(np.int64).astype(np.uint32)
    share = share_out(hidden.channel, hidden.servers, names, count, steps, rng)
    both = None
    if share is not None:
        level = np.uint32(round(limit * (1 << _POINT)) if hidden.first else 0)
        both = np.concatenate([level + share, level - share])
    return _all(hidden, hidden.large(both, 2 * count, 0, zeros=False), 2 * count)


def _all(hidden: HiddenCounts, bits: Bits | None, count: int) -> bool:
    """Whether all shared bits are set, at every party."""
    while count > _TOGETHER:
        rows = -(-count // _TOGETHER)
        if bits is not None:
            full = np.full(rows * _TOGETHER, int(hidden.first), np.uint8)
            full[:count] = bits
            bits = full.reshape(rows, _TOGETHER)
        found = hidden.shared(whole_circuit(_TOGETHER), rows, {"large": bits})["whole"]
        bits, count = None if found is None else found[:, 0], rows
    inputs = {"large": None if bits is None else bits[None]}
    told, _ = hidden.decided(whole_circuit(count), 1, inputs, "whole")
    return bool(told[0, 0])
