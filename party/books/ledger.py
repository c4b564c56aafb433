"""The ledger: what this party and its partners have contributed, over all jobs.

The game is repeated (paper 1, §6.2): a party that gave little in one job is remembered in the next.
`ledger_lines` has the file's format. A job changes the balance with a partner as follows:

- A job that finished counts everybody's contribution, as this party recomputed it from the
  instructions, a whole number (times 2^30).
- A job that did not finish counts the contributions in it, from the moment before they were sent: a
  party that receives an instruction and leaves owes for it. If the same job runs again with the same
  contributions, they count once, and only in the finished job once there is one. The operator may
  forgive the rest.
- A party that takes part and then refuses to release owes what the others gave in the job; what it
  gave itself does not count, since nobody got anything from the job because of its refusal.
- A proposal that the holder of a sensitive column saw and rejected is that holder's debt, in jobs
  that finished too.

A fault that only another party reports is noted with that party's name and counts against nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import PeerError, PeerFaultError, RefusedError, UsageError
from coterie.jobs.file.job import Job
from coterie.party.books.ledger_lines import Booking, Charge, Entry, LedgerFile, Pardon, Use
from coterie.protocols.integration.contributions import Contribution, RecordContribution


@dataclass
class _Job:
    """All lines of one job."""

    name: str
    bookings: list[Booking] = field(default_factory=list)
    entry: Entry | None = None
    pardons: dict[str, int] = field(default_factory=dict)  # by partner: earlier bookings

    @property
    def finished(self) -> bool:
        return self.entry is not None and not self.entry.open

    @property
    def contributions(self) -> dict[str, int]:
        """Each party's contribution to all others."""
        if self.entry is not None and (self.finished or not self.bookings):
            return self.entry.contributions
        totals: dict[str, int] = {}
        for booking in self.bookings:
            for name in (booking.giver, *booking.to):
                totals.setdefault(name, 0)
            if not booking.proposal:
                totals[booking.giver] += booking.score
        return totals


@dataclass
class Balance:
    """The contributions of one partner and this party in their common jobs.

    `open` is the part of the partner's debt that comes from unfinished jobs and rejected proposals.
    """

    jobs: int = 0
    given: int = 0
    received: int = 0
    faults: int = 0
    open: int = 0

    @property
    def owes(self) -> int:
        """How much more this party gave than it received; negative if it received more."""
        return self.given - self.received


