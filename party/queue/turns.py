"""When the jobs of a party begin: each when all of its parties have a place for it.

An accepted job is queued here (`party.queue.job_queue`). The party that leads the job reserves the
places of the others (`party.queue.reservations`) and tells them to begin; `Turns` does both parts,
that of the leader and that of a party that is asked.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import grpc

from coterie.base.errors import (
    CancelledError,
    CoterieError,
    EnvironmentFaultError,
    PeerLostError,
    RefusedError,
)
from coterie.base.names import is_job_id
from coterie.base.threads import start
from coterie.party.answers import PLACE
from coterie.party.books.audit import AuditLog
from coterie.party.config import PartyConfig
from coterie.party.job_record import ENDED, Record
from coterie.party.live import Live
from coterie.party.queue.job_queue import JobQueue
from coterie.party.queue.reservations import AwayError, Reservations, inquire, leader_of
from coterie.party.records import Book
from coterie.protocols.messaging.opening import tell
from coterie.protos.jobs_pb2 import State
from coterie.protos.peers_pb2 import BEGIN, INQUIRE, RELEASE, Farewell, Reservation, Reserved
from coterie.transport.error_messages import describe
from coterie.transport.peers import EndedSession
from coterie.transport.session import Session

log = logging.getLogger("coterie.party")
_LONGEST_WAIT = 5.0  # seconds for the answer to a peer that asks for a place
_PAUSES = (2.0, 60.0)  # seconds, at first and at most, before a party that is away is asked again


class Turns:
    """The jobs that wait for a place, here and at their other parties.

    `begin` runs a job that has all its places; `stop` ends a job that cannot have them.
    """

    def __init__(
        self,
        live: Live,
        book: Book,
        audit: AuditLog,
        begin: Callable[[Record], None],
        stop: Callable[[Record, CoterieError], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._live = live
        self._clock = clock
        self._book = book
        self._audit = audit
        self._begin = begin
        self._stop = stop
        self._pauses: dict[str, float] = {}  # of jobs one of whose parties is away
        self._away: dict[str, AwayError] = {}  # likewise, if it cannot be reached
        self._stopping = threading.Event()
        self._queue = JobQueue(
            lambda: self._config.limits.running,
            lambda: self._config.limits.reserved,
            self._granted,
            clock,
        )
        book.place, book.waits = self._queue.place, self.waits

    @property
    def _config(self) -> PartyConfig:
        """The party file in force now."""
        return self._live.config

    def start(self, record: Record) -> bool:
        """Begins an accepted job as soon as this party has a place; False if it is not one.

        The other parties are not asked: this is for coordinators that know of no queue.
        """
        if record.state != State.ACCEPTED:
            return False
        record.direct = True
        self._queue.add(record.job_id, record.coordinator, asked=True)
        return self._enqueue(record) or record.state not in (State.WAITING, *ENDED)

    def queue(self, record: Record) -> bool:
        """Has an accepted job begin when every party has a place for it; False if it is not one."""
        if record.state in (State.QUEUED, State.RUNNING):
            return True  # a coordinator that lost the answer asks again
        with record.changed:
            if record.state == State.WAITING:
                self._book.set_eager(record)  # its coordinator may be away when it is approved
                return True
        if not self._enqueue(record):
            return False
        self.requeue(record)
        return True

    def _enqueue(self, record: Record) -> bool:
        try:
            if not self._book.set_state(record, State.QUEUED, expected={State.ACCEPTED}):
                return False
            self._audit.note("queued", job=record.job_id, by=record.coordinator)
        except EnvironmentFaultError as error:  # what cannot be accounted for is not done
            self._stop(record, error)
        return True

    def requeue(self, record: Record) -> None:
        """Puts a queued job in line: it is led from here, or waits for the party that leads it."""
        session = record.session
        if session is not None:
            leads = leader_of((session.me, *session.peers)) == session.me
            asked = leads or record.direct
            self._queue.add(record.job_id, record.coordinator, asked=asked)

    def look(self) -> None:
        """Frees and grants places as time passes, without anybody asking."""
        self._queue.look()

    def waits(self, job_id: str) -> str:
        """The party that a queued job waits for because it cannot be reached, and why."""
        away = self._away.get(job_id)
        return str(away) if away is not None else ""

    def take(self, job_id: str) -> bool:
        """Whether the job has a place, which it holds from now on until it leaves."""
        return self._queue.begin(job_id)

    def leave(self, job_id: str) -> None:
        """Frees the place of a job that needs none any more."""
        self._queue.remove(job_id)
        self._pauses.pop(job_id, None)
        self._away.pop(job_id, None)

    def close(self) -> None:
        """No job begins any more."""
        self._stopping.set()

    def _granted(self, job_id: str) -> None:
        """Goes on with a job that has just got a place here."""
        record = self._book.get(job_id)
        session = record.session if record is not None else None
        if record is None or session is None or record.state in ENDED:
            self._queue.remove(job_id)
        elif record.direct:
            self._begin(record)
        elif leader_of((session.me, *session.peers)) == session.me:
            lead = threading.Thread(
                target=self._lead, args=(record, session), name=f"lead {job_id}", daemon=True
            )
            try:
                start(lead)
            except EnvironmentFaultError as error:
                self._stop(record, error)

    def _lead(self, record: Record, session: Session) -> None:
        """Gets a place at every other party, and begins; or lets others pass for a while."""

        def needless() -> bool:
            gone = self._stopping.is_set() or record.state != State.QUEUED
            return gone or not self._queue.holds(record.job_id)

        def answered(peer: str) -> None:
            away = self._away.get(record.job_id)
            if away is not None and away.peer == peer:
                self._away.pop(record.job_id, None)

        heartbeat = self._config.heartbeat
        places = Reservations(session, self._connect, heartbeat, needless, answered, self._clock)
        try:
            if places.secure():
                self._pauses.pop(record.job_id, None)
                places.begin()
                self._begin(record)
        except AwayError as error:
            pause = self._pauses.get(record.job_id, _PAUSES[0])
            self._pauses[record.job_id] = min(2 * pause, _PAUSES[1])
            log.info("job %s waits: %s", record.job_id, error)
            if not error.reached and record.state == State.QUEUED:
                self._away[record.job_id] = error
            self._queue.release(record.job_id, pause)
        except CoterieError as error:
            self._stop(record, error)
        except Exception as error:
            log.exception("job %s", record.job_id)
            self._stop(record, CoterieError(describe(error)))
        finally:
            places.close()

    def reserve(self, peer: str, session: Session | EndedSession, request: Reservation) -> Reserved:
        """A place for a job that is queued here, too, asked for by the party that leads it."""
        if request.ask == INQUIRE:
            asked = self._book.get(session.session)
            return Reserved(finished=asked is not None and asked.state == State.FINISHED)
        if peer != leader_of((session.me, *session.peers)):
            raise RefusedError(f"'{peer}' does not lead this job")
        record = self._book.get(session.session)
        if record is None or record.state == State.RUNNING:
            return Reserved(granted=record is not None)
        if request.ask == RELEASE:
            self._queue.release(record.job_id)
            return Reserved()
        granted = self._queue.ask(record.job_id, min(max(0.0, request.wait), _LONGEST_WAIT))
        if granted and request.ask == BEGIN:
            self._begin(record)
        return Reserved(granted=granted, place=tell(PLACE, self._queue.place(record.job_id)))

    def ended(self, session: str) -> Farewell | None:
        """What a peer is told of a job that ended here long ago: that it has, and by whose doing."""
        record = self._book.get(session) if is_job_id(session) else None
        if record is None or record.state not in ENDED:
            return None
        if record.state == State.FINISHED:
            return Farewell(error="the job has finished here")
        cancelled = record.state == State.CANCELLED
        return Farewell(
            failed=True,
            error=tell(PLACE, "the job was cancelled" if cancelled else "the job has failed here"),
            culprit=self._config.name,
            exit_code=(CancelledError if cancelled else PeerLostError).exit_code,
        )

    def inquire(self, since: float = 60.0) -> None:
        """Ends jobs that have waited here for longer than `since` seconds, and have ended at a peer."""
        for record in self._book.unstarted_for(since):
            session = record.session
            if session is not None and record.state in (State.ACCEPTED, State.QUEUED):
                error = inquire(session, self._connect)
                if error is not None:
                    self._stop(record, error)

    def begun(self, session: Session) -> None:
        """Lets this party begin a job that a peer has begun, as soon as it has a place."""
        record = self._book.get(session.session)
        if record is None:
            return
        record.direct = True
        if record.state == State.QUEUED:
            if self._queue.holds(record.job_id):
                self._begin(record)
            else:
                self._queue.ask_for_good(record.job_id)

    def _connect(self, name: str) -> grpc.Channel:
        return self._config.connect(name)
