"""The gRPC service for coordinators and the party's own operator.

A coordinator must be listed in the policy to propose a job (`party.proposals`);
`party.callers.permissions` decides who may make any other call.
"""

from __future__ import annotations

import functools
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
    EnvironmentFaultError,
    RefusedError,
    UsageError,
    VerificationError,
)
from coterie.base.text import one_line
from coterie.jobs.run.party_run import WIRE
from coterie.party.answers import RECEIPT, SERVER
from coterie.party.books.audit import AuditLog
from coterie.party.books.models import ModelFolder
from coterie.party.callers.permissions import Decider, Permissions, abort
from coterie.party.config import PartyConfig
from coterie.party.holds import answer
from coterie.party.job_record import ENDED, Record
from coterie.party.live import Live
from coterie.party.proposals import Proposals, decision_on
from coterie.party.receptions import Receptions
from coterie.party.records import Book
from coterie.party.steward.explain import explain
from coterie.party.steward.remove_model import remove_model
from coterie.party.worker import Worker
from coterie.protocols.messaging.opening import tell
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2 import State
from coterie.protos.jobs_pb2_grpc import JobsServicer
from coterie.transport.error_messages import describe, describe_to_coordinator, without_folders
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
        self._worker = worker
        self._receptions = receptions
        self._permissions = Permissions(live, book, audit, identify)
        self._proposals = Proposals(live, book, audit, worker, clock)
        self.prune: Callable[[], dict[str, int]] = dict
        self.would_prune: Callable[[], dict[str, Any]] = dict
        self._fetch_lock = threading.Lock()
        self._fetches: Counter[str] = Counter()

    @property
    def _config(self) -> PartyConfig:
        """The party file in force now."""
        return self._live.config

    # Before a job.

    def Describe(self, request: Any, context: grpc.ServicerContext) -> pb.Description:  # noqa: N802
        caller = self._permissions.caller(context)
        checks = self._proposals.examine(request, caller)
        shown = None
        if self._config.is_operator(caller):
            live = self._live
            shown = pb.Configuration(
                digest=live.config.digest, since=live.since, refused=live.problem
            )
        return pb.Description(
            configuration=shown,
            party=self._config.name,
            version=tell(SERVER, metadata.version("coterie")),
            unix_time=time.time(),
            wire=WIRE,
            checks=checks,
        )

    def Propose(self, request: Any, context: grpc.ServicerContext) -> pb.Decision:  # noqa: N802
        return self._proposals.propose(request, self._permissions.caller(context))

    def Approve(self, request: Any, context: grpc.ServicerContext) -> pb.Decision:  # noqa: N802
        record = self._permissions.any_job(request.job_id, context)
        waiting = {State.WAITING}
        reason = one_line(request.reason)
        decider = self._permissions.decider(context, request.person)
        person = decider.person
        if request.about:
            return self._answer(record, request, decider, reason, context)
        if request.yes:
            with record.changed:
                done = record.state == State.WAITING
                if done:
                    self._accept(record, f"approved by {person}" if person else "", context)
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
            _not_in(State.WAITING, record, context)
        self._permissions.note(
            context,
            "approved" if request.yes else "denied",
            job=record.job_id,
            by=self._config.name,
            reason=reason,
            **decider.facts,
        )
        if request.yes and record.eager:
            self._worker.turns.queue(record)
        return decision_on(record)

    def _accept(self, record: Record, words: str, context: grpc.ServicerContext) -> None:
        """Accepts a job that the operator approves, unless that cannot be written."""
        if record.session is None:  # else an approval that could not be written has made it
            self._worker.expect(record)
        try:
            self._book.set_state(record, State.ACCEPTED, reason=words, told="")
        except EnvironmentFaultError as error:
            why = f"the approval could not be written, and does not count: {error}"
            abort(context, grpc.StatusCode.INTERNAL, why)

    def _answer(
        self,
        record: Record,
        request: Any,
        decider: Decider,
        reason: str,
        context: grpc.ServicerContext,
    ) -> pb.Decision:
        """The operator's answer to a running job, which is in the audit log before it counts."""
        if record.held is None or record.held.about != request.about:
            asks = f"asks about '{record.held.about}'" if record.held else "asks nothing"
            why = f"the job is {State.Name(record.state)} and {asks}"
            abort(context, grpc.StatusCode.FAILED_PRECONDITION, why)
        self._permissions.note(
            context,
            "approved" if request.yes else "denied",
            job=record.job_id,
            by=self._config.name,
            about=request.about,
            reason=reason,
            **decider.facts,
        )
        try:
            counts = answer(record, request.about, request.yes, reason, decider.person)
        except EnvironmentFaultError as error:
            why = f"the answer could not be written, and does not count: {error}"
            abort(context, grpc.StatusCode.INTERNAL, why)
        if not counts:
            why = "the job has been answered already"
            abort(context, grpc.StatusCode.FAILED_PRECONDITION, why)
        return decision_on(record)

    def Explain(self, request: Any, context: grpc.ServicerContext) -> pb.Explanation:  # noqa: N802
        record = self._permissions.any_job(request.job_id, context)
        facts = explain(self._config, record, self._book.stored_job(record), self._worker.history)
        return pb.Explanation(json=json.dumps(facts))

    def RemoveModel(  # noqa: N802
        self, request: Any, context: grpc.ServicerContext
    ) -> pb.Explanation:
        decider = self._permissions.decider(context, request.person)
        note = functools.partial(self._permissions.note, context, by=self._config.name)
        try:
            folder = ModelFolder(self._config.state)
            return pb.Explanation(
                json=json.dumps(remove_model(folder, request.name, decider.facts, note))
            )
        except UsageError as error:
            abort(context, grpc.StatusCode.NOT_FOUND, str(error))
        except EnvironmentFaultError as error:
            abort(context, grpc.StatusCode.INTERNAL, str(error))

    def Prune(self, request: Any, context: grpc.ServicerContext) -> pb.Explanation:  # noqa: N802
        self._permissions.decider(context, "")
        try:
            return pb.Explanation(json=json.dumps(self.prune()))
        except EnvironmentFaultError as error:
            abort(context, grpc.StatusCode.INTERNAL, str(error))

    def WouldPrune(self, request: Any, context: grpc.ServicerContext) -> pb.Explanation:  # noqa: N802
        self._permissions.require_operator(context)
        return pb.Explanation(json=json.dumps(self.would_prune()))

    def List(self, request: Any, context: grpc.ServicerContext) -> pb.JobList:  # noqa: N802
        self._permissions.require_operator(context)
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
                summary.detail = in_queue(summary.place, self._book.waits_of(record))
            if (hold := record.held) is not None:
                summary.held, summary.detail = hold.about, hold.words
            size += summary.ByteSize()
            if page.jobs and size > _PAGE:
                page.more = True
                break
            page.jobs.append(summary)
        return page

    # The life of a job.

    def Start(self, request: Any, context: grpc.ServicerContext) -> pb.Started:  # noqa: N802
        record = self._permissions.job(request.job_id, context)
        # A peer that started sooner may have failed by now; Watch reports why.
        if not self._worker.turns.start(record) and record.state not in (
            State.FAILED,
            State.CANCELLED,
        ):
            _not_in(State.ACCEPTED, record, context)
        return pb.Started()

    def Queue(self, request: Any, context: grpc.ServicerContext) -> pb.Started:  # noqa: N802
        record = self._permissions.job(request.job_id, context)
        try:
            queued = self._worker.turns.queue(record)
        except EnvironmentFaultError as error:  # that the job was asked for cannot be written
            abort(context, grpc.StatusCode.FAILED_PRECONDITION, without_folders(describe(error)))
        if not queued and record.state not in (State.FAILED, State.CANCELLED):
            _not_in(State.ACCEPTED, record, context)
        return pb.Started()

    def Resume(self, request: Any, context: grpc.ServicerContext) -> pb.Decision:  # noqa: N802
        record = self._permissions.job(request.job_id, context)
        try:
            self._worker.resume(record)
        except RefusedError as error:
            abort(context, grpc.StatusCode.PERMISSION_DENIED, str(error))
        except CoterieError as error:
            abort(context, grpc.StatusCode.FAILED_PRECONDITION, without_folders(describe(error)))
        return decision_on(record)

    def Watch(self, request: Any, context: grpc.ServicerContext) -> Iterator[pb.Event]:  # noqa: N802
        record = self._permissions.job(request.job_id, context, operator=True)
        own = self._permissions.caller(context).name == record.coordinator
        interval = self._config.heartbeat.interval
        seen = 0
        while context.is_active():
            if own:
                self._book.watched(record)
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
        caller = self._permissions.caller(context)
        record = self._permissions.job(request.job_id, context, operator=True)
        facts = {}
        if caller.name != record.coordinator:
            facts = self._permissions.decider(context, request.person).facts
        reason = one_line(request.reason)
        words = f"cancelled by {caller.name}" + (f": {reason}" if reason else "")
        self._worker.stop(record, CancelledError(words))
        self._permissions.note(
            context, "cancelled", job=record.job_id, by=caller.name, reason=reason, **facts
        )
        return pb.Cancelled()

    def Fetch(self, request: Any, context: grpc.ServicerContext) -> Iterator[pb.FileChunk]:  # noqa: N802
        record = self._permissions.job(request.job_id, context)
        if record.state != State.FINISHED:
            _not_in(State.FINISHED, record, context)
        self._fetching(record.coordinator, context)
        root = record.workspace.released
        files = sorted(path for path in root.rglob("*") if path.is_file())
        names = [path.relative_to(root).as_posix() for path in files]
        self._permissions.note(
            context, "fetched", job=record.job_id, by=record.coordinator, files=names
        )
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
        record = self._permissions.job(first.job_id if first else "", context)
        if first is None or record.state != State.FINISHED:
            _not_in(State.FINISHED, record, context)
        codes = {
            VerificationError: grpc.StatusCode.ABORTED,
            RefusedError: grpc.StatusCode.PERMISSION_DENIED,
            UsageError: grpc.StatusCode.INVALID_ARGUMENT,
        }
        try:
            return self._receptions.deliver(record, itertools.chain([first], chunks))
        except CoterieError as error:
            code = codes.get(type(error), grpc.StatusCode.INTERNAL)
            told = describe_to_coordinator(error, self._config.any_policy.explain)
            abort(context, code, tell(RECEIPT, told))

    def _fetching(self, coordinator: str, context: grpc.ServicerContext) -> None:
        """Limits concurrent fetches of this coordinator, because unread data waits in memory."""
        with self._fetch_lock:
            if self._fetches[coordinator] >= _FETCHES:
                reason = f"{_FETCHES} results are on their way to '{coordinator}'"
                abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, reason)
            self._fetches[coordinator] += 1

        def done() -> None:
            with self._fetch_lock:
                self._fetches[coordinator] -= 1

        if not context.add_callback(done):
            done()


def _not_in(wanted: Any, record: Record, context: grpc.ServicerContext) -> NoReturn:
    """Ends a call that only a job in another state permits."""
    reason = f"the job is {State.Name(record.state)}, not {State.Name(wanted)}"
    abort(context, grpc.StatusCode.FAILED_PRECONDITION, reason)


def _tail(events: list[tuple[int, pb.Event]], seen: int) -> list[tuple[int, pb.Event]]:
    """The events with a later serial number than the one seen last."""
    at = len(events)
    while at and events[at - 1][0] > seen:
        at -= 1
    return events[at:]


def in_queue(place: int, waits: str) -> str:
    """Where a queued job stands, for people."""
    stands = f"place {place} in the queue" if place else "has a place; waits for the other parties"
    return f"{stands}; {waits}" if waits else stands
