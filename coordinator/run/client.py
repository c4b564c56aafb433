"""Calls to one party's server. Every call has a deadline; every failure names the party."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any

# gRPC would write its own lines to the user's terminal; `PartyClient` reports every failure.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from coterie.base.errors import (
    CoterieError,
    EnvironmentFaultError,
    PeerFaultError,
    PeerLostError,
    RefusedError,
    UnreachableError,
    UsageError,
    VerificationError,
)
from coterie.base.text import one_line
from coterie.jobs.file.job import Job
from coterie.protos import jobs_pb2 as pb
from coterie.protos import jobs_pb2_grpc
from coterie.transport.call_errors import failure_reason
from coterie.trust.identity import KEEPALIVE, Identity
from coterie.trust.reach import target_of

CALL_SECONDS = 15.0
# Long, because a proposal makes the party read and check its whole table.
PREFLIGHT_SECONDS = 600.0
FETCH_SECONDS = 3600.0
_PIECE = 1 << 20
_OPTIONS = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2000),
    *KEEPALIVE,
)
PROPOSAL_BYTES = 64_000_000  # the limit of a party server, for job file and taxonomies together


class PartyClient:
    """A connection to the party `name`, whose certificate must prove that name."""

    def __init__(self, name: str, address: str, identity: Identity) -> None:
        self.name = name
        self.address = address
        credentials = grpc.ssl_channel_credentials(
            identity.authority, identity.key, identity.certificate
        )
        target = target_of(address, name, identity.traveller)
        self._channel = grpc.secure_channel(
            target, credentials, (*_OPTIONS, ("grpc.ssl_target_name_override", name))
        )
        self._jobs: Any = jobs_pb2_grpc.JobsStub(self._channel)  # type: ignore[no-untyped-call]
        self._health = health_pb2_grpc.HealthStub(self._channel)

    def close(self) -> None:
        self._channel.close()

    @contextlib.contextmanager
    def _named(self, doing: str, seconds: float, step: str = "") -> Iterator[None]:
        """Names the party in errors. With a `step`, the job has begun, and no answer means lost."""
        try:
            yield
        except grpc.RpcError as error:
            explained = self._explain(error, doing, seconds)
            if step and isinstance(explained, UnreachableError):
                reason = str(explained).removeprefix(f"{self.name}: ")
                explained = PeerLostError(self.name, step, reason)
            raise explained from None

    def _explain(self, error: Any, doing: str, seconds: float) -> CoterieError:
        detail = " ".join((error.details() or "").split())
        code = error.code()
        if code == grpc.StatusCode.PERMISSION_DENIED:
            return RefusedError(f"{self.name}: refuses to {doing}: {detail}")
        if code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED):
            return UsageError(f"{self.name}: cannot {doing}: {detail}")
        if code == grpc.StatusCode.FAILED_PRECONDITION:  # the job has ended at the party
            return PeerLostError(self.name, "", f"did not {doing}: {detail}")
        if code == grpc.StatusCode.UNIMPLEMENTED:
            return UnreachableError(
                f"{self.name}: the server does not know how to {doing}; "
                "it may be another version of Coterie"
            )
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            return UnreachableError(f"{self.name}: did not {doing} within {seconds:g} s")
        return UnreachableError(f"{self.name}: {failure_reason(error)} (while asked to {doing})")

    def describe(self, job: Job | None = None) -> pb.Description:
        seconds = PREFLIGHT_SECONDS if job else CALL_SECONDS
        request = pb.DescribeRequest()
        if job:
            request.job_yaml = job.text
            request.files.update(job.files)
        with self._named("describe itself", seconds):
            description: pb.Description = self._jobs.Describe(request, timeout=seconds)
        return description

    def propose(self, job_id: str, job: Job) -> pb.Decision:
        proposal = pb.Proposal(
            job_id=job_id, job_yaml=job.text, files=dict(job.files), unix_time=time.time()
        )
        if proposal.ByteSize() > PROPOSAL_BYTES:
            raise UsageError(
                f"the job and its taxonomies weigh {proposal.ByteSize():,} bytes; "
                f"a proposal holds at most {PROPOSAL_BYTES:,}"
            )
        with self._named("judge the job", PREFLIGHT_SECONDS):
            decision: pb.Decision = self._jobs.Propose(proposal, timeout=PREFLIGHT_SECONDS)
        return decision

    def start(self, job_id: str) -> None:
        """Starts the job, which begins when all its parties have a place for it."""
        with self._named("start the job", CALL_SECONDS, "start"):
            self._jobs.Queue(pb.JobRef(job_id=job_id), timeout=CALL_SECONDS)

    def jobs(self) -> list[pb.JobSummary]:
        """All jobs that the server knows, requested page by page: for its operator."""
        found: list[pb.JobSummary] = []
        with self._named("list its jobs", CALL_SECONDS):
            while True:
                request = pb.ListRequest(after=found[-1].job_id if found else "")
                page: pb.JobList = self._jobs.List(request, timeout=CALL_SECONDS)
                found += page.jobs
                if not page.more or not page.jobs:
                    return found

    def resume(self, job_id: str) -> pb.Decision:
        """Has the party take the job up again if it was interrupted; tells where the job stands.

        Of a party that is away, the job is `resumable`; whoever follows the job hears of other errors.
        """
        try:
            decision: pb.Decision = self._jobs.Resume(
                pb.JobRef(job_id=job_id), timeout=CALL_SECONDS
            )
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.PERMISSION_DENIED:
                raise self._explain(error, "take the job up again", CALL_SECONDS) from None
            away = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
            return pb.Decision(resumable=error.code() in away)
        return decision

    def watch(self, job_id: str) -> Any:
        """The stream of events: an iterator with `cancel`, which raises `grpc.RpcError`.

        This is the only call without a deadline: the reader must also call `alive`.
        """
        return self._jobs.Watch(pb.JobRef(job_id=job_id))

    def alive(self, seconds: float) -> bool:
        """Whether the server answers at all."""
        try:
            self._health.Check(health_pb2.HealthCheckRequest(), timeout=seconds)
        except grpc.RpcError as error:
            silent = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
            return error.code() not in silent
        return True

    def cancel(self, job_id: str, reason: str, seconds: float) -> bool:
        """Whether the party has answered: it has cancelled the job, or has none to cancel."""
        try:
            self._jobs.Cancel(pb.Cancellation(job_id=job_id, reason=reason), timeout=seconds)
        except grpc.RpcError as error:
            silent = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
            return error.code() not in silent
        return True

    def fetch(self, job_id: str, folder: Path) -> None:
        """Saves what the party releases under `folder`, one file after the other."""
        current, file = "", None
        try:
            with self._named("hand over its release", FETCH_SECONDS, "fetch"):
                for chunk in self._jobs.Fetch(pb.JobRef(job_id=job_id), timeout=FETCH_SECONDS):
                    if file is None:
                        current, file = chunk.path, self._create(folder, chunk.path)
                    if chunk.path != current:
                        raise self._fault(f"mixes the files '{current}' and '{chunk.path}'")
                    file.write(chunk.data)
                    if chunk.last:
                        file.close()
                        file = None
            if file is not None:
                raise self._fault(f"broke off in the file '{current}'")
        except OSError as error:
            raise EnvironmentFaultError(f"{folder}: {error.strerror}") from None
        finally:
            if file is not None:
                file.close()

    def deliver(self, job_id: str, files: Sequence[str], folder: Path) -> pb.Delivered:
        """Gives the party, a recipient of the job, the finished files."""

        def chunks() -> Iterator[pb.FileChunk]:
            for name in files:
                with (folder / name).open("rb") as file:
                    left = (folder / name).stat().st_size
                    while True:
                        data = file.read(_PIECE)
                        left -= len(data)
                        last = left <= 0 or not data
                        yield pb.FileChunk(path=name, data=data, last=last, job_id=job_id)
                        if last:
                            break

        with self._named("take the result", FETCH_SECONDS, "deliver"):
            try:
                delivered: pb.Delivered = self._jobs.Deliver(chunks(), timeout=FETCH_SECONDS)
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.ABORTED:
                    raise
                detail = one_line(error.details() or "")
                raise VerificationError(
                    f"{self.name}: does not accept the result: {detail}"
                ) from None
        return delivered

    def _create(self, folder: Path, name: str) -> IO[bytes]:
        """A new file whose name does not lead out of `folder`."""
        pure = PurePosixPath(name)
        if not name or not name.isprintable() or pure.is_absolute() or ".." in pure.parts:
            raise self._fault(f"offers a file with the path '{name}'")
        path = folder.joinpath(*pure.parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return path.open("xb")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise self._fault(f"offers the file '{name}' twice") from None

    def _fault(self, reason: str) -> PeerFaultError:
        return PeerFaultError(self.name, "fetch", reason)
