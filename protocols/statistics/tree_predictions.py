"""The class of each of many records by a decision tree over attributes that several parties hold.

Of a tree that `tree` has grown, each party knows the whole form and the values of its own attributes.
For every leaf and record a party has one bit: whether the record passes its own tests on the way to the
leaf. The class is the sum over the leaves of the leaf's class times the product of these bits, which
the parties get as shares by `shared_counts`.

In: the tree, and at every party the codes of its own attributes. Out, at the receivers: the class of
every record. The others learn nothing, and nobody learns which leaf a record reaches.

Adversary: semi-honest, any number colluding. A receiver gets the shares of all parties with a test,
each with fresh shares of zero added, so that only their sum says anything.

Messages: those of `shared_counts` for each leaf and record; then, for each receiver and record, a random
number between any two parties with a test, and a share from each of them to the receiver. Cost: records
* leaves * 20 bytes for each two parties with a test, and 4 bytes for each record of a later message.

Nothing is kept for another attempt: it computes the same classes again, under fresh masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coterie.base.arrays import Codes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.predictions import PREDICTED
from coterie.protocols.statistics.shared_counts import (
    Ring,
    Transfers,
    masked_rows,
    received_ring,
)
from coterie.protocols.statistics.tree import Node, TreePlan, leaves_of, passing_tests


def predict(
    transfers: Transfers,
    plan: TreePlan,
    tree: Node,
    codes: Mapping[str, Codes],
    records: int,
    receivers: Sequence[str],
    rng: Random,
) -> Codes | None:
    """The classes of these records, at the receivers; None at the others."""
    channel = transfers.channel
    found = None
    with channel.step("predict"):
        involved, share = _class_shares(transfers, plan, tree, codes, records)
        for receiver in receivers:
            mine = share.copy()
            if len(involved) > 1:
                # Fresh shares of zero are added, so that the receiver learns only the sum.
                mine += _zero_share(channel, involved, records, rng)
            if channel.me != receiver:
                channel.open(PREDICTED, None, to=receiver)
                if channel.me in involved:
                    channel.send(receiver, mine)
                continue
            total = mine if channel.me in involved else np.zeros(records, np.uint32)
            for name in involved:
                if name != receiver:
                    total = total + received_ring(channel, name, records)
            if len(total) and int(total.max()) >= plan.classes:
                raise channel.fault(involved[-1], "and the others sent shares of no class")
            found = channel.open(PREDICTED, total.astype(np.int64), to=receiver)
    return found


def _class_shares(
    transfers: Transfers, plan: TreePlan, tree: Node, codes: Mapping[str, Codes], records: int
) -> tuple[list[str], Ring]:
    """The parties whose tests decide, and this party's share of each record's class."""
    channel = transfers.channel
    leaves = list(leaves_of(tree, {}))
    owners = {plan.attributes[at].owner for path, _ in leaves for at in path}
    involved = [name for name in plan.names if name in owners] or [plan.names[0]]
    if plan.mixed:
        involved = list(plan.names)
    first, *others = involved
    bits = np.stack(
        [passing_tests(plan, codes, path, channel.me, records) for path, _ in leaves], axis=1
    )
    share = np.zeros(records * len(leaves), np.uint32)
    weights = np.array([leaf.label for _, leaf in leaves], np.uint32)
    rows = (bits * weights).reshape(-1, 1).astype(np.uint32) if channel.me == first else None
    for part, mine in masked_rows(
        transfers,
        first,
        [(name, 1) for name in others],
        records * len(leaves),
        1,
        rows,
        bits.reshape(-1, 1).astype(np.uint8),
    ):
        share[part] = mine[:, 0]
    return involved, share.reshape(records, len(leaves)).sum(axis=1, dtype=np.uint32)


def _zero_share(channel: Channel, involved: Sequence[str], count: int, rng: Random) -> Ring:
    """This party's random numbers; those of all involved parties add up to zero."""
    total = np.zeros(count, np.uint32)
    if channel.me not in involved:
        return total
    for peer in involved:
        if peer != channel.me:
            mask: Ring = rng.array(count, np.uint32)
            channel.send(peer, mask)
            total += mask
    for peer in involved:
        if peer != channel.me:
            total -= received_ring(channel, peer, count)
    return total
