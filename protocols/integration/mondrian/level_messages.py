"""The messages of one level: settled regions, best cuts, and the cuts that are made.

Everything is public state plus the sender's word; what a receiver cannot check, only the owner of
the column knows: whether a group settled as far as it could, and whether a cut is the most even one.
Every other deviation is named with its sender.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.cuts.groups import Cut, Partition
from coterie.anonymity.cuts.regions import (
    Box,
    Missing,
    Node,
    NumberSpace,
    Region,
    Rest,
    Space,
    Span,
    TaxonomySpace,
)
from coterie.anonymity.cuts.tight import ends_of
from coterie.anonymity.table.columns import Column, ContinuousColumn, code_type
from coterie.base.arrays import Array
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import bits_for, pack_codes, unpack_codes
from coterie.protocols.messaging.wire import Value

MOST_SCORE = 1 << 62
_NOTHING = np.zeros(0, np.uint8)


@dataclass(frozen=True)
class Shared:
    """What all parties know: the groups of each condition, the spaces and the holders."""

    partitions: Sequence[Partition]
    spaces: Mapping[str, Space]
    holders: Mapping[str, str]

    def own(self, partition: Partition, party: str) -> list[int]:
        """The attributes of a party in a condition."""
        return [at for at, name in enumerate(partition.names) if self.holders[name] == party]


def _may_settle(space: Space, region: Region) -> bool:
    return (
        isinstance(space, TaxonomySpace)
        and isinstance(region, Node)
        and bool(space.taxonomy.children[region.node])
    )


def settled_message(
    shared: Shared, party: str, settled: Sequence[Mapping[int, Sequence[Region]]]
) -> list[Value]:
    """The nodes of the party's taxonomies, in the open groups whose node may go down."""
    found: list[Value] = []
    for partition, regions in zip(shared.partitions, settled, strict=True):
        for attribute in shared.own(partition, party):
            space = shared.spaces[partition.names[attribute]]
            if isinstance(space, TaxonomySpace):
                nodes = [
                    below.node
                    for own, below in zip(partition.regions, regions[attribute], strict=True)
                    if isinstance(below, Node) and _may_settle(space, own[attribute])
                ]
                found.append(np.array(nodes, code_type(len(space.taxonomy.labels))))
    return found


def read_settled(channel: Channel, shared: Shared, party: str, received: Any) -> None:
    """Follows the settled regions of a party."""
    due = "settled regions"
    wanted = [
        (partition, attribute, space)
        for partition in shared.partitions
        for attribute in shared.own(partition, party)
        if isinstance(space := shared.spaces[partition.names[attribute]], TaxonomySpace)
    ]
    arrays = channel.check_list(party, received, len(wanted), due)
    for (partition, attribute, space), array in zip(wanted, arrays, strict=True):
        moving = [
            at for at, own in enumerate(partition.regions) if _may_settle(space, own[attribute])
        ]
        labels = len(space.taxonomy.labels)
        channel.check_array(party, array, code_type(labels), (len(moving),), due)
        regions = [own[attribute] for own in partition.regions]
        for at, node in zip(moving, array.tolist(), strict=True):
            if node >= labels or not space.is_settled(regions[at], Node(node)):
                raise channel.fault(party, "settles a group in a value that is not below its own")
            regions[at] = Node(node)
        partition.settle(attribute, regions)


def groups_with_keys(shared: Shared) -> list[tuple[int, int]]:
    """The open groups that may be divided: the condition and the group of each key."""
    return [
        (number, at)
        for number, partition in enumerate(shared.partitions)
        for at in partition.divisible.tolist()
    ]


def keys_message(
    groups: Sequence[tuple[int, int]], best: Mapping[tuple[int, int], Cut]
) -> list[Value]:
    """The score and the attribute of the best cut of each group; -1 where there is none."""
    cuts = [best.get(group) for group in groups]
    scores = np.array([-1 if cut is None else cut.score for cut in cuts], np.int64)
    attributes = np.array([0 if cut is None else cut.attribute for cut in cuts], np.uint16)
    return [scores, attributes]


