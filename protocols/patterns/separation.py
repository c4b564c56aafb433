"""How many pairs of people a set of columns tells apart, on jointly drawn pairs of common records.

Motwani and Xu, "Efficient Algorithms for Masking and Finding Quasi-Identifiers" (P3DM 2008, §2): the
separation ratio of a set of columns is the share of pairs of records that differ in one of them, and
some 15,000 pairs estimate it for any number of records. A pair that is equal in all of them is called
alike. With columns at several parties a pair is alike if it is alike at each party: one product of
bits for each pair and further party (`joint_counts`).

In: the sets of columns, which all parties know, and at each party its own columns of the common
records in the joint order. Out, at every party: for each set the number of alike pairs in steps, and
the number of pairs. The estimate of the separation ratio is 1 - level * step / pairs.

No exact count is opened, because a coalition that knows its own columns could learn from it that all,
or that none, of the pairs which are alike in these are alike in the others' columns. So

    the step is a power of two, at least `LEAST_STEP` pairs;
    the count is lowered to at most one step less than the number of pairs that are alike in the
    columns of any coalition without one of the servers, hence never tells that all of these are
    alike, and less than a step of them never shows at all;
    a random offset below a step, of which each server knows only half, is added before the count is
    cut to steps: the estimate has no bias, and the differences between the levels of sets that
    nearly agree cannot be taken for pairs.

Whatever level is opened, for every single pair that is alike in a coalition's own columns there are
tables in which it is, and tables in which it is not, alike in the others' columns, and which can give
this level (`tests/protocols/patterns/test_separation.py` goes through all of them).

The pairs are drawn by a coin toss of all parties (`coin_toss`), after the columns have been fixed,
without repetition; if there are no more than asked for, all are taken.

Kept answers (`protocols.messaging.kept`): the seed of the pairs and the levels, which all parties
learn. Each server draws its offsets once: levels under two offsets would tell more than one does.

Adversary: semi-honest; the two servers must not collude. Messages: those of `coin_toss`,
`joint_counts` and one garbled circuit. Cost: 15,000 products for each set and further party, whatever
the number of records; for each set 63 AND gates and some 127 for each party that has columns in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array, Bits, Codes, Ints
from coterie.protocols.circuits.boolean import from_bits, to_bits
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.coin_toss import toss
from coterie.protocols.multiparty.secure_sum import uniform
from coterie.protocols.patterns.joint_counts import conjunction_shares
from coterie.protocols.patterns.separation_circuits import WIDTH, level_circuit
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring, Transfers

LEAST_STEP = 8  # pairs

PAIRS = declare(
    "identify: seed of the pairs",
    what="Which pairs of common records are compared: a random choice that all parties make together.",
    to="every party",
    why="All parties compare the same pairs, and none of them has chosen them.",
)
LEVELS = declare(
    "identify: alike pairs in steps",
    what="For each measured set of columns how many of the drawn pairs of records are alike in it, in steps of several pairs with a random offset; never that all pairs, or that none, which are alike in the columns of some parties are alike in those of the others, too.",
    to="every party",
    why="It is the separation ratio of the set, which is the result of the job.",
)


@dataclass(frozen=True)
class Separation:
    """The alike pairs of each set in steps; `pairs` is how many were compared."""

    levels: Ints
    step: int
    pairs: int

    @property
    def ratios(self) -> list[float]:
        """The estimated separation ratios."""
        return [max(0.0, 1 - int(level) * self.step / self.pairs) for level in self.levels]


def step_for(pairs: int, resolution: float) -> int:
    """The step in pairs: the power of two next below the resolution, at least `LEAST_STEP`."""
    return max(LEAST_STEP, 1 << max(int(resolution * pairs).bit_length() - 1, 0))


def separation(
    transfers: Transfers,
    group: HiddenCounts,
    sets: Sequence[Sequence[str]],
    owners: Mapping[str, str],
    columns: Mapping[str, Codes],
    records: int,
    pairs: int,
    resolution: float,
    rng: Random,
) -> Separation:
    """The levels of all sets; `columns` has this party's own, by name."""
    channel = group.channel
    with channel.step("pairs"):
        seed = channel.once(
            "seed of the pairs",
            lambda: channel.open(PAIRS, toss(channel, group.names, rng.fork("seed"))),
        )
    first, second = draw_pairs(Random(seed), records, pairs)
    count = len(first)
    alike = {name: codes[first] == codes[second] for name, codes in columns.items()}
    wanted, others = _with_others(sets, owners, group)
    keys = _Keys(owners)
    conditions = [keys.conditions(names) for names in wanted]

    def bits(key: int) -> Bits:
        chosen: Array = np.logical_and.reduce([alike[name] for name in keys.names(channel.me, key)])
        return chosen.astype(np.uint8)

    with channel.step("alike"):
        share = conjunction_shares(
            transfers, group.names, group.servers, conditions, count, bits, rng.fork("alike")
        )
    step = step_for(count, resolution)
    levels = channel.once(
        "levels",
        lambda: _levels(group, share, len(sets), others, count, step, rng.fork("offsets")),
    )
    return Separation(levels, step, count)


