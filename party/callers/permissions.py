"""Who may do what: callers are known by certificate.

Only the coordinator that proposed a job may start, resume or fetch it, and deliver its result. Only
the party's operators may list, explain, approve and prune. Both may watch and cancel a job. Operators
are the people whose certificates the party file lists under `operators`; whoever has the party's own
key may then look, but not decide. Without that list the party's own key decides, and the audit log has
the name that was typed. A coordinator learns nothing of the jobs of others, not even that they exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc

from coterie.base.errors import EnvironmentFaultError, RefusedError
from coterie.base.text import one_line
from coterie.party.books.audit import AuditLog
from coterie.party.config import PartyConfig
from coterie.party.job_record import Record
from coterie.party.live import Live
from coterie.party.records import Book
from coterie.trust.identity import Caller


@dataclass(frozen=True)
class Decider:
    """The person who decides something, and the certificate that proves it, if one does."""

    person: str
    certificate: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """What the audit log has of the person."""
        proof = {"certificate": self.certificate} if self.certificate else {}
        return {"person": self.person, **proof}


class Permissions:
    """Ends the gRPC call, with a status and a reason, of a caller that may not make it."""

    def __init__(
        self,
        live: Live,
        book: Book,
        audit: AuditLog,
        identify: Callable[[grpc.ServicerContext], Caller],
    ) -> None:
        self._live = live
        self._book = book
        self._audit = audit
        self._identify = identify

    @property
    def _config(self) -> PartyConfig:
        """The party file in force now."""
        return self._live.config

    def note(self, context: grpc.ServicerContext, event: str, **facts: Any) -> None:
        """Writes to the audit log; a call that cannot be noted is refused."""
        try:
            self._audit.note(event, **facts)
        except EnvironmentFaultError as error:
            abort(context, grpc.StatusCode.INTERNAL, str(error))

    def caller(self, context: grpc.ServicerContext) -> Caller:
        try:
            return self._identify(context)
        except RefusedError as error:
            abort(context, grpc.StatusCode.PERMISSION_DENIED, str(error))

    def decider(self, context: grpc.ServicerContext, typed: str) -> Decider:
        """Who decides; `typed` is the name that the caller gives, where no certificate proves one."""
        self.require_operator(context)
        caller = self.caller(context)
        operators = self._config.operators
        if not operators:
            return Decider(one_line(typed))
        if not self._config.decides(caller):
            self.note(context, "turned away", by=caller.name, certificate=caller.fingerprint)
            reason = (
                f"only {', '.join(sorted(operators))} may decide for {self._config.name} (operators of "
                f"the party file), not '{caller.name}'; give your own certificate by --identity"
            )
            abort(context, grpc.StatusCode.PERMISSION_DENIED, reason)
        return Decider(caller.name, caller.fingerprint)

    def require_operator(self, context: grpc.ServicerContext) -> None:
        caller = self.caller(context)
        if not self._config.is_operator(caller):
            reason = f"only the operator of {self._config.name} may do this, not '{caller.name}'"
            self.note(context, "turned away", by=caller.name, certificate=caller.fingerprint)
            abort(context, grpc.StatusCode.PERMISSION_DENIED, reason)

    def job(self, job_id: str, context: grpc.ServicerContext, operator: bool = False) -> Record:
        """The job, if the caller proposed it (or, with `operator`, is the operator)."""
        caller = self.caller(context)
        record = self._book.get(job_id)
        if record is None or not (
            record.coordinator == caller.name or (operator and self._config.is_operator(caller))
        ):
            # The answer does not reveal whether somebody else's job exists.
            reason = f"'{caller.name}' has no job '{one_line(job_id)}' at {self._config.name}"
            abort(context, grpc.StatusCode.NOT_FOUND, reason)
        return record

    def any_job(self, job_id: str, context: grpc.ServicerContext) -> Record:
        """The job, whoever proposed it, if the caller is the operator."""
        self.require_operator(context)
        record = self._book.get(job_id)
        if record is None:
            abort(context, grpc.StatusCode.NOT_FOUND, f"no job '{one_line(job_id)}' here")
        return record


def abort(context: grpc.ServicerContext, code: grpc.StatusCode, reason: str) -> NoReturn:
    context.abort(code, reason)
    raise AssertionError("abort raises")
