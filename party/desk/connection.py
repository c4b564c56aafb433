"""The operator's connection to the party's own server, and how its commands find a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc

from coterie.base.errors import CoterieError, RefusedError, UnreachableError, UsageError
from coterie.party.config import PartyConfig, load_party
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2_grpc import JobsStub
from coterie.transport.call_errors import failure_reason
from coterie.trust.identity import find_identity

SECONDS = 10.0  # for the answer of a server on this machine


class Operator:
    """A connection to the party's own server, with the party's own certificate or a person's."""

    def __init__(
        self, config: Path, address: str | None = None, identity: Path | None = None
    ) -> None:
        """`address` is where the server is, if this machine reaches it by another address.

        `identity` is the folder with the certificate of one of the party file's `operators`.
        """
        self.config: PartyConfig = load_party(config)
        self.address = address or self.config.own_address
        shown = find_identity(identity) if identity else self.config.identity
        self.person = shown.name if identity else None
        self.channel = shown.connect(self.config.name, self.address)
        self._stub: Any = JobsStub(self.channel)  # type: ignore[no-untyped-call]

    def __enter__(self) -> Operator:
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()

    def jobs(self) -> list[pb.JobSummary]:
        """All jobs that the server knows, requested page by page."""
        found: list[pb.JobSummary] = []
        while True:
            page = self._page(found[-1].job_id if found else "")
            found += page.jobs
            if not page.more or not page.jobs:
                return found

    def _page(self, after: str) -> pb.JobList:
        request = pb.ListRequest(after=after)
        page: pb.JobList = self.call(lambda stub: stub.List(request, timeout=SECONDS))
        return page

    def call(self, function: Callable[[Any], Any]) -> Any:
        try:
            return function(self._stub)
        except grpc.RpcError as error:
            code, text = error.code(), f"{self.config.name}: {failure_reason(error)}"
        kinds: dict[Any, type[CoterieError]] = {
            grpc.StatusCode.NOT_FOUND: UsageError,
            grpc.StatusCode.FAILED_PRECONDITION: UsageError,
            grpc.StatusCode.PERMISSION_DENIED: RefusedError,
        }
        raise kinds.get(code, UnreachableError)(f"{text} (at {self.address})")

    def newest(self, wanted: str) -> str:
        """The id of the newest job with this id, beginning of an id, or name."""
        found = [job for job in self.jobs() if _meant(job, wanted)]
        if not found:
            raise UsageError(f"no job '{wanted}' at {self.config.name}")
        return str(max(found, key=lambda job: job.proposed).job_id)

    def job_in(self, states: tuple[int, ...], wanted: str, how: str) -> str:
        """The id of a job in one of these states with this id, beginning of an id, or name."""
        listed = self.jobs()
        found = [job for job in listed if job.state in states and _meant(job, wanted)]
        if len(found) == 1:
            return str(found[0].job_id)
        if found:
            raise UsageError(f"{len(found)} jobs that '{wanted}' may mean; give the id")
        known = next((job for job in listed if wanted in (job.job_id, job.name)), None)
        if known:
            raise UsageError(f"no job '{wanted}' {how}: it is {pb.State.Name(known.state)}")
        raise UsageError(f"no job '{wanted}' {how} at {self.config.name}")


def _meant(job: pb.JobSummary, wanted: str) -> bool:
    """Whether this is the job's name, its id, or four digits or more of the id's beginning."""
    return bool(job.name == wanted or (job.job_id.startswith(wanted) and len(wanted) > 3))
