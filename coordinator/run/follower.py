"""Following a job at its parties: their events, a sign of life from each, and who failed first."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc

from coterie.base.errors import (
    CancelledError,
    CoterieError,
    PeerLostError,
    RefusedError,
    UnreachableError,
)
from coterie.base.text import duration, one_line
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.interrupts import Check, never
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.suspension import Wakefulness
from coterie.jobs.run.party_run import FINISH
from coterie.protos import jobs_pb2 as pb

_RETRY_SECONDS = 0.5
_NEWS = 256  # events that wait to be processed
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
    cut_off: float = 300.0  # for two parties that cannot reach each other to begin a queued job
    gather: float = 2.0  # after a first failure, for the others to report what they saw


class ReportedError(CoterieError):
    """A party's report of why the job ended, with the exit code that it gave."""

    def __init__(self, text: str, exit_code: int, peer: str, step: str) -> None:
        super().__init__(text)
        self.exit_code = exit_code
        self.peer = peer
        self.step = step


@dataclass
class Heard:
    """The latest news of a party."""

    at: float
    state: int
    step: str = ""
    ran: bool = False  # the job has begun there
    waits: str = ""  # the peer that it cannot reach, and why
    waits_since: float = 0.0
    phases: list[str] = field(default_factory=list)  # that the party has reported, in order

    def enter(self, step: str) -> None:
        """Notes that the party is in this step now."""
        self.step = step
        phase = step.split("/")[0]
        if phase not in self.phases:
            self.phases.append(phase)

    def is_past(self, step: str) -> bool:
        """Whether the party has reported a later phase than that of the step."""
        return step.split("/")[0] in self.phases[:-1]


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
        self._every = patience.heartbeat / 4  # seconds between calls for a sign of life
        self._wakefulness = Wakefulness(self._every, clock, wall)
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
                    event.culprit, event.waits = one_line(event.culprit), one_line(event.waits)
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
        while not self._stopped.wait(self._every):
            if self._clients[name].alive(self._every * 2):
                self._heard[name].at = self._clock()
                self._board.sign(name)

    def until(
        self,
        reached: Callable[[str, int], bool],
        seconds: float | None = None,
        otherwise: str = "",
        late_error: type[CoterieError] = RefusedError,
    ) -> None:
        """Follows until every party has reached a wanted state; raises if the job cannot get there.

        After `seconds`, a party that has not reached it is named by a `late_error`.
        """
        end = None if seconds is None else self._clock() + seconds
        while True:
            late = [n for n, heard in self._heard.items() if not reached(n, heard.state)]
            if not late:
                return
            if end is not None and self._clock() > end:
                raise late_error(f"{late[0]}: {otherwise} within {duration(seconds or 0)}")
            failure = self._next(0.25)
            if failure is not None:
                raise self.verdict(failure)
            self.require_signs()

    def until_known(self, seconds: float) -> dict[str, int]:
        """Every party's state, as soon as each has told it."""
        self.until(
            lambda name, state: state != pb.STATE_UNSPECIFIED,
            seconds,
            "does not report on the job",
            UnreachableError,
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
        heard.ran |= news.state == pb.RUNNING
        if not heard.waits:
            heard.waits_since = heard.at
        heard.waits = news.waits if news.state == pb.QUEUED else ""
        if news.step:
            heard.enter(news.step)
        self._show(name, news)
        if news.state not in _FAILED:
            return None
        return _reported(name, news, heard.step)

    def _show(self, name: str, event: pb.Event) -> None:
        words = {
            pb.WAITING: "waiting for consent",
            pb.ACCEPTED: "accepted",
            pb.QUEUED: "queued"
            + (f", place {event.place}" if event.place else "")
            + (f"; {event.waits}" if event.waits else ""),
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
            event.sent_to,
        )

    def require_signs(self) -> None:
        """Raises an error that names a party without news for the length of the heartbeat.

        Of several silent parties, the one that has been silent for the longest time is named.
        Called wherever the run waits; interrupts from outside are raised here too.
        """
        self._check()
        if self._wakefulness.look() or self._slept != self._wakefulness.slept:
            self._slept = self._wakefulness.slept
            for heard in self._heard.values():  # no party could be heard meanwhile
                heard.at = heard.waits_since = self._clock()
        self._require_paths()
        heard_at = {n: heard.at for n, heard in self._heard.items() if heard.state not in _FAILED}
        name = min(heard_at, key=heard_at.__getitem__, default="")
        silence = self._clock() - heard_at[name] if name else 0.0
        if silence > self._patience.heartbeat:
            lost = f"gave no sign of life for {silence:.0f} s"
            raise self.verdict(PeerLostError(name, self._heard[name].step, lost))

    def _require_paths(self) -> None:
        """Raises an error about two parties that have not reached each other for too long."""
        limit = self._patience.cut_off
        for name, heard in self._heard.items():
            if heard.waits and self._clock() - heard.waits_since > limit:
                raise UnreachableError(
                    f"{name}: {heard.waits}, for {duration(limit)}, and the job has not begun; check "
                    f"that party's address under 'peers' in the party file of {name}, and the "
                    "firewalls between the two"
                )

    @property
    def begun(self) -> bool:
        """Whether the job has begun at some party."""
        return any(heard.ran for heard in self._heard.values())

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
        if any(heard.state == pb.FINISHED for heard in self._heard.values()):
            return lost[0].placed(FINISH)  # no party finishes before all have come to this step
        # The last step that a lost party reported may be long past; those that waited for it know.
        # But if the lost party was ahead of them, its own reports say so.
        gone = self._heard[lost[0].peer]
        witnesses = [e for e in errors if isinstance(e, ReportedError) and e.peer == lost[0].peer]
        return next((e for e in witnesses if not gone.is_past(e.step)), lost[0])


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
