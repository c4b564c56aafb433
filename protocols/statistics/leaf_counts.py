"""How many records a tree's leaves have, and how many the tree predicts rightly, if no small count shows.

In: the tree, which all parties know; at the two servers, shares of the counts of all combinations of
values of the tree's attributes and the class (`shared_tables`). Out, at every party: the records of
each leaf, and the number of records whose class the tree predicts; or that one or both stay hidden.

An attacker subtracts. A coalition knows its own attributes of every record, and the class, hence how
many records have each combination of its own values. If a leaf tests an attribute of another party
only, its size minus that of the leaves beside it, in which the coalition tests its own values, gives the
number of records of *that* leaf with each of the coalition's values: a count below `minimum` that
stands in no leaf. So the unit that is judged is not the leaf but the leaf divided by everything that a
coalition knows of it: by its own attributes in the tree, and for the right predictions by the class as
well, because with the sizes of leaves these reveal how the class is spread in them. Sizes are opened only
if every such part, of every coalition that lacks a server, has `minimum` records; right predictions
only if, besides, every part of each class has, and right and wrong ones together do. A leaf whose
tests are all the coalition's own tells it nothing, and counts as one part.

All or nothing: one bit is opened for each of the two. It is 0 if any part has fewer than `minimum`
records, be it one or none, so that for every small part there are tables in which it is empty and
which give the same bits.

Adversary: semi-honest; the servers must not collude. Messages: those of `hidden_counts`, for a
circuit on all parts and one on their bits, and one message of the counts from each server. Cost: 33
AND gates for each part; at most `MOST_CELLS` combinations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.counts.hidden_cells import Holders, Table
from coterie.base.arrays import Codes, Ints
from coterie.base.distinct import ranks
from coterie.protocols.messaging.opening import declare
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring
from coterie.protocols.statistics.shared_tables import Axis
from coterie.protocols.statistics.visibility_circuits import whole_circuit

MOST_CELLS = 4096

LARGE = declare(
    "tree: leaves are large enough",
    what="With `show`, whether every leaf, divided by what any coalition of parties knows of its records, has at least `minimum` records in every part; and the same for the parts of each class.",
    to="every party",
    why="Only then the records of leaves, or the number of right predictions, are opened.",
)
RECORDS = declare(
    "tree: records of leaves",
    what="With `show: [records]`, the number of records of every leaf, if all are large enough.",
    to="every party",
    why="The job asks for them, to tell leaves that rest on many records from others.",
)
CORRECT = declare(
    "tree: right predictions",
    what="With `show: [accuracy]`, the number of records whose class the tree predicts, if all parts are large enough.",
    to="every party",
    why="The job asks how much better the tree is than the most frequent class.",
)


@dataclass(frozen=True)
class Leaf:
    """The tests on the way to a leaf, a value for each attribute by its place; and its class."""

    path: Mapping[int, int]
    label: int


@dataclass(frozen=True)
class Shown:
    """What was opened; None stays hidden."""

    records: Codes | None
    correct: int | None


def leaf_counts(
    group: HiddenCounts,
    axes: Sequence[Axis],
    classes: int,
    leaves: Sequence[Leaf],
    share: Ring | None,
    minimum: int,
    show: Collection[str],
) -> Shown:
    """Decides and opens what `show` names; `share` is of the table of the `axes`, then the class."""
    leaf_of = leaf_numbers([axis.size for axis in axes], leaves)
    labels = np.array([leaf.label for leaf in leaves])[leaf_of]
    cell_leaf = np.repeat(leaf_of, classes)
    right = np.tile(np.arange(classes), len(leaf_of)) == np.repeat(labels, classes)
    sizes = parts_of(group, axes, leaves, leaf_of)
    records = correct = None
    with group.channel.step("leaves"):
        if not _all_large(group, [np.repeat(part, classes) for part in sizes], share, minimum):
            return Shown(None, None)
        if "records" in show:
            sums = _sums(share, cell_leaf, len(leaves))
            records = group.channel.open(RECORDS, group.added(sums, len(leaves)))
        if "accuracy" in show:
            every = [
                *(_by_class(part, classes) for part in sizes[1:]),
                right.astype(np.int64),
            ]
            if _all_large(group, every, share, minimum):
                found = _sums(share, np.where(right, 0, 1), 2)
                total = group.added(None if found is None else found[:1], 1)
                correct = int(group.channel.open(CORRECT, total)[0])
    return Shown(records, correct)


def leaf_numbers(shape: Sequence[int], leaves: Sequence[Leaf]) -> Ints:
    """The leaf of every combination of values, flat in the order of the attributes."""
    numbers: Ints = np.full(tuple(shape), -1, np.int64)
    for number, leaf in enumerate(leaves):
        place = tuple(leaf.path.get(at, slice(None)) for at in range(len(shape)))
        numbers[place] = number
    return numbers.reshape(-1)


def parts_of(
    group: HiddenCounts, axes: Sequence[Axis], leaves: Sequence[Leaf], leaf_of: Ints
) -> list[Ints]:
    """For a reader and for each coalition the part of every combination; the reader's are the leaves."""
    return [leaf_of] + [
        _divided(axes, leaves, leaf_of, known) for known in coalitions(group.servers, axes)
    ]


def coalitions(servers: tuple[str, str], axes: Sequence[Axis]) -> list[frozenset[str]]:
    """The attributes that the strongest coalitions without one of the servers know."""
    table = Table(tuple(axis.name for axis in axes), tuple(axis.size for axis in axes))
    return Holders({axis.name: axis.owner for axis in axes}, servers).attackers(table)


def _divided(
    axes: Sequence[Axis], leaves: Sequence[Leaf], leaf_of: Ints, known: frozenset[str]
) -> Ints:
    """Leaves divided by the known attributes, unless all their tests are on these."""
    shape = tuple(axis.size for axis in axes)
    values = np.indices(shape).reshape(len(shape), -1)
    own = np.zeros(len(leaf_of), np.int64)
    for at, axis in enumerate(axes):
        if axis.name in known:
            own = own * axis.size + values[at]
    plain = np.array([all(axes[at].name in known for at in leaf.path) for leaf in leaves])
    key = leaf_of * (int(own.max(initial=0)) + 1) + np.where(plain[leaf_of], 0, own)
    return ranks(key)


def _by_class(part: Ints, classes: int) -> Ints:
    """Parts divided by the class, which all parties know."""
    return np.repeat(part, classes) * classes + np.tile(np.arange(classes), len(part))


def _sums(share: Ring | None, part: Ints, parts: int) -> Ring | None:
    """Shares of the numbers of records of all parts."""
    if share is None:
        return None
    sums = np.zeros(parts, np.uint32)
    np.add.at(sums, part, share)
    return sums


def _all_large(
    group: HiddenCounts, divisions: Sequence[Ints], share: Ring | None, minimum: int
) -> bool:
    """Whether every part of every division has enough records."""
    if minimum == 1:
        return True  # no count is small
    compact = [ranks(part) for part in divisions]
    counts = [int(part.max(initial=-1)) + 1 for part in compact]
    sums = [_sums(share, part, count) for part, count in zip(compact, counts, strict=True)]
    known = [one for one in sums if one is not None]
    whole = np.concatenate(known) if known else None
    large = group.large(whole, sum(counts), minimum, zeros=False)
    row = None if large is None else large[None]
    bits, _ = group.decided(whole_circuit(sum(counts)), 1, {"large": row}, "whole")
    return bool(group.channel.open(LARGE, bits)[0, 0])