class Ledger:
    """The ledger of the party called `me`."""

    def __init__(self, state: Path, me: str) -> None:
        self._file = LedgerFile(state)
        self.path = self._file.path
        self._me = me

    def books(self, job_id: str, job: Job) -> RecordContribution:
        """The function that records a job's contributions; they are stored when it returns.

        A job that goes on after an interruption may give the same contribution again, which is not
        booked twice.
        """
        known = self._jobs().get(job_id)
        booked = {_key(booking) for booking in known.bookings} if known else set()

        def book(contribution: Contribution) -> None:
            if _key(contribution) in booked:
                return
            booked.add(_key(contribution))
            self._file.append(
                Booking(
                    job_id,
                    job.digest,
                    job.name,
                    _now(),
                    contribution.giver,
                    list(contribution.to),
                    contribution.score,
                    contribution.mark,
                    contribution.proposal,
                )
            )

        return book

    def add(self, entry: Entry) -> None:
        """Notes the end of a job."""
        self._file.append(entry)

    def note_end(self, job_id: str, job: Job, error: BaseException | None) -> None:
        """Notes the end of an integrate job, if it came to a result, a contribution or a fault."""
        fault = error.peer if isinstance(error, PeerFaultError) else ""
        known = self._jobs().get(job_id)
        if error is not None and known is None and not fault:
            return
        contributions = dict.fromkeys(job.party_names, 0)
        contributions |= {} if known is None else known.contributions
        if isinstance(error, PeerFaultError) and error.said_by:
            fault = f"{error.peer}, says {error.said_by}"  # counts against nobody
        refused = self._me if isinstance(error, RefusedError) else ""
        if isinstance(error, PeerError) and error.refused:
            refused = error.peer
        open_now = error is not None
        self.add(Entry(job_id, job.name, _now(), contributions, fault, open_now, refused))

    def forgive(self, partner: str, job_id: str | None = None) -> int:
        """Forgives a partner's debt from one unfinished job, or from all; returns the amount."""
        before = self.balances().get(partner, Balance()).open
        if before <= 0:
            raise UsageError(f"{self.path}: '{partner}' owes nothing that could be forgiven")
        jobs = self._jobs()
        if job_id is not None:
            found = [known for known in jobs if known.startswith(job_id)]
            if len(found) != 1:
                raise UsageError(f"{self.path}: {len(found)} jobs begin with '{job_id}'")
            jobs = {found[0]: jobs[found[0]]}
        for known, lines in jobs.items():
            if any(partner in (b.giver, *b.to) for b in lines.bookings):
                self._file.append(Pardon(partner, known, _now()))
        return before - self.balances().get(partner, Balance()).open

    def _jobs(self) -> dict[str, _Job]:
        """All jobs, in the order of their last entry, or of their first line."""
        jobs: dict[str, _Job] = {}
        for line in self._file.read():
            if isinstance(line, Charge | Use):  # `charges` adds these up
                continue
            if isinstance(line, Pardon):
                if line.job in jobs:
                    jobs[line.job].pardons[line.partner] = len(jobs[line.job].bookings)
                continue
            job = jobs.setdefault(line.job, _Job(line.name))
            if isinstance(line, Booking):
                job.bookings.append(line)
            else:
                job.entry = line
                jobs[line.job] = jobs.pop(line.job)
        return jobs

    def entries(self) -> list[Entry]:
        """All jobs that ended, oldest first; each job once, its last line counting."""
        return [job.entry for job in self._jobs().values() if job.entry is not None]

    def balances(self) -> dict[str, Balance]:
        """The balance with each partner, in the order of the first job with each."""
        jobs = self._jobs()
        balances: dict[str, Balance] = {}
        for job in jobs.values():
            names = job.contributions
            for name in names if self._me in names else ():
                if name == self._me:
                    continue
                balance = balances.setdefault(name, Balance())
                balance.jobs += 1
                balance.faults += job.entry is not None and job.entry.fault == name
                if job.finished or not job.bookings:
                    balance.given += names[self._me]
                    balance.received += names[name]
        for name, balance in balances.items():
            given, received = self._open_with(name, jobs.values())
            balance.given += given
            balance.received += received
            balance.open = given - received
        return balances

    def _open_with(self, partner: str, jobs: Iterable[_Job]) -> tuple[int, int]:
        """Contributions to and from a partner that no finished job counts.

        Equal contributions in several runs of the same job count once, and a pardon covers them
        all.
        """
        jobs = list(jobs)
        settled = {
            (booking.digest, booking.giver, booking.mark)
            for job in jobs
            if job.finished
            for booking in job.bookings
            if not booking.proposal
        }
        settled |= {
            (booking.digest, booking.giver, booking.mark)
            for job in jobs
            for booking in job.bookings[: job.pardons.get(partner, 0)]
        }
        found: dict[tuple[str, str, str], int] = {}
        for job in jobs:
            refused = job.entry.refused if job.entry is not None else ""
            for booking in job.bookings:
                if job.finished and not booking.proposal:
                    continue
                if booking.giver == refused:  # who refuses gets no credit for what it gave
                    continue
                key = booking.digest, booking.giver, booking.mark
                ours = booking.giver == self._me and partner in booking.to
                if key not in settled and (ours or booking.giver == partner):
                    found[key] = booking.score
        given = sum(score for (_, giver, _), score in found.items() if giver == self._me)
        return given, sum(found.values()) - given

    def table(self) -> list[str]:
        """The balances as a table for the operator, in scores."""
        balances = self.balances()
        if not balances:
            return ["no integrate job yet"]
        mine = f"{self._me} gave"
        width = max(12, len(mine))
        head = (
            f"{'partner':<20} {'jobs':>5} {mine:>{width}} {'it gave':>12} {'it owes':>12} "
            f"{'of it open':>12}  faults"
        )
        return [head] + [
            f"{name:<20} {b.jobs:>5} {b.given / SCALE:>{width}.6f} {b.received / SCALE:>12.6f} "
            f"{b.owes / SCALE:>12.6f} {b.open / SCALE:>12.6f}  {b.faults}"
            for name, b in balances.items()
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "party": self._me,
            "partners": {
                name: {
                    "jobs": b.jobs,
                    "given": b.given / SCALE,
                    "received": b.received / SCALE,
                    "owes": b.owes / SCALE,
                    "open": b.open / SCALE,
                    "faults": b.faults,
                }
                for name, b in self.balances().items()
            },
            "jobs": [
                {**asdict(e), "contributions": {n: mu / SCALE for n, mu in e.contributions.items()}}
                for e in self.entries()
            ],
        }

    def debtors(self, names: Iterable[str], most_owed: float) -> dict[str, str]:
        """The partners that owe more than the bound, with amounts in words for the own log."""
        balances = self.balances()
        bound = round(most_owed * SCALE)
        return {
            name: f"'{name}' owes "
            f"{balances[name].owes / SCALE:.6f} after {balances[name].jobs} jobs"
            + (
                f", {balances[name].open / SCALE:.6f} of it from jobs that did not finish or "
                f"proposals it rejected"
                if balances[name].open > 0
                else ""
            )
            for name in names
            if name in balances and balances[name].owes > bound
        }


def _key(given: Booking | Contribution) -> tuple[str, str, bool, tuple[str, ...]]:
    """What is equal if the same instruction is given again, to the same parties."""
    return given.giver, given.mark, given.proposal, tuple(given.to)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