def read_keys(
    channel: Channel,
    shared: Shared,
    party: str,
    groups: Sequence[tuple[int, int]],
    received: Sequence[Any],
) -> list[tuple[int, int] | None]:
    """The score and the attribute of a party's best cut of each group."""
    due = "scores"
    scores = channel.check_array(party, received[0], np.int64, (len(groups),), due)
    attributes = channel.check_array(party, received[1], np.uint16, (len(groups),), due)
    found: list[tuple[int, int] | None] = []
    for (number, at), score, attribute in zip(
        groups, scores.tolist(), attributes.tolist(), strict=True
    ):
        if score < 0:
            found.append(None)
            continue
        check_owner(channel, shared, party, shared.partitions[number], at, attribute)
        found.append((score, attribute))
    return found


def check_owner(
    channel: Channel, shared: Shared, party: str, partition: Partition, group: int, attribute: int
) -> None:
    """Refuses another party's attribute, and more refused cuts than the party has attributes."""
    own = shared.own(partition, party)
    if attribute not in own:
        raise channel.fault(party, "offers a cut on an attribute that it does not hold")
    if partition.strikes[group].count(party) >= len(own):
        raise channel.fault(party, "offers more cuts of a group than it has attributes")


def instruct_message(
    shared: Shared, cuts: Sequence[tuple[int, int, Cut]], codes: Mapping[tuple[int, int], Array]
) -> list[Value]:
    """The cuts of the groups that a party has won; records' parts in groups of equal width."""
    attributes, counts, nodes, points = [], [], [], []
    widths: dict[int, list[Array]] = {}
    for number, at, cut in cuts:
        partition = shared.partitions[number]
        attributes.append(cut.attribute)
        counts.append(len(cut.parts))
        for part in cut.parts:
            if isinstance(part, Node):
                nodes.append(part.node)
            elif isinstance(part, Rest):
                nodes.append(-1 - part.node)
        if isinstance(shared.spaces[partition.names[cut.attribute]], NumberSpace):
            right = cut.parts[1]
            points.append(right.low if isinstance(right, Span) else math.inf)
        widths.setdefault(bits_for(len(cut.parts)), []).append(codes[number, at])
    packed: list[Value] = [
        pack_codes(np.concatenate(widths[bits]).astype(np.uint32), 1 << bits)
        for bits in sorted(widths)
    ]
    return [
        np.array(attributes, np.uint16),
        np.array(counts, np.uint32),
        np.array(nodes, np.int32),
        np.array(points, np.float64),
        packed,
    ]


def read_instruct(
    channel: Channel,
    shared: Shared,
    party: str,
    groups: Sequence[tuple[int, int]],
    received: Any,
) -> dict[tuple[int, int], tuple[int, tuple[Region, ...], Array, tuple[int, ...]]]:
    """Of each group that the party has won: attribute, parts, codes of the records, sizes."""
    due = "instruction"
    values = channel.check_list(party, received, 5, due)
    attributes = channel.check_array(party, values[0], np.uint16, (len(groups),), due).tolist()
    counts = channel.check_array(party, values[1], np.uint32, (len(groups),), due).tolist()
    nodes = iter(channel.check_array(party, values[2], np.int32, (None,), due).tolist())
    points = iter(channel.check_array(party, values[3], np.float64, (None,), due).tolist())
    shapes: list[tuple[Region, ...]] = []
    for (number, at), attribute, count in zip(groups, attributes, counts, strict=True):
        partition = shared.partitions[number]
        check_owner(channel, shared, party, partition, at, attribute)
        space, region = shared.spaces[partition.names[attribute]], partition.regions[at][attribute]
        parts = _parts_of(space, region, count, nodes, points)
        if parts is None or not space.is_cut(region, parts):
            raise channel.fault(party, "cuts a group into regions that are not parts of the group")
        shapes.append(parts)
    if next(nodes, None) is not None or next(points, None) is not None:
        raise channel.fault(party, "sent more regions than it has groups")
    codes = _read_codes(channel, shared, party, groups, shapes, values[4])
    found = {}
    for group, attribute, parts, own in zip(groups, attributes, shapes, codes, strict=True):
        sizes = np.bincount(own, minlength=len(parts))
        if len(sizes) > len(parts):
            raise channel.fault(party, "sent a part that its cut does not have")
        if (sizes < shared.partitions[group[0]].k).any():
            raise channel.fault(party, "cuts off a part with fewer than k records")
        found[group] = attribute, parts, own, tuple(sizes.tolist())
    return found


