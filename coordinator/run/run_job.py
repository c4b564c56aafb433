"""`coterie run`: proposes a job to the party servers, starts it, follows it, collects its result.

    probe      each party is there and is who it should be
    propose    each party judges the job by its policy and reads its data; a refusal ends it here
    consent    where a party's operator has to agree, wait for it
    start      every party; the job begins when each has a place for it
    follow     one event stream a party, and a sign of life from each every few seconds. While a
               job only waits, a party's server may be restarted within the heartbeat
    fetch      what each party releases, then the result folder

On the first failure the job is cancelled everywhere and the error names the party and the step.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import grpc

from coterie.base.errors import (
    CancelledError,
    CoterieError,
    DataError,
    EnvironmentFaultError,
    PeerLostError,
    RefusedError,
    UsageError,
)
from coterie.base.text import one_line
from coterie.coordinator.run import probe
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.collect import collect, leave_note, read_note, remove_note
from coterie.coordinator.run.interrupts import Check, never
from coterie.coordinator.run.progress import Board, duration
from coterie.coordinator.run.runs import remember
from coterie.coordinator.run.suspension import Wakefulness
from coterie.jobs.file.job import Job
from coterie.jobs.run.party_run import FINISH
from coterie.protos import jobs_pb2 as pb
from coterie.trust.identity import Identity

T = TypeVar("T")
_RETRY_SECONDS = 0.5
_NEWS = 256  # events that wait to be processed
_FIRST_ERRORS: dict[int, type[CoterieError]] = {
    cls.exit_code: cls for cls in (UsageError, DataError, RefusedError, EnvironmentFaultError)
}
_FAILED = (pb.FAILED, pb.CANCELLED, pb.REFUSED)
_ENDED = (pb.FINISHED, *_FAILED)
# The status of a stream whose server is gone, or ends its calls before it stops.
_GOING_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


@dataclass(frozen=True)
class Patience:
    """The times to wait, in seconds."""

    connect: float = 10.0
    consent: float = 3600.0
    heartbeat: float = 20.0  # silence after which a party counts as lost
    cancel: float = 5.0  # for a party that is away to return and receive the cancellation
    fetch: float = 60.0  # for a party that is away when the finished job's result is fetched
    gather: float = 2.0  # after a first failure, for the others to report what they saw


class ReportedError(CoterieError):
    """A party's report of why the job ended, with the exit code that it gave."""

    def __init__(self, text: str, exit_code: int, peer: str, step: str) -> None:
        super().__init__(text)
        self.exit_code = exit_code
        self.peer = peer
        self.step = step


def run_job(
    job: Job,
    out: Path,
    identity: Identity,
    board: Board,
    patience: Patience | None = None,
    check: Check = never,
) -> dict[str, Any]:
    """Runs the job at its parties and leaves the result in `out`, which must exist.

    `check` is called wherever the run waits, and may raise an exception that ends it.
    """
    addresses = addresses_of(job)
    return Drive(job, addresses, identity, board, patience or Patience(), check).run(out)


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
    board_of: Callable[[Job], Board],
    patience: Patience | None = None,
    check: Check = never,
) -> tuple[Job, dict[str, Any]]:
    """Follows the job that left its note in `out` to its end, and collects the result."""
    job, job_id, addresses = read_note(out)
    with board_of(job) as board:
        drive = Drive(job, addresses, identity, board, patience or Patience(), check, job_id)
        return job, drive.attach(out)


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
        self._clients = {
            name: PartyClient(name, address, identity) for name, address in addresses.items()
        }
        self._follower = Follower(self._clients, self._job_id, board, patience, check)

    def run(self, out: Path) -> dict[str, Any]:
        proposed = finished = False
        try:
            self._everywhere(
                lambda name: probe.require(
                    name, self._addresses[name], self._identity, self._patience.connect
                )
            )
            proposed = True
            self._follower.listen()
            self._propose()
            leave_note(out, self._job, self._job_id, self._addresses)
            remember(self._job, self._job_id, out)
            try:
                self._everywhere(lambda name: self._clients[name].start(self._job_id))
            except PeerLostError as error:  # another party may have reported the reason
                raise self._follower.verdict(error) from None
            self._follower.until(lambda name, state: state == pb.FINISHED)
            finished = True
            return self._collect(out)
        except BaseException as error:
            if proposed and not finished:
                self._cancel(error)
                remove_note(out, job_too=True)
            raise
        finally:
            self._close()

    def detach(self, out: Path) -> tuple[str, dict[str, str]]:
        proposed = started = False
        try:
            self._everywhere(
                lambda name: probe.require(
                    name, self._addresses[name], self._identity, self._patience.connect
                )
            )
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

    def attach(self, out: Path) -> dict[str, Any]:
        """Follows a job that goes on by itself. Whatever ends this command does not end the job."""
        try:
            self._follower.listen()
            self._follower.start(dict.fromkeys(self._clients, pb.STATE_UNSPECIFIED))
            known = self._follower.until_known(self._patience.connect)
            late = [name for name, state in known.items() if state in (pb.WAITING, pb.ACCEPTED)]
            for name in late:  # its coordinator went away before it had started everybody
                with contextlib.suppress(PeerLostError):  # it has gone on since: its events tell
                    self._clients[name].start(self._job_id)
            try:
                self._follower.until(lambda name, state: state == pb.FINISHED)
            except (ReportedError, RefusedError) as error:
                self._cancel(error)  # it has ended at one party, and there will be no result
                remove_note(out, job_too=True)
                raise
            return self._collect(out)
        finally:
            self._close()

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
        decisions = self._everywhere(
            lambda name: self._clients[name].propose(self._job_id, self._job)
        )
        refusals = {n: d for n, d in decisions.items() if d.state == pb.REFUSED}
        if refusals:
            first = next(iter(refusals.values()))
            text = "; ".join(f"{name}: {one.reason}" for name, one in refusals.items())
            raise _FIRST_ERRORS.get(first.exit_code, RefusedError)(text)
        return decisions

    def _propose(self) -> None:
        decisions = self._decide()
        waiting = [n for n, d in decisions.items() if d.state == pb.WAITING]
        for name in self._clients:
            self._board.update(name, "waiting for consent" if name in waiting else "accepted")
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
        """Cancels the job everywhere; retries at a party that does not answer."""
        reason = str(error) if isinstance(error, CoterieError) else "stopped by the coordinator"
        end = time.monotonic() + self._patience.cancel

        def cancel(client: PartyClient) -> None:
            while (left := end - time.monotonic()) > 0:
                if client.cancel(self._job_id, reason, left):
                    return
                time.sleep(min(_RETRY_SECONDS, max(0.0, left)))

        threads = [
            threading.Thread(target=cancel, args=(client,), daemon=True)
            for client in self._clients.values()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self._patience.cancel + 1)


