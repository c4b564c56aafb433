"""What servers have told their callers, and must stand by ever after.

A caller that got an answer relies on it: a job that was accepted is known from then on, whatever
happens to the server's process or machine, and a state that was told is not taken back.
"""

from __future__ import annotations

from typing import Any

from coterie.party.job_record import ENDED
from coterie.party.records import RESTARTED, Book
from coterie.protos import jobs_pb2 as pb
from tests.world.calls import Call
from tests.world.network import Network

_RANK = {
    pb.STATE_UNSPECIFIED: 0,
    pb.WAITING: 1,
    pb.ACCEPTED: 2,
    pb.QUEUED: 3,
    pb.RUNNING: 4,
    pb.REFUSED: 5,
    pb.FAILED: 5,
    pb.CANCELLED: 5,
    pb.FINISHED: 5,
}


class Promises:
    """The newest state of every job that each party has told, and what it must have noted."""

    def __init__(self, network: Network) -> None:
        network.on_request = self._asked
        network.on_answer = self._heard
        self.told: dict[tuple[str, str], int] = {}  # by party and job
        self.noted: set[tuple[str, str, str]] = set()  # party, job, event of the audit log
        self.ended: set[tuple[str, str]] = set()  # jobs that a process had ended before its own end
        self.broken: list[str] = []

    def _asked(self, call: Call, request: Any) -> None:
        """A job that failed is ACCEPTED when it is taken up again, also if nobody hears the answer."""
        if call.method != "Resume":
            return
        key = call.party, pb.JobRef.FromString(request).job_id
        if self.told.get(key) in (pb.QUEUED, pb.RUNNING):
            self.told[key] = pb.ACCEPTED

    def _heard(self, call: Call, request: Any, answer: Any) -> None:
        party, method = call.party, call.method
        if method == "Propose":
            if (
                answer.state != pb.REFUSED
            ):  # a refusal may have the reason that nothing can be noted
                self._tell(party, request.job_id, answer.state)
                self.noted.add((party, request.job_id, "proposed"))
        elif method == "Watch":
            self._tell(party, request.job_id, answer.state)
        elif method == "Resume":
            self.told[party, request.job_id] = answer.state
        elif method == "Queue":
            self._tell(party, request.job_id, pb.WAITING)
        elif method == "Approve":
            self._tell(party, request.job_id, answer.state)
            self.noted.add((party, request.job_id, "approved" if request.yes else "denied"))
        elif method == "Cancel":
            self.noted.add((party, request.job_id, "cancelled"))
        elif method == "Fetch":
            self.noted.add((party, request.job_id, "fetched"))

    def _tell(self, party: str, job: str, state: int) -> None:
        before = self.told.get((party, job), pb.STATE_UNSPECIFIED)
        if _RANK[state] >= _RANK[before] or before == pb.FAILED:
            self.told[party, job] = state

    def note_ends(self, party: str, book: Book) -> None:
        """A process is about to end. A job that it has ended is not lost, even where its disk was
        full and its journal says that the job waits."""
        self.ended |= {(party, r.job_id) for r in book._records.values() if r.state in ENDED}

    def check_start(self, party: str, book: Book) -> None:
        """A server that has started stands by what it told before."""
        for (name, job), state in self.told.items():
            if name != party:
                continue
            record = book.get(job)
            if record is None:
                self.broken.append(
                    f"{party} told {pb.State.Name(state)} of {job}, and has forgotten it"
                )
            elif _RANK[record.state] < _RANK[state] and state != pb.FAILED:
                now, before = pb.State.Name(record.state), pb.State.Name(state)
                self.broken.append(f"{party} told {before} of {job}; after a restart it is {now}")
            elif (
                record.reason == RESTARTED
                and (party, job) not in self.ended
                and book.stored_job(record) is None
            ):
                self.broken.append(f"{party}: {job} was accepted, and is lost after a restart")
            elif state == pb.FINISHED and record.state != pb.FINISHED:
                now = pb.State.Name(record.state)
                self.broken.append(f"{party} told FINISHED of {job}; after a restart it is {now}")
