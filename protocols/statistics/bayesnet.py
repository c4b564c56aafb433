"""The structure of a Bayes net over attributes that several parties hold (K2 on shared counts).

Cooper and Herskovits, "A Bayesian Method for the Induction of Probabilistic Networks" (1992), the
greedy K2 search for a given order; Yang and Wright, "Privacy-Preserving Computation of Bayesian
Networks on Vertically Partitioned Data" (TKDE 2006), for doing it on shares of counts with
logarithms; paper 2, third article, reports their run on 100,000 records of six fields.

In: at every party the codes of its own attributes. Out, at every party: the edges, in the order in
which they were found, and nothing else: no count and no score. (That a candidate was not chosen
shows that its score was not the best, which follows from the edges.)

The search runs for all attributes side by side. In each turn, for each attribute that may still get
a parent, the tables of the attribute under its parents and one more candidate are computed as
shares at the two servers (`shared_tables`), and `Decisions.best` compares them with the present table
on shares. The number of turns is the largest number of parents plus one.

Kept answers (`protocols.messaging.kept`): the edges of each turn, with the servers' shares of the
tables that were chosen. They must be kept, because scores that are nearly equal are told apart by
rounding that is random, so that a second attempt might open other edges.

Adversary: semi-honest; the two servers must not collude. Messages and cost: those of `shared_tables`
for each table, and of `hidden_scores` for each turn: one logarithm for each cell and one for each
configuration of parents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import Value
from coterie.protocols.statistics.shared_counts import Ring, kept_share
from coterie.protocols.statistics.shared_tables import Axis

Counter = Callable[[Sequence[Axis]], "Ring | None"]


@dataclass(frozen=True)
class Family:
    """An attribute under a set of parents: shares of the counts, the attribute's values last."""

    share: Ring | None
    configurations: int
    size: int


class Decisions(Protocol):
    """Compares families whose counts nobody sees. All parties call it, and all learn the result."""

    def best(self, groups: Sequence[Sequence[Family]]) -> list[int]:
        """For each group the family of greatest K2 score, the first among equals."""
        ...


def search(
    channel: Channel, order: Sequence[Axis], max_parents: int, count: Counter, decisions: Decisions
) -> list[tuple[str, str]]:
    """The edges (parent, child): children in the given order, parents as they were found.

    `count` gives shares of the table over some axes (None at parties that are not servers).
    """
    parents: dict[int, list[int]] = {child: [] for child in range(len(order))}
    present: dict[int, Family] = {}
    with channel.step("search"):
        growing = [child for child in parents if child and max_parents]
        for child in growing:
            present[child] = _family(order, [], child, _kept(channel, count))
        while growing:
            candidates = {
                child: [p for p in range(child) if p not in parents[child]] for child in growing
            }
            turn = partial(_turn, order, parents, present, growing, candidates, count, decisions)
            chosen, shares = channel.once("edges", turn)
            still = []
            for child, choice, share in zip(growing, chosen, shares, strict=True):
                if choice == 0:
                    continue
                parents[child].append(candidates[child][choice - 1])
                kept: Counter = partial(_as_kept, share)
                present[child] = _family(order, sorted(parents[child]), child, kept)
                if len(parents[child]) < min(max_parents, child):
                    still.append(child)
            growing = still
    return [(order[p].name, order[child].name) for child in parents for p in parents[child]]


def _turn(
    order: Sequence[Axis],
    parents: Mapping[int, Sequence[int]],
    present: Mapping[int, Family],
    growing: Sequence[int],
    candidates: Mapping[int, Sequence[int]],
    count: Counter,
    decisions: Decisions,
) -> list[Value]:
    """For each attribute that may get a parent: the choice, and the share of the chosen table."""
    groups = {
        child: [
            present[child],
            *(
                _family(order, sorted([*parents[child], p]), child, count)
                for p in candidates[child]
            ),
        ]
        for child in growing
    }
    chosen = decisions.best([groups[child] for child in growing])
    shares = [groups[child][at].share for child, at in zip(growing, chosen, strict=True)]
    return [[*chosen], [[] if share is None else share for share in shares]]


def _kept(channel: Channel, count: Counter) -> Counter:
    """Counts whose shares are kept."""
    return lambda axes: kept_share(channel, "counts", lambda: count(axes))


def _as_kept(share: Any, axes: Sequence[Axis]) -> Ring | None:
    """The share of a chosen table, as it was kept."""
    return None if isinstance(share, list) else share


def _family(order: Sequence[Axis], parents: Sequence[int], child: int, count: Counter) -> Family:
    axes = [order[at] for at in parents]
    configurations = 1
    for axis in axes:
        configurations *= axis.size
    return Family(count([*axes, order[child]]), configurations, order[child].size)