def _parts_of(
    space: Space, region: Region, count: int, nodes: Any, points: Any
) -> tuple[Region, ...] | None:
    """The parts in a message; None if there are no such parts."""
    if isinstance(space, NumberSpace):
        point = next(points, math.nan)
        if count != 2 or not isinstance(region, Span) or math.isnan(point):
            return None
        try:
            space.scale.write(point if math.isfinite(point) else region.low)
        except (ValueError, OverflowError):
            return None
        return space.halves(region, point)
    assert isinstance(space, TaxonomySpace)  # noqa: S101
    labels = len(space.taxonomy.labels)
    if not isinstance(region, Node) or count > len(space.taxonomy.children[region.node]):
        return None
    parts: list[Region] = []
    for _ in range(count):
        node = next(nodes, None)
        if node is None or not -labels <= node < labels:
            return None
        parts.append(Node(node) if node >= 0 else Rest(-1 - node))
    return tuple(parts)


def _read_codes(
    channel: Channel,
    shared: Shared,
    party: str,
    groups: Sequence[tuple[int, int]],
    shapes: Sequence[tuple[Region, ...]],
    received: Any,
) -> list[Array]:
    widths: dict[int, list[int]] = {}
    for place, parts in enumerate(shapes):
        widths.setdefault(bits_for(len(parts)), []).append(place)
    due = "codes of the records"
    arrays = channel.check_list(party, received, len(widths), due)
    codes: list[Array] = [_NOTHING] * len(groups)
    for bits, packed in zip(sorted(widths), arrays, strict=True):
        sizes = [
            int(shared.partitions[groups[place][0]].open.sizes[groups[place][1]])
            for place in widths[bits]
        ]
        try:
            every = unpack_codes(packed, sum(sizes), 1 << bits)
        except ValueError as error:
            raise channel.fault(party, f"sent {due} that {error}") from None
        for place, own in zip(widths[bits], np.split(every, np.cumsum(sizes)[:-1]), strict=True):
            codes[place] = own
    return codes


def ends_message(shared: Shared, party: str, columns: Mapping[str, Column]) -> list[Value]:
    """With tight boxes, the lowest and the highest number of the party's columns in each group."""
    found: list[Value] = []
    for partition in shared.partitions:
        for attribute in shared.own(partition, party):
            name = partition.names[attribute]
            if isinstance(shared.spaces[name], NumberSpace):
                column = columns[name]
                assert isinstance(column, ContinuousColumn)  # noqa: S101
                part, regions = partition.shown(attribute, len(column))
                found += ends_of(column, part, len(regions))
    return found


def read_ends(channel: Channel, shared: Shared, party: str, received: Any) -> None:
    """Puts the exact ends of a party's numbers in the place of the intervals of final groups."""
    due = "ends of its numbers"
    wanted = [
        (partition, attribute)
        for partition in shared.partitions
        for attribute in shared.own(partition, party)
        if isinstance(shared.spaces[partition.names[attribute]], NumberSpace)
    ]
    values = channel.check_list(party, received, 2 * len(wanted), due)
    for place, (partition, attribute) in enumerate(wanted):
        regions = [own[attribute] for _, block in partition.final for own in block]
        ends = channel.check_array(party, values[2 * place], np.float64, (len(regions), 2), due)
        gaps = channel.check_array(party, values[2 * place + 1], np.uint8, (len(regions),), due)
        boxes: list[Region] = []
        for region, (low, high), gap in zip(regions, ends.tolist(), gaps.tolist(), strict=True):
            box = _box(region, low, high, gap)
            if box is None:
                raise channel.fault(party, f"sent {due} that lie outside its group")
            boxes.append(box)
        partition.show(attribute, boxes)


def _box(region: Region, low: float, high: float, gap: int) -> Region | None:
    """The exact region within another; None if it is not within it."""
    if math.isnan(low) and math.isnan(high) and gap == 1:
        has_gap = isinstance(region, Missing) or (isinstance(region, Span) and region.gap)
        return Missing() if has_gap else None
    if not isinstance(region, Span) or gap > int(region.gap) or not low <= high:
        return None
    within = region.low <= low and (high < region.high or (region.closed and high == region.high))
    return Box(low, high, gap == 1) if within else None