def draw_pairs(rng: Random, records: int, count: int) -> tuple[Ints, Ints]:
    """`count` different pairs of different records, or all; uniform, the smaller record first."""
    every = records * (records - 1) // 2
    if every <= 4 * count:
        first, second = np.triu_indices(records, 1)
        chosen = rng.permutation(every)[:count]
        return first[chosen].astype(np.int64), second[chosen].astype(np.int64)
    found = np.zeros(0, np.uint64)
    while len(found) < count:
        one = uniform(rng, 2 * count, records)
        other = uniform(rng, 2 * count, records - 1)
        other += other >= one
        low, high = np.minimum(one, other), np.maximum(one, other)
        drawn = np.concatenate([found, low * np.uint64(records) + high])
        _, places = np.unique(drawn, return_index=True)
        found = drawn[np.sort(places)]
    first, second = np.divmod(found[:count], np.uint64(records))
    return first.astype(np.int64), second.astype(np.int64)


class _Keys:
    """Numbers for the sets of one party's columns, given in the same order at every party."""

    def __init__(self, owners: Mapping[str, str]) -> None:
        self._owners = owners
        self._known: dict[str, dict[tuple[str, ...], int]] = {}

    def conditions(self, names: Sequence[str]) -> dict[str, int]:
        found: dict[str, list[str]] = {}
        for name in names:
            found.setdefault(self._owners[name], []).append(name)
        numbers = {}
        for owner, own in found.items():
            known = self._known.setdefault(owner, {})
            numbers[owner] = known.setdefault(tuple(own), len(known))
        return numbers

    def names(self, owner: str, key: int) -> tuple[str, ...]:
        return list(self._known[owner])[key]


def _with_others(
    sets: Sequence[Sequence[str]], owners: Mapping[str, str], group: HiddenCounts
) -> tuple[list[tuple[str, ...]], list[list[int | None]]]:
    """The sets to count, and for each of `sets` the places of what coalitions know of it.

    A coalition without one of the servers knows at most the set without the columns of that server,
    or, if the server has none in it, of some other party. None is the set of no column, in which
    all pairs are alike.
    """
    wanted = [tuple(names) for names in sets]
    place = {names: at for at, names in enumerate(wanted)}
    others: list[list[int | None]] = []
    for names in list(wanted):
        holders = {owners[name] for name in names}
        unknown = group.servers if set(group.servers) <= holders else sorted(holders)
        row: list[int | None] = []
        for holder in unknown:
            left = tuple(name for name in names if owners[name] != holder)
            if left and left not in place:
                place[left] = len(wanted)
                wanted.append(left)
            row.append(place[left] if left else None)
        others.append(row)
    return wanted, others


def _levels(
    group: HiddenCounts,
    share: Ring | None,
    count: int,
    others: Sequence[Sequence[int | None]],
    pairs: int,
    step: int,
    rng: Random,
) -> Ints:
    """The levels of the first `count` numbers, opened to every party."""
    bits = step.bit_length() - 1
    width = (pairs + step).bit_length() - bits
    most = max(map(len, others))
    circuit = level_circuit(bits, most, width)
    inputs: dict[str, Bits | None] = dict.fromkeys(
        ["count", *(f"other{place}_" for place in range(most)), "offset"]
    )
    if share is not None:
        # All pairs are alike in no column: the first server's share of that number is the number.
        known = np.append(share, np.uint32(pairs if group.first else 0))
        inputs["count"] = to_bits(share[:count], WIDTH)
        for place in range(most):
            at = [row[place] if place < len(row) else None for row in others]
            which = np.array([len(share) if one is None else one for one in at], np.int64)
            inputs[f"other{place}_"] = to_bits(known[which], WIDTH)
        offset = group.channel.drawn("offsets", lambda: rng.bits(count * bits))
        inputs["offset"] = offset.reshape(count, bits)
    found, _ = group.decided(circuit, count, inputs, "level")
    return from_bits(group.channel.open(LEVELS, found)).astype(np.int64)
