"""Checks a party server's jobs, runs each in a thread, and records how it ended."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from coterie.base.errors import (
    CancelledError,
    CoterieError,
    DataError,
    EnvironmentFaultError,
    PeerError,
    PeerLostError,
    RefusedError,
    UsageError,
)
from coterie.base.names import is_job_id
from coterie.base.text import one_line
from coterie.jobs.data.filtered import left_out
from coterie.jobs.data.missing import WithoutGaps
from coterie.jobs.data.sources import read_wanted
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.party_run import Progress, run_party
from coterie.party.books.audit import AuditLog
from coterie.party.books.ledger import Ledger
from coterie.party.config import PartyConfig
from coterie.party.job_queue import JobQueue
from coterie.party.live import Live
from coterie.party.policy import judge
from coterie.party.records import ENDED, Book, Record
from coterie.party.reservations import (
    STEP,
    AwayError,
    Reservations,
    inquire,
    leader_of,
    tell_peers,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protos.jobs_pb2 import State
from coterie.protos.peers_pb2 import BEGIN, INQUIRE, RELEASE, Farewell, Reservation, Reserved
from coterie.transport.error_messages import (
    culprit_of,
    describe,
    describe_to_coordinator,
    exit_code_of,
)
from coterie.transport.peers import PeerService
from coterie.transport.session import Session

log = logging.getLogger("coterie.party")
_UNSTARTED = (State.WAITING, State.ACCEPTED, State.QUEUED)
_LONGEST_WAIT = 5.0  # seconds for the answer to a peer that asks for a place
_PAUSES = (2.0, 60.0)  # seconds, at first and at most, before a party that is away is asked again


def check_parties(config: PartyConfig, job: Job) -> None:
    """Checks that this party is in the job and knows the others."""
    if config.name not in job.party_names:
        raise UsageError(f"'{config.name}' is not among the job's parties")
    unknown = [n for n in job.party_names if n != config.name and n not in config.peers]
    if unknown:
        raise RefusedError(f"'{unknown[0]}' is not in the roster of {config.name}")


def check_policy(config: PartyConfig, job: Job, coordinator: str) -> None:
    config = config.for_job(job)
    refusals = judge(config.policy, job, config.name, coordinator)
    if config.policy.most_owed is not None and KINDS[job.kind].needs(job, config.name).contributes:
        refusals += Ledger(config.state, config.name).debtors(
            job.party_names, config.policy.most_owed
        )
    if refusals:
        raise RefusedError("; ".join(refusals))


def check_data(
    config: PartyConfig, job: Job, note: Callable[..., None] | None = None
) -> tuple[object, int]:
    """The job's columns of this party's table, checked and prepared, and the number of records.

    The coordinator is told that number, so that it is the padded one where the job hides the true
    one. How many rows objections and the fixed filter left out is for the steward alone: `note`
    writes it into the audit log.
    """
    config = config.for_job(job)
    kind = KINDS[job.kind]
    try:
        wanted = kind.needs(job, config.name)
        allowed = config.policy.use & config.policy.release
        optional = [column for column in wanted.optional if column in allowed]
        table = read_wanted(config.source, wanted.used, optional)
        if note is not None and (counts := left_out(table)):
            log.info("digest %s: rows left out: %s", job.digest[:12], counts)
            note("rows left out", digest=job.digest, **counts)
        prepared = kind.prepare(job, config.name, table, str(config.source))
        if wanted.pad_to is not None:
            return prepared, wanted.pad_to
        # Peers learn how many rows take part; a coordinator beside them must not learn how many do not.
        dropped = prepared.dropped.number if isinstance(prepared, WithoutGaps) else 0
        return prepared, table.num_rows - dropped
    except MemoryError:
        raise DataError(f"{config.source}: not enough memory to read it") from None


def _connect(config: PartyConfig, name: str) -> Any:
    peer = config.peers[name]
    return config.identity.connect(name, peer.address, peer.pin)


class Worker:
    """Runs accepted jobs, each in a thread of its own, when there are places for them."""

    def __init__(self, live: Live, book: Book, audit: AuditLog, peers: PeerService) -> None:
        self._live = live
        self._book = book
        self._audit = audit
        self._peers = peers
        self._threads: dict[str, threading.Thread] = {}
        self._began_under: dict[str, PartyConfig] = {}  # by running job
        self._pauses: dict[str, float] = {}  # of jobs that a party keeps waiting by being away
        self._stopping = threading.Event()
        self._queue = JobQueue(
            lambda: self._config.limits.running,
            lambda: self._config.limits.reserved,
            self._granted,
            time.monotonic,
        )
        book.place = self._queue.place
        peers.places = self

    @property
    def _config(self) -> PartyConfig:
        """The party file in force now."""
        return self._live.config

    def older_files(self) -> list[PartyConfig]:
        """The party files under which running jobs began, where they are no longer in force."""
        return [c for c in list(self._began_under.values()) if c is not self._config]

    def judge_again(self) -> None:
        """A newer file is in force: what has not begun goes on only if this file permits it, too."""
        for record in self._book.all():
            job = record.job
            if job is None or record.state not in _UNSTARTED:
                continue
            record.prepared = None  # the data is read anew when the job starts
            try:
                check_parties(self._config, job)
                check_policy(self._config, job, record.coordinator)
            except CoterieError as error:
                self.stop(record, RefusedError(f"no longer permitted: {error}"))

    def expect(self, record: Record) -> None:
        """Lets the job's peers open their streams, even before the job is started here."""
        job = record.job
        assert job is not None  # noqa: S101
        at = job.party_names.index(self._config.name)
        record.session = Session(
            record.job_id,
            self._config.name,
            job.party_names[at + 1 :] + job.party_names[:at],
            spool_folder=self._config.state,
            heartbeat=self._config.heartbeat,
            memory=self._config.memory,
            on_failure=lambda error: self._failed(record, error),
        )
        self._peers.add(record.session)

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
            if (
                record.state == State.WAITING
            ):  # its coordinator need not be there when it is approved
                self._book.set_eager(record)
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
            self.stop(record, error)
        return True

    def requeue(self, record: Record) -> None:
        """A queued job: it is led from here, or waits for the party that leads it."""
        session = record.session
        if session is not None:
            leads = leader_of((session.me, *session.peers)) == session.me
            asked = leads or record.direct
            self._queue.add(record.job_id, record.coordinator, asked=asked)

    def look_at_queue(self) -> None:
        """What time alone changes in the queue."""
        self._queue.look()

    def _granted(self, job_id: str) -> None:
        """A job has a place here."""
        record = self._book.get(job_id)
        session = record.session if record is not None else None
        if record is None or session is None or record.state in ENDED:
            self._queue.remove(job_id)
        elif record.direct:
            self._begin(record)
        elif leader_of((session.me, *session.peers)) == session.me:
            threading.Thread(
                target=self._lead, args=(record, session), name=f"lead {job_id}", daemon=True
            ).start()

    def _lead(self, record: Record, session: Session) -> None:
        """Gets a place at every other party, and begins; or lets others pass for a while."""

        def needless() -> bool:
            gone = self._stopping.is_set() or record.state != State.QUEUED
            return gone or not self._queue.holds(record.job_id)

        places = Reservations(session, self._connect, self._config.heartbeat, needless)
        try:
            if places.secure():
                self._pauses.pop(record.job_id, None)
                places.begin()
                self._begin(record)
        except AwayError as error:
            pause = self._pauses.get(record.job_id, _PAUSES[0])
            self._pauses[record.job_id] = min(2 * pause, _PAUSES[1])
            log.info("job %s waits: %s", record.job_id, error)
            self._queue.release(record.job_id, pause)
        except CoterieError as error:
            self.stop(record, error)
        except Exception as error:
            log.exception("job %s", record.job_id)
            self.stop(record, CoterieError(describe(error)))
        finally:
            places.close()

    def reserve(self, peer: str, session: Session, request: Reservation) -> Reserved:
        """A place for a job that is queued here, too, asked for by the party that leads it."""
        if request.ask == INQUIRE:
            return Reserved()
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
        return Reserved(granted=granted, place=self._queue.place(record.job_id))

    def ended(self, session: str) -> Farewell | None:
        """What a peer is told of a job that ended here long ago: that it has, and by whose doing."""
        record = self._book.get(session) if is_job_id(session) else None
        if record is None or record.state not in ENDED or record.state == State.FINISHED:
            return None
        cancelled = record.state == State.CANCELLED
        return Farewell(
            failed=True,
            error="the job was cancelled" if cancelled else "the job has failed here",
            culprit=self._config.name,
            exit_code=(CancelledError if cancelled else PeerLostError).exit_code,
        )

    def inquire(self, since: float = 60.0) -> None:
        """Ends the jobs that wait here and have ended at a peer; those that are older than this."""
        for record in self._book.unstarted_for(since):
            session = record.session
            if session is not None and record.state in (State.ACCEPTED, State.QUEUED):
                error = inquire(session, self._connect)
                if error is not None:
                    self.stop(record, error)

    def begun(self, session: Session) -> None:
        """A peer has begun the job, so this party does as soon as it has a place."""
        record = self._book.get(session.session)
        if record is None:
            return
        record.direct = True
        if record.state == State.QUEUED:
            if self._queue.holds(record.job_id):
                self._begin(record)
            else:
                self._queue.ask_for_good(record.job_id)

    def _begin(self, record: Record) -> None:
        """Runs a job that has a place."""
        session, job = record.session, record.job  # the record drops both when the job ends
        config = self._config
        if not self._queue.begin(record.job_id):
            return
        thread = threading.Thread(
            target=self._run, args=(record, session, job, config), name=record.job_id, daemon=True
        )
        self._began_under[record.job_id] = config
        self._threads[record.job_id] = thread  # set before others can see that the job runs
        failure: CoterieError | None = None
        try:
            unstarted = {State.ACCEPTED, State.QUEUED}
            begun = self._book.set_state(record, State.RUNNING, expected=unstarted)
            if begun:
                self._audit.note("started", job=record.job_id, by=record.coordinator)
        except EnvironmentFaultError as error:  # what cannot be accounted for is not done
            begun, failure = False, error
        if begun:
            thread.start()
            return
        if self._threads.get(record.job_id) is thread:
            del self._threads[record.job_id]
            self._began_under.pop(record.job_id, None)
        if failure is not None:
            self.stop(record, failure)
        elif session is not None:  # the job was ended meanwhile
            threading.Thread(target=self._retire, args=(session,), daemon=True).start()
        self._queue.remove(record.job_id)

    def _connect(self, name: str) -> Any:
        return _connect(self._config, name)

    def stop(self, record: Record, error: CoterieError) -> None:
        """Ends the session and the record of a job that has not ended."""
        queued = record.state == State.QUEUED
        session = record.session
        if session is None or not session.fail(error):
            self._end(record, error)
        elif queued:
            tell_peers(session, self._connect)

    def _failed(self, record: Record, error: BaseException) -> None:
        """Handles a failed session of a job."""
        session = record.session
        self._end(record, error)
        if session is not None and record.job_id not in self._threads:
            threading.Thread(target=self._retire, args=(session,), daemon=True).start()

    def _retire(self, session: Session) -> None:
        """Retires a session that was never started, which sends its farewell to its callers."""
        session.close()
        self._peers.retire(session)

    def expire(self) -> None:
        """Gives up jobs that nobody has approved or started for too long."""
        limit = self._config.limits.unstarted
        for record in self._book.unstarted_for(limit):
            reason = f"was not started within {limit:g} s"
            self.stop(record, CancelledError(f"{self._config.name}: {reason}"))

    def join(self, patience: float) -> None:
        """Waits for the jobs' threads to send farewells; threads that still compute are abandoned."""
        self._stopping.set()
        deadline = time.monotonic() + patience
        for thread in list(self._threads.values()):
            thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self, record: Record, session: Session, job: Job, config: PartyConfig) -> None:
        try:
            for peer in session.peers:
                if config.identity.finds_revoked(peer, config.peers[peer].address):
                    raise PeerLostError(peer, STEP, "shows a certificate that was revoked")
            session.start(lambda name: _connect(config, name))
            prepared, record.prepared = record.prepared, None
            if prepared is None:
                prepared, record.records = check_data(config, job)
            record.workspace.create()

            def listen(progress: Progress) -> None:
                session.step = progress.step
                self._book.progress(
                    record, progress.step, progress.done, progress.total, progress.traffic
                )

            workspace = replace(
                record.workspace,
                memory=config.memory,
                compute=config.compute,
                book=Ledger(config.state, config.name).books(record.job_id, job),
            )
            run_party(
                job,
                prepared,
                session,
                record.job_id,
                Random(),
                workspace,
                listen,
                head=lambda: self._audit.head,
                on_heads=lambda heads: self._audit.note("agreed", job=record.job_id, heads=heads),
            )
            session.finish()
            self._end(record, None)
        except MemoryError:
            session.fail(EnvironmentFaultError("not enough memory for this job"))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            session.fail(EnvironmentFaultError(f"{where}{error.strerror or error}"))
        except BaseException as error:
            if not isinstance(error, CoterieError):
                log.exception("job %s", record.job_id)
            session.fail(error)
        finally:
            self._remember(record, job, session.error)
            session.close()
            self._peers.retire(session)
            self._threads.pop(record.job_id, None)
            self._began_under.pop(record.job_id, None)
            self._queue.remove(record.job_id)
            record.session = None  # frees the frames that nobody has read

    def _remember(self, record: Record, job: Job, error: BaseException | None) -> None:
        """Adds the job to the ledger, if its kind has contributions."""
        try:
            if not KINDS[job.kind].needs(job, self._config.name).contributes:
                return
            Ledger(self._config.state, self._config.name).note_end(record.job_id, job, error)
        except CoterieError as failure:
            log.error("job %s: the ledger was not written: %s", record.job_id, failure)
            self._audit.note("ledger not written", job=record.job_id, reason=str(failure))

    def _end(self, record: Record, error: BaseException | None) -> None:
        if error is None:
            state, reason, told, code, culprit = State.FINISHED, "", "", 0, ""
        else:
            if isinstance(error, PeerError) and not error.step:
                error = error.placed(record.step)
            state = State.CANCELLED if isinstance(error, CancelledError) else State.FAILED
            if isinstance(error, RefusedError) and record.state in _UNSTARTED:
                state = State.REFUSED
            reason, code = describe(error), exit_code_of(error)
            config = self._began_under.get(record.job_id, self._config)
            told = describe_to_coordinator(error, config.any_policy.explain)
            culprit = culprit_of(error, self._config.name)
        changed = self._book.set_state(
            record, state, reason=reason, told=told, exit_code=code, culprit=culprit
        )
        if record.job_id not in self._threads:
            self._queue.remove(record.job_id)
            self._pauses.pop(record.job_id, None)
        if changed:
            last = record.events[-1][1]
            try:
                self._audit.note(
                    "ended",
                    job=record.job_id,
                    state=State.Name(state),
                    reason=one_line(reason),
                    culprit=culprit,
                    step=last.step,
                    sent_bytes=last.sent_bytes,
                    received_bytes=last.received_bytes,
                )
            except EnvironmentFaultError as failure:
                log.error("job %s: %s", record.job_id, failure)
            log.info("job %s %s %s", record.job_id, State.Name(state).lower(), reason)
