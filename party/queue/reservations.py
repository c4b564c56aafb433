"""Reserves a place for a queued job at every party, and starts the job.

The first of the job's parties by name leads. Once the job has a place in the leader's own queue,
the leader asks the others one after the other, in the order of their names, and asks those that
have granted a place again, so that the place does not lapse. When every party has a place, the
leader tells all to begin. `party.queue.job_queue` argues why no jobs wait for each other for ever.

While a party does not answer, the job waits without its places: all places are returned, and other
jobs go first until the party is asked again. A party that has ended the job, or refuses the
leader's calls, ends the job.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import grpc

from coterie.base.errors import CoterieError, EnvironmentFaultError, PeerLostError, PeerRevokedError
from coterie.base.threads import start
from coterie.protos.peers_pb2 import (
    BEGIN,
    INQUIRE,
    RELEASE,
    RESERVE,
    Farewell,
    Parting,
    Reservation,
    Reserved,
)
from coterie.transport.call_errors import HOPELESS, REVOKED, failure_reason
from coterie.transport.error_messages import error_from
from coterie.transport.peers import RESERVE as METHOD
from coterie.transport.session import FAREWELL, PART, Heartbeat, Session, read_farewell

STEP = "queue"
_WAIT = 2.0  # seconds that a party may take to answer that there is no place yet
_RETRY = 0.1
_TELLING = 2.0


def leader_of(names: Sequence[str]) -> str:
    """The party that reserves the places, the same at every party of the job."""
    return min(names, key=_by_name)


def _by_name(name: str) -> tuple[str, str]:
    return name.lower(), name


class AwayError(Exception):
    """A party does not take part now; the text says which, and why."""

    def __init__(self, peer: str, reason: str, *, reached: bool) -> None:
        super().__init__(f"{peer} {reason}")
        self.peer = peer
        self.reached = reached


class Reservations:
    """The places of one job at the other parties."""

    def __init__(
        self,
        session: Session,
        connect: Callable[[str], grpc.Channel],
        heartbeat: Heartbeat,
        stopped: Callable[[], bool],
        answered: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._peers = sorted(session.peers, key=_by_name)
        self._channels = {peer: connect(peer) for peer in self._peers}
        self._heartbeat = heartbeat
        self._stopped = stopped
        self._answered = answered  # called with the name of a peer that could be reached
        self._clock = clock
        self._secured = 0  # how many of the first parties hold a place

    def close(self) -> None:
        for channel in self._channels.values():
            channel.close()

    def secure(self) -> bool:
        """Waits until every party has reserved a place; False if the job needs none any more."""
        queued = self._clock()  # when every party that was asked had the job in its queue
        while not self._stopped():
            for at, peer in enumerate(self._peers):
                # A job that holds a later place must not wait for an earlier one.
                answer = self._ask(peer, RESERVE, _WAIT if at >= self._secured else 0.0)
                if not answer.granted:
                    self._give_back(at)
                    if answer.place:
                        queued = self._clock()
                    break
                self._secured = max(self._secured, at + 1)
            else:
                return True
            if self._clock() - queued > self._heartbeat.deadline:
                self._give_back(0)
                raise AwayError(peer, "has not been told to start the job", reached=True)
            time.sleep(_RETRY)
        self._give_back(0)
        return False

    def begin(self) -> None:
        """Tells all parties, which have reserved their places, to begin."""
        for peer in self._peers:
            end = self._clock() + self._heartbeat.deadline
            while not self._ask(peer, BEGIN, _WAIT).granted:
                if self._clock() > end:
                    raise PeerLostError(peer, STEP, "did not keep the place that it had reserved")
                time.sleep(_RETRY)

    def _give_back(self, first: int) -> None:
        """Returns the places of the parties from this one on."""
        for peer in self._peers[first : self._secured]:
            with contextlib.suppress(grpc.RpcError):  # then the place lapses
                self._call(peer, RELEASE, 0.0, _TELLING)
        self._secured = min(self._secured, first)

    def _ask(self, peer: str, ask: Any, wait: float) -> Reserved:
        """The answer of a party; raises if there will be none."""
        end = self._clock() + self._heartbeat.deadline
        while True:
            try:
                answer = self._call(peer, ask, wait, wait + self._heartbeat.deadline)
                self._answered(peer)
                return answer
            except grpc.RpcError as error:
                if (
                    error.code() == grpc.StatusCode.UNIMPLEMENTED
                ):  # an older server, without a queue
                    return Reserved(granted=True)
                reason = self._judge(peer, error)
                late = self._clock() > end or self._stopped()
                if late and error.code() == grpc.StatusCode.NOT_FOUND:
                    raise PeerLostError(peer, STEP, reason) from None
            if late:
                self._give_back(0)
                raise AwayError(peer, f"cannot be reached: {reason}", reached=False)
            time.sleep(_RETRY)

    def _judge(self, peer: str, error: Any) -> str:
        """Why the call failed, if it may be retried; otherwise raises the error that ends the job."""
        farewell = _farewell_in(error)
        if farewell is not None:
            names = (self._session.me, *self._session.peers)
            raise error_from(farewell, peer, names)
        reason = failure_reason(error)
        if reason.startswith(REVOKED):
            raise PeerRevokedError.told(self._session.me, STEP, peer)
        if error.code() in (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.INVALID_ARGUMENT):
            raise PeerLostError(peer, STEP, f"refuses this party: {reason}")
        if reason in HOPELESS:
            raise PeerLostError(peer, STEP, f"cannot be reached: {reason}")
        return reason

    def _call(self, peer: str, ask: Any, wait: float, seconds: float) -> Reserved:
        request = Reservation(session=self._session.session, ask=ask, wait=wait)
        call = self._channels[peer].unary_unary(METHOD)
        return Reserved.FromString(call(request.SerializeToString(), timeout=seconds))


def inquire(session: Session, connect: Callable[[str], grpc.Channel]) -> CoterieError | None:
    """Why a job that has not begun here has ended at a peer; None if it has not, as far as they
    say.

    A coordinator that cancels, and a party that fails, tell whoever they reach. A party that was
    away hears of it by asking when it is back.
    """
    request = Reservation(session=session.session, ask=INQUIRE).SerializeToString()
    names = (session.me, *session.peers)
    for peer in session.peers:
        with contextlib.closing(connect(peer)) as channel:
            try:
                channel.unary_unary(METHOD)(request, timeout=_TELLING)
            except grpc.RpcError as error:
                farewell = _farewell_in(error)
                if farewell is not None and farewell.failed:
                    return error_from(farewell, peer, names)
    return None


def finished_at_a_peer(
    session: str, peers: Sequence[str], connect: Callable[[str], grpc.Channel]
) -> bool:
    """Whether the job has finished at a peer, which means that every party has stored its result."""
    request = Reservation(session=session, ask=INQUIRE).SerializeToString()
    for peer in peers:
        with contextlib.closing(connect(peer)) as channel:
            try:
                answer = channel.unary_unary(METHOD)(request, timeout=_TELLING)
                if Reserved.FromString(answer).finished:
                    return True
            except grpc.RpcError as error:
                farewell = _farewell_in(error)
                if farewell is not None and not farewell.failed:
                    return True
    return False


def _farewell_in(error: Any) -> Farewell | None:
    """How the job has ended at the peer whose call failed; None if the peer does not say so."""
    words = dict(error.trailing_metadata() or ()).get(FAREWELL)
    return None if words is None else read_farewell(words)


def tell_peers(session: Session, connect: Callable[[str], grpc.Channel], patience: float) -> None:
    """Tells the peers why a job has ended before it began, each for at most `patience` seconds."""
    words = session.last_words
    if words is None:
        return
    request = Parting(session=session.session, farewell=words).SerializeToString()

    def tell(peer: str) -> None:
        with contextlib.closing(connect(peer)) as channel, contextlib.suppress(grpc.RpcError):
            channel.unary_unary(PART)(request, timeout=patience)

    for peer in session.peers:
        with contextlib.suppress(EnvironmentFaultError):  # then the peer asks
            start(threading.Thread(target=tell, args=(peer,), daemon=True))
