"""A decision tree (ID3) over attributes that several parties hold, which reveals no counts.

Lindell and Pinkas, "Privacy Preserving Data Mining" (J. Cryptology 2002), section 3 for the
algorithm and for scoring by x ln x on shares, carried over to vertically held columns as in Vaidya
and Clifton (2005) and Yang and Wright (2006): the indicator of a node is the product of the
parties' own indicators, and counts under it are `shared_counts`.

In: at every party the codes of its own attributes, and the class, which all parties know (they
agreed to that with the job). Out, at every party: the tree, with the attribute that splits each
node and the class of each leaf. Branch numbers represent values; an owner that wants to hide its
values draws the numbers at random before it starts. Nobody learns a count, a score, or which
records reach a node (each party knows which of its own tests a record passes).

The tree grows level by level. For the nodes of a level:
  1. leaves: fewer than `minimum` records of another class than the most frequent one, decided by
     `HiddenCounts.leaves` on shares; at the largest depth, or with no attribute left, all nodes are
     leaves. All parties know the class of every record, so that a leaf of one class alone would tell
     of each record of another class that it has not the values on the path; whether there are none or
     a few of these, nobody learns. The class of a leaf is opened; that of any other node stays shared between the servers, for children that have
     too few records for a class of their own
  2. for every other node and attribute, the counts of value and class as shares at the servers: an
     owner's rows are one-hot in (value, class) for the records that pass its own tests; the other
     parties with a test on the path mask them. With mixed partition (`mixed_cells`) every party
     masks by what its own cells permit
  3. the attribute of least conditional entropy, the first in order among equals, by
     `HiddenScores.split`

Adversary: semi-honest; servers that collude learn all counts, so the parties agree on two that do
not.

Kept answers (`protocols.messaging.kept`): for each level, which nodes are leaves, their classes, and
the attribute of each other node, with the servers' shares of the classes and of the children's
counts. All but the shares is the tree, which every party learns. The answers must be kept, because
scores that are nearly equal are told apart by rounding that is random: a second attempt might open
another attribute. Where an owner numbers its values at random, it draws the numbers once.

Messages, for each level in order: those of `HiddenCounts.leaves`, of `shared_counts` for each
node and attribute, and of `HiddenScores.split`. Cost: for each node and party with a test, records
* (16 + 4 * classes * values) bytes; the rounds grow with the depth and the number of nodes, not
with the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from coterie.base.arrays import Bits, Codes, Mask
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import Value
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.mixed_cells import pattern_rows
from coterie.protocols.statistics.shared_counts import (
    Ring,
    Transfers,
    kept_share,
    masked_sums,
    one_hot,
    share_out,
)
from coterie.protocols.statistics.shared_tables import Axis

STOP = -1


class Decisions(Protocol):
    """The decisions about counts that a tree needs. All parties call, and all learn the results.

    Shares are None at parties that are not servers.
    """

    def leaves(
        self,
        counts: Ring | None,
        nodes: int,
        classes: int,
        inherited: Bits | None,
        minimum: int,
        last: bool = False,
    ) -> tuple[Mask, Codes, Bits | None]:
        """For each node whether it is a leaf, and if so its class; counts of shape (nodes *
        classes).

        `inherited` is a row of shares of the parent's class for each node, None for the root. The
        third result has such rows of the nodes' own classes, for their children. At the last level,
        where all nodes are leaves, only the classes are revealed.
        """
        ...

    def labels(self, kept: Bits | None, nodes: int, classes: int) -> Codes:
        """The classes of nodes that no attribute splits, from the rows of shares."""
        ...

    def split(
        self, tables: Ring | None, nodes: int, sizes: Sequence[Sequence[int]], classes: int
    ) -> list[int]:
        """For each node the candidate of least conditional entropy, or `STOP`."""
        ...


@dataclass(frozen=True)
class TreePlan:
    """What all parties know before they start."""

    names: tuple[str, ...]
    servers: tuple[str, str]
    attributes: tuple[Axis, ...]
    classes: int
    records: int
    max_depth: int
    minimum: int
    horizontal: bool = False
    mixed: bool = False  # each cell at one party; the codes of others' cells are -1


@dataclass
class Node:
    """A node of the tree. A leaf has no attribute; only the label of a leaf has a meaning."""

    label: int
    attribute: int | None = None
    branches: list[Node] = field(default_factory=list)


@dataclass
class _Open:
    """A node that may still be split."""

    node: Node
    path: dict[int, int]  # attribute -> value
    kept: Bits | None = None  # a server's share of the node's class, or before that of its parent's


def grow(
    transfers: Transfers,
    plan: TreePlan,
    codes: Mapping[str, Codes],
    classes: Codes,
    decisions: Decisions,
    rng: Random,
) -> Node:
    """The tree, the same at every party. `codes` has this party's own attributes."""
    channel = transfers.channel
    root = _Open(Node(0), {})
    level = [root]
    counts = kept_share(channel, "root counts", lambda: _root_counts(channel, plan, classes, rng))
    with channel.step("grow"):
        for depth in range(plan.max_depth + 1):
            last = depth == min(plan.max_depth, len(plan.attributes))
            leaf, labels, kept = _leaves(channel, plan, decisions, counts, level, last)
            for at, item in enumerate(level):
                item.node.label = int(labels[at])
                item.kept = None if kept is None else kept[at]
            if last:
                break
            level = [item for item, done in zip(level, leaf, strict=True) if not done]
            if not level:
                break
            level, counts = _split_level(transfers, plan, codes, classes, decisions, level, rng)
            if not level:
                break
    return root.node


