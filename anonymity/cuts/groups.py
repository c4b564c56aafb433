"""The tree of cuts of a table, level by level: the state that all parties of a run have in common.

Each condition has its own partition of the records. A level settles its open groups, and then each
of them is cut, or an attribute is struck in it, or it is final. `Partition` knows records, sizes
and regions, and no value of a record; `best_cuts` finds, at whoever has columns, the best cut that
these columns offer each group. The order of records and groups changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from coterie.anonymity.cuts.candidates import Cutter, Segments
from coterie.anonymity.cuts.regions import Region, Space, region_of
from coterie.anonymity.cuts.scoring import Scoring
from coterie.anonymity.specialization.generalized import GeneralizedTable
from coterie.anonymity.specialization.scores import SCALE
from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array

Json: TypeAlias = "dict[str, Any]"  # an entry of a result
# The start regions of an attribute, and which of them each record has.
Start: TypeAlias = "tuple[Sequence[Region], Array]"
STAYS = "stays"  # a group that is neither cut nor final yet


@dataclass(frozen=True)
class Cut:
    """A cut of a group on an attribute, given by its place in the condition."""

    attribute: int
    parts: tuple[Region, ...]
    sizes: tuple[int, ...]
    score: int


@dataclass(frozen=True)
class Strike:
    """An attribute whose cut of a group would violate a model; only its party may know which."""

    attribute: int | None
    party: str


# What becomes of an open group: None if it is final.
Decision: TypeAlias = "Cut | Strike | str | None"


@dataclass(frozen=True)
class Branch:
    """A cut as a result lists it; `attribute` is its place in the condition."""

    level: int
    condition: int
    attribute: int
    region: Region
    cut: Cut


def branches_of(
    partition: Partition, decisions: Sequence[Decision], level: int, condition: int
) -> list[Branch]:
    """The cuts of a level, in the order of the groups."""
    return [
        Branch(level, condition, cut.attribute, partition.regions[at][cut.attribute], cut)
        for at, cut in enumerate(decisions)
        if isinstance(cut, Cut)
    ]


def listed(branch: Branch, names: Sequence[str], spaces: Mapping[str, Space]) -> Json:
    """A cut as results show it."""
    name = names[branch.attribute]
    space = spaces[name]
    return {
        "level": branch.level,
        "condition": branch.condition,
        "attribute": name,
        "region": space.named(branch.region),
        "parts": [space.named(part) for part in branch.cut.parts],
        "sizes": list(branch.cut.sizes),
        "score": branch.cut.score / SCALE,
    }


@dataclass
class Partition:
    """The groups of one condition."""

    names: tuple[str, ...]
    k: int
    open: Segments
    regions: list[list[Region]]  # of each open group, in the order of `names`
    struck: list[frozenset[int]] = field(default_factory=list)  # as far as it is known here
    strikes: list[tuple[str, ...]] = field(default_factory=list)  # the party of each
    final: list[tuple[Segments, list[list[Region]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.struck = self.struck or [frozenset()] * len(self.regions)
        self.strikes = self.strikes or [()] * len(self.regions)

    def settle(self, attribute: int, regions: Sequence[Region]) -> None:
        for own, region in zip(self.regions, regions, strict=True):
            own[attribute] = region

    def settled(self, attribute: int, cutter: Cutter) -> list[Region]:
        """The regions of all open groups on an attribute that this party has."""
        return cutter.settled(self.open, [own[attribute] for own in self.regions])

    def numbers(self) -> Array:
        """The number of each record's group, as long as all are open."""
        found = np.empty(len(self.open.rows), np.int64)
        found[self.open.rows] = self.open.group
        return found

    @property
    def divisible(self) -> Array:
        """The open groups with 2k records or more: no cut can divide the others."""
        return np.flatnonzero(self.open.sizes >= 2 * self.k)

    def apply(self, decisions: Sequence[Decision], codes: Mapping[int, Array]) -> None:
        """Makes the groups of the next level; `codes` has the part of each record, by group."""
        sizes, starts = self.open.sizes, self.open.starts
        rows: list[Array] = []
        new_sizes: list[int] = []
        regions: list[list[Region]] = []
        struck: list[frozenset[int]] = []
        strikes: list[tuple[str, ...]] = []
        ended: list[int] = []
        for at, decision in enumerate(decisions):
            own = self.open.rows[starts[at] : starts[at] + sizes[at]]
            if isinstance(decision, Cut):
                rows.append(own[np.argsort(codes[at], kind="stable")])
                for part, size in zip(decision.parts, decision.sizes, strict=True):
                    below = list(self.regions[at])
                    below[decision.attribute] = part
                    new_sizes.append(size)
                    regions.append(below)
                    struck.append(frozenset())
                    strikes.append(())
            elif decision is None:
                ended.append(at)
            else:
                rows.append(own)
                new_sizes.append(int(sizes[at]))
                regions.append(self.regions[at])
                more: set[int] = set()
                by: tuple[str, ...] = ()
                if isinstance(decision, Strike):
                    by = (decision.party,)
                    more = set() if decision.attribute is None else {decision.attribute}
                struck.append(self.struck[at] | more)
                strikes.append(self.strikes[at] + by)
        self._end(ended)
        none = np.zeros(0, self.open.rows.dtype)
        kept = np.concatenate([none, *rows])
        self.open = Segments(kept, np.array(new_sizes, np.int64))
        self.regions, self.struck, self.strikes = regions, struck, strikes

    def _end(self, groups: Sequence[int]) -> None:
        if groups:
            places = np.array(groups, np.int64)
            self.final.append((self.open.chosen(places), [self.regions[at] for at in groups]))

    def close(self) -> None:
        """Makes all open groups final."""
        self._end(range(len(self.regions)))
        self.open = Segments(self.open.rows[:0], self.open.sizes[:0])
        self.regions, self.struck, self.strikes = [], [], []

    def show(self, attribute: int, regions: Sequence[Region]) -> None:
        """Puts other regions in the place of those of the final groups."""
        following = iter(regions)
        for _, block in self.final:
            for own in block:
                own[attribute] = next(following)

    def shown(self, attribute: int, records: int) -> tuple[Array, list[Region]]:
        """The group of each record, and the region of each group, when all groups are final."""
        part = np.full(records, -1, np.int64)
        regions: list[Region] = []
        for segments, own in self.final:
            part[segments.rows] = len(regions) + segments.group
            regions += [region[attribute] for region in own]
        return part, regions


