"""The gRPC service for coordinators and the party's own operator.

Callers are known by certificate. A coordinator must be listed in the policy to propose a job, and
only the coordinator that proposed a job may start, watch, cancel or fetch it. Only the holder of
this party's own certificate may approve and list jobs.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any, NoReturn

import grpc

from coterie.base.errors import (
    CancelledError,
    CoterieError,
    DataError,
    EnvironmentFaultError,
    RefusedError,
    UsageError,
    VerificationError,
)
from coterie.base.names import is_job_id
from coterie.base.text import one_line
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.matching.hygiene import findings_of
from coterie.jobs.run.party_run import WIRE
from coterie.party.books.audit import AuditLog
from coterie.party.config import PartyConfig
from coterie.party.examinations import Examinations
from coterie.party.live import Live
from coterie.party.operator.explain import explain
from coterie.party.policy import judge_coordinator
from coterie.party.receptions import Receptions
from coterie.party.records import ENDED, Book, Record
from coterie.party.worker import Worker, check_data, check_parties, check_policy, log
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2 import State
from coterie.protos.jobs_pb2_grpc import JobsServicer
from coterie.transport.error_messages import describe, describe_to_coordinator
from coterie.trust.identity import Caller

_PIECE = 1 << 20
_FETCHES = 16  # concurrent fetches of one coordinator; gRPC buffers some MB of each
_PAGE = 1 << 20  # bytes of a page of the list of jobs


class JobService(JobsServicer):
    """`coterie.v1.Jobs`."""

    def __init__(
        self,
        live: Live,
        book: Book,
        audit: AuditLog,
        worker: Worker,
        receptions: Receptions,
        identify: Callable[[grpc.ServicerContext], Caller],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._live = live
        self._book = book
        self._audit = audit
        self._worker = worker
        self._receptions = receptions
        self._identify = identify
        self._examinations = Examinations(lambda: live.config.any_policy, clock)
        self.prune: Callable[[], dict[str, int]] = dict
        self._fetch_lock = threading.Lock()
        self._fetches: Counter[str] = Counter()

    @property
    def _config(self) -> PartyConfig:
        """The party file in force now."""
        return self._live.config

    # Before a job.

    def Describe(self, request: Any, context: grpc.ServicerContext) -> pb.Description:  # noqa: N802
        caller = self._caller(context)
        checks = []

        def check(name: str, what: Callable[[], str]) -> bool:
            try:
                checks.append(pb.Check(name=name, ok=True, detail=what()))
                return True
            except CoterieError as error:
                told = describe_to_coordinator(error, self._config.any_policy.explain)
                checks.append(pb.Check(name=name, ok=False, detail=told))
                log.info("examined for %s: %s: %s", caller.name, name, describe(error))
                return False

        def counted() -> bool:
            """Reading a job costs time, and what is said of it tells about the data."""
            try:
                self._examinations.add(caller.name)
                return True
            except RefusedError as error:
                checks.append(pb.Check(name="policy", ok=False, detail=str(error)))
                return False

        asked = request.job_yaml and check("coordinator", lambda: self._check_coordinator(caller))
        if asked and counted():
            job: list[Job] = []

            def parse() -> str:
                job.append(parse_job(request.job_yaml, dict(request.files)))
                check_parties(self._config, job[0])
                return f"kind {job[0].kind}"

            def policy() -> str:
                check_policy(self._config, job[0], caller.name)
                return f"permitted, consent {self._config.for_job(job[0]).policy.consent}"

            def data() -> str:
                # Noted first, because the answers to many requests reveal something about the data.
                self._audit.note(
                    "examined",
                    by=caller.name,
                    certificate=caller.fingerprint,
                    name=job[0].name,
                    kind=job[0].kind,
                    digest=job[0].digest,
                )
                try:
                    prepared, records = check_data(self._config, job[0], self._audit.note)
                    counts = self._config.any_policy.explain == "rows"
                    hints = [one.line(counts) for one in findings_of(prepared)]
                    return "; ".join([f"{records} records", *hints])
                except DataError as error:
                    self._audit.note(
                        "data refused",
                        by=caller.name,
                        digest=job[0].digest,
                        reason=describe(error),
                    )
                    raise

            # Data is read only for a job that the policy permits.
            check("job", parse) and check("policy", policy) and check("data", data)
        shown = None
        if self._is_operator(caller):
            live = self._live
            shown = pb.Configuration(
                digest=live.config.digest, since=live.since, refused=live.problem
            )
        return pb.Description(
            configuration=shown,
            party=self._config.name,
            version=metadata.version("coterie"),
            unix_time=time.time(),
            wire=WIRE,
            checks=checks,
        )

    def _check_coordinator(self, caller: Caller) -> str:
        refusals = judge_coordinator(self._config.any_policy, caller.name)
        if refusals:
            raise RefusedError(refusals[0])
        return f"{caller.name} may propose jobs"

    def Propose(self, request: Any, context: grpc.ServicerContext) -> pb.Decision:  # noqa: N802
        caller = self._caller(context)
        facts = {
            "job": one_line(request.job_id),
            "by": caller.name,
            "certificate": caller.fingerprint,
        }
        record: Record | None = None
        try:
            self._check_coordinator(caller)
            if not is_job_id(request.job_id):
                raise UsageError("a job's id must be 32 hexadecimal digits")
            self._worker.expire()
            open_jobs = self._config.limits.open_jobs
            if self._open_jobs(caller.name) >= open_jobs:
                raise RefusedError(f"{caller.name} has {open_jobs} jobs here that have not ended")
            self._check_size(caller.name, request)
            self._examinations.add(caller.name)
            job = parse_job(request.job_yaml, dict(request.files))
            record = self._book.add(request.job_id, caller.name, job)
            if record is None:
                raise UsageError(f"the job id {request.job_id} was used before")
            facts.update(name=job.name, kind=job.kind, digest=job.digest)
            check_parties(self._config, job)
            check_policy(self._config, job, caller.name)
            prepared, record.records = check_data(self._config, job, self._audit.note)
            self._book.store(record)
            if self._config.for_job(job).policy.consent == "auto":
                with record.changed:
                    if record.state not in ENDED:  # the job may have been cancelled meanwhile
                        record.prepared = prepared
                        self._worker.expect(record)
                        self._book.set_state(record, State.ACCEPTED)
            else:
                self._book.set_state(
                    record, State.WAITING, reason="waits for the operator's consent"
                )
        except Exception as error:
            decision, reason = self._refusal(error), describe(error)
            if record is not None:
                record.job = None
                self._book.set_state(
                    record,
                    State.REFUSED,
                    reason=reason,
                    told=decision.reason,
                    exit_code=decision.exit_code,
                )
        else:
            decision, reason = _decision(record), record.reason
        try:
            self._audit.note(
                "proposed", **facts, decision=State.Name(decision.state), reason=reason
            )
        except EnvironmentFaultError as error:  # what cannot be accounted for is not accepted
            decision, reason = self._refusal(error), describe(error)
            if record is not None:
                self._worker.stop(record, error)
        log.info(
            "job %s of %s: %s %s",
            facts["job"],
            caller.name,
            State.Name(decision.state).lower(),
            reason,
        )
        return decision

    def _open_jobs(self, coordinator: str) -> int:
        return sum(
            record.coordinator == coordinator and record.state not in ENDED
            for record in self._book.all()
        )

    def _check_size(self, coordinator: str, request: Any) -> None:
        """What a job brings is kept until it ends, in memory and on the disk."""
        size = len(request.job_yaml) + sum(map(len, request.files.values()))
        for record in self._book.all():
            if record.coordinator == coordinator and (job := record.job) is not None:
                size += len(job.text) + sum(map(len, job.files.values()))
        most = self._config.limits.files
        if size > most:
            raise RefusedError(
                f"limits.files: the open jobs of {coordinator} would weigh {size:,} bytes, and at "
                f"most {most:,} are kept"
            )

    def _refusal(self, error: Exception) -> pb.Decision:
        if not isinstance(error, CoterieError):
            log.exception("a proposed job could not be checked")
        return pb.Decision(
            state=State.REFUSED,
            reason=describe_to_coordinator(error, self._config.any_policy.explain),
            exit_code=getattr(error, "exit_code", 70),
        )

    def Approve(self, request: Any, context: grpc.ServicerContext) -> pb.Decision:  # noqa: N802
        self._operator(context)
        record = self._book.get(request.job_id)
        if record is None:
            _abort(context, grpc.StatusCode.NOT_FOUND, f"no job '{one_line(request.job_id)}' here")
        waiting = {State.WAITING}
        reason = one_line(request.reason)
        person = one_line(request.person)
        if request.yes:
            with record.changed:
                done = record.state == State.WAITING
                if done:
                    self._worker.expect(record)
                    words = f"approved by {person}" if person else ""
                    self._book.set_state(
                        record, State.ACCEPTED, expected=waiting, reason=words, told=""
                    )
        else:
            words = "the operator says no" + (f": {reason}" if reason else "")
            done = self._book.set_state(
                record,
                State.REFUSED,
                expected=waiting,
                reason=words,
                exit_code=RefusedError.exit_code,
            )
        if not done:
            state = State.Name(record.state)
            _abort(context, grpc.StatusCode.FAILED_PRECONDITION, f"the job is {state}, not WAITING")
        self._note(
            context,
            "approved" if request.yes else "denied",
            job=record.job_id,
            by=self._config.name,
            person=person,
            reason=reason,
        )
        if request.yes and record.eager:
            self._worker.queue(record)
        return _decision(record)

    def Explain(self, request: Any, context: grpc.ServicerContext) -> pb.Explanation:  # noqa: N802
        self._operator(context)
        record = self._book.get(request.job_id)
        if record is None:
            _abort(context, grpc.StatusCode.NOT_FOUND, f"no job '{one_line(request.job_id)}' here")
        facts = explain(self._config, record, self._book.stored_job(record))
        return pb.Explanation(json=json.dumps(facts))

    def Prune(self, request: Any, context: grpc.ServicerContext) -> pb.Explanation:  # noqa: N802
        self._operator(context)
        try:
            return pb.Explanation(json=json.dumps(self.prune()))
        except EnvironmentFaultError as error:
            _abort(context, grpc.StatusCode.INTERNAL, str(error))

    def List(self, request: Any, context: grpc.ServicerContext) -> pb.JobList:  # noqa: N802
        self._operator(context)
        page = pb.JobList()
        size = 0
        records = self._book.after(request.after)
        for record in records:
            summary = pb.JobSummary(
                job_id=record.job_id,
                name=record.name,
                kind=record.kind,
                coordinator=record.coordinator,
                state=record.state,
                detail=record.reason,
                job_yaml=record.text,
                proposed=record.proposed,
                since=record.since,
                place=self._book.place_of(record),
            )
            if record.state == State.QUEUED:
                summary.detail = in_queue(summary.place)
            size += summary.ByteSize()
            if page.jobs and size > _PAGE:
                page.more = True
                break
            page.jobs.append(summary)
        return page

    # The life of a job.

    def Start(self, request: Any, context: grpc.ServicerContext) -> pb.Started:  # noqa: N802
        record = self._record(request.job_id, context)
        # A peer that started sooner may have failed by now; Watch reports why.
        if not self._worker.start(record) and record.state not in (State.FAILED, State.CANCELLED):
            state = State.Name(record.state)
            _abort(
                context, grpc.StatusCode.FAILED_PRECONDITION, f"the job is {state}, not ACCEPTED"
            )
        return pb.Started()

    def Queue(self, request: Any, context: grpc.ServicerContext) -> pb.Started:  # noqa: N802
        record = self._record(request.job_id, context)
        if not self._worker.queue(record) and record.state not in (State.FAILED, State.CANCELLED):
            state = State.Name(record.state)
            _abort(
                context, grpc.StatusCode.FAILED_PRECONDITION, f"the job is {state}, not ACCEPTED"
            )
        return pb.Started()

    def Watch(self, request: Any, context: grpc.ServicerContext) -> Iterator[pb.Event]:  # noqa: N802
        record = self._record(request.job_id, context)
        interval = self._config.heartbeat.interval
        seen = 0
        while context.is_active():
            with record.changed:
                if record.events[-1][0] <= seen:
                    record.changed.wait(interval)
                new = [(serial, event) for serial, event in _tail(record.events, seen)]
                ended = record.state in ENDED
            if new:
                seen = new[-1][0]
                yield from (event for _, event in new)
                if ended:
                    return
            else:
                yield self._book.newest(record)

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> pb.Cancelled:  # noqa: N802
        caller = self._caller(context)
        record = self._record(request.job_id, context, operator=True)
        reason = one_line(request.reason)
        words = f"cancelled by {caller.name}" + (f": {reason}" if reason else "")
        self._worker.stop(record, CancelledError(words))
        person = one_line(request.person)
        facts = {"person": person} if person else {}
        self._note(context, "cancelled", job=record.job_id, by=caller.name, reason=reason, **facts)
        return pb.Cancelled()

    def Fetch(self, request: Any, context: grpc.ServicerContext) -> Iterator[pb.FileChunk]:  # noqa: N802
        record = self._record(request.job_id, context)
        if record.state != State.FINISHED:
            state = State.Name(record.state)
            _abort(
                context, grpc.StatusCode.FAILED_PRECONDITION, f"the job is {state}, not FINISHED"
            )
        self._fetching(record.coordinator, context)
        root = record.workspace.released
        files = sorted(path for path in root.rglob("*") if path.is_file())
        names = [path.relative_to(root).as_posix() for path in files]
        self._note(context, "fetched", job=record.job_id, by=record.coordinator, files=names)
        for path, name in zip(files, names, strict=True):
            with path.open("rb") as file:
                left = path.stat().st_size
                while True:
                    data = file.read(_PIECE)
                    left -= len(data)
                    last = left <= 0 or not data
                    yield pb.FileChunk(path=name, data=data, last=last)
                    if last:
                        break

    def Deliver(self, request: Any, context: grpc.ServicerContext) -> pb.Delivered:  # noqa: N802
        chunks: Iterator[pb.FileChunk] = iter(request)
        first = next(chunks, None)
        record = self._record(first.job_id if first else "", context)
        if first is None or record.state != State.FINISHED:
            state = State.Name(record.state)
            _abort(
                context, grpc.StatusCode.FAILED_PRECONDITION, f"the job is {state}, not FINISHED"
            )
        codes = {
            VerificationError: grpc.StatusCode.ABORTED,
            RefusedError: grpc.StatusCode.PERMISSION_DENIED,
            UsageError: grpc.StatusCode.INVALID_ARGUMENT,
        }
        try:
            return self._receptions.deliver(record, itertools.chain([first], chunks))
        except CoterieError as error:
            code = codes.get(type(error), grpc.StatusCode.INTERNAL)
            _abort(context, code, describe_to_coordinator(error, self._config.any_policy.explain))

    def _fetching(self, coordinator: str, context: grpc.ServicerContext) -> None:
        """Limits concurrent fetches of this coordinator, because unread data waits in memory."""
        with self._fetch_lock:
            if self._fetches[coordinator] >= _FETCHES:
                reason = f"{_FETCHES} results are on their way to '{coordinator}'"
                _abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, reason)
            self._fetches[coordinator] += 1

        def done() -> None:
            with self._fetch_lock:
                self._fetches[coordinator] -= 1

        if not context.add_callback(done):
            done()

    def _note(self, context: grpc.ServicerContext, event: str, **facts: Any) -> None:
        """Writes to the audit log; a call that cannot be noted is refused."""
        try:
            self._audit.note(event, **facts)
        except EnvironmentFaultError as error:
            _abort(context, grpc.StatusCode.INTERNAL, str(error))

    # Permissions.

    def _caller(self, context: grpc.ServicerContext) -> Caller:
        try:
            return self._identify(context)
        except RefusedError as error:
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, str(error))

    def _is_operator(self, caller: Caller) -> bool:
        return caller.name == self._config.name and (
            caller.fingerprint == self._config.identity.fingerprint
        )

    def _operator(self, context: grpc.ServicerContext) -> None:
        caller = self._caller(context)
        if not self._is_operator(caller):
            reason = f"only the operator of {self._config.name} may do this, not '{caller.name}'"
            self._note(context, "turned away", by=caller.name, certificate=caller.fingerprint)
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, reason)

    def _record(self, job_id: str, context: grpc.ServicerContext, operator: bool = False) -> Record:
        """The job, if the caller proposed it (or, with `operator`, is the operator)."""
        caller = self._caller(context)
        record = self._book.get(job_id)
        if record is None or not (
            record.coordinator == caller.name or (operator and self._is_operator(caller))
        ):
            # The answer does not reveal whether somebody else's job exists.
            reason = f"'{caller.name}' has no job '{one_line(job_id)}' at {self._config.name}"
            _abort(context, grpc.StatusCode.NOT_FOUND, reason)
        return record


def _tail(events: list[tuple[int, pb.Event]], seen: int) -> list[tuple[int, pb.Event]]:
    """The events with a later serial number than the one seen last."""
    at = len(events)
    while at and events[at - 1][0] > seen:
        at -= 1
    return events[at:]


def in_queue(place: int) -> str:
    """Where a queued job stands, for people."""
    return f"place {place} in the queue" if place else "has a place; waits for the other parties"


def _decision(record: Record) -> pb.Decision:
    return pb.Decision(
        state=record.state,
        reason=record.told,
        exit_code=record.exit_code,
        records=record.records,
    )


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, reason: str) -> NoReturn:
    context.abort(code, reason)
    raise AssertionError("abort raises")
