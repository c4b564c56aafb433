"""`coterie run`: proposes a job to the party servers, starts it, follows it, collects its result.

    probe      each party is there and is who it should be
    propose    each party judges the job by its policy and reads its data; a refusal ends it here
    consent    where a party's operator has to agree, wait for it
    start      every party; the job begins when each has a place for it
    follow     one event stream for each party, and a sign of life from each every few seconds.
               While a job only waits, a party's server may be restarted within the heartbeat
    fetch      what each party releases, then the result folder

On the first failure the job is cancelled everywhere and the error names the party and the step. If a
party was lost after the job had begun, the job is not cancelled: each party keeps what they have
computed together, and `attach` has the parties go on from there when all are back.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

from coterie.base.errors import (
    CancelledError,
    CertificateError,
    CoterieError,
    DataError,
    EnvironmentFaultError,
    PeerLostError,
    RefusedError,
    UnreachableError,
    UsageError,
)
from coterie.base.skew import LARGEST_SKEW, skew_in_words
from coterie.coordinator.run import probe
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.collect import collect, leave_note, read_note, remove_note
from coterie.coordinator.run.follower import Follower, Patience, ReportedError
from coterie.coordinator.run.interrupts import Check, never
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.runs import remember
from coterie.jobs.file.job import Job
from coterie.protos import jobs_pb2 as pb
from coterie.trust.identity import Identity

T = TypeVar("T")
_RETRY_SECONDS = 0.5
_FIRST_ERRORS: dict[int, type[CoterieError]] = {
    cls.exit_code: cls
    for cls in (UsageError, CertificateError, DataError, RefusedError, EnvironmentFaultError)
}


def run_job(
    job: Job,
    out: Path,
    identity: Identity,
    board: Board,
    patience: Patience | None = None,
    check: Check = never,
    listed: bool = True,
) -> dict[str, Any]:
    """Runs the job at its parties and leaves the result in `out`, which must exist.

    `check` is called wherever the run waits, and may raise an exception that ends it. `coterie
    jobs` lists the run unless `listed` is False.
    """
    drive = Drive(job, addresses_of(job), identity, board, patience or Patience(), check)
    drive.listed = listed
    return drive.run(out)


def detach_job(
    job: Job,
    out: Path,
    identity: Identity,
    board: Board,
    patience: Patience | None = None,
    check: Check = never,
) -> tuple[str, dict[str, str]]:
    """Proposes the job and has it begin when all have agreed; does not wait for that.

    Returns the job's id and where it stands at each party. `attach` follows it from then on.
    """
    addresses = addresses_of(job)
    return Drive(job, addresses, identity, board, patience or Patience(), check).detach(out)


def attach_job(
    out: Path,
    identity: Identity,
    board: Board,
    patience: Patience | None = None,
    check: Check = never,
) -> dict[str, Any]:
    """Follows the job that left its note in `out` to its end, and collects the result."""
    job, job_id, addresses = read_note(out)
    return Drive(job, addresses, identity, board, patience or Patience(), check, job_id).attach(out)


def addresses_of(job: Job) -> dict[str, str]:
    """Where the parties of a job are."""
    addresses: dict[str, str] = {}
    for party in job.parties:
        if party.address is None:
            raise UsageError(f"parties.{party.name}: the key 'address' is missing; a run needs it")
        addresses[party.name] = party.address
    return addresses


class Drive:
    """One run of one job."""

    def __init__(
        self,
        job: Job,
        addresses: Mapping[str, str],
        identity: Identity,
        board: Board,
        patience: Patience,
        check: Check = never,
        job_id: str | None = None,
    ) -> None:
        self._job = job
        self._job_id = job_id or secrets.token_hex(16)
        self._addresses = addresses
        self._identity = identity
        self._board = board
        self._patience = patience
        self._check = check
        self._clocks: dict[str, str] = {}  # of parties whose clock is far off, in words
        self.listed = True
        self._clients = {
            name: PartyClient(name, address, identity) for name, address in addresses.items()
        }
        self._follower = Follower(self._clients, self._job_id, board, patience, check)

    def run(self, out: Path) -> dict[str, Any]:
        proposed = finished = False
        try:
            self._probe()
            proposed = True
            self._follower.listen()
            self._propose()
            leave_note(out, self._job, self._job_id, self._addresses)
            if self.listed:
                remember(self._job, self._job_id, out)
            try:
                self._everywhere(lambda name: self._clients[name].start(self._job_id))
            except PeerLostError as error:  # another party may have reported the reason
                raise self._follower.verdict(error) from None
            self._follower.until(lambda name, state: state == pb.FINISHED)
            finished = True
            return self._collect(out)
        except BaseException as error:
            if not finished and self._may_go_on(error):
                raise _with_advice(error, out) from None
            if proposed and not finished:
                self._cancel(error)
                remove_note(out, job_too=True)
            raise
        finally:
            self._close()

    def detach(self, out: Path) -> tuple[str, dict[str, str]]:
        proposed = started = False
        try:
            self._probe()
            proposed = True
            self._follower.listen()
            decisions = self._decide()
            leave_note(out, self._job, self._job_id, self._addresses)
            remember(self._job, self._job_id, out)
            self._everywhere(lambda name: self._clients[name].start(self._job_id))
            started = True
            return self._job_id, {
                name: "waits for consent" if decision.state == pb.WAITING else "accepted"
                for name, decision in decisions.items()
            }
        except BaseException as error:
            if proposed and not started:
                self._cancel(error)
                remove_note(out, job_too=True)
            raise
        finally:
            self._close()

    def _probe(self) -> None:
        """Raises an error unless all parties' servers answer, show the right certificates and speak
        one version with each other."""
        seconds = self._patience.connect

        def wire(name: str) -> int:
            probe.require(name, self._addresses[name], self._identity, seconds)
            return self._clients[name].describe().wire

        check_wire(self._everywhere(wire))

    def attach(self, out: Path) -> dict[str, Any]:
        """Follows a job that goes on by itself. Whatever ends this command does not end the job."""
        try:
            self._follower.listen()
            over = self._resume()
            self._follower.start(dict.fromkeys(self._clients, pb.STATE_UNSPECIFIED))
            try:
                self._follow_on()
            except (ReportedError, RefusedError, CancelledError, PeerLostError) as error:
                if not over and self._may_go_on(error):
                    raise _with_advice(error, out) from None
                if isinstance(error, PeerLostError):
                    raise
                self._cancel(error)  # it has ended at one party, or shall end at all
                remove_note(out, job_too=True)
                raise
            return self._collect(out)
        finally:
            self._close()

    def _follow_on(self) -> None:
        """Follows the job from where it stands at each party to its end."""
        known = self._follower.until_known(self._patience.connect)
        late = [name for name, state in known.items() if state in (pb.WAITING, pb.ACCEPTED)]
        for name in late:  # its coordinator went away before it had started everybody
            with contextlib.suppress(PeerLostError):  # it has gone on since: its events tell
                self._clients[name].start(self._job_id)
        self._follower.until(lambda name, state: state == pb.FINISHED)

    def _resume(self) -> bool:
        """Has every party take the job up again if it was interrupted; whether it is over for good.

        A party that has not noticed yet that another was lost, or that is away, is asked again.
        """
        end = time.monotonic() + self._patience.connect
        while True:
            told = self._everywhere(lambda name: self._clients[name].resume(self._job_id), False)
            states = {decision.state for decision in told.values()}
            late = any(decision.resumable for decision in told.values())
            unaware = pb.ACCEPTED in states and pb.RUNNING in states
            if not (late or unaware) or time.monotonic() > end:
                return bool(states & {pb.FAILED, pb.CANCELLED, pb.REFUSED}) and not late
            self._check()
            time.sleep(_RETRY_SECONDS)

    def _may_go_on(self, error: BaseException) -> bool:
        """Whether the parties keep what they have computed, so that the job can go on later."""
        lost = isinstance(error, PeerLostError) or (
            isinstance(error, ReportedError)
            and error.exit_code in (PeerLostError.exit_code, EnvironmentFaultError.exit_code)
        )
        return lost and self._follower.begun

    def _close(self) -> None:
        self._follower.stop()
        for client in self._clients.values():
            client.close()

    def _collect(self, out: Path) -> dict[str, Any]:
        return collect(
            self._job,
            self._job_id,
            self._clients,
            out,
            lambda fetch: self._everywhere(fetch, signs=False),
            self._patience.fetch,
            self._check,
        )

    def _everywhere(self, do: Callable[[str], T], signs: bool = True) -> dict[str, T]:
        """Calls every party at once; raises the first error in the job's order.

        A call may take as long as the party's data needs, as long as the party shows signs of life.
        If a party may be away for a while, `signs` is False.
        """
        pool = ThreadPoolExecutor(len(self._clients))
        try:
            futures = {name: pool.submit(do, name) for name in self._clients}
            for future in futures.values():
                while not future.done():
                    wait([future], 0.25)
                    self._follower.require_signs() if signs else self._check()
            return {name: future.result() for name, future in futures.items()}
        finally:
            pool.shutdown(wait=False)

    def _decide(self) -> dict[str, pb.Decision]:
        """Every party's decision on the job; a refusal ends it."""
        for name in self._clients:
            self._board.update(name, "judging the job")
        decisions = self._everywhere(self._propose_to)
        refusals = {n: d for n, d in decisions.items() if d.state == pb.REFUSED}
        if refusals:
            first = next(iter(refusals.values()))
            text = "; ".join(f"{name}: {one.reason}" for name, one in refusals.items())
            raise _FIRST_ERRORS.get(first.exit_code, RefusedError)(text)
        return decisions

    def _propose_to(self, name: str) -> pb.Decision:
        decision = self._clients[name].propose(self._job_id, self._job)
        if decision.unix_time and abs(off := decision.unix_time - time.time()) > LARGEST_SKEW:
            self._clocks[name] = f", its clock is {skew_in_words(off)} this one"
        return decision

    def _propose(self) -> None:
        decisions = self._decide()
        waiting = [n for n, d in decisions.items() if d.state == pb.WAITING]
        for name in self._clients:
            words = "waiting for consent" if name in waiting else "accepted"
            self._board.update(name, words + self._clocks.get(name, ""))
        self._follower.start({name: decision.state for name, decision in decisions.items()})
        if waiting:
            self._follower.until(
                lambda name, state: (
                    name not in waiting or state in (pb.ACCEPTED, pb.QUEUED, pb.RUNNING)
                ),
                self._patience.consent,
                "its operator gave no consent",
            )

    def _cancel(self, error: BaseException) -> None:
        cancel_everywhere(self._clients.values(), self._job_id, error, self._patience.cancel)