def started_groups(
    names: Sequence[str],
    k: int,
    records: int,
    spaces: Mapping[str, Space],
    starts: Mapping[str, Start],
) -> Partition:
    """One group of all records, or one for each combination of start values that occurs."""
    chosen = {name: starts[name] for name in names if name in starts}
    top = [spaces[name].top for name in names]
    if not chosen:
        every = Segments(np.arange(records), np.array([records], np.int64))
        return Partition(tuple(names), k, every, [top])
    group = group_numbers([codes for _, codes in chosen.values()])
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group).astype(np.int64)
    first = order[np.cumsum(sizes) - sizes].tolist()
    regions: list[list[Region]] = [
        [
            chosen[name][0][int(chosen[name][1][at])] if name in chosen else region
            for name, region in zip(names, top, strict=True)
        ]
        for at in first
    ]
    return Partition(tuple(names), k, Segments(order, sizes), regions)


def start_of(table: GeneralizedTable, name: str) -> Start:
    """The values that a finished specialization shows of an attribute, as a start of cuts."""
    attribute = table.names.index(name)
    tree = table.trees[attribute]
    regions = [region_of(tree, node) for node in table.cut_nodes(attribute)]
    return regions, table.generalized(name)[0]


def best_cuts(
    partition: Partition,
    spaces: Mapping[str, Space],
    cutters: Mapping[str, Cutter],
    scoring: Scoring,
    classes: Labels | None,
) -> list[Cut | None]:
    """The best cut of each open group on the attributes that have a cutter.

    The highest score wins, then the attribute that stands first.
    """
    best: list[Cut | None] = [None] * len(partition.regions)
    large = partition.divisible.tolist()
    counted = scoring.needs_class and classes is not None
    labels = classes.codes if counted and classes is not None else None
    number = len(classes.values) if counted and classes is not None else 0
    for attribute, name in enumerate(partition.names):
        if name not in cutters:
            continue
        cutter, space = cutters[name], spaces[name]
        wanted = [
            at
            for at in large
            if attribute not in partition.struck[at]
            and cutter.can_cut(partition.regions[at][attribute])
        ]
        if not wanted:
            continue
        regions = [partition.regions[at][attribute] for at in wanted]
        segments = partition.open.chosen(np.array(wanted))
        shapes = cutter.shapes(segments, regions, partition.k, labels, number)
        for at, region, shape in zip(wanted, regions, shapes, strict=True):
            if shape is None:
                continue
            score = scoring.score(name, space, region, shape.parts, shape.sizes, shape.by_class)
            found = best[at]
            if found is None or score > found.score:
                best[at] = Cut(attribute, shape.parts, shape.sizes, score)
    return best


def codes_of_cuts(
    partition: Partition, cuts: Mapping[int, Cut], cutters: Mapping[str, Cutter]
) -> dict[int, Array]:
    """The part of each record of the groups that are cut on attributes with a cutter, by group."""
    found: dict[int, Array] = {}
    for attribute, name in enumerate(partition.names):
        groups = sorted(at for at, cut in cuts.items() if cut.attribute == attribute)
        if not groups or name not in cutters:
            continue
        segments = partition.open.chosen(np.array(groups))
        regions = [partition.regions[at][attribute] for at in groups]
        codes = cutters[name].codes(segments, regions, [cuts[at].parts for at in groups])
        found |= zip(groups, np.split(codes, np.cumsum(segments.sizes)[:-1]), strict=True)
    return found
