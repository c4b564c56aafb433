"""What a party answers to a coordinator that asks about a job, or proposes one.

Both are checked in the same order: the coordinator, the job file, the policy, and only then the
party's data, because what is said about the data reveals something about it. The audit log has a
line for each.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from coterie.base.errors import (
    CoterieError,
    DataError,
    EnvironmentFaultError,
    RefusedError,
    UsageError,
)
from coterie.base.names import is_job_id
from coterie.base.skew import LARGEST_SKEW, skew_in_words
from coterie.base.text import one_line
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.party_run import WIRE
from coterie.party.answers import DECISION, RECORDS, SERVER, STATE, about_identifiers
from coterie.party.books.audit import AuditLog
from coterie.party.books.models import promised
from coterie.party.callers.examinations import Examinations
from coterie.party.config import PartyConfig
from coterie.party.history.descriptions import Descriptions, described
from coterie.party.history.gate import decide
from coterie.party.history.judgement import judge_number
from coterie.party.job_record import ENDED, Record
from coterie.party.live import Live
from coterie.party.policy import asks_about_together, judge_coordinator, same_analyst
from coterie.party.preflight import check_data, check_parties, check_policy, require_valid
from coterie.party.records import Book
from coterie.party.worker import Worker
from coterie.protocols.messaging.opening import tell
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2 import State
from coterie.transport.error_messages import describe, describe_to_coordinator, exit_code_of
from coterie.trust.identity import Caller

log = logging.getLogger("coterie.party")
_TOGETHER = ": its columns may be unique together (policy.together)"


class Proposals:
    """Judges the jobs of coordinators."""

    def __init__(
        self,
        live: Live,
        book: Book,
        audit: AuditLog,
        worker: Worker,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._live = live
        self._book = book
        self._audit = audit
        self._worker = worker
        self._examinations = Examinations(lambda: live.config.any_policy, clock)

    @property
    def _config(self) -> PartyConfig:
        """The party file in force now."""
        return self._live.config

    def examine(self, request: Any, caller: Caller) -> list[pb.Check]:
        """What would become of this job, one line per check; nothing is kept of the job."""
        checks: list[pb.Check] = []

        def check(name: str, what: Callable[[], str]) -> bool:
            try:
                checks.append(pb.Check(name=name, ok=True, detail=tell(DECISION, what())))
                return True
            except CoterieError as error:
                told = describe_to_coordinator(error, self._config.any_policy.explain)
                checks.append(pb.Check(name=name, ok=False, detail=tell(DECISION, told)))
                log.info("examined for %s: %s: %s", caller.name, name, describe(error))
                return False

        def counted() -> bool:
            """Reading a job costs time, and what is said of it tells about the data."""
            try:
                self._count(caller)
                return True
            except RefusedError as error:
                checks.append(pb.Check(name="policy", ok=False, detail=str(error)))
                return False

        # Of a stranger, no job was read.
        unlisted = judge_coordinator(self._config.any_policy, caller.name)
        asked = (request.job_yaml or unlisted) and check(
            "coordinator", lambda: self._check_coordinator(caller)
        )
        if asked and counted():
            job: list[Job] = []

            def parse() -> str:
                job.append(parse_job(request.job_yaml, dict(request.files)))
                check_parties(self._config, job[0])
                return f"kind {job[0].kind}"

            def policy() -> str:
                check_policy(self._config, job[0], caller.name)
                asks = self._asks("", caller.name, job[0])
                policy = self._config.for_job(job[0]).policy
                consent = "manual" if asks is not None else policy.consent
                words = f"permitted, consent {consent}{asks or ''}"
                if policy.repeat is not None:
                    words += ", to be judged by what earlier jobs have told"
                return words + (", output asked for" if policy.output == "ask" else "")

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
                self._count_descriptions(caller, job[0])
                try:
                    checked = check_data(self._config, job[0], self._audit.note)
                    prepared, records = checked.prepared, checked.records
                    padded = KINDS[job[0].kind].needs(job[0], self._config.name).matching.pad_to
                    explain = self._config.any_policy.explain
                    hints = about_identifiers(prepared, explain, counts=padded is None)
                    return "; ".join([f"{tell(RECORDS, records)} records", *hints])
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
        return checks

    def _check_coordinator(self, caller: Caller) -> str:
        refusals = judge_coordinator(self._config.any_policy, caller.name)
        if refusals:
            raise RefusedError(refusals[0])
        return f"{caller.name} may propose jobs"

    def propose(self, request: Any, caller: Caller) -> pb.Decision:
        """Accepts a job, keeps it for the operator's consent, or refuses it; the audit log says which."""
        facts = {
            "job": one_line(request.job_id),
            "by": caller.name,
            "certificate": caller.fingerprint,
        }
        if request.unix_time and abs(off := request.unix_time - time.time()) > LARGEST_SKEW:
            facts["clock"] = f"{caller.name}'s is {skew_in_words(off)}"
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
            self._count(caller)
            job = parse_job(request.job_yaml, dict(request.files))
            record = self._book.add(request.job_id, caller.name, job)
            if record is None:
                raise UsageError(f"the job id {request.job_id} was used before")
            facts.update(name=job.name, kind=job.kind, digest=job.digest)
            check_parties(self._config, job)
            check_policy(self._config, job, caller.name)
            self._check_name(record, job)
            for peer in set(job.party_names) - {self._config.name}:
                require_valid(self._config, peer)
            asks = self._asks(record.job_id, caller.name, job)
            self._count_descriptions(caller, job)
            checked = check_data(self._config, job, self._audit.note)
            record.records = checked.records
            self._book.store(record)
            if self._config.for_job(job).policy.consent == "auto" and asks is None:
                with record.changed:
                    if record.state not in ENDED:  # the job may have been cancelled meanwhile
                        record.prepared, record.data = checked.prepared, checked.digest
                        record.inputs = checked.inputs
                        record.prepared_at = time.monotonic()
                        record.people = checked.people
                        self._worker.expect(record)
                        self._book.set_state(record, State.ACCEPTED)
            else:
                self._book.set_state(
                    record, State.WAITING, reason=f"waits for the operator's consent{asks or ''}"
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
            decision, reason = decision_on(record), record.reason
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
        decision.unix_time, decision.wire = tell(SERVER, time.time()), WIRE
        return decision

    def _count(self, caller: Caller) -> None:
        """Counts a check of the data, within the hour and for `policy.repeat`."""
        self._examinations.add(caller.name)
        self._worker.history.examined(caller.name)

    def _count_descriptions(self, caller: Caller, job: Job) -> None:
        """Counts in how many ways columns were described, before the data is read."""
        config = self._config.for_job(job)
        found = described(job, KINDS[job.kind].needs(job, config.name))
        analyst = same_analyst(self._config.any_policy, caller.name)
        Descriptions(self._worker.history).add(
            caller.name, analyst, found, config.policy.descriptions
        )

    def _asks(self, job_id: str, coordinator: str, job: Job) -> str | None:
        """Why the operator must consent, whatever `policy.consent` says; None if nothing asks."""
        config = self._config.for_job(job)
        number = self._judge_number(job_id, coordinator, job)
        if asks_about_together(config.policy, KINDS[job.kind].needs(job, config.name)):
            return _TOGETHER
        return "" if number else None

    def _judge_number(self, job_id: str, coordinator: str, job: Job) -> bool:
        """Whether the operator must be asked, since there have been too many jobs or checks."""
        config = self._config.for_job(job)
        repeat = config.policy.repeat
        if repeat is None:
            return False
        tells = KINDS[job.kind].needs(job, config.name).tells
        self._worker.history.guard()
        analyst = same_analyst(self._config.any_policy, coordinator)
        found = judge_number(self._worker.history, repeat, job_id, analyst, tells)
        asked: list[str] = []
        decide(repeat, found, job_id, self._audit.note, lambda _, words: asked.append(words))
        return bool(asked)

    def _check_name(self, record: Record, job: Job) -> None:
        """Of two open jobs that would keep a model of the same name, the second is refused."""
        name = self._keeps(job)
        if name is None:
            return
        for other in self._book.all():
            if other.job_id == record.job_id:
                return
            earlier = (
                other.job or self._book.stored_job(other) if other.state not in ENDED else None
            )
            if earlier is not None and self._keeps(earlier) == name:
                raise RefusedError(promised(name))

    def _keeps(self, job: Job) -> str | None:
        return KINDS[job.kind].needs(job, self._config.name).answers.keeps

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
            reason=tell(DECISION, describe_to_coordinator(error, self._config.any_policy.explain)),
            exit_code=exit_code_of(error),
        )


def decision_on(record: Record) -> pb.Decision:
    """What the coordinator is told about a job that was proposed."""
    return pb.Decision(
        state=record.state,
        reason=tell(DECISION, record.told),
        exit_code=record.exit_code,
        records=tell(RECORDS, record.records),
        resumable=tell(STATE, record.resumable),
    )
