"""The cheap kind of the world: a total, with everything that a server does for an expensive one.

It computes as `tests.jobs.kinds.toy` does. Beyond that it keeps answers, draws a number that shows in
the release, records contributions in the ledger, and reports when a run of it begins and ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.kinds.kind import Json, registered
from coterie.jobs.kinds.needs import Needs
from coterie.jobs.kinds.registry import KINDS
from coterie.protocols.integration.contributions import Contribution
from coterie.protocols.messaging import opening
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import Opening
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.primitives.randomness import Random
from tests.jobs.kinds.toy import TOTAL, Numbers, Total, TotalJob

NAME = "total"
SERIAL = Opening(
    "total: serial number",
    what="A number that each party draws once for the job.",
    to="every party",
    why="It shows whether a job that went on drew again.",
)


@dataclass(frozen=True)
class TallyJob(TotalJob):
    recipients: tuple[str, ...]


class Tally(Total):
    """`entered` is called with party and job when a run begins, and its result when it ends.

    `drew` is called with the number that a party draws.
    """

    entered: Callable[[str, str], Callable[[], None]] = staticmethod(lambda *_: lambda: None)
    drew: Callable[[str, str, int], None] = staticmethod(lambda *_: None)

    job_type = TallyJob
    _known: ClassVar[dict[object, Needs]] = {}
    delivers = ("total.csv",)

    def parse(self, section: Section, common: Common) -> TallyJob:
        total = super().parse(section, common)
        given = section.optional("recipients")
        names = tuple(node.text() for node in given.items()) if given is not None else ()
        return TallyJob(**vars(total), recipients=names)

    def needs(self, job: TotalJob, party: str) -> Needs:
        assert isinstance(job, TallyJob)
        known = job.column, job.minimum, job.recipients
        if known not in self._known:
            needs = super().needs(job, party)
            assert needs.answers is not None
            answers = replace(needs.answers, contributes=True, recipients=job.recipients)
            self._known[known] = replace(needs, answers=answers)
        return self._known[known]

    def check_received(self, job: TotalJob, party: str, kept: Path, folder: Path) -> Sequence[str]:
        return [f"the total is the one that {party} computed"]  # `verify` compares them

    def run(
        self, job: TotalJob, prepared: Numbers, channel: Channel, rng: Random, workspace: Workspace
    ) -> Mapping[str, Json]:
        left = Tally.entered(channel.me, workspace.folder.name)
        try:
            return self._run(job, prepared, channel, rng, workspace)
        finally:
            left()

    def _run(
        self, job: TotalJob, prepared: Numbers, channel: Channel, rng: Random, workspace: Workspace
    ) -> Mapping[str, Json]:
        own = np.array([len(prepared.values), sum(prepared.values)], np.uint64)

        def total() -> list[int]:
            with channel.step("total"):
                sums = SecureSum(channel, job.party_names, rng.fork("total")).modular(own)
                records, found = channel.open(TOTAL, sums)
            return [int(records), int(found)]

        records, found = channel.once("total", total)

        def serials() -> list[int]:
            with channel.step("serial"):
                mine = channel.drawn("serial", lambda: rng.fork("serial").below(1 << 30))
                Tally.drew(channel.me, workspace.folder.name, int(channel.open(SERIAL, mine)))
                return [int(serial) for serial in _exchanged(channel, mine, job.party_names)]

        drawn = channel.once("serials", serials)
        giver = job.party_names[0]
        others = tuple(name for name in job.party_names if name != giver)
        workspace.book(Contribution(giver, others, 1 << 20, "worth"))
        return {"records": records, "total": found, "serials": drawn}


def _exchanged(channel: Channel, mine: int, names: tuple[str, ...]) -> list[int]:
    channel.broadcast(mine)
    told = {peer: channel.recv_int(peer, 0, 1 << 30, "serial number") for peer in channel.peers}
    return [mine if name == channel.me else told[name] for name in names]


@contextlib.contextmanager
def known() -> Iterator[None]:
    """While this is open, servers know the kind."""
    KINDS[NAME] = registered(Tally())
    for declared in (TOTAL, SERIAL):
        opening._declared[declared.name] = declared
    try:
        yield
    finally:
        del KINDS[NAME]
        for declared in (TOTAL, SERIAL):
            del opening._declared[declared.name]