def _leaves(
    channel: Channel,
    plan: TreePlan,
    decisions: Decisions,
    counts: Ring | None,
    level: Sequence[_Open],
    last: bool,
) -> tuple[Mask, Codes, Bits | None]:
    """As `Decisions.leaves`, as a kept answer."""

    def find() -> list[Value]:
        leaf, labels, kept = decisions.leaves(
            counts, len(level), plan.classes, _rows(level), plan.minimum, last
        )
        return [leaf, labels, [] if kept is None else kept]

    leaf, labels, kept = channel.once("leaves", find)
    return leaf, labels, None if isinstance(kept, list) else kept


def _rows(level: Sequence[_Open]) -> Bits | None:
    """A server's shares of the nodes' classes, one row for each node."""
    rows = [item.kept for item in level if item.kept is not None]
    return np.stack(rows) if rows else None


def _root_counts(channel: Channel, plan: TreePlan, classes: Codes, rng: Random) -> Ring | None:
    """Shares of the number of records of each class, which all parties know or count themselves."""
    holders = plan.names if plan.horizontal else plan.names[:1]
    mine = None
    if channel.me in holders:
        mine = np.bincount(classes, minlength=plan.classes).astype(np.uint32)
    return share_out(channel, plan.servers, holders, plan.classes, mine, rng)


def _split_level(
    transfers: Transfers,
    plan: TreePlan,
    codes: Mapping[str, Codes],
    classes: Codes,
    decisions: Decisions,
    level: list[_Open],
    rng: Random,
) -> tuple[list[_Open], Ring | None]:
    """Splits all nodes of a level; returns the children, and shares of their counts by class.

    What all parties and the servers find out is a kept answer.
    """
    channel = transfers.channel
    candidates = [
        [at for at in range(len(plan.attributes)) if at not in item.path] for item in level
    ]
    sizes = [[plan.attributes[at].size for at in rest] for rest in candidates]

    def choose() -> list[Value]:
        """The choices, the classes of the nodes that stop, and shares of the children's counts."""
        tables: list[Ring] = []
        for item, rest in zip(level, candidates, strict=True):
            share = _node_tables(transfers, plan, codes, classes, item.path, rest, rng)
            if share is not None:
                tables.append(share)
        flat = np.concatenate(tables) if tables else None
        chosen = decisions.split(flat, len(level), sizes, plan.classes)
        stopped = [item for item, choice in zip(level, chosen, strict=True) if choice == STOP]
        labels = [
            int(label)
            for label in (
                decisions.labels(_rows(stopped), len(stopped), plan.classes) if stopped else ()
            )
        ]
        counts: list[Ring] = []
        for at, choice in enumerate(chosen):
            if tables and choice != STOP:
                start = sum(sizes[at][:choice]) * plan.classes
                counts.append(tables[at][start : start + sizes[at][choice] * plan.classes])
        return [[*chosen], [*labels], np.concatenate(counts) if counts else []]

    chosen, labels, counts = channel.once("splits", choose)
    stopped = [item for item, choice in zip(level, chosen, strict=True) if choice == STOP]
    for item, label in zip(stopped, labels, strict=True):
        item.node.label = label
    children: list[_Open] = []
    for at, (item, choice) in enumerate(zip(level, chosen, strict=True)):
        if choice == STOP:
            continue
        attribute = candidates[at][choice]
        item.node.attribute = attribute
        for value in range(plan.attributes[attribute].size):
            child = _Open(Node(0), {**item.path, attribute: value}, item.kept)
            item.node.branches.append(child.node)
            children.append(child)
    return children, None if isinstance(counts, list) else counts


