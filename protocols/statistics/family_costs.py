"""The probabilities of a Bayes net's families that lie across parties, as shares of two servers.

A family is a node of the net under its parents. Where its attributes lie at several parties, nobody
knows how many records have which of its values; the two servers hold the counts as shares
(`shared_tables`). Of each cell they get, as shares, the cost

    -ln P = ln(n(parents) + v) - ln(n(value, parents) + 1)    in steps of 2^-20, and `HEADROOM`

where P = (n(value, parents) + 1) / (n(parents) + v), for a node of v values, is the probability that
the K2 measure expects before the next record (Cooper and Herskovits 1992): a record more for each
value. So a combination that nobody had has a probability, too. `HEADROOM`, which is the same for every
cell, keeps rounding from making a cost negative, and changes no comparison of sums.

In: shares modulo 2^32 of every count at the servers, None at the others; all parties call. Out: shares
modulo 2^40 of every cost at the servers, None at the others. Nobody learns a count or a cost.

Precision: a logarithm is within `settings_of(…).error_bound` of the true one, that is 0.000035 and a
rounding; a cost within twice that.

Adversary: semi-honest; the servers must not collude, because together they hold the counts. Messages
and cost: those of one batch of `logarithm` by the session's evaluation, with nine terms: one logarithm
for each cell and one for each configuration of parents, of some 70 kB by oblivious transfer.

What may be kept: the shares, as answers of one and the same attempt, because a second attempt rounds
otherwise; a server's share alone is a random number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Words
from coterie.protocols.numbers.logarithm import Settings, logarithms
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_scores import PRECISE_TERMS, HiddenScores
from coterie.protocols.statistics.predictions import SCALE_BITS
from coterie.protocols.statistics.shared_counts import RING_BITS, Ring

COST_BITS = 40  # of a share: room for the sum of as many costs as a prediction may have
HEADROOM = 1 << 8


@dataclass(frozen=True)
class CountedFamily:
    """A server's share of a family's counts, in the order (`before`, `size`, `after`).

    `size` are the values of the node; the values of its parents lie before and after.
    """

    share: Ring | None
    before: int
    size: int
    after: int


def settings_of(largest: int) -> Settings:
    """The settings of logarithms of numbers up to `largest`."""
    bits = max(2, largest.bit_length())
    return Settings(bits, PRECISE_TERMS, "exact", SCALE_BITS, 1 << RING_BITS)


def family_costs(
    scores: HiddenScores, families: Sequence[CountedFamily], records: int, rng: Random
) -> list[Words | None]:
    """Shares of every family's costs, in the order of its counts; None except at the servers."""
    if not scores.is_server or not families:
        return [None] * len(families)
    first = int(scores.first)
    cells, totals = [], []
    for family in families:
        if family.share is None:
            raise AssertionError("a server has a share of every family")
        counts = family.share.reshape(family.before, family.size, family.after)
        cells.append((counts + np.uint32(first)).reshape(-1))
        sums = counts.sum(axis=1, dtype=np.uint32) + np.uint32(first * family.size)
        totals.append(sums.reshape(-1))
    numbers = np.concatenate([*cells, *totals]).astype(np.uint64)
    settings = settings_of(records + max(family.size for family in families))
    with scores.channel.step("costs"):
        found = logarithms(scores.session, settings, numbers, rng)
    logs = np.asarray(found.share, np.uint64)
    parts = np.split(logs, np.cumsum([len(part) for part in (*cells, *totals)])[:-1])
    low = np.uint64((1 << COST_BITS) - 1)
    costs: list[Words | None] = []
    for family, own, all_of_them in zip(
        families, parts[: len(cells)], parts[len(cells) :], strict=True
    ):
        shape = (family.before, family.size, family.after)
        total = all_of_them.reshape(family.before, 1, family.after)
        cost = total - own.reshape(shape) + np.uint64(first * HEADROOM)
        costs.append((cost & low).reshape(-1))
    return costs
