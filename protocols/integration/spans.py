"""The spans of numeric columns whose range the job leaves open, which their holders announce.

In: at each party its own numeric columns. Out, at every party: the trees of all numeric columns.
All parties learn the least and the largest number of each such column, which the release shows too.
Adversary: semi-honest; nobody can check another party's numbers.

Messages: each party to all, in the step `announce`: the lowest and the highest number of each such
column, 16 bytes. `broadcast_check` compares `digests_of_announced` afterwards.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from coterie.anonymity.specialization.specialize import Labels
from coterie.anonymity.table.columns import Column, ContinuousColumn, IntervalTree, Tree
from coterie.anonymity.table.scales import NUMBER
from coterie.protocols.integration.class_labels import digest_of_class
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare

SPANS = declare(
    "integrate: spans",
    what="The lowest and the highest number of every numeric column of a QID whose `range` the job leaves open.",
    to="every party",
    why="They are the ends of the topmost interval, which the release may show.",
)


def announce_spans(channel: Channel, plan: Plan, columns: Mapping[str, Column]) -> dict[str, Tree]:
    """Completes the trees by the spans that only the holders of numeric columns know."""
    trees = {**plan.trees, **{name: column.tree for name, column in columns.items()}}
    opened = {
        party: [n for n, tree in plan.trees.items() if tree is None and plan.holders[n] == party]
        for party in plan.names
    }
    with channel.step("announce"):
        if opened[channel.me]:
            spans = []
            for name in opened[channel.me]:
                column = columns[name]
                assert isinstance(column, ContinuousColumn)  # noqa: S101
                spans.append([column.tree.low[0], column.tree.high[0]])
            channel.broadcast(channel.open(SPANS, np.array(spans, np.float64)))
        for peer in channel.peers:
            if opened[peer]:
                what = "spans of its numeric attributes"
                received = channel.recv_array(peer, np.float64, (len(opened[peer]), 2), what)
                if not np.isfinite(received).all() or (received[:, 0] > received[:, 1]).any():
                    raise channel.fault(peer, f"sent no {what}")
                channel.open(SPANS, received)
                for name, (low, high) in zip(opened[peer], received.tolist(), strict=True):
                    scale, gap = plan.scales.get(name, (NUMBER, False))
                    try:
                        scale.write(low), scale.write(high)
                    except (ValueError, OverflowError):
                        raise channel.fault(peer, f"sent no {what}") from None
                    trees[name] = IntervalTree(low, high, scale, gap)
    return {name: tree for name, tree in trees.items() if tree is not None}


def digests_of_announced(
    plan: Plan, classes: Labels | None, trees: Mapping[str, Tree]
) -> dict[str, bytes]:
    """Digests of what each party has sent to all others: the class, the spans of its numbers."""
    heard = {}
    for party in plan.names:
        total = hashlib.sha256()
        if classes is not None and party == plan.class_holders[0]:
            total.update(digest_of_class(classes))
        for name, tree in plan.trees.items():
            if tree is None and plan.holders[name] == party:
                span = trees[name]
                assert isinstance(span, IntervalTree)  # noqa: S101
                total.update(np.array([span.low[0], span.high[0]], "<f8").data)
        heard[party] = total.digest()
    return heard
