"""`conditions: holder` of local cuts: holders of sensitive columns see the cuts and judge them.

Every model can be judged so, also those without a form on shares (`judged_cuts`). As in
`sensitive.holders`, the price is that a holder sees cuts that it then refuses: attribute, parts, and
the part of each record, more than the release shows. The proposer books what was shown and refused
as that holder's debt.

Messages for each proposer, in the step `propose`: to each holder the cuts of the groups that its
columns concern, in the form of `instruct`; from each holder one bit a group; from the proposer to all
one bit a group: whether the cut is refused. The instruction that follows has the permitted cuts
again, and each holder checks them again, so that another cut than the one shown is a named fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from coterie.anonymity.cuts.groups import Cut
from coterie.anonymity.cuts.scoring import bits_told
from coterie.anonymity.models.privacy import Model
from coterie.anonymity.specialization.generalized import Requirement
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.protocols.integration.contributions import Contribution, RecordContribution
from coterie.protocols.integration.mondrian.joint_run import JointRun, Key
from coterie.protocols.integration.mondrian.judged_cuts import REFUSED, Judgement
from coterie.protocols.integration.mondrian.level_messages import instruct_message, read_instruct
from coterie.protocols.integration.mondrian.winners import told_flags
from coterie.protocols.integration.sensitive.holders import PROPOSAL
from coterie.protocols.messaging.codes import pack_codes
from coterie.protocols.primitives.randomness import Random


def holders_of(
    requirements: Sequence[Requirement], sensitive: Mapping[str, str], places: Sequence[int]
) -> set[str]:
    """The holders of the sensitive columns of some entries."""
    names = {name for j in places for name in requirements[j].sensitive_columns}
    return {sensitive[name] for name in names if name in sensitive}


class ShownCuts(Judgement):
    """One party's part in judging cuts; `holders` are those of each condition."""

    def __init__(
        self,
        run: JointRun,
        holders: Sequence[set[str]],
        models: Mapping[int, tuple[Model, Labels, Array]],
        places: Sequence[Sequence[int]],
        book: RecordContribution,
        rng: Random,
    ) -> None:
        names = run.plan.names
        super().__init__(run.channel, names, run.shared, (), models, places, run.records, rng)
        self._holders, self._book = holders, book

    def refused(
        self,
        proposer: str,
        won: Sequence[Key],
        cuts: Mapping[Key, Cut],
        codes: Mapping[Key, Array],
    ) -> set[Key]:
        """The groups among those that a proposer has won whose cut is refused."""
        channel = self._channel
        seen = {
            name: [group for group in won if name in self._holders[group[0]]]
            for name in self._names
            if name != proposer
        }
        if channel.me == proposer:
            told = self._shown({n: groups for n, groups in seen.items() if groups}, cuts, codes)
            own = self._permitted(won, cuts, codes)
            gone = {g for g, permitted in zip(won, own.tolist(), strict=True) if not permitted}
            flags = np.array([group in told | gone for group in won], np.uint8)
            channel.broadcast(channel.open(REFUSED, pack_codes(flags, 2)))
        else:
            if mine := seen[channel.me]:
                self._judge(proposer, mine)
            flags = channel.open(REFUSED, told_flags(channel, proposer, len(won), "refused cuts"))
        return {group for group, flag in zip(won, flags.tolist(), strict=True) if flag}

    def _shown(
        self,
        seen: Mapping[str, Sequence[Key]],
        cuts: Mapping[Key, Cut],
        codes: Mapping[Key, Array],
    ) -> set[Key]:
        """Shows each holder the cuts that concern it; the groups whose cut a holder refuses."""
        channel = self._channel
        marks = {}
        for holder, groups in seen.items():
            told = instruct_message(
                self._shared, [(*group, cuts[group]) for group in groups], codes
            )
            marks[holder] = self._noted(holder, groups, cuts)
            channel.send(holder, channel.open(PROPOSAL, told, to=holder))
        refused: set[Key] = set()
        for holder, groups in seen.items():
            flags = told_flags(channel, holder, len(groups), "verdicts").tolist()
            gone = [group for group, flag in zip(groups, flags, strict=True) if flag]
            # What a holder has refused is its debt; what it has permitted, all parties get.
            if gone:
                self._noted(holder, gone, cuts, refused=True)
            self._book(Contribution(channel.me, (holder,), 0, marks[holder]))
            refused |= set(gone)
        return refused

    def _noted(
        self,
        holder: str,
        groups: Sequence[Key],
        cuts: Mapping[Key, Cut],
        refused: bool = False,
    ) -> str:
        """Books cuts that a holder sees; the mark of the booking."""
        made = [(*group, cuts[group].attribute, repr(cuts[group].parts)) for group in groups]
        mark = hashlib.sha256(repr((made, refused)).encode()).hexdigest()[:32]
        worth = sum(bits_told(cuts[group].sizes, self._records) for group in groups)
        self._book(Contribution(self._channel.me, (holder,), worth, mark, proposal=True))
        return mark

    def _judge(self, proposer: str, groups: Sequence[Key]) -> None:
        """Judges the cuts that this party is shown, by its own columns."""
        channel = self._channel
        received = channel.open(PROPOSAL, channel.recv(proposer), to=channel.me)
        read = read_instruct(channel, self._shared, proposer, groups, received)
        cuts = {
            g: Cut(attribute, parts, sizes, 0) for g, (attribute, parts, _, sizes) in read.items()
        }
        codes = {group: own.astype(np.int64) for group, (_, _, own, _) in read.items()}
        channel.send(proposer, pack_codes(1 - self._permitted(groups, cuts, codes), 2))
