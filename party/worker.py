"""Runs the jobs of a party server, each in a thread, and records how each of them ended."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from coterie.base.errors import (
    CancelledError,
    CoterieError,
    EnvironmentFaultError,
    PeerError,
    PeerLostError,
    RefusedError,
)
from coterie.base.text import one_line
from coterie.base.threads import start
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.kept_models import FILE as MODEL
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.answers_file import NAME as ANSWERS
from coterie.jobs.run.answers_file import (
    AnswersFile,
    attempts_made,
    create_answers,
    finished_here,
    has_answers,
    remove_answers,
)
from coterie.jobs.run.party_run import AGREE, Progress, run_party
from coterie.party.books.audit import AuditLog
from coterie.party.books.ledger import Ledger
from coterie.party.books.models import ModelFolder
from coterie.party.config import PartyConfig
from coterie.party.history.gate import HistoryGate
from coterie.party.history.judgement import Finding
from coterie.party.history.releases import History
from coterie.party.holds import ask
from coterie.party.job_record import ENDED, OUTPUT, REPEAT, Hold, Record
from coterie.party.live import Live
from coterie.party.output import would_release
from coterie.party.preflight import charge, check_data, check_parties, check_policy, require_valid
from coterie.party.queue.reservations import finished_at_a_peer, tell_peers
from coterie.party.queue.turns import Turns
from coterie.party.records import Book
from coterie.party.settings import Repeat
from coterie.party.steward.explain import date
from coterie.protocols.primitives.randomness import Random
from coterie.protos.jobs_pb2 import State
from coterie.transport.error_messages import (
    culprit_of,
    describe,
    describe_to_coordinator,
    exit_code_of,
)
from coterie.transport.peers import PeerService
from coterie.transport.session import Session

log = logging.getLogger("coterie.party")
# Seconds for which the data that was read for a proposal counts: somebody may object meanwhile.
_FRESH = 60.0
_ABANDONED = 3600.0  # seconds without its coordinator after which an accepted job is given up
STEWARD = "steward"  # the step of a job that waits for the operator's answer
_UNSTARTED = (State.WAITING, State.ACCEPTED, State.QUEUED)


class Worker:
    """Runs accepted jobs, each in a thread of its own, when there are places for them."""

    def __init__(
        self,
        live: Live,
        book: Book,
        audit: AuditLog,
        peers: PeerService,
        history: History | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._live = live
        self._clock = clock
        self.history = history or History(live.config.state)
        self._book = book
        self._audit = audit
        self._peers = peers
        self._threads: dict[str, threading.Thread] = {}
        self._began_under: dict[str, PartyConfig] = {}  # by running job
        self.turns = Turns(live, book, audit, self._begin, self.stop, clock)
        peers.places = self.turns

    @property
    def _config(self) -> PartyConfig:
        """The party file in force now."""
        return self._live.config

    def older_files(self) -> list[PartyConfig]:
        """The party files under which running jobs began, where they are no longer in force."""
        return [c for c in list(self._began_under.values()) if c is not self._config]

    def judge_again(self) -> None:
        """Stops jobs that have not begun and that the newer party file does not permit."""
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
            clock=self._clock,
        )
        self._peers.add(record.session)

    def _begin(self, record: Record) -> None:
        """Runs a job that has a place."""
        session, job = record.session, record.job  # the record drops both when the job ends
        config = self._config
        if not self.turns.take(record.job_id):
            return
        thread = threading.Thread(
            target=self._run, args=(record, session, job, config), name=record.job_id, daemon=True
        )
        self._began_under[record.job_id] = config
        self._threads[record.job_id] = thread  # set before others can see that the job runs
        failure: CoterieError | None = None
        try:
            unstarted = {State.ACCEPTED, State.QUEUED}
            create_answers(record.folder)
            begun = self._book.set_state(record, State.RUNNING, expected=unstarted)
            if begun:
                self._audit.note("started", job=record.job_id, by=record.coordinator)
        except EnvironmentFaultError as error:  # what cannot be accounted for is not done
            begun, failure = False, error
        if begun:
            try:
                start(thread)
                return
            except EnvironmentFaultError as error:
                failure = error
        if self._threads.get(record.job_id) is thread:
            del self._threads[record.job_id]
            self._began_under.pop(record.job_id, None)
        if failure is not None:
            self.stop(record, failure)
        elif session is not None:  # the job was ended meanwhile
            self._retire(record, session)
        self.turns.leave(record.job_id)

    def stop(self, record: Record, error: CoterieError) -> None:
        """Ends the session and the record of a job that has not ended."""
        queued = record.state == State.QUEUED
        session = record.session
        if session is None or not session.fail(error):
            self._end(record, error)
        elif queued:
            tell_peers(session, self._config.connect, self._config.heartbeat.deadline)

    def _failed(self, record: Record, error: BaseException) -> None:
        """Handles a failed session of a job."""
        session = record.session
        self._end(record, error)
        if session is not None and record.job_id not in self._threads:
            self._retire(record, session)

    def _retire(self, record: Record, session: Session) -> None:
        """Retires a session that was never started, once it has sent its farewell to its callers."""

        def retire() -> None:
            session.close()
            self._peers.retire(session)
            if record.session is session:  # and not that of a later attempt
                record.session = None

        try:
            start(threading.Thread(target=retire, daemon=True))
        except EnvironmentFaultError:
            retire()

    def expire(self) -> None:
        """Gives up jobs that nobody has approved or started for too long."""
        limit = self._config.limits.unstarted
        for record in self._book.unstarted_for(limit):
            reason = f"was not started within {limit:g} s"
            self.stop(record, CancelledError(f"{self._config.name}: {reason}"))
        for record in self._book.abandoned_for(_ABANDONED):
            reason = f"was not started, and its coordinator was away for {_ABANDONED:g} s"
            self.stop(record, CancelledError(f"{self._config.name}: {reason}"))
        for record in self._book.interrupted_for(limit):
            reason = f"was not taken up again within {limit:g} s"
            self.stop(record, CancelledError(f"{self._config.name}: {reason}"))

    def resume(self, record: Record) -> None:
        """Takes up a job that was interrupted; leaves any other, and one that is still ending, alone."""
        if not record.resumable or record.job_id in self._threads:
            return
        if not has_answers(record.folder):  # a state folder from a backup has none
            self.stop(record, CancelledError(f"{self._config.name}: has not kept the answers"))
            return
        job = self._book.stored_job(record)
        if job is None:
            return
        peers = [name for name in job.party_names if name != self._config.name]
        if finished_here(record.folder) and finished_at_a_peer(
            record.job_id, peers, self._config.connect
        ):
            self._remember(record, job, None)
            self._keep_model(record)
            if self._book.finish_late(record):
                self._audit.note("finished late", job=record.job_id, by=record.coordinator)
            return
        attempts = attempts_made(record.folder)
        repeat = self._config.for_job(job).policy.repeat or Repeat()
        if attempts > repeat.attempts:
            words = f"was taken up again {repeat.attempts} times (policy.repeat.attempts)"
            self.stop(record, CancelledError(f"{self._config.name}: {words}; propose it again"))
            return
        check_parties(self._config, job)
        check_policy(self._config, job, record.coordinator, resumed=True, attempts=attempts)
        self._audit.note("taken up again", job=record.job_id, by=record.coordinator)
        self._book.take_again(record, lambda job: self.expect(record))

    def join(self, patience: float) -> None:
        """Waits for the jobs' threads to send farewells; threads that still compute are abandoned."""
        self.turns.close()
        deadline = time.monotonic() + patience
        for thread in list(self._threads.values()):
            thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self, record: Record, session: Session, job: Job, config: PartyConfig) -> None:
        answers: AnswersFile | None = None
        try:
            session.step = AGREE  # an error has a step also before the parties meet
            self._book.progress(record, AGREE, 0, 0, record.traffic)
            for peer in session.peers:
                require_valid(config, peer)
            session.start(config.connect)
            prepared, record.prepared = record.prepared, None
            if prepared is None or time.monotonic() - record.prepared_at > _FRESH:
                checked = check_data(config, job, self._audit.note)
                prepared, record.records, record.data, record.people, record.inputs = checked
            if facts := charge(config, record.job_id, job):
                self._audit.note("budget charged", job=record.job_id, **facts)
            record.workspace.create()
            of_table = config.for_job(job)
            answers = AnswersFile(record.folder / ANSWERS, record.data, str(of_table.source))

            def listen(progress: Progress) -> None:
                session.step = progress.step
                record.sent_to = progress.sent_to
                self._book.progress(
                    record, progress.step, progress.done, progress.total, progress.traffic
                )

            gate = self._gate(record, session, job, of_table)
            workspace = replace(
                record.workspace,
                memory=config.memory,
                compute=config.compute,
                largest_peer_set=of_table.policy.largest_peer_set,
                silent=of_table.policy.silent,
                book=Ledger(config.state, config.name).books(record.job_id, job),
                gate=gate,
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
                answers=answers,
                inputs=record.inputs,
                on_inputs=gate.commit,
                on_redrawn=partial(self._charge_again, config, record, job),
            )
            session.finish()
            self._remember(record, job, None)
            self._keep_model(record)
            self._end(record, None)
        except MemoryError:
            self._break_off(
                record, session, EnvironmentFaultError("not enough memory for this job")
            )
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            failure = EnvironmentFaultError(f"{where}{error.strerror or error}")
            self._break_off(record, session, failure)
        except BaseException as error:
            if not isinstance(error, CoterieError):
                log.exception("job %s", record.job_id)
            self._break_off(record, session, error)
        finally:
            if session.error is not None:
                with contextlib.suppress(EnvironmentFaultError):  # the log of the server has it
                    self._remember(record, job, session.error)
            if answers is not None:
                answers.close()
            with record.changed:
                if record.state in ENDED and not record.resumable:
                    remove_answers(record.folder)  # made, perhaps, after the job was ended
            session.close()
            self._peers.retire(session)
            record.session = None  # frees the frames that nobody has read
            record.people = None  # read, perhaps, after the job was ended
            self._began_under.pop(record.job_id, None)
            self.turns.leave(record.job_id)
            self._threads.pop(record.job_id, None)  # from now on the job may be taken up again

    def _charge_again(self, config: PartyConfig, record: Record, job: Job) -> None:
        """Charges noise that is drawn anew, before it is."""
        if facts := charge(config, record.job_id, job, again=True):
            self._audit.note("budget charged", job=record.job_id, again=True, **facts)

    def _gate(self, record: Record, session: Session, job: Job, config: PartyConfig) -> HistoryGate:
        """What stands between this run and a release: the memory of earlier jobs."""
        people, record.people = record.people, None

        def ask(findings: Sequence[Finding], words: str) -> None:
            facts = {"findings": [finding.as_fact() for finding in findings]}
            self._ask(
                record, session, config, REPEAT, facts, hashlib.sha256(words.encode()).hexdigest()
            )

        def ask_output(result: Mapping[str, object]) -> None:
            output, digest = would_release(job, config.name, record.workspace, result)
            self._ask(record, session, config, OUTPUT, {"output": output}, digest)

        return HistoryGate(
            self.history,
            config.policy,
            KINDS[job.kind].needs(job, config.name),
            record,
            job,
            job.table_of(config.name) or "",
            people,
            self._audit.note,
            ask,
            ask_output,
        )

    def _ask(
        self,
        record: Record,
        session: Session,
        config: PartyConfig,
        about: str,
        facts: Mapping[str, Any],
        digest: str,
    ) -> None:
        """Has the steward answer a question before the job goes on."""
        hold = Hold(about, time.time() + config.policy.answer_within, facts)

        def asked() -> None:
            self._audit.note("asked", job=record.job_id, about=about, until=date(hold.until))
            self._book.progress(record, STEWARD, 0, 0, record.traffic)
            self._book.listener(record)

        try:
            ask(record, hold, digest, asked, lambda: session.error)
        except RefusedError as error:
            self._audit.note("held back", job=record.job_id, about=about, reason=str(error))
            shutil.rmtree(record.workspace.released, ignore_errors=True)
            raise

    def _break_off(self, record: Record, session: Session, error: BaseException) -> None:
        """Ends a job that cannot go on, even one whose end could not be written to the audit log."""
        if not session.fail(error):
            self._end(record, error)

    def _remember(self, record: Record, job: Job, error: BaseException | None) -> None:
        """Adds the job to the ledger, if its kind has contributions."""
        try:
            if not KINDS[job.kind].needs(job, self._config.name).answers.contributes:
                return
            Ledger(self._config.state, self._config.name).note_end(record.job_id, job, error)
        except CoterieError as failure:
            log.error("job %s: the ledger was not written: %s", record.job_id, failure)
            self._audit.note("ledger not written", job=record.job_id, reason=str(failure))

    def _keep_model(self, record: Record) -> None:
        """Moves the part of a model that the finished job left to the other models."""
        left = record.workspace.kept / MODEL
        if not left.exists():
            return
        try:
            folder = ModelFolder(self._config.state)
            reason = folder.take(left.parent, record.coordinator, record.job_id)
        except CoterieError as error:
            reason = str(error)
        if reason:  # another job was given the name meanwhile, or the disk is full
            log.error("job %s: the model was not kept: %s", record.job_id, reason)
            self._audit.note("model not kept", job=record.job_id, reason=one_line(reason))
        else:
            self._audit.note("model kept", job=record.job_id, by=record.coordinator)

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
            record,
            state,
            reason=reason,
            told=told,
            exit_code=code,
            culprit=culprit,
            resumable=_interrupts(record, error),
        )
        if record.job_id not in self._threads:
            self.turns.leave(record.job_id)
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


def _interrupts(record: Record, error: BaseException | None) -> bool:
    """Whether the job may go on after this error: a party was lost, or a machine could not work."""
    passing = isinstance(error, PeerLostError | EnvironmentFaultError)
    if not passing or (isinstance(error, PeerError) and error.for_good):
        return False
    if record.state in (State.ACCEPTED, State.QUEUED):  # it has begun at the peer, if not here
        with contextlib.suppress(EnvironmentFaultError):
            create_answers(record.folder)
    return has_answers(record.folder)