@dataclass
class Heard:
    """The latest news of a party."""

    at: float
    state: int
    step: str = ""


class Follower:
    """Reads all parties' events, and calls silent parties for signs of life."""

    def __init__(
        self,
        clients: Mapping[str, PartyClient],
        job_id: str,
        board: Board,
        patience: Patience,
        check: Check = never,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._wakefulness = Wakefulness(patience.heartbeat / 4, clock, wall)
        self._clients = clients
        self._job_id = job_id
        self._board = board
        self._patience = patience
        self._check = check
        self._clock = clock
        self._news: queue.Queue[tuple[str, pb.Event | str]] = queue.Queue(_NEWS)
        self._stopped = threading.Event()
        self._streams: list[Any] = []
        self._heard: dict[str, Heard] = {}
        self._slept = 0  # the number of this machine's pauses that have been taken into account

    def listen(self) -> None:
        """Begins to call every party for signs of life."""
        now = self._clock()
        for name in self._clients:
            self._heard[name] = Heard(now, pb.STATE_UNSPECIFIED)
            threading.Thread(target=self._ping, args=(name,), daemon=True).start()

    def start(self, states: Mapping[str, int]) -> None:
        """Begins to read every party's events."""
        for name, state in states.items():
            self._heard[name].state = state
            threading.Thread(target=self._read, args=(name,), daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        for stream in self._streams:
            stream.cancel()

    def _read(self, name: str) -> None:
        while not self._stopped.is_set():
            stream = self._clients[name].watch(self._job_id)
            self._streams.append(stream)
            try:
                for event in stream:
                    # A party may send anything, and as much as it likes.
                    event.error, event.step = one_line(event.error), one_line(event.step)
                    event.culprit = one_line(event.culprit)
                    if not self._put(name, event):
                        return
                self._put(name, "ended the event stream")
                return
            except grpc.RpcError as error:
                if not self._may_come_back(name, error):
                    detail = " ".join((error.details() or error.code().name).split())
                    self._put(name, f"the connection was lost: {detail}")
                    return
            self._stopped.wait(_RETRY_SECONDS)

    def _put(self, name: str, news: pb.Event | str) -> bool:
        """Waits until there is room: a party that floods its stream is slowed down by gRPC.

        False if nobody processes news any more.
        """
        while not self._stopped.is_set():
            try:
                self._news.put((name, news), timeout=0.5)
                return True
            except queue.Full:
                continue
        return False

    def _may_come_back(self, name: str, error: Any) -> bool:
        """Whether a party may come back after its stream has broken.

        A server may be restarted while a job waits, because it keeps the job. And connections that
        broke while this machine slept say nothing about the party.
        """
        waits = self._heard[name].state in (pb.WAITING, pb.ACCEPTED, pb.QUEUED)
        slept = self._wakefulness.woke_within(self._patience.heartbeat)
        return (waits or slept) and error.code() in _GOING_AWAY

    def _ping(self, name: str) -> None:
        every = self._patience.heartbeat / 4
        while not self._stopped.wait(every):
            if self._clients[name].alive(every * 2):
                self._heard[name].at = self._clock()

    def until(
        self,
        reached: Callable[[str, int], bool],
        seconds: float | None = None,
        otherwise: str = "",
    ) -> None:
        """Follows until every party has reached a wanted state; raises if the job cannot get there."""
        end = None if seconds is None else self._clock() + seconds
        while True:
            late = [n for n, heard in self._heard.items() if not reached(n, heard.state)]
            if not late:
                return
            if end is not None and self._clock() > end:
                raise RefusedError(f"{late[0]}: {otherwise} within {duration(seconds or 0)}")
            failure = self._next(0.25)
            if failure is not None:
                raise self.verdict(failure)
            self.require_signs()

    def until_known(self, seconds: float) -> dict[str, int]:
        """Every party's state, as soon as each has told it."""
        self.until(
            lambda name, state: state != pb.STATE_UNSPECIFIED, seconds, "does not tell of the job"
        )
        return {name: heard.state for name, heard in self._heard.items()}

    def _next(self, seconds: float) -> CoterieError | None:
        """Processes one piece of news; returns the error that it means, if any."""
        try:
            name, news = self._news.get(timeout=seconds)
        except queue.Empty:
            return None
        heard = self._heard[name]
        if isinstance(news, str):
            if heard.state in _ENDED:  # the stream ends when the job does
                return None
            heard.state = pb.FAILED
            self._board.update(name, "lost", heard.step)
            return PeerLostError(name, heard.step, news)
        heard.at, heard.state = self._clock(), news.state
        heard.step = news.step or heard.step
        self._show(name, news)
        if news.state not in _FAILED:
            return None
        return _reported(name, news, heard.step)

    def _show(self, name: str, event: pb.Event) -> None:
        words = {
            pb.WAITING: "waiting for consent",
            pb.ACCEPTED: "accepted",
            pb.QUEUED: f"queued, place {event.place}" if event.place else "queued",
            pb.RUNNING: "running",
            pb.FINISHED: "finished",
            pb.FAILED: "failed",
            pb.CANCELLED: "cancelled",
            pb.REFUSED: "refused",
        }
        running = event.state == pb.RUNNING
        if running and event.step == FINISH:
            return  # the state will show it in a moment
        self._board.update(
            name,
            words.get(event.state, "unknown"),
            event.step if running else "",
            event.done if running else 0,
            event.total if running else 0,
            event.sent_bytes,
            event.received_bytes,
        )

    def require_signs(self) -> None:
        """Raises an error that names a party without news for the length of the heartbeat.

        Called wherever the run waits; interrupts from outside are raised here too.
        """
        self._check()
        if self._wakefulness.look() or self._slept != self._wakefulness.slept:
            self._slept = self._wakefulness.slept
            for heard in self._heard.values():  # no party could be heard meanwhile
                heard.at = self._clock()
        for name, heard in self._heard.items():
            silence = self._clock() - heard.at
            if silence > self._patience.heartbeat and heard.state not in _FAILED:
                raise self.verdict(
                    PeerLostError(name, heard.step, f"gave no sign of life for {silence:.0f} s")
                )

    def verdict(self, first: CoterieError) -> CoterieError:
        """The error nearest to the cause, of all that the parties report within a moment."""
        errors = [first]
        end = self._clock() + self._patience.gather
        while (left := end - self._clock()) > 0:
            error = self._next(left)
            if error is not None:
                errors.append(error)
            if all(heard.state in _ENDED for heard in self._heard.values()):
                break
        consequences = (PeerLostError.exit_code, CancelledError.exit_code)
        causes = [error for error in errors if error.exit_code not in consequences]
        lost = [error for error in errors if isinstance(error, PeerLostError)]
        if causes or not lost:
            return (causes or errors)[0]
        # The last step that a lost party told of may be long past; those that waited for it know.
        witnesses = [e for e in errors if isinstance(e, ReportedError) and e.peer == lost[0].peer]
        return (witnesses or lost)[0]


def _reported(name: str, event: pb.Event, step: str) -> CoterieError:
    culprit = event.culprit or name
    text = event.error or "gave no reason"
    if not text.startswith(f"{culprit}:"):
        text = f"{culprit}: {text}"
    if culprit != name:
        text += f", says {name}"
    if event.state == pb.REFUSED:
        return RefusedError(text)
    code = event.exit_code or CancelledError.exit_code
    return ReportedError(text, code, culprit, step)
