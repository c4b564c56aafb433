"""Models on cuts of another party's columns, decided on shares: one bit a group is opened.

The forms and circuits are those of `sensitive.conditions`, which has how and why. Here a batch has
all groups that one proposer has won in a level. A group has as many slots as any cut of it on an
attribute of the proposer could have parts, so that the messages do not depend on the cut; and the
proposer's own verdict, on columns that it holds itself and on the class, is one more secret bit, so
that nobody learns who refuses.

In: at the proposer the parts of the records; at each holder the sensitive codes. Public: groups,
regions, requirement. Out, at every party: for each group whether the cut is refused. Adversary,
messages and cost: as of `sensitive.conditions`, with one circuit more for each group; several
holders multiply their shares (`gmw`). Where no other party holds a sensitive column, the proposer
tells its own verdicts, one bit a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.cuts.groups import Cut, Partition
from coterie.anonymity.cuts.judging import forbidden
from coterie.anonymity.cuts.regions import Node, Span, TaxonomySpace
from coterie.anonymity.models.privacy import Model
from coterie.anonymity.specialization.generalized import Requirement
from coterie.base.arrays import Array, Bits
from coterie.protocols.integration.mondrian.level_messages import Shared
from coterie.protocols.integration.mondrian.winners import told_flags
from coterie.protocols.integration.sensitive.condition_forms import Form, forms_of
from coterie.protocols.integration.sensitive.joint_verdicts import JointVerdicts, Judged
from coterie.protocols.integration.sensitive.slots import Layout
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import pack_codes
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random

REFUSED = declare(
    "integrate: refused cuts",
    what="With `method: mondrian` and models, for each group that a party has won whether its cut would violate a model, and nothing else of a refused one.",
    to="every party",
    why="A refused cut is not made, and its attribute is not tried again in this group.",
)


@dataclass(frozen=True)
class Judge:
    """A model of an entry, the condition that the entry belongs to, and who has the column."""

    condition: int
    requirement: int
    part: Model
    form: Form
    holder: str


def judges_of(
    requirements: Sequence[Requirement],
    sensitive: Mapping[str, str],
    places: Sequence[Sequence[int]],
) -> list[Judge]:
    """The models that a column of some party decides; `places` has the entries by condition."""
    found = []
    for number, entries in enumerate(places):
        for j in entries:
            model = requirements[j].model
            named = [n for n in requirements[j].sensitive_columns if n in sensitive]
            forms = None if model is None or not named else forms_of(model)
            for part, form in forms or ():
                found.append(Judge(number, j, part, form, sensitive[named[0]]))
    return found


class Judgement(JointVerdicts):
    """One party's part in judging cuts."""

    def __init__(
        self,
        channel: Channel,
        names: Sequence[str],
        shared: Shared,
        judges: Sequence[Judge],
        models: Mapping[int, Judged],
        places: Sequence[Sequence[int]],
        records: int,
        rng: Random,
    ) -> None:
        super().__init__(channel, names, models, records, rng)
        self._shared, self._judges = shared, judges
        # The models that this party decides alone, by condition.
        self._own = [[models[j][:2] for j in entries if j in models] for entries in places]
        self.announce({judge.requirement: judge.holder for judge in judges})

    def check_start(self) -> list[bool]:
        """Of each condition whether the groups that it starts with satisfy this party's models."""
        verdicts = []
        for partition, models in zip(self._shared.partitions, self._own, strict=True):
            whole = {
                at: Cut(0, tuple(regions[:1]), (), 0)
                for at, regions in enumerate(partition.regions)
            }
            codes = {at: np.zeros(int(n), np.int64) for at, n in enumerate(partition.open.sizes)}
            verdicts.append(not forbidden(partition.open, whole, codes, models))
        return verdicts

    def refused(
        self,
        proposer: str,
        won: Sequence[tuple[int, int]],
        cuts: Mapping[tuple[int, int], Cut],
        codes: Mapping[tuple[int, int], Array],
    ) -> set[tuple[int, int]]:
        """The groups among those that a proposer has won whose cut is refused."""
        channel = self._channel
        conditions = {number for number, _ in won}
        holders = [
            name
            for name in self._names
            if name != proposer
            and any(j.holder == name and j.condition in conditions for j in self._judges)
        ]
        own = np.ones(len(won), np.uint8)
        if channel.me == proposer:
            own = self._permitted(won, cuts, codes)
        if not holders:
            if channel.me == proposer:
                channel.broadcast(channel.open(REFUSED, pack_codes(1 - own, 2)))
                flags = 1 - own
            else:
                flags = told_flags(channel, proposer, len(won), "refused cuts")
            return {group for group, flag in zip(won, flags.tolist(), strict=True) if flag}
        alone = len(holders) == 1
        shares: dict[str, Bits] = {}
        for place, holder in enumerate(holders):
            if channel.me in (proposer, holder):
                first = own if place == 0 else np.ones(len(won), np.uint8)
                shares[holder] = self._between(proposer, holder, won, first, codes, alone)
        if alone:
            verdicts = self._told(proposer, holders[0], shares.get(holders[0]), len(won))
        else:
            verdicts = channel.open(REFUSED, self.conjunction(proposer, holders, shares, len(won)))
        return {group for group, holds in zip(won, verdicts.tolist(), strict=True) if not holds}

    def _permitted(
        self,
        won: Sequence[tuple[int, int]],
        cuts: Mapping[tuple[int, int], Cut],
        codes: Mapping[tuple[int, int], Array],
    ) -> Bits:
        """The proposer's own verdict on each group."""
        found = np.ones(len(won), np.uint8)
        for number, partition in enumerate(self._shared.partitions):
            mine = {at: cuts[number, at] for n, at in won if n == number}
            own = {at: codes[number, at] for at in mine}
            refused = forbidden(partition.open, mine, own, self._own[number])
            for place, group in enumerate(won):
                if group[0] == number and group[1] in refused:
                    found[place] = 0
        return found

    def _between(
        self,
        proposer: str,
        holder: str,
        won: Sequence[tuple[int, int]],
        own: Bits,
        codes: Mapping[tuple[int, int], Array],
        alone: bool,
    ) -> Bits:
        """The verdict of one holder on each group: the bits, or this party's shares of them."""
        pair = self.pair(proposer, holder)
        columns: list[list[Bits]] = [[np.array([bit * pair.proposes], np.uint8)] for bit in own]
        for number, partition in enumerate(self._shared.partitions):
            mine = [place for place, group in enumerate(won) if group[0] == number]
            judges = [j for j in self._judges if j.holder == holder and j.condition == number]
            if not mine or not judges:
                continue
            groups = [won[place][1] for place in mine]
            layout = self._layout(partition, groups, proposer)
            slots = None
            if pair.proposes:
                slots = np.concatenate([codes[number, at] for at in groups]).astype(np.int64)
            for judge in judges:
                held = self.slots_hold(
                    pair, judge.requirement, judge.part, judge.form, layout, slots
                )
                for place, part in zip(
                    mine, np.split(held, np.cumsum(layout.widths)[:-1]), strict=True
                ):
                    columns[place].append(part)
        widest = max(sum(map(len, parts)) for parts in columns)
        matrix = np.full((len(won), widest), int(pair.proposes), np.uint8)
        for row, parts in zip(matrix, columns, strict=True):
            flat = np.concatenate(parts)
            row[: len(flat)] = flat
        return pair.groups_hold(matrix, "both" if alone else "shares")

    def _layout(self, partition: Partition, groups: Sequence[int], proposer: str) -> Layout:
        """The slots of each group: as many as a cut on an attribute of the proposer can have."""
        segments = partition.open.chosen(np.array(groups))
        widths = []
        for at, size in zip(groups, segments.sizes.tolist(), strict=True):
            most = 2
            for attribute in self._shared.own(partition, proposer):
                region = partition.regions[at][attribute]
                space = self._shared.spaces[partition.names[attribute]]
                if isinstance(region, Node) and isinstance(space, TaxonomySpace):
                    most = max(most, len(space.taxonomy.children[region.node]))
                elif isinstance(region, Span):
                    most = max(most, 2)
            widths.append(max(min(most, size // partition.k), 2))
        return Layout(segments.rows.astype(np.int64), segments.sizes, np.array(widths, np.int64))

    def _told(self, proposer: str, holder: str, verdicts: Bits | None, count: int) -> Bits:
        """The verdicts at every party: the proposer sends them to all but the holder."""
        channel = self._channel
        with channel.step("tell"):
            if verdicts is None:
                told: Bits = told_flags(channel, proposer, count, "verdicts")
                return channel.open(REFUSED, told)
            if channel.me == proposer:
                for peer in channel.peers:
                    if peer != holder:
                        channel.send(peer, pack_codes(verdicts, 2))
            return channel.open(REFUSED, verdicts)
