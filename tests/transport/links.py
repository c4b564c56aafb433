"""Sessions between parties in this process, over real gRPC with mTLS on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc

from coterie.transport.peers import PeerService
from coterie.transport.session import Heartbeat, Session
from coterie.trust.identity import SERVER_OPTIONS, caller_of
from tests.coordinator.support import wait_for
from tests.party.authority import Authority

PATIENT = Heartbeat(interval=0.1, deadline=60.0)  # no busy machine may end a session


class Clock:
    """A time that passes when a test says so, and not because the machine is busy."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def let_pass(
        self,
        sessions: Iterable[Session],
        seconds: float,
        sign: Callable[[], object] = lambda: None,
    ) -> None:
        """These seconds pass at once, after which every peer that has a stream is heard again.

        `sign` has peers give a sign of life that do not do so by themselves.
        """
        ends = list(sessions)
        self.now += seconds
        sign()
        wait_for(lambda: all(map(self._is_heard, ends)), "signs of life")

    def _is_heard(self, session: Session) -> bool:
        links = [link for link in session._incoming.values() if link.opened and not link.finished]
        return session.error is not None or all(link.heard == self.now for link in links)


class Node:
    """One party: a server, its identity, and any number of sessions."""

    def __init__(self, name: str, authority: Authority, folder: Path, heartbeat: Heartbeat) -> None:
        self.name = name
        self.folder = folder
        self.heartbeat = heartbeat
        self.clock: Callable[[], float] = time.monotonic
        self.identity = authority.identity(name)
        self.service = PeerService(name, lambda context: caller_of(context).name)
        self.server = grpc.server(futures.ThreadPoolExecutor(64), options=SERVER_OPTIONS)
        self.server.add_generic_rpc_handlers((self.service,))
        self.port = self.server.add_secure_port("127.0.0.1:0", self.identity.server_credentials())
        self.server.start()

    def session(
        self,
        session: str,
        peers: tuple[str, ...],
        memory: int = 1 << 30,
    ) -> Session:
        made = Session(
            session,
            self.name,
            peers,
            spool_folder=self.folder,
            heartbeat=self.heartbeat,
            memory=memory,
            clock=self.clock,
        )
        self.service.add(made)
        return made


class GrpcNetwork:
    """Parties that know each other, for one session at a time."""

    def __init__(
        self, folder: Path, names: tuple[str, ...] = ("a", "b", "c"), heartbeat: Heartbeat = PATIENT
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.names = names
        self.authority = Authority(folder / "certs")
        self.nodes = {name: Node(name, self.authority, folder, heartbeat) for name in names}

    def connect(self, name: str, peer: str) -> grpc.Channel:
        return self.nodes[name].identity.connect(peer, f"127.0.0.1:{self.nodes[peer].port}")

    def sessions(self, session: str, **options: Any) -> dict[str, Session]:
        """A session of all parties, every end of it started."""
        made = {}
        for at, name in enumerate(self.names):
            peers = self.names[at + 1 :] + self.names[:at]
            made[name] = self.nodes[name].session(session, peers, **options)
        for name, end in made.items():
            end.start(lambda peer, name=name: self.connect(name, peer))
        return made

    def close(self) -> None:
        for node in self.nodes.values():
            node.server.stop(0)