def _node_tables(
    transfers: Transfers,
    plan: TreePlan,
    codes: Mapping[str, Codes],
    classes: Codes,
    path: Mapping[int, int],
    candidates: Sequence[int],
    rng: Random,
) -> Ring | None:
    """Shares of the counts (value, class) of every candidate at a node, one after the other."""
    channel = transfers.channel
    widths = [plan.attributes[at].size * plan.classes for at in candidates]
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(int)
    passing = passing_tests(plan, codes, path, channel.me, len(classes))
    if plan.mixed:
        return _mixed_tables(transfers, plan, codes, classes, passing, candidates, rng)
    total = np.zeros(starts[-1], np.uint32)
    holders: set[str] = set()
    for owner in plan.names:
        own = [
            place
            for place, at in enumerate(candidates)
            if plan.horizontal or plan.attributes[at].owner == owner
        ]
        if not own:
            continue
        testing = {plan.attributes[at].owner for at in path} - {owner}
        maskers = [(name, 1) for name in plan.names if name in testing and not plan.horizontal]
        width = sum(widths[place] for place in own)
        rows = None
        if channel.me == owner:
            rows = np.concatenate(
                [
                    one_hot(
                        np.where(
                            passing,
                            codes[plan.attributes[candidates[place]].name] * plan.classes + classes,
                            -1,
                        ),
                        widths[place],
                    )
                    for place in own
                ],
                axis=1,
            )
        share = masked_sums(
            transfers,
            owner,
            maskers,
            plan.records,
            width,
            rows,
            passing.astype(np.uint8)[:, None],
        )
        holders |= {owner, *(name for name, _ in maskers)}
        if share is not None:
            at = 0
            for place in own:
                total[starts[place] : starts[place + 1]] += share[at : at + widths[place]]
                at += widths[place]
    order = [name for name in plan.names if name in holders]
    mine = total if channel.me in holders else None
    return share_out(channel, plan.servers, order, len(total), mine, rng)


def _mixed_tables(
    transfers: Transfers,
    plan: TreePlan,
    codes: Mapping[str, Codes],
    classes: Codes,
    passing: Mask,
    candidates: Sequence[int],
    rng: Random,
) -> Ring | None:
    """What `_node_tables` returns, where each cell lies at one party; other cells permit every value."""
    own = [codes[plan.attributes[at].name] for at in candidates]
    sizes = [plan.attributes[at].size for at in candidates]

    def bits_of(part: slice) -> Bits:
        rows = [
            (column[part, None] == np.arange(size)) | (column[part, None] < 0)
            for column, size in zip(own, sizes, strict=True)
        ]
        permitted: Bits = (np.concatenate(rows, axis=1) & passing[part, None]).astype(np.uint8)
        return permitted

    total = np.zeros((sum(sizes), plan.classes), np.uint32)
    for part, mine in pattern_rows(transfers, plan.names, plan.records, sum(sizes), bits_of):
        for label in range(plan.classes):
            total[:, label] += mine[classes[part] == label].sum(axis=0, dtype=np.uint32)
    flat = total.reshape(-1)
    return share_out(transfers.channel, plan.servers, plan.names, len(flat), flat, rng)


def passing_tests(
    plan: TreePlan, codes: Mapping[str, Codes], path: Mapping[int, int], me: str, records: int
) -> Mask:
    """Which records pass this party's own tests on a path."""
    passing = np.ones(records, np.bool_)
    for at, value in path.items():
        attribute = plan.attributes[at]
        if plan.horizontal or plan.mixed or attribute.owner == me:
            own = codes[attribute.name]
            passing &= (own == value) | (own < 0 if plan.mixed else False)
    return passing


def pruned(node: Node) -> Node:
    """The tree without splits whose leaves all have the same class."""
    if node.attribute is None:
        return node
    branches = [pruned(branch) for branch in node.branches]
    labels = {branch.label if branch.attribute is None else None for branch in branches}
    if len(labels) == 1 and None not in labels:
        return Node(labels.pop() or 0)
    return Node(node.label, node.attribute, branches)


def leaves_of(node: Node, path: dict[int, int]) -> list[tuple[dict[int, int], Node]]:
    """The leaves from left to right, each with the tests on the way to it."""
    if node.attribute is None:
        return [(path, node)]
    return [
        leaf
        for value, branch in enumerate(node.branches)
        for leaf in leaves_of(branch, {**path, node.attribute: value})
    ]