def check_wire(versions: Mapping[str, int]) -> None:
    """Raises unless all parties speak one version with each other; 0 is one before servers told it."""
    newest = max(versions.values())
    if older := [name for name, version in versions.items() if version != newest]:
        told = f"version {versions[older[0]]}" if versions[older[0]] else "a version before 2"
        raise UnreachableError(
            f"{', '.join(older)}: speaks {told} of the wire, and other parties version {newest}; "
            "bring the older ones up to date"
        )


def cancel_everywhere(
    clients: Iterable[PartyClient], job_id: str, error: BaseException, seconds: float
) -> None:
    """Cancels the job at all parties; retries at a party that does not answer."""
    reason = str(error) if isinstance(error, CoterieError) else "stopped by the coordinator"
    end = time.monotonic() + seconds

    def cancel(client: PartyClient) -> None:
        while (left := end - time.monotonic()) > 0:
            if client.cancel(job_id, reason, left):
                return
            time.sleep(min(_RETRY_SECONDS, max(0.0, left)))

    threads = [threading.Thread(target=cancel, args=(client,), daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 1)


def _with_advice(error: BaseException, out: Path) -> BaseException:
    """The error, and how to go on."""
    advice = f"; 'coterie attach {out}' goes on with the job when all parties are back and reach each other"
    if isinstance(error, PeerLostError | ReportedError):
        return ReportedError(f"{error}{advice}", error.exit_code, error.peer, error.step)
    return error
